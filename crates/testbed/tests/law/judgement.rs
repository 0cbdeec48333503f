//! What a server says to a manifest, without what differs between any two servers.

use std::collections::BTreeSet;

use anyhow::Result;
use kube::api::DynamicObject;
use serde_json::{Value, json};

/// What a server says to a manifest.
#[derive(Clone, Debug, PartialEq)]
pub enum Answer {
    /// The object as it would be stored.
    Accepted(Value),
    /// The code, and the fields that are named.
    Refused {
        code: u16,
        fields: BTreeSet<String>,
        message: String,
    },
}

impl Answer {
    /// The answer in what a client got. Only what is no answer is an error.
    pub fn of(result: Result<DynamicObject, kube::Error>) -> Result<Self> {
        match result {
            Ok(object) => Ok(Self::Accepted(
                json!({"spec": object.data["spec"], "status": object.data["status"]}),
            )),
            Err(kube::Error::Api(status)) => {
                let causes = status.details.iter().flat_map(|details| &details.causes);
                Ok(Self::Refused {
                    code: status.code,
                    fields: causes.map(|cause| cause.field.clone()).collect(),
                    message: status.message.clone(),
                })
            }
            Err(error) => Err(error.into()),
        }
    }

    pub fn is_accepted(&self) -> bool {
        matches!(self, Self::Accepted(_))
    }

    /// Where two answers differ; none where they agree. Messages are everybody's own.
    pub fn difference(&self, other: &Self, names: [&str; 2]) -> Option<String> {
        let told = |text: [String; 2]| Some(format!("    {}: {}\n    {}: {}", names[0], text[0], names[1], text[1]));
        match (self, other) {
            (Self::Accepted(left), Self::Accepted(right)) => {
                let (path, left, right) = first_difference(left, right, "")?;
                told([format!("{path} is {left}"), format!("{path} is {right}")])
            }
            (
                Self::Refused { code, fields, .. },
                Self::Refused {
                    code: other_code,
                    fields: other_fields,
                    ..
                },
            ) if code == other_code && fields == other_fields => None,
            _ => told([self.told(), other.told()]),
        }
    }

    fn told(&self) -> String {
        match self {
            Self::Accepted(_) => "accepted".to_owned(),
            Self::Refused { code, fields, message } => format!("{code} on {fields:?}: {message}"),
        }
    }
}

/// The first place where two documents differ, and what stands there.
fn first_difference(left: &Value, right: &Value, path: &str) -> Option<(String, String, String)> {
    if let (Value::Object(left), Value::Object(right)) = (left, right) {
        let names: BTreeSet<&String> = left.keys().chain(right.keys()).collect();
        let at = |document: &serde_json::Map<String, Value>, name: &String| document.get(name).cloned();
        return names
            .into_iter()
            .find_map(|name| match (at(left, name), at(right, name)) {
                (Some(left), Some(right)) => first_difference(&left, &right, &format!("{path}.{name}")),
                (left, right) => Some((format!("{path}.{name}"), written(left), written(right))),
            });
    }
    (left != right).then(|| (path.to_owned(), left.to_string(), right.to_string()))
}

fn written(value: Option<Value>) -> String {
    value.map_or_else(|| "absent".to_owned(), |value| value.to_string())
}
