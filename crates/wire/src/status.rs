//! Errors as `metav1.Status`: what they consist of and how they are written. Their words are in `failures`, their codes
//! in `reason`; when one is due is decided elsewhere.

use std::fmt;

use http::StatusCode;
use serde::{Serialize, Serializer};
use serde_json::{Map, Value, json};

use crate::GroupResource;
pub use crate::reason::Reason;

/// What upstream answers, as plain text, to a path below which nothing is served.
pub const PAGE_NOT_FOUND: &str = "404 page not found\n";

/// One cause of a failure.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Cause {
    /// The kind of cause, as programs read it.
    pub reason: String,
    /// The same for people.
    pub message: String,
    /// The field that is to blame.
    pub field: String,
}

/// What a failure is about.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Details {
    /// The name of the object.
    pub name: String,
    /// The group of the resource or kind.
    pub group: String,
    /// The resource, or the kind where a whole object is invalid.
    pub kind: String,
    /// The uid of the object.
    pub uid: String,
    /// The causes.
    pub causes: Vec<Cause>,
    /// How long to wait before trying again; 0 for no advice.
    pub retry_after_seconds: u32,
}

impl Details {
    /// Details that name a resource.
    pub fn of_resource(resource: &GroupResource, name: &str) -> Self {
        Self {
            name: name.to_owned(),
            group: resource.group.clone(),
            kind: resource.resource.clone(),
            ..Self::default()
        }
    }

    pub(crate) fn waiting(retry_after_seconds: u32) -> Self {
        Self {
            retry_after_seconds,
            ..Self::default()
        }
    }
}

/// A request that failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// The HTTP status.
    pub code: StatusCode,
    /// Why, for programs.
    pub reason: Reason,
    /// Why, for people.
    pub message: String,
    /// What it is about.
    pub details: Option<Box<Details>>,
    /// Where an expired list can go on at a later revision.
    pub continue_token: Option<String>,
}

impl Failure {
    /// A failure of which only the reason and the message are known.
    pub fn new(reason: Reason, message: impl Into<String>) -> Self {
        Self {
            code: reason.code(),
            reason,
            message: message.into(),
            details: None,
            continue_token: None,
        }
    }

    /// The same with details.
    pub fn with_details(mut self, details: Details) -> Self {
        self.details = Some(Box::new(details));
        self
    }

    /// The same with one more cause.
    pub fn with_cause(mut self, cause: Cause) -> Self {
        self.details.get_or_insert_default().causes.push(cause);
        self
    }

    /// The same with the token of a list that can go on.
    pub fn with_continue(mut self, token: impl Into<String>) -> Self {
        self.continue_token = Some(token.into());
        self
    }

    /// The seconds for a `Retry-After` header.
    pub fn retry_after_seconds(&self) -> Option<u32> {
        let seconds = self.details.as_ref()?.retry_after_seconds;
        (seconds > 0).then_some(seconds)
    }

    /// The failure as a `metav1.Status`.
    pub fn to_status(&self) -> Value {
        let mut status = Map::new();
        for (name, value) in self.fields() {
            status.insert(name.to_owned(), value);
        }
        Value::Object(status)
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.message)
    }
}

impl std::error::Error for Failure {}

impl Failure {
    /// The fields of the Status, in the order in which upstream writes them.
    fn fields(&self) -> Vec<(&'static str, Value)> {
        let metadata = match &self.continue_token {
            Some(token) => json!({ "continue": token }),
            None => json!({}),
        };
        let mut fields = vec![
            ("kind", "Status".into()),
            ("apiVersion", "v1".into()),
            ("metadata", metadata),
            ("status", "Failure".into()),
            ("message", self.message.as_str().into()),
        ];
        if self.reason != Reason::Unknown {
            fields.push(("reason", self.reason.word().into()));
        }
        if let Some(details) = &self.details {
            fields.push(("details", details_value(details)));
        }
        fields.push(("code", self.code.as_u16().into()));
        fields
    }
}

impl Serialize for Failure {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.fields())
    }
}

/// What a DELETE answers when the object is gone.
pub fn success_status(details: &Details) -> Value {
    json!({
        "kind": "Status",
        "apiVersion": "v1",
        "metadata": {},
        "status": "Success",
        "details": details_value(details),
    })
}

fn details_value(details: &Details) -> Value {
    let mut map = text_fields([
        ("name", &details.name),
        ("group", &details.group),
        ("kind", &details.kind),
        ("uid", &details.uid),
    ]);
    if !details.causes.is_empty() {
        map.insert("causes".to_owned(), details.causes.iter().map(cause_value).collect());
    }
    if details.retry_after_seconds > 0 {
        map.insert("retryAfterSeconds".to_owned(), details.retry_after_seconds.into());
    }
    Value::Object(map)
}

fn cause_value(cause: &Cause) -> Value {
    Value::Object(text_fields([
        ("reason", &cause.reason),
        ("message", &cause.message),
        ("field", &cause.field),
    ]))
}

fn text_fields<const N: usize>(fields: [(&str, &String); N]) -> Map<String, Value> {
    fields
        .into_iter()
        .filter(|(_, text)| !text.is_empty())
        .map(|(name, text)| (name.to_owned(), Value::from(text.as_str())))
        .collect()
}

#[cfg(test)]
mod tests;
