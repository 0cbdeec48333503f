//! One complaint about one field, in the words that clients of Kubernetes parse (apimachinery, field/errors.go).

use std::fmt;

use serde_json::Value;

use crate::go_text;

/// The path of the object itself.
pub const ROOT_PATH: &str = "<nil>";

/// What is wrong with a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum FieldErrorKind {
    /// The field is missing.
    Required,
    /// The value breaks a rule.
    Invalid,
    /// The value is none of those that are known.
    NotSupported,
    /// The value must be unique and is not.
    Duplicate,
    /// The field must not be set here.
    Forbidden,
    /// A string is too long.
    TooLong,
    /// A list or map has too many entries.
    TooMany,
    /// A reference leads nowhere.
    NotFound,
    /// The value has the wrong type.
    TypeInvalid,
    /// The check itself failed.
    Internal,
}

impl FieldErrorKind {
    /// The reason of a cause in a Status.
    pub const fn reason(self) -> &'static str {
        match self {
            Self::Required => "FieldValueRequired",
            Self::Invalid => "FieldValueInvalid",
            Self::NotSupported => "FieldValueNotSupported",
            Self::Duplicate => "FieldValueDuplicate",
            Self::Forbidden => "FieldValueForbidden",
            Self::TooLong => "FieldValueTooLong",
            Self::TooMany => "FieldValueTooMany",
            Self::NotFound => "FieldValueNotFound",
            Self::TypeInvalid => "FieldValueTypeInvalid",
            Self::Internal => "InternalError",
        }
    }

    const fn words(self) -> &'static str {
        match self {
            Self::Required => "Required value",
            Self::Invalid | Self::TypeInvalid => "Invalid value",
            Self::NotSupported => "Unsupported value",
            Self::Duplicate => "Duplicate value",
            Self::Forbidden => "Forbidden",
            Self::TooLong => "Too long",
            Self::TooMany => "Too many",
            Self::NotFound => "Not found",
            Self::Internal => "Internal error",
        }
    }

    /// Whether upstream prints the value between the words and the detail.
    const fn shows_value(self) -> bool {
        !matches!(self, Self::Required | Self::Forbidden | Self::TooLong | Self::Internal)
    }
}

/// The value that a complaint is about, as far as upstream prints it.
#[derive(Clone, Debug, PartialEq)]
pub enum BadValue {
    /// Nothing is printed: objects and lists that a rule refused are left out.
    Omitted,
    /// The value itself.
    Value(Value),
    /// What upstream prints for a structure whose fields have a fixed order.
    Text(String),
}

impl<T: Into<Value>> From<T> for BadValue {
    fn from(value: T) -> Self {
        Self::Value(value.into())
    }
}

impl BadValue {
    /// Strings as `%q`, numbers and booleans as `%v`, everything else as JSON.
    fn shown(&self) -> Option<String> {
        match self {
            Self::Omitted => None,
            Self::Value(Value::String(text)) => Some(go_text::quote(text)),
            Self::Value(Value::Number(number)) => Some(go_text::number(number)),
            Self::Value(value) => Some(go_text::json(value)),
            Self::Text(text) => Some(text.clone()),
        }
    }
}

/// A complaint about a field.
#[derive(Clone, Debug, PartialEq)]
pub struct FieldError {
    /// What is wrong.
    pub kind: FieldErrorKind,
    /// The path as upstream writes it: `spec.containers[0].name`, `metadata.labels[a.b/c]`, or `<nil>` for the root.
    pub field: String,
    /// The value that was found.
    pub value: BadValue,
    /// The rule, in words.
    pub detail: String,
}

impl FieldError {
    /// A complaint that shows its value.
    pub fn new(
        kind: FieldErrorKind,
        field: impl Into<String>,
        value: impl Into<BadValue>,
        detail: impl Into<String>,
    ) -> Self {
        Self {
            kind,
            field: field.into(),
            value: value.into(),
            detail: detail.into(),
        }
    }

    /// A field that is missing.
    pub fn required(field: impl Into<String>, detail: impl Into<String>) -> Self {
        Self::new(FieldErrorKind::Required, field, Value::Null, detail)
    }

    /// A value that breaks a rule.
    pub fn invalid(field: impl Into<String>, value: impl Into<BadValue>, detail: impl Into<String>) -> Self {
        Self::new(FieldErrorKind::Invalid, field, value, detail)
    }

