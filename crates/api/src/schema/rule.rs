//! CEL rules on a field or a type.

use schemars::{Schema, transform::Transform};
use serde_json::{Map, Value};

use super::{FeatureGate, VALIDATIONS, marker};

/// A CEL rule: an expression that must hold, and the sentence that a user reads when it does not.
#[derive(Clone, Debug)]
pub struct Rule {
    expression: String,
    message: String,
    gate: Option<FeatureGate>,
}

/// A rule that `expression` must hold; `message` says what to do, without repeating the field path.
pub fn rule(expression: impl Into<String>, message: impl Into<String>) -> Rule {
    Rule {
        expression: expression.into(),
        message: message.into(),
        gate: None,
    }
}

/// The value of this field never changes once it is there.
pub fn immutable(field: &str) -> Rule {
    rule(
        "self == oldSelf",
        format!("{field} cannot be changed after it has been set"),
    )
}

/// The CEL expression that a string matches a regular expression.
pub fn matches_expression(pattern: &str) -> String {
    let escaped = pattern.replace('\\', r"\\").replace('\'', r"\'");
    format!("self.matches('{escaped}')")
}

impl Rule {
    /// The rule exists only where the gate is on.
    pub fn only_with(mut self, gate: FeatureGate) -> Self {
        self.gate = Some(gate);
        self
    }

    /// The rule as it stands in a schema.
    pub fn to_value(&self) -> Value {
        let mut object = Map::new();
        object.insert("rule".into(), self.expression.clone().into());
        object.insert("message".into(), self.message.clone().into());
        if let Some(gate) = self.gate {
            object.insert(marker::FEATURE_GATE.into(), gate.to_string().into());
        }
        Value::Object(object)
    }
}

impl Transform for Rule {
    fn transform(&mut self, schema: &mut Schema) {
        let rules = schema
            .ensure_object()
            .entry(VALIDATIONS)
            .or_insert_with(|| Value::Array(Vec::new()));
        if let Value::Array(rules) = rules {
            rules.push(self.to_value());
        }
    }
}
