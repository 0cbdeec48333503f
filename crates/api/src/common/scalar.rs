//! Numbers and times with Kubernetes' own spelling.

use std::{borrow::Cow, fmt, str::FromStr, time::Duration};

use k8s_openapi::apimachinery::pkg::util::intstr;
use schemars::{Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};

use crate::{
    schema::{self, JsonSchema},
    text::InvalidText,
};

/// An integer or a string such as a percentage, written back as it was read.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(transparent)]
pub struct IntOrString(pub intstr::IntOrString);

impl From<i32> for IntOrString {
    fn from(number: i32) -> Self {
        Self(intstr::IntOrString::Int(number))
    }
}

impl From<&str> for IntOrString {
    fn from(text: &str) -> Self {
        Self(intstr::IntOrString::String(text.to_owned()))
    }
}

#[cfg(test)]
impl JsonSchema for IntOrString {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "IntOrString".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        schema::int_or_string(None)
    }
}

/// The grammar of a quantity: a signed decimal with a binary, decimal or exponent suffix.
const QUANTITY_PATTERN: &str = r"^(\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))(([KMGTPE]i)|[numkMGTPE]|([eE](\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))))?$";

/// An amount with a unit, such as `8Gi` or `500m`, written back as it was read.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(untagged)]
pub enum Quantity {
    /// A whole number without a unit.
    Number(i64),
    /// A number with a unit.
    Text(String),
}

impl From<&str> for Quantity {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl fmt::Display for Quantity {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Number(number) => fmt::Display::fmt(number, formatter),
            Self::Text(text) => formatter.pad(text),
        }
    }
}

#[cfg(test)]
impl JsonSchema for Quantity {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "Quantity".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        schema::int_or_string(Some(QUANTITY_PATTERN))
    }
}

/// A length of time as Go writes it, such as `20m` or `1h30m`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(transparent)]
pub struct GoDuration(String);

impl GoDuration {
    /// The text on the wire.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The length of time, or why the text is none. A negative one is refused: nothing waits backwards.
    pub fn to_duration(&self) -> Result<Duration, InvalidText> {
        let refuse = |rule: &str| InvalidText::new("duration", &self.0, rule);
        let parsed = kube::core::Duration::from_str(&self.0)
            .map_err(|_| refuse("must be numbers with units, such as 90s, 20m or 1h30m"))?;
        if parsed.is_negative() {
            return Err(refuse("must not be negative"));
        }
        Ok(Duration::from(parsed))
    }
}

impl FromStr for GoDuration {
    type Err = InvalidText;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let duration = Self(text.to_owned());
        duration.to_duration().map(|_| duration)
    }
}

/// Describes [`k8s_openapi::apimachinery::pkg::apis::meta::v1::Time`].
pub struct TimeSchema;

#[cfg(test)]
impl JsonSchema for TimeSchema {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "Time".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({"type": "string", "format": "date-time"})
    }
}
