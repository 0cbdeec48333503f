//! Fields that a write cannot own, because the server resets them: status through the main resource, all else through
//! a subresource.

use std::collections::BTreeMap;

use crate::{
    element::Element,
    set::{Node, Set},
};

/// The step of a pattern that stands for any element.
const ANY: &str = "*";

/// Per version, the fields that are not owned by writes through one resource or subresource.
#[derive(Clone, Debug, Default)]
pub struct ResetFields {
    versions: BTreeMap<String, Reset>,
}

#[derive(Clone, Debug)]
enum Reset {
    /// These paths and all under them are reset.
    Exclude(Vec<Vec<String>>),
    /// Everything but what these patterns lead to is reset.
    Include(Vec<Vec<String>>),
}

impl ResetFields {
    /// Nothing is reset.
    pub fn none() -> Self {
        Self::default()
    }

    /// In this version, these paths and all that lies under them are reset.
    pub fn exclude(mut self, api_version: &str, paths: &[&[&str]]) -> Self {
        self.versions
            .insert(api_version.to_owned(), Reset::Exclude(owned(paths)));
        self
    }

    /// In this version, everything is reset but what these paths lead to; `*` stands for any list item or field.
    pub fn include(mut self, api_version: &str, paths: &[&[&str]]) -> Self {
        self.versions
            .insert(api_version.to_owned(), Reset::Include(owned(paths)));
        self
    }

    /// Takes what is reset out of a set of changes.
    pub(crate) fn filter(&self, api_version: &str, set: &mut Set<'_>) {
        match self.versions.get(api_version) {
            None => {}
            Some(Reset::Exclude(paths)) => {
                let mut excluded = Set::default();
                for path in paths {
                    let path: Vec<&str> = path.iter().map(String::as_str).collect();
                    excluded.insert_fields(&path);
                }
                set.subtract_trees(&excluded);
            }
            Some(Reset::Include(patterns)) => {
                let patterns: Vec<&[String]> = patterns.iter().map(Vec::as_slice).collect();
                keep(set, &patterns);
            }
        }
    }
}

fn owned(paths: &[&[&str]]) -> Vec<Vec<String>> {
    paths
        .iter()
        .map(|path| path.iter().map(|&step| step.to_owned()).collect())
        .collect()
}

/// Keeps what the patterns lead to. What lies on the way to it is kept too, as upstream's matchers do.
fn keep(set: &mut Set<'_>, patterns: &[&[String]]) {
    if patterns.iter().any(|pattern| pattern.is_empty()) {
        return;
    }
    set.nodes.retain_mut(|node| {
        let matching: Vec<&[String]> = patterns
            .iter()
            .filter(|pattern| leads_to(node, pattern))
            .map(|pattern| &pattern[1..])
            .collect();
        if matching.is_empty() {
            return false;
        }
        keep(&mut node.children, &matching);
        node.member || !node.children.is_empty()
    });
}

fn leads_to(node: &Node<'_>, pattern: &[String]) -> bool {
    pattern[0] == ANY || matches!(node.element, Element::Field(name) if name == pattern[0])
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::set::{decode, encode};

    fn check(reset: &ResetFields, fields: &Value, expected: &Value) {
        let mut set = decode(fields).unwrap().set;
        reset.filter("v1", &mut set);
        assert_eq!(encode(&set), *expected);
    }

    #[test]
    fn excluded_paths_go_with_all_under_them() {
        let reset = ResetFields::none().exclude("v1", &[&["status"], &["metadata", "labels"]]);
        let fields = json!({
            "f:metadata": {"f:labels": {"f:a": {}}, "f:annotations": {"f:a": {}}},
            "f:spec": {"f:status": {}},
            "f:status": {".": {}, "f:phase": {}},
        });
        check(
            &reset,
            &fields,
            &json!({"f:metadata": {"f:annotations": {"f:a": {}}}, "f:spec": {"f:status": {}}}),
        );
    }

    #[test]
    fn included_patterns_keep_only_what_they_lead_to() {
        let reset = ResetFields::none().include("v1", &[&["spec", "containers", "*", "resources"], &["spec", "other"]]);
        let fields = json!({
            "f:metadata": {"f:labels": {"f:a": {}}},
            "f:spec": {
                "f:containers": {
                    "k:{\"name\":\"a\"}": {".": {}, "f:image": {}, "f:resources": {"f:limits": {}}},
                    "k:{\"name\":\"b\"}": {"f:image": {}},
                },
                "f:other": {"f:deep": {}},
            },
        });
        let expected = json!({
            "f:spec": {
                "f:containers": {"k:{\"name\":\"a\"}": {".": {}, "f:resources": {"f:limits": {}}}},
                "f:other": {"f:deep": {}},
            },
        });
        check(&reset, &fields, &expected);
    }

    #[test]
    fn other_versions_are_left_alone() {
        let reset = ResetFields::none().exclude("v2", &[&["status"]]);
        check(&reset, &json!({"f:status": {}}), &json!({"f:status": {}}));
    }
}
