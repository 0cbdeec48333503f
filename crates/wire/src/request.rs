//! What a request is about, from its method and address alone (apiserver, endpoints/request/requestinfo.go). Knows no
//! registry: whether such a resource is served is decided elsewhere.

use http::{Method, Uri};
use hyperplane_schema::names::path_segment;

use crate::{
    options::{ListOptions, text},
    query::{Plus, Query, percent_decode},
};

/// The prefixes under which resources are served.
const API_PREFIXES: [&str; 2] = ["api", "apis"];
/// The prefix without a group.
const CORE_PREFIX: &str = "api";
/// Words that once stood for verbs in front of a resource.
const PATH_VERBS: [&str; 2] = ["proxy", "watch"];
/// What below a namespace is part of the namespace and no resource in it.
const NAMESPACE_SUBRESOURCES: [&str; 2] = ["status", "finalize"];
/// Verbs for which selectors count when access is decided.
const VERBS_WITH_SELECTORS: [&str; 3] = ["list", "watch", "deletecollection"];

/// What a request is about.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RequestInfo {
    /// Whether it names a resource; otherwise only `path` and `verb` count.
    pub is_resource: bool,
    /// The path, decoded.
    pub path: String,
    /// `get`, `list`, `watch`, `create`, `update`, `patch`, `delete` or `deletecollection`, empty for a method without
    /// a verb; the method in lower case when no resource is named.
    pub verb: String,
    /// `api` or `apis`.
    pub api_prefix: String,
    /// The group, empty for the core group.
    pub group: String,
    /// The version.
    pub version: String,
    /// The namespace, empty for none.
    pub namespace: String,
    /// The resource.
    pub resource: String,
    /// The name, from the path or from a field selector; empty for none.
    pub name: String,
    /// What is below the object, empty for the object itself.
    pub subresource: String,
    /// Every part of the path from the resource on.
    pub parts: Vec<String>,
    /// The label selector as it was sent, where the verb has one.
    pub label_selector: String,
    /// The field selector as it was sent, where the verb has one.
    pub field_selector: String,
    /// Whether the verb stood in the path (`/api/v1/watch/pods`), which is not served.
    pub has_path_verb: bool,
    /// Whether the path cannot be decoded; such a request is answered with 400 before anything else.
    pub is_malformed: bool,
}

impl RequestInfo {
    /// Reads the method and address of a request. Never fails: what is no resource is a plain path.
    pub fn parse(method: &Method, uri: &Uri) -> Self {
        let decoded = percent_decode(uri.path(), Plus::IsPlus);
        let mut info = Self {
            is_malformed: decoded.is_none(),
            path: decoded.map_or_else(|| uri.path().to_owned(), std::borrow::Cow::into_owned),
            verb: method.as_str().to_ascii_lowercase(),
            ..Self::default()
        };
        let path = std::mem::take(&mut info.path);
        info.read_path(method, &path);
        info.path = path;
        if info.is_resource {
            info.read_query(uri.query().unwrap_or_default());
        }
        info
    }

    fn read_path(&mut self, method: &Method, path: &str) {
        let parts: Vec<&str> = path.trim_matches('/').split('/').collect();
        let Some(rest) = self.read_group(&parts) else {
            return;
        };
        self.is_resource = true;
        let Some(rest) = self.read_verb(method, rest) else {
            return;
        };
        let rest = self.read_namespace(rest);
        self.resource = rest[0].to_owned();
        self.name = part(rest, 1);
        if self.verb != "proxy" {
            self.subresource = part(rest, 2);
        }
        self.parts = rest.iter().map(|&part| part.to_owned()).collect();
    }

    /// Takes prefix, group and version off; nothing if the path is too short to name a resource.
    fn read_group<'a, 'b>(&mut self, parts: &'a [&'b str]) -> Option<&'a [&'b str]> {
        let (&prefix, rest) = parts.split_first().filter(|_| parts.len() >= 3)?;
        if !API_PREFIXES.contains(&prefix) {
            return None;
        }
        prefix.clone_into(&mut self.api_prefix);
        let rest = if prefix == CORE_PREFIX {
            rest
        } else {
            let (group, rest) = rest.split_first().filter(|_| rest.len() >= 3)?;
            (*group).clone_into(&mut self.group);
            rest
        };
        let (version, rest) = rest.split_first()?;
        (*version).clone_into(&mut self.version);
        Some(rest)
    }

    /// Decides the verb, as far as the path decides it; nothing if a verb in the path has nothing after it.
    fn read_verb<'a, 'b>(&mut self, method: &Method, parts: &'a [&'b str]) -> Option<&'a [&'b str]> {
        if PATH_VERBS.contains(&parts[0]) {
            self.has_path_verb = true;
            parts[0].clone_into(&mut self.verb);
            return (parts.len() > 1).then(|| &parts[1..]);
        }
        method_verb(method).clone_into(&mut self.verb);
        Some(parts)
    }

    /// Takes `namespaces/{namespace}` off, unless the namespace itself is meant.
    fn read_namespace<'a, 'b>(&mut self, parts: &'a [&'b str]) -> &'a [&'b str] {
        if parts[0] != "namespaces" || parts.len() < 2 {
            return parts;
        }
        parts[1].clone_into(&mut self.namespace);
        if parts.len() > 2 && !NAMESPACE_SUBRESOURCES.contains(&parts[2]) {
            &parts[2..]
        } else {
            parts
        }
    }

    fn read_query(&mut self, query: &str) {
        if self.name.is_empty() && self.verb == "get" {
            "list".clone_into(&mut self.verb);
            if !query.is_empty() {
                self.read_list_query(&Query::parse(query));
            }
        }
        if self.name.is_empty() && self.verb == "delete" {
            "deletecollection".clone_into(&mut self.verb);
        }
        if !query.is_empty() && !self.has_path_verb && VERBS_WITH_SELECTORS.contains(&self.verb.as_str()) {
            let query = Query::parse(query);
            self.label_selector = text(&query, "labelSelector");
            self.field_selector = text(&query, "fieldSelector");
        }
    }

    /// A list that is in truth a watch, or about one name. Options that do not parse still tell whether it is a watch.
    fn read_list_query(&mut self, query: &Query) {
        if query.flag("watch").unwrap_or_default() {
            "watch".clone_into(&mut self.verb);
        }
        if query.first("fieldSelector").is_none() {
            return;
        }
        let Ok(options) = ListOptions::decode(query) else {
            return;
        };
        if let Some(name) = options.field_selector.requires("metadata.name")
            && path_segment(name, false).is_empty()
        {
            name.clone_into(&mut self.name);
        }
    }
}

fn method_verb(method: &Method) -> &'static str {
    match *method {
        Method::POST => "create",
        Method::GET | Method::HEAD => "get",
        Method::PUT => "update",
        Method::PATCH => "patch",
        Method::DELETE => "delete",
        _ => "",
    }
}

fn part(parts: &[&str], index: usize) -> String {
    parts.get(index).copied().unwrap_or_default().to_owned()
}

#[cfg(test)]
mod tests;
