//! A compiled schema and what can be done with it. Cheap to clone; shared by every request to the same kind.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::Value;

use crate::builder::Builder;
use crate::decode;
use crate::embedded;
use crate::field_error::{FieldError, FieldErrorKind, ROOT_PATH};
use crate::lists;
use crate::node::{Arena, NodeId};
use crate::object_meta;
use crate::openapi::{Definitions, DefinitionsError};
use crate::path::Path;
use crate::prune;
use crate::rules::{self, Budget};
use crate::structural;
use crate::validate::Validator;

/// What a CEL rule that may not be evaluated leaves behind.
const RULES_NOT_CHECKED: &str = "some validation rules were not checked because the object was invalid; correct the existing errors to complete validation";

/// The schema of one version of one kind.
#[derive(Clone, Debug)]
pub struct Schema {
    arena: Arc<Arena>,
    root: NodeId,
    is_builtin: bool,
}

impl Schema {
    /// Compiles the `openAPIV3Schema` of one version of a custom resource.
    pub fn structural(schema: &Value) -> Result<Self, Vec<FieldError>> {
        let errors = structural::validate(schema, "");
        if !errors.is_empty() {
            return Err(errors);
        }
        let mut builder = Builder::default();
        let root = builder.node(schema);
        let mut arena = builder.arena;
        arena.add_meta();
        let errors = rules::compile(&mut arena, root);
        if !errors.is_empty() {
            return Err(errors);
        }
        Ok(Self {
            arena: Arc::new(arena),
            root,
            is_builtin: false,
        })
    }

    /// The schema of a version that has none: everything is kept and nothing is checked.
    pub fn anything() -> Self {
        let mut builder = Builder::default();
        let root = builder.node(&serde_json::json!({"x-kubernetes-preserve-unknown-fields": true}));
        let mut arena = builder.arena;
        arena.add_meta();
        Self {
            arena: Arc::new(arena),
            root,
            is_builtin: false,
        }
    }

    /// Compiles one definition of a set. Use [`Definitions`] where several kinds share them.
    pub fn openapi(root: &str, definitions: &BTreeMap<String, Value>) -> Result<Self, DefinitionsError> {
        let compiled = Definitions::new(definitions)?;
        compiled
            .schema(root)
            .ok_or_else(|| DefinitionsError::Missing(root.to_owned()))
    }

    pub(crate) fn builtin(arena: Arc<Arena>, root: NodeId) -> Self {
        Self {
            arena,
            root,
            is_builtin: true,
        }
    }

    /// Drops what the schema does not know and says where, as strict decoding names it: `spec.foo`,
    /// `spec.list[0].foo`. Metadata is held against ObjectMeta. Call [`Self::type_errors`] first: metadata of a wrong
    /// type is left as it is.
    pub fn prune(&self, value: &mut Value) -> Vec<String> {
        if self.is_builtin {
            return prune::prune_builtin(&self.arena, self.root, value);
        }
        let metadata = value.get_mut("metadata").map(object_meta::prune).unwrap_or_default();
        let mut unknown: Vec<String> = metadata.iter().map(|path| format!("metadata.{path}")).collect();
        unknown.extend(prune::prune(&self.arena, self.root, value));
        unknown.extend(embedded::prune(&self.arena, self.root, value, true, &Path::Root("")));
        unknown
    }

    /// Fills in defaults; also for objects that were stored before a default existed.
    pub fn default(&self, value: &mut Value) {
        crate::default::default(&self.arena, self.root, value);
    }

