//! One rule of a role: what it says and which requests it allows. Knows nothing of who holds it.

use serde_json::{Map, Value, json};

use crate::{Attributes, object, text::quote_list};

/// Stands for every verb, group, resource or path.
const ALL: &str = "*";

/// A rule of a Role or ClusterRole.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Rule {
    /// What may be done.
    pub verbs: Vec<String>,
    /// In which groups.
    pub groups: Vec<String>,
    /// On which resources and subresources.
    pub resources: Vec<String>,
    /// On which objects; on all when empty.
    pub names: Vec<String>,
    /// On which paths.
    pub urls: Vec<String>,
}

impl Rule {
    /// The rules of a Role or ClusterRole.
    pub fn of_role(role: &Value) -> Vec<Self> {
        object::list(role, &["rules"]).iter().map(Self::from_value).collect()
    }

    /// Reads a `PolicyRule`.
    pub fn from_value(rule: &Value) -> Self {
        Self {
            verbs: object::texts(rule, &["verbs"]),
            groups: object::texts(rule, &["apiGroups"]),
            resources: object::texts(rule, &["resources"]),
            names: object::texts(rule, &["resourceNames"]),
            urls: object::texts(rule, &["nonResourceURLs"]),
        }
    }

    /// Writes a `PolicyRule`; what is empty is left out, except the verbs.
    pub fn to_value(&self) -> Value {
        let mut value = Map::new();
        for (key, texts) in self.fields() {
            if !texts.is_empty() {
                value.insert(key.to_owned(), json!(texts));
            }
        }
        value.insert("verbs".to_owned(), json!(self.verbs));
        Value::Object(value)
    }

    /// Whether the rule allows the request.
    pub fn allows(&self, attributes: &Attributes<'_>) -> bool {
        has(&self.verbs, attributes.verb)
            && if attributes.is_resource {
                self.allows_object(attributes)
            } else {
                self.allows_path(attributes.path)
            }
    }

    /// How a message about missing rights prints the rule.
    pub fn compact(&self) -> String {
        let names = ["APIGroups", "Resources", "NonResourceURLs", "ResourceNames"];
        let lists = [&self.groups, &self.resources, &self.urls, &self.names];
        let mut parts: Vec<String> = Vec::new();
        for (name, list) in names.into_iter().zip(lists).chain([("Verbs", &self.verbs)]) {
            if !list.is_empty() {
                parts.push(format!("{name}:{}", quote_list(list)));
            }
        }
        format!("{{{}}}", parts.join(", "))
    }

    const fn fields(&self) -> [(&'static str, &Vec<String>); 4] {
        [
            ("apiGroups", &self.groups),
            ("nonResourceURLs", &self.urls),
            ("resourceNames", &self.names),
            ("resources", &self.resources),
        ]
    }

    fn allows_object(&self, attributes: &Attributes<'_>) -> bool {
        has(&self.groups, attributes.group)
            && self
                .resources
                .iter()
                .any(|resource| matches(resource, attributes.resource, attributes.subresource))
            && (self.names.is_empty() || self.names.iter().any(|name| name == attributes.name))
    }

    fn allows_path(&self, path: &str) -> bool {
        self.urls.iter().any(|url| url_covers(url, path))
    }
}

/// Whether the list holds the text, or the star.
pub(crate) fn has(list: &[String], text: &str) -> bool {
    list.iter().any(|entry| entry == ALL || entry == text)
}

/// Whether an entry of `nonResourceURLs` covers a path or another entry.
pub(crate) fn url_covers(url: &str, path: &str) -> bool {
    url == path || (url.ends_with('*') && path.starts_with(url.trim_end_matches('*')))
}

/// Whether an entry of `resources` means the resource: all, itself, or its subresource under any resource.
fn matches(entry: &str, resource: &str, subresource: &str) -> bool {
    if entry == ALL {
        return true;
    }
    if subresource.is_empty() {
        return entry == resource;
    }
    let Some(parent) = entry.strip_suffix(subresource).and_then(|rest| rest.strip_suffix('/')) else {
        return false;
    };
    parent == ALL || parent == resource
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::User;

    fn rule(verbs: &[&str], groups: &[&str], resources: &[&str], names: &[&str], urls: &[&str]) -> Rule {
        let owned = |texts: &[&str]| texts.iter().map(|&text| text.to_owned()).collect();
        Rule {
            verbs: owned(verbs),
            groups: owned(groups),
            resources: owned(resources),
            names: owned(names),
            urls: owned(urls),
        }
    }

    #[test]
    fn rules_allow_what_upstream_lets_them_allow() {
        let user = User::default();
        let pods = Attributes::resource(&user, "get", "", "pods", "a", "p");
        let log = Attributes {
            subresource: "log",
            ..pods
        };
        let list = Attributes {
            verb: "list",
            name: "",
            ..pods
        };
        let cases = [
            (rule(&["get"], &[""], &["pods"], &[], &[]), true, false, false),
            (rule(&["*"], &["*"], &["*"], &[], &[]), true, true, true),
            (rule(&["*"], &["*"], &["pods/log"], &[], &[]), false, true, false),
            (rule(&["*"], &["*"], &["*/log"], &[], &[]), false, true, false),
            (rule(&["*"], &["*"], &["pods/*"], &[], &[]), false, false, false),
            (rule(&["*"], &["apps"], &["pods"], &[], &[]), false, false, false),
            (rule(&["*"], &[""], &["pods"], &["p"], &[]), true, false, false),
            (rule(&["*"], &[""], &["pods"], &["q"], &[]), false, false, false),
            (rule(&["*"], &["*"], &[], &[], &["*"]), false, false, false),
        ];
        for (rule, get, subresource, all) in cases {
            let answers = (rule.allows(&pods), rule.allows(&log), rule.allows(&list));
            assert_eq!(answers, (get, subresource, all), "{}", rule.compact());
        }
    }

    #[test]
    fn paths_are_matched_by_their_beginning() {
        let user = User::default();
        let cases = [
            ("*", true),
            ("/healthz/*", true),
            ("/healthz/etcd", true),
            ("/healthz", false),
            ("/heal", false),
        ];
        for (url, expected) in cases {
            let attributes = Attributes::path(&user, "get", "/healthz/etcd");
            assert_eq!(
                rule(&["get"], &[], &[], &[], &[url]).allows(&attributes),
                expected,
                "{url}"
            );
        }
    }

    #[test]
    fn a_rule_is_printed_as_upstream_prints_it() {
        let secrets = rule(&["get", "list"], &[""], &["secrets"], &["a"], &[]);
        assert_eq!(
            secrets.compact(),
            r#"{APIGroups:[""], Resources:["secrets"], ResourceNames:["a"], Verbs:["get" "list"]}"#
        );
        assert_eq!(
            rule(&["get"], &[], &[], &[], &["/x"]).compact(),
            r#"{NonResourceURLs:["/x"], Verbs:["get"]}"#
        );
    }

    #[test]
    fn a_rule_survives_being_written_and_read() {
        let written = json!({"apiGroups": [""], "resources": ["secrets"], "resourceNames": ["a"], "verbs": ["get"]});
        assert_eq!(Rule::from_value(&written).to_value(), written);
    }
}
