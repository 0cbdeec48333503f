//! The schema of Kubernetes' own condition.

use std::borrow::Cow;

use schemars::{Schema, SchemaGenerator, json_schema};

use crate::schema::JsonSchema;

/// Describes [`k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition`] with the bounds that its own
/// documentation gives.
pub struct ConditionSchema;

/// A condition type: a word, or a word behind a DNS name and a slash.
pub(crate) const TYPE_PATTERN: &str =
    r"^([a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*/)?(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])$";

/// A reason: one word in CamelCase.
const REASON_PATTERN: &str = "^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$";

#[cfg(test)]
impl JsonSchema for ConditionSchema {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "Condition".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "type": "object",
            "description": "One observed aspect of the object.",
            "required": ["lastTransitionTime", "message", "reason", "status", "type"],
            "properties": {
                "lastTransitionTime": {
                    "type": "string",
                    "format": "date-time",
                    "description": "When the status last changed.",
                },
                "message": {
                    "type": "string",
                    "maxLength": 32768,
                    "description": "The explanation for a person; may be empty.",
                },
                "observedGeneration": {
                    "type": "integer",
                    "format": "int64",
                    "minimum": 0,
                    "description": "The generation of the spec that was judged; older than the object's means stale.",
                },
                "reason": {
                    "type": "string",
                    "minLength": 1,
                    "maxLength": 1024,
                    "pattern": REASON_PATTERN,
                    "description": "The cause in one CamelCase word, for programs.",
                },
                "status": {
                    "type": "string",
                    "enum": ["True", "False", "Unknown"],
                    "description": "Whether the aspect holds.",
                },
                "type": {
                    "type": "string",
                    "maxLength": 316,
                    "pattern": TYPE_PATTERN,
                    "description": "Which aspect this is.",
                },
            },
        })
    }
}
