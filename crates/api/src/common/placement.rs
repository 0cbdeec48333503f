//! Schemas of Kubernetes' own selectors and tolerations.

use std::borrow::Cow;

use schemars::{Schema, SchemaGenerator, json_schema};

use crate::schema::JsonSchema;

/// Describes [`k8s_openapi::api::core::v1::Toleration`].
pub struct TolerationSchema;

#[cfg(test)]
impl JsonSchema for TolerationSchema {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "Toleration".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "type": "object",
            "description": "A taint that the pods put up with.",
            "properties": {
                "effect": {
                    "type": "string",
                    "description": "The effect to match: NoSchedule, PreferNoSchedule or NoExecute; empty matches all.",
                },
                "key": {
                    "type": "string",
                    "description": "The key to match; empty with operator Exists matches every taint.",
                },
                "operator": {
                    "type": "string",
                    "description": "How key and value are compared: Exists or Equal, which is the default.",
                },
                "tolerationSeconds": {
                    "type": "integer",
                    "format": "int64",
                    "description": "How long a NoExecute taint is put up with; unset means for ever.",
                },
                "value": {"type": "string", "description": "The value to match; empty with operator Exists."},
            },
        })
    }
}

/// Describes [`k8s_openapi::apimachinery::pkg::apis::meta::v1::LabelSelector`].
pub struct LabelSelectorSchema;

#[cfg(test)]
impl JsonSchema for LabelSelectorSchema {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "LabelSelector".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "type": "object",
            "description": "A choice of objects by their labels; all parts must match.",
            "x-kubernetes-map-type": "atomic",
            "properties": {
                "matchExpressions": {
                    "type": "array",
                    "description": "Requirements on single labels.",
                    "x-kubernetes-list-type": "atomic",
                    "items": {
                        "type": "object",
                        "description": "A requirement on one label.",
                        "required": ["key", "operator"],
                        "properties": {
                            "key": {"type": "string", "description": "The label."},
                            "operator": {
                                "type": "string",
                                "description": "In, NotIn, Exists or DoesNotExist.",
                            },
                            "values": {
                                "type": "array",
                                "description": "The values for In and NotIn; empty for the others.",
                                "items": {"type": "string"},
                                "x-kubernetes-list-type": "atomic",
                            },
                        },
                    },
                },
                "matchLabels": {
                    "type": "object",
                    "description": "Labels that must be there with exactly these values.",
                    "additionalProperties": {"type": "string"},
                },
            },
        })
    }
}
