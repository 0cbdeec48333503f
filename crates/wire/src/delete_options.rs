//! The options of a DELETE: from the body if there is one, else from the query, as upstream does. Knows nothing of what
//! a deletion does.

use hyperplane_schema::FieldError;
use serde_json::{Map, Value};

use crate::{
    Failure, Query, decode,
    negotiate::BodyFormat,
    options::{dry_run_error, integer},
};

/// What happens to dependents.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DeletionPropagation {
    /// They stay.
    Orphan,
    /// They go after the owner.
    Background,
    /// They go before the owner.
    Foreground,
}

impl DeletionPropagation {
    const WORDS: [(&'static str, Self); 3] = [
        ("Foreground", Self::Foreground),
        ("Background", Self::Background),
        ("Orphan", Self::Orphan),
    ];

    /// The policy of a word.
    pub fn from_word(word: &str) -> Option<Self> {
        Self::WORDS
            .into_iter()
            .find(|(known, _)| *known == word)
            .map(|(_, policy)| policy)
    }
}

/// What must hold for an object to be deleted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Preconditions {
    /// The uid that the object must have.
    pub uid: Option<String>,
    /// The revision that the object must have.
    pub resource_version: Option<String>,
}

/// The options of a DELETE.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DeleteOptions {
    /// Whether nothing is to be stored.
    pub dry_run: bool,
    /// How long the object may take to end, in seconds; negative counts as one second upstream.
    pub grace_period_seconds: Option<i64>,
    /// What must hold.
    pub preconditions: Preconditions,
    /// What happens to dependents.
    pub propagation_policy: Option<DeletionPropagation>,
    /// The old form of the policy.
    pub orphan_dependents: Option<bool>,
}

impl DeleteOptions {
    /// Reads and checks the options. A body wins over the query as a whole.
    pub fn parse(query: &str, body: &[u8], format: BodyFormat) -> Result<Self, Failure> {
        let fields = if body.is_empty() {
            Fields::from_query(&Query::parse(query))?
        } else {
            Fields::from_body(body, format)?
        };
        fields.check()
    }
}

fn named(query: &Query, name: &str) -> Option<String> {
    query.first(name).filter(|value| !value.is_empty()).map(str::to_owned)
}

/// The options as they came.
#[derive(Debug, Default)]
struct Fields {
    dry_run: Vec<String>,
    grace_period_seconds: Option<i64>,
    preconditions: Preconditions,
    propagation_policy: Option<String>,
    orphan_dependents: Option<bool>,
}

impl Fields {
    fn from_query(query: &Query) -> Result<Self, Failure> {
        Ok(Self {
            dry_run: query.all("dryRun").map(str::to_owned).collect(),
            grace_period_seconds: integer(query, "gracePeriodSeconds")?,
            propagation_policy: query.first("propagationPolicy").map(str::to_owned),
            orphan_dependents: query.flag("orphanDependents"),
            preconditions: Preconditions {
                uid: named(query, "uid"),
                resource_version: named(query, "resourceVersion"),
            },
        })
    }

    fn from_body(body: &[u8], format: BodyFormat) -> Result<Self, Failure> {
        let decoded = decode::decode(body, format).map_err(|error| Failure::bad_request(error.to_string()))?;
        let object = match decoded.value {
            Value::Null => Map::new(),
            Value::Object(object) => object,
            other => return Err(Failure::bad_request(decode::no_object(&other))),
        };
        check_kind(&object)?;
        Self::from_object(&object).map_err(|mismatch| Failure::bad_request(mismatch.to_string()))
    }

    fn from_object(object: &Map<String, Value>) -> Result<Self, Mismatch> {
        let root = Reader {
            object,
            structure: "DeleteOptions",
            prefix: "",
        };
        let mut fields = Self {
            grace_period_seconds: root.integer("gracePeriodSeconds")?,
            propagation_policy: root.text("propagationPolicy", "v1.DeletionPropagation")?,
            orphan_dependents: root.boolean("orphanDependents")?,
            dry_run: root.texts("dryRun")?,
            ..Self::default()
        };
        if let Some(object) = root.object("preconditions", "v1.Preconditions")? {
            let reader = Reader {
                object,
                structure: "Preconditions",
                prefix: "preconditions.",
            };
            fields.preconditions.uid = reader.text("uid", "types.UID")?;
            fields.preconditions.resource_version = reader.text("resourceVersion", "string")?;
        }
        Ok(fields)
    }

