//! What comparisons leave out: the one table `ignored.yaml`. Nothing else may be overlooked, and each entry says why it
//! is. How it is applied is the business of [`crate::canonical`].

use serde::Deserialize;
use serde_json::Value;

/// The table.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Ignored {
    /// Headers that are not compared at all.
    pub headers: Vec<Header>,
    /// Fields whose value is replaced.
    pub fields: Vec<Field>,
    /// Parts of texts that are replaced, wherever they stand, names of fields included.
    pub texts: Vec<Text>,
    /// Lists whose order is not compared.
    #[serde(default)]
    pub orders: Vec<Order>,
}

/// A header.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Header {
    /// Its name in lower case; all that begin so.
    pub header: String,
    /// Why it is not compared.
    pub reason: String,
}

/// A field.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Field {
    /// The last parts of its path, without indices, as in `metadata.managedFields.time`.
    pub field: String,
    /// Only where the object that the path begins in holds this field too.
    #[serde(default)]
    pub beside: Option<String>,
    /// What is kept.
    #[serde(rename = "as")]
    pub keep: Keep,
    /// Why the value is replaced.
    pub reason: String,
}

/// A part of texts.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Text {
    /// A regular expression; `uid` stands for the shape of a uid.
    pub text: String,
    /// What is put in its place; `${1}` is the first group.
    #[serde(default)]
    pub replacement: Option<String>,
    /// Why it is replaced.
    pub reason: String,
}

/// A list whose items are put in order before they are compared.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Order {
    /// The last parts of its path, without indices.
    pub list: String,
    /// The fields of an item that its place depends on, all of them texts.
    pub by: Vec<String>,
    /// Why the order does not count.
    pub reason: String,
}

/// What is kept of a value that is replaced.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub enum Keep {
    /// Nothing, not even that it is there.
    Nothing,
    /// That it is there.
    Presence,
    /// That it is a time.
    Time,
    /// Its rank among the resource versions of the case.
    Rank,
}

impl Order {
    /// What an item is ordered by.
    pub(crate) fn key(&self, item: &Value) -> Vec<String> {
        let text = |name: &String| item[name].as_str().unwrap_or_default().to_owned();
        self.by.iter().map(text).collect()
    }
}
