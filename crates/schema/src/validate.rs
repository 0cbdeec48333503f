//! Checks a value against a schema with the paths, order and words of kube-openapi's validator. On an update, complaints
//! about what did not change are dropped where the schema lets old and new be matched (ratcheting).

mod number;
mod scalar;

use std::collections::BTreeSet;

use serde_json::{Map, Value};

use crate::correlate::{self, OldEntries};
use crate::field_error::{FieldError, ROOT_PATH};
use crate::go_text;
use crate::node::{Additional, Arena, Node, NodeId};
use crate::path::Path;

/// More complaints about one object help nobody, and an object can hold a million mistakes.
pub(crate) const MAX_ERRORS: usize = 1000;

/// What was found at a value: complaints, and how many checks were made, by which the best alternative is chosen.
#[derive(Default)]
pub(crate) struct Outcome {
    pub(crate) errors: Vec<FieldError>,
    matches: usize,
}

impl Outcome {
    fn push(&mut self, error: FieldError) {
        if self.errors.len() < MAX_ERRORS {
            self.errors.push(error);
        }
    }

    fn is_valid(&self) -> bool {
        self.errors.is_empty()
    }

    fn merge(&mut self, other: Self) {
        self.matches += other.matches;
        for error in other.errors {
            self.push(error);
        }
    }

    /// An alternative may say what the value around it says, too; upstream keeps the first.
    fn keep_first_of_equals(&mut self) {
        let mut seen = BTreeSet::new();
        self.errors.retain(|error| seen.insert(error.to_string()));
    }
}

/// A walk over one object.
pub(crate) struct Validator<'a> {
    pub(crate) arena: &'a Arena,
    /// What stands before every path: nothing, or where the value is a part of something else.
    pub(crate) base: &'a str,
}