    /// A value of the wrong type.
    pub fn type_invalid(field: impl Into<String>, value: impl Into<BadValue>, detail: impl Into<String>) -> Self {
        Self::new(FieldErrorKind::TypeInvalid, field, value, detail)
    }

    /// A field that must not be set.
    pub fn forbidden(field: impl Into<String>, detail: impl Into<String>) -> Self {
        Self::new(FieldErrorKind::Forbidden, field, Value::Null, detail)
    }

    /// A value that occurs twice.
    pub fn duplicate(field: impl Into<String>, value: impl Into<BadValue>) -> Self {
        Self::new(FieldErrorKind::Duplicate, field, value, "")
    }

    /// A string of more than `limit` bytes.
    pub fn too_long(field: impl Into<String>, limit: i64) -> Self {
        let unit = if limit == 1 { "byte" } else { "bytes" };
        let detail = if limit < 0 {
            "value is too long".to_owned()
        } else {
            format!("may not be more than {limit} {unit}")
        };
        Self::new(FieldErrorKind::TooLong, field, Value::Null, detail)
    }

    /// A list or map of `actual` entries where `limit` are allowed.
    pub fn too_many(field: impl Into<String>, actual: usize, limit: i64) -> Self {
        let unit = if limit == 1 { "item" } else { "items" };
        let detail = if limit < 0 {
            "has too many items".to_owned()
        } else {
            format!("must have at most {limit} {unit}")
        };
        Self::new(FieldErrorKind::TooMany, field, actual, detail)
    }

    /// A check that could not be made.
    pub fn internal(field: impl Into<String>, detail: impl Into<String>) -> Self {
        Self::new(FieldErrorKind::Internal, field, Value::Null, detail)
    }

    /// A value that is none of `known`.
    pub fn not_supported<'a>(
        field: impl Into<String>,
        value: impl Into<BadValue>,
        known: impl IntoIterator<Item = &'a str>,
    ) -> Self {
        let known: Vec<String> = known.into_iter().map(go_text::quote).collect();
        let detail = if known.is_empty() {
            String::new()
        } else {
            format!("supported values: {}", known.join(", "))
        };
        Self::new(FieldErrorKind::NotSupported, field, value, detail)
    }

    /// Everything but the field: the message of a cause in a Status.
    pub fn body(&self) -> String {
        let mut body = self.kind.words().to_owned();
        if let Some(shown) = self.value.shown().filter(|_| self.kind.shows_value()) {
            body.push_str(": ");
            body.push_str(&shown);
        }
        if !self.detail.is_empty() {
            body.push_str(": ");
            body.push_str(&self.detail);
        }
        body
    }
}

impl fmt::Display for FieldError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}: {}", self.field, self.body())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[track_caller]
    fn check(error: &FieldError, expected: &str) {
        assert_eq!(error.to_string(), expected);
    }

    #[test]
    fn complaints_read_as_upstream_writes_them() {
        check(&FieldError::required("spec.a", ""), "spec.a: Required value");
        check(
            &FieldError::required("metadata.name", "name or generateName is required"),
            "metadata.name: Required value: name or generateName is required",
        );
        check(
            &FieldError::invalid("spec.replicas", -1, "must be positive"),
            "spec.replicas: Invalid value: -1: must be positive",
        );
        check(
            &FieldError::not_supported("spec.type", "x", ["A", "B"]),
            r#"spec.type: Unsupported value: "x": supported values: "A", "B""#,
        );
        check(
            &FieldError::duplicate("spec.l[1]", json!("a")),
            r#"spec.l[1]: Duplicate value: "a""#,
        );
        check(&FieldError::forbidden("spec.x", "no"), "spec.x: Forbidden: no");
    }

    #[test]
    fn values_are_shown_left_out_or_counted() {
        check(
            &FieldError::invalid("spec", BadValue::Omitted, "no"),
            "spec: Invalid value: no",
        );
        check(
            &FieldError::invalid(ROOT_PATH, Value::Null, "no"),
            "<nil>: Invalid value: null: no",
        );
        check(
            &FieldError::invalid("spec.f", json!(1.0), "no"),
            "spec.f: Invalid value: 1: no",
        );
        check(
            &FieldError::too_long("spec.s", 1),
            "spec.s: Too long: may not be more than 1 byte",
        );
        check(
            &FieldError::too_many("spec.l", 3, 2),
            "spec.l: Too many: 3: must have at most 2 items",
        );
    }
}