    fn check(self) -> Result<DeleteOptions, Failure> {
        let field = "propagationPolicy";
        let mut errors = Vec::new();
        let policy = self
            .propagation_policy
            .as_deref()
            .and_then(DeletionPropagation::from_word);
        if let Some(word) = &self.propagation_policy {
            if self.orphan_dependents.is_some() {
                let detail = "orphanDependents and deletionPropagation cannot be both set";
                errors.push(FieldError::invalid(field, word.as_str(), detail));
            }
            if policy.is_none() {
                let known = ["Foreground", "Background", "Orphan", "nil"];
                errors.push(FieldError::not_supported(field, word.as_str(), known));
            }
        }
        let words: Vec<&str> = self.dry_run.iter().map(String::as_str).collect();
        errors.extend(dry_run_error(&words));
        if !errors.is_empty() {
            return Err(Failure::invalid_options("DeleteOptions", &errors));
        }
        Ok(DeleteOptions {
            dry_run: !self.dry_run.is_empty(),
            grace_period_seconds: self.grace_period_seconds,
            preconditions: self.preconditions,
            propagation_policy: policy,
            orphan_dependents: self.orphan_dependents,
        })
    }
}

/// DeleteOptions are accepted in any group, for old clients; another kind is not.
fn check_kind(object: &Map<String, Value>) -> Result<(), Failure> {
    let kind = object.get("kind").and_then(Value::as_str).unwrap_or_default();
    if kind.is_empty() || kind == "DeleteOptions" {
        return Ok(());
    }
    let version = object.get("apiVersion").and_then(Value::as_str).unwrap_or_default();
    Err(Failure::bad_request(decode::unregistered(kind, version)))
}

/// A field of the wrong type, in the words of Go's decoder.
#[derive(Debug)]
struct Mismatch {
    found: String,
    field: String,
    wanted: &'static str,
}

impl std::fmt::Display for Mismatch {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { found, field, wanted } = self;
        write!(
            formatter,
            "json: cannot unmarshal {found} into Go struct field {field} of type {wanted}"
        )
    }
}

/// Reads typed fields of one object. A null counts as absent.
struct Reader<'a> {
    object: &'a Map<String, Value>,
    structure: &'static str,
    prefix: &'static str,
}

impl<'a> Reader<'a> {
    fn field<T>(
        &self,
        name: &str,
        wanted: &'static str,
        read: impl Fn(&'a Value) -> Option<T>,
    ) -> Result<Option<T>, Mismatch> {
        match self.object.get(name) {
            None | Some(Value::Null) => Ok(None),
            Some(value) => read(value).map(Some).ok_or_else(|| Mismatch {
                found: found(value, wanted),
                field: format!("{}.{}{name}", self.structure, self.prefix),
                wanted,
            }),
        }
    }

    fn text(&self, name: &str, wanted: &'static str) -> Result<Option<String>, Mismatch> {
        self.field(name, wanted, |value| value.as_str().map(str::to_owned))
    }

    fn integer(&self, name: &str) -> Result<Option<i64>, Mismatch> {
        self.field(name, "int64", Value::as_i64)
    }

    fn boolean(&self, name: &str) -> Result<Option<bool>, Mismatch> {
        self.field(name, "bool", Value::as_bool)
    }

    fn object(&self, name: &str, wanted: &'static str) -> Result<Option<&'a Map<String, Value>>, Mismatch> {
        self.field(name, wanted, Value::as_object)
    }

    fn texts(&self, name: &str) -> Result<Vec<String>, Mismatch> {
        let list = self.field(name, "[]string", Value::as_array)?;
        list.into_iter()
            .flatten()
            .map(|value| {
                value.as_str().map(str::to_owned).ok_or_else(|| Mismatch {
                    found: found(value, "string"),
                    field: format!("{}.{}{name}", self.structure, self.prefix),
                    wanted: "string",
                })
            })
            .collect()
    }
}

/// What was found; Go quotes a number only where another number was wanted.
fn found(value: &Value, wanted: &str) -> String {
    match value {
        Value::Number(number) if wanted == "int64" => format!("number {number}"),
        other => decode::type_word(other).to_owned(),
    }
}

#[cfg(test)]
mod tests;