    /// What Go's decoder would say about a value that has not the shape of the kind: the text of a 400, without the
    /// kind in front. For custom resources only types and metadata have a shape.
    pub fn type_errors(&self, value: &Value) -> Option<String> {
        if self.is_builtin {
            return decode::type_error(&self.arena, self.root, value);
        }
        let metadata = value.get("metadata").and_then(object_meta::type_error);
        metadata.or_else(|| {
            let fields = value.as_object()?.iter();
            let node = &self.arena[self.root];
            let mut listed = fields.filter_map(|(name, field)| Some((name, field, *node.properties.get(name)?)));
            listed.find_map(|(name, field, child)| {
                let error = embedded::type_error(&self.arena, child, field, &Path::Field(&Path::Root(""), name))?;
                Some(error.to_string())
            })
        })
    }

    /// Complaints about types, bounds, patterns, embedded resources and lists. An update tolerates what was wrong
    /// before and did not change, as far as the schema lets old and new be matched. CEL rules are not among them.
    pub fn validate(&self, value: &Value, old: Option<&Value>) -> Vec<FieldError> {
        let mut errors = self.validator("").validate(self.root, value, old);
        errors.extend(self.validate_embedded(value));
        errors.extend(self.validate_lists(value, old));
        errors
    }

    /// As [`Self::validate`], for an update of the status subresource, where only the status can be wrong.
    pub fn validate_status(&self, value: &Value, old: Option<&Value>) -> Vec<FieldError> {
        let mut errors = Vec::new();
        if let (Some(status), Some(node)) = (value.get("status"), self.arena[self.root].field("status")) {
            let old = old.and_then(|old| old.get("status"));
            errors = self.validator("status").validate(node, status, old);
        }
        errors.extend(self.validate_lists(value, old));
        errors
    }

    fn validator<'a>(&'a self, base: &'a str) -> Validator<'a> {
        Validator {
            arena: &self.arena,
            base,
        }
    }

    fn validate_embedded(&self, value: &Value) -> Vec<FieldError> {
        let mut errors = Vec::new();
        let root = Path::Root("");
        let node = &self.arena[self.root];
        for (name, field) in value.as_object().into_iter().flatten() {
            if let Some(child) = node.properties.get(name) {
                embedded::validate(&self.arena, *child, field, &Path::Field(&root, name), &mut errors);
            }
        }
        errors
    }

    /// Lists that held duplicates before may hold them still.
    fn validate_lists(&self, value: &Value, old: Option<&Value>) -> Vec<FieldError> {
        let check = |value: &Value| {
            let mut errors = Vec::new();
            lists::validate(&self.arena, self.root, value, &Path::Root(""), &mut errors);
            errors
        };
        let errors = check(value);
        if !errors.is_empty() && old.is_some_and(|old| !check(old).is_empty()) {
            return Vec::new();
        }
        errors
    }

    /// Complaints of the CEL rules; `old` makes transition rules count.
    pub fn rules(&self, value: &Value, old: Option<&Value>, budget: &mut Budget) -> Vec<FieldError> {
        rules::evaluate(&self.arena, self.root, value, old, budget).errors
    }

    /// Whether there is any CEL rule.
    pub fn has_rules(&self) -> bool {
        self.arena[self.root].contents.rules
    }

    /// The rules after `errors` of [`Self::validate`]: not evaluated when a value has not even the right type or size.
    /// Gives what is tolerated because it was so before.
    pub fn rules_after(&self, errors: &mut Vec<FieldError>, value: &Value, old: Option<&Value>) -> Vec<FieldError> {
        if !self.has_rules() {
            return Vec::new();
        }
        if errors.iter().any(is_blocking) {
            errors.push(FieldError::invalid(ROOT_PATH, Value::Null, RULES_NOT_CHECKED));
            return Vec::new();
        }
        let findings = rules::evaluate(&self.arena, self.root, value, old, &mut Budget::per_object());
        errors.extend(findings.errors);
        findings.tolerated
    }
}

fn is_blocking(error: &FieldError) -> bool {
    matches!(
        error.kind,
        FieldErrorKind::NotSupported
            | FieldErrorKind::Required
            | FieldErrorKind::TooLong
            | FieldErrorKind::TooMany
            | FieldErrorKind::TypeInvalid
    )
}