impl Validator<'_> {
    /// Complaints about a value at the root; `old` makes it an update.
    pub(crate) fn validate(&self, id: NodeId, value: &Value, old: Option<&Value>) -> Vec<FieldError> {
        self.ratcheted(id, value, old, &Path::Root("")).errors
    }

    /// A value and what it was: complaints about an unchanged value do not count.
    fn ratcheted(&self, id: NodeId, value: &Value, old: Option<&Value>, path: &Path<'_>) -> Outcome {
        let mut outcome = self.value(id, value, old, path);
        if let Some(old) = old
            && !outcome.is_valid()
            && correlate::is_equal(self.arena, id, value, old)
        {
            outcome.errors.clear();
        }
        outcome
    }

    fn value(&self, id: NodeId, value: &Value, old: Option<&Value>, path: &Path<'_>) -> Outcome {
        let node = &self.arena[id];
        let mut outcome = Outcome::default();
        self.kind(node, value, path, &mut outcome);
        if value.is_null() {
            self.enumeration(node, value, path, &mut outcome);
            return outcome;
        }
        self.alternatives(node, value, path, &mut outcome);
        match value {
            Value::String(text) => self.string(node, text, path, &mut outcome),
            Value::Number(number) => self.number(node, number, path, &mut outcome),
            Value::Array(entries) => self.array(node, entries, old, path, &mut outcome),
            _ => {}
        }
        self.enumeration(node, value, path, &mut outcome);
        outcome.matches += 1;
        if let Value::Object(fields) = value {
            self.object(node, fields, old, path, &mut outcome);
        }
        outcome.matches += 1;
        if node.checks.has_alternatives() {
            outcome.keep_first_of_equals();
        }
        outcome
    }

    /// The path in a cause.
    fn field(&self, path: &Path<'_>) -> String {
        let name = path.name();
        match (self.base, name.as_str()) {
            ("", "") => ROOT_PATH.to_owned(),
            ("", _) => name,
            (base, "") => base.to_owned(),
            (base, name) => format!("{base}.{name}"),
        }
    }

    /// Complaints that upstream does not tie to a field.
    fn unplaced(&self, detail: String) -> FieldError {
        let base = if self.base.is_empty() { ROOT_PATH } else { self.base };
        FieldError::invalid(base, "", detail)
    }

    /// Alternatives are judged as if the value were new.
    fn alternatives(&self, node: &Node, value: &Value, path: &Path<'_>, outcome: &mut Outcome) {
        let checks = &node.checks;
        outcome.matches += 2;
        if !checks.any_of.is_empty() {
            self.any_of(&checks.any_of, value, path, outcome);
        }
        if !checks.one_of.is_empty() {
            self.one_of(&checks.one_of, value, path, outcome);
        }
        if !checks.all_of.is_empty() {
            self.all_of(&checks.all_of, value, path, outcome);
        }
        if let Some(not) = checks.not
            && self.value(not, value, None, path).is_valid()
        {
            let name = go_text::quote(&path.name());
            outcome.push(self.unplaced(format!("{name} must not validate the schema (not)")));
        }
    }

    fn any_of(&self, nodes: &[NodeId], value: &Value, path: &Path<'_>, outcome: &mut Outcome) {
        let mut best: Option<Outcome> = None;
        for node in nodes {
            let found = self.value(*node, value, None, path);
            if found.is_valid() {
                outcome.merge(found);
                return;
            }
            if best.as_ref().is_none_or(|best| found.matches > best.matches) {
                best = Some(found);
            }
        }
        let name = go_text::quote(&path.name());
        outcome.push(self.unplaced(format!("{name} must validate at least one schema (anyOf)")));
        outcome.merge(best.unwrap_or_default());
    }

    fn one_of(&self, nodes: &[NodeId], value: &Value, path: &Path<'_>, outcome: &mut Outcome) {
        let mut best: Option<Outcome> = None;
        let mut first: Option<Outcome> = None;
        let mut valid = 0;
        for node in nodes {
            let found = self.value(*node, value, None, path);
            if found.is_valid() {
                valid += 1;
                first.get_or_insert(found);
            } else if best.as_ref().is_none_or(|best| found.matches > best.matches) {
                best = Some(found);
            }
        }
        if let (1, Some(first)) = (valid, first) {
            outcome.merge(first);
            return;
        }
        let found = match valid {
            0 => "Found none valid".to_owned(),
            _ => format!("Found {valid} valid alternatives"),
        };
        let name = go_text::quote(&path.name());
        outcome.push(self.unplaced(format!("{name} must validate one and only one schema (oneOf). {found}")));
        if valid == 0 {
            outcome.merge(best.unwrap_or_default());
        }
    }

    fn all_of(&self, nodes: &[NodeId], value: &Value, path: &Path<'_>, outcome: &mut Outcome) {
        let mut valid = 0;
        for node in nodes {
            let found = self.value(*node, value, None, path);
            valid += usize::from(found.is_valid());
            outcome.merge(found);
        }
        if valid < nodes.len() {
            let none = if valid == 0 { ". None validated" } else { "" };
            let name = go_text::quote(&path.name());
            outcome.push(self.unplaced(format!("{name} must validate all the schemas (allOf){none}")));
        }
    }

    fn array(&self, node: &Node, entries: &[Value], old: Option<&Value>, path: &Path<'_>, outcome: &mut Outcome) {
        if let Some(items) = node.items {
            let old_entries = OldEntries::new(node, old);
            for (index, entry) in entries.iter().enumerate() {
                let path = Path::Index(path, index);
                outcome.merge(self.ratcheted(items, entry, old_entries.get(entry), &path));
            }
        }
        let size = entries.len();
        let checks = &node.checks;
        if let Some(least) = checks.min_items.filter(|least| is_less(size, *least)) {
            let detail = format!("{path} in body should have at least {least} items");
            outcome.push(FieldError::invalid(self.field(path), size, detail));
        }
        if let Some(most) = checks.max_items.filter(|most| is_more(size, *most)) {
            outcome.push(FieldError::too_many(self.field(path), size, most));
        }
        if checks.unique_items && has_duplicates(entries) {
            outcome.push(FieldError::invalid(
                self.field(path),
                "",
                format!("{path} in body shouldn't contain duplicates"),
            ));
        }
        outcome.matches += 2;
    }

    fn object(
        &self,
        node: &Node,
        fields: &Map<String, Value>,
        old: Option<&Value>,
        path: &Path<'_>,
        outcome: &mut Outcome,
    ) {
        let size = fields.len();
        let checks = &node.checks;
        if let Some(least) = checks.min_properties.filter(|least| is_less(size, *least)) {
            let detail = format!("{path} in body should have at least {least} properties");
            outcome.push(FieldError::invalid(self.field(path), size, detail));
        }
        if let Some(most) = checks.max_properties.filter(|most| is_more(size, *most)) {
            outcome.push(FieldError::too_many(self.field(path), size, most));
        }
        self.unlisted_fields(node, fields, old, path, outcome);
        for (name, child) in &node.properties {
            if let Some(field) = fields.get(name) {
                let path = Path::Field(path, name);
                outcome.merge(self.ratcheted(*child, field, self.old_field(node, name, old, &path), &path));
            }
        }
        for name in checks.required.iter().filter(|name| !fields.contains_key(*name)) {
            outcome.push(FieldError::required(self.field(&Path::Field(path, name)), ""));
        }
        outcome.matches += 1;
    }

    fn unlisted_fields(
        &self,
        node: &Node,
        fields: &Map<String, Value>,
        old: Option<&Value>,
        path: &Path<'_>,
        outcome: &mut Outcome,
    ) {
        if !matches!(node.additional, Additional::Schema(_) | Additional::Refused) {
            return;
        }
        for (name, field) in fields.iter().filter(|(name, _)| !node.properties.contains_key(*name)) {
            if let Additional::Schema(child) = node.additional {
                let path = Path::Field(path, name);
                outcome.merge(self.ratcheted(child, field, self.old_field(node, name, old, &path), &path));
            } else {
                let detail = format!("{path}.{name} in body is a forbidden property");
                outcome.push(FieldError::invalid(self.field(path), name.as_str(), detail));
            }
        }
    }

    /// What a field was. The version of an object is converted before it is compared, so its change cannot be seen.
    fn old_field<'v>(&self, node: &Node, name: &str, old: Option<&'v Value>, path: &Path<'_>) -> Option<&'v Value> {
        let is_type = matches!(path, Path::Field(Path::Root(_), "apiVersion" | "kind")) && self.base.is_empty();
        if is_type {
            return None;
        }
        correlate::old_field(node, name, old)
    }
}

fn is_less(size: usize, least: i64) -> bool {
    i64::try_from(size).is_ok_and(|size| size < least)
}

fn is_more(size: usize, most: i64) -> bool {
    i64::try_from(size).map_or(true, |size| size > most)
}

fn has_duplicates(entries: &[Value]) -> bool {
    let mut seen = BTreeSet::new();
    entries.iter().any(|entry| !seen.insert(go_text::json(entry)))
}
