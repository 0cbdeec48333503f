//! Tables of rules: for each a manifest that holds and one that breaks it, and the field that the server must name.

use std::collections::BTreeMap;

use anyhow::{Context as _, Result};
use serde::Deserialize;
use serde_json::{Map, Value};

/// The rules of one kind.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RuleTable {
    /// The kind.
    pub kind: String,
    /// The group and version.
    #[serde(rename = "apiVersion")]
    pub api_version: String,
    /// Complete specs (and statuses) that are accepted, by name.
    pub bases: BTreeMap<String, Value>,
    /// The rules.
    pub cases: Vec<Case>,
}

/// One rule.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Case {
    /// What the rule asks for.
    pub rule: String,
    /// The base that the manifests start from.
    pub base: String,
    /// When the manifests are judged.
    #[serde(default)]
    pub when: When,
    /// Changes to the base before anything else; for an update, what is created first.
    #[serde(default)]
    pub given: Value,
    /// A change that the rule allows; none means the base itself.
    #[serde(default)]
    pub holds: Value,
    /// A change that breaks the rule.
    pub breaks: Value,
    /// The field that the server names.
    pub field: String,
}

/// When a manifest is judged.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum When {
    /// On creation.
    #[default]
    Create,
    /// On an update of what `given` created.
    Update,
    /// On a write to the status.
    Status,
}

impl RuleTable {
    /// Reads a table.
    pub fn parse(text: &str) -> Result<Self> {
        // Tables are ours and name their bases again and again.
        let options = serde_saphyr::options! { budget: serde_saphyr::budget! { enforce_alias_anchor_ratio: false } };
        serde_saphyr::from_str_with_options(text, options).context("a rule table")
    }

    /// Whether cases of the table meet in one object: a kind with a single instance fixes its name.
    pub fn has_fixed_names(&self) -> bool {
        self.bases.values().any(|base| !base["metadata"]["name"].is_null())
    }

    /// The manifest of a case after `given`.
    pub fn given(&self, case: &Case) -> Result<Value> {
        let mut manifest = self
            .bases
            .get(&case.base)
            .with_context(|| {
                format!(
                    "rule \"{}\" names base \"{}\", which does not exist",
                    case.rule, case.base
                )
            })?
            .clone();
        merge(&mut manifest, &case.given);
        manifest["apiVersion"] = self.api_version.clone().into();
        manifest["kind"] = self.kind.clone().into();
        Ok(manifest)
    }
}

/// Merges a patch into a document by RFC 7386: objects merge, null removes, everything else replaces.
pub fn merge(document: &mut Value, patch: &Value) {
    let Value::Object(patch) = patch else {
        if !patch.is_null() {
            *document = patch.clone();
        }
        return;
    };
    if !document.is_object() {
        *document = Value::Object(Map::new());
    }
    if let Value::Object(fields) = document {
        for (name, change) in patch {
            if change.is_null() {
                fields.remove(name);
            } else {
                merge(fields.entry(name.clone()).or_insert(Value::Null), change);
            }
        }
    }
}
