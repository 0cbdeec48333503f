//! What a built-in kind does, by its row and its type.

use std::{
    fmt,
    sync::{Arc, LazyLock, OnceLock},
};

use hyperplane_merge::Types as FieldTypes;
use hyperplane_schema::FieldError;
use jiff::Timestamp;
use serde_json::Value;

use crate::{
    Behaviour, Malformed, Target,
    complaints::Complaints,
    row::{Generation, Row, is_identity_or_status},
    types::{TypeIndex, Types},
};

pub(crate) struct BuiltInBehaviour {
    row: &'static Row,
    index: TypeIndex,
    types: Arc<Types>,
    api_version: String,
    /// Made when fields of the kind are first owned: most kinds of most servers never are.
    field_types: OnceLock<FieldTypes>,
}

impl BuiltInBehaviour {
    pub(crate) fn new(row: &'static Row, types: &Arc<Types>, api_version: &str) -> Self {
        Self {
            row,
            index: types
                .find(row.type_name)
                .expect("every row names a type of the table; a test checks"),
            types: Arc::clone(types),
            api_version: api_version.to_owned(),
            field_types: OnceLock::new(),
        }
    }
}

impl fmt::Debug for BuiltInBehaviour {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "built-in {}", self.row.type_name)
    }
}

impl Behaviour for BuiltInBehaviour {
    fn read(&self, object: &mut Value) -> Result<Vec<String>, Malformed> {
        self.types.read(self.index, object)
    }

    fn default(&self, object: &mut Value) {
        self.types.default(self.index, object);
    }

    fn field_types(&self, api_version: &str) -> Option<&FieldTypes> {
        (api_version == self.api_version).then(|| {
            self.field_types.get_or_init(|| {
                let definitions = self.types.components([self.index]);
                FieldTypes::openapi(&self.types.get(self.index).component, &definitions)
            })
        })
    }

    fn reset_fields(&self, target: Target<'_>) -> &'static [&'static [&'static str]] {
        (self.row.reset_fields)(target)
    }

    fn prepare_create(&self, object: &mut Value) {
        (self.row.create)(object);
        self.types.complete(self.index, object);
    }

    fn prepare_update(&self, object: &mut Value, old: &Value, target: Target<'_>) {
        (self.row.update)(object, old, target);
        self.types.complete(self.index, object);
    }

    fn grace_period_seconds(&self, object: &Value, requested: Option<i64>) -> Option<i64> {
        (self.row.grace)(object, requested)
    }

    fn is_held(&self, object: &Value) -> bool {
        (self.row.is_held)(object)
    }

    fn begin_deletion(&self, object: &mut Value, now: Timestamp) {
        (self.row.begin_deletion)(object, now);
    }

    fn validate(&self, object: &Value, old: Option<&Value>, target: Target<'_>) -> Vec<FieldError> {
        let mut complaints = Complaints::default();
        (self.row.validate)(object, old, target, &mut complaints);
        complaints.0
    }

    fn validate_name(&self, name: &str) -> Vec<String> {
        (self.row.name)(name)
    }

    fn generation_changed(&self, object: &Value, old: &Value) -> bool {
        match self.row.generation {
            Generation::Absent => false,
            Generation::Specification => is_specification_changed(object, old),
            Generation::SpecificationAndAnnotations => {
                is_specification_changed(object, old)
                    || object["metadata"].get("annotations") != old["metadata"].get("annotations")
            }
        }
    }

    fn warnings(&self, object: &Value, old: Option<&Value>) -> Vec<String> {
        (self.row.warnings)(object, old)
    }

    fn stamp(&self, object: &mut Value, old: Option<&Value>, target: Target<'_>, now: Timestamp) {
        (self.row.stamp)(object, old, target, now);
    }

    fn to_stored(&self, object: &mut Value) {
        (self.row.to_stored)(object);
    }

    fn from_stored(&self, object: &mut Value) {
        (self.row.from_stored)(object);
    }

    fn cells(&self, object: &Value, now: Timestamp) -> Vec<Value> {
        (self.row.cells)(object, now)
    }
}

/// How fields of a TokenRequest are owned, which is sent to a service account and is no resource of its own.
pub fn token_request_types() -> &'static FieldTypes {
    static TYPES: LazyLock<FieldTypes> = LazyLock::new(|| {
        let types = Types::shared();
        let index = types
            .find("authentication.TokenRequest")
            .expect("the table has every type that subresources take");
        FieldTypes::openapi(&types.get(index).component, &types.components([index]))
    });
    &TYPES
}

fn is_specification_changed(object: &Value, old: &Value) -> bool {
    let has_other = |value: &Value, other: &Value| {
        let mut fields = value.as_object().into_iter().flatten();
        fields.any(|(name, value)| !is_identity_or_status(name) && other.get(name) != Some(value))
    };
    has_other(object, old) || has_other(old, object)
}
