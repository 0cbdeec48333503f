//! Discovery: which groups, versions and resources there are, in the aggregated form and in the older one of a document
//! for each group and version. The documents are functions of the served resources alone.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use base64::{Engine, prelude::BASE64_STANDARD};
use hyperplane_kinds::{Resource, Scope, Subresource, Verb};
use serde_json::{Value, json};
use sha2::{Digest, Sha256, Sha512};

use crate::{Origin, version};

/// Groups in the order in which upstream lists them; others follow by name.
const GROUP_ORDER: [&str; 21] = [
    "",
    "apiregistration.k8s.io",
    "apps",
    "events.k8s.io",
    "authentication.k8s.io",
    "authorization.k8s.io",
    "autoscaling",
    "batch",
    "certificates.k8s.io",
    "networking.k8s.io",
    "policy",
    "rbac.authorization.k8s.io",
    "storage.k8s.io",
    "admissionregistration.k8s.io",
    "apiextensions.k8s.io",
    "scheduling.k8s.io",
    "coordination.k8s.io",
    "node.k8s.io",
    "discovery.k8s.io",
    "resource.k8s.io",
    "flowcontrol.apiserver.k8s.io",
];

/// Verbs in the order in which upstream lists those of custom resources; those of built-in kinds are sorted by name.
const CUSTOM_VERBS: [Verb; 8] = [
    Verb::Delete,
    Verb::DeleteCollection,
    Verb::Get,
    Verb::List,
    Verb::Patch,
    Verb::Create,
    Verb::Update,
    Verb::Watch,
];

/// Everything that is served, sorted into groups and versions.
#[derive(Clone, Debug, Default)]
pub struct Catalogue {
    groups: Vec<Group>,
}

#[derive(Clone, Debug)]
struct Group {
    name: String,
    /// The preferred one first.
    versions: Vec<Version>,
}

#[derive(Clone, Debug)]
struct Version {
    name: String,
    resources: Resources,
}

type Resources = Vec<(Arc<Resource>, Origin)>;

impl Catalogue {
    /// Sorts resources into groups and versions.
    pub fn new(resources: impl IntoIterator<Item = (Arc<Resource>, Origin)>) -> Self {
        let mut sorted: BTreeMap<String, BTreeMap<String, Resources>> = BTreeMap::new();
        for (resource, origin) in resources {
            let versions = sorted.entry(resource.group.clone()).or_default();
            versions
                .entry(resource.version.clone())
                .or_default()
                .push((resource, origin));
        }
        let mut groups: Vec<Group> = sorted
            .into_iter()
            .map(|(name, versions)| group(name, versions))
            .collect();
        groups.sort_by_key(|group| {
            GROUP_ORDER
                .iter()
                .position(|known| *known == group.name)
                .unwrap_or(usize::MAX)
        });
        Self { groups }
    }

    /// The aggregated document of `/api` (the core group) or `/apis` (all others).
    pub fn aggregated(&self, is_core: bool) -> Value {
        let items = self.selected(is_core).map(Group::aggregated);
        json!({
            "kind": "APIGroupDiscoveryList",
            "apiVersion": "apidiscovery.k8s.io/v2",
            "metadata": {},
            "items": items.collect::<Vec<_>>(),
        })
    }

    /// The document of `/api`; clients reach the server under `address`.
    pub fn core_versions(&self, address: &str) -> Value {
        let versions = self
            .selected(true)
            .flat_map(|group| group.versions.iter().map(|version| version.name.as_str()));
        json!({
            "kind": "APIVersions",
            "versions": versions.collect::<Vec<_>>(),
            "serverAddressByClientCIDRs": [{"clientCIDR": "0.0.0.0/0", "serverAddress": address}],
        })
    }

    /// The document of `/apis`.
    pub fn group_list(&self) -> Value {
        let groups = self.selected(false).map(Group::legacy);
        json!({"kind": "APIGroupList", "apiVersion": "v1", "groups": groups.collect::<Vec<_>>()})
    }

    /// The document of `/apis/{group}`; nothing if there is no such group.
    pub fn group(&self, name: &str) -> Option<Value> {
        let group = self.selected(false).find(|group| group.name == name)?;
        let mut document = group.legacy();
        document["kind"] = "APIGroup".into();
        document["apiVersion"] = "v1".into();
        Some(document)
    }

    /// The document of `/api/{version}` or `/apis/{group}/{version}`; nothing if there is no such version.
    pub fn resource_list(&self, group: &str, version: &str) -> Option<Value> {
        let group = self.groups.iter().find(|known| known.name == group)?;
        let version = group.versions.iter().find(|known| known.name == version)?;
        let resources = version
            .resources
            .iter()
            .flat_map(|(resource, origin)| legacy_resources(resource, *origin));
        let mut document = json!({
            "kind": "APIResourceList",
            "groupVersion": api_version(&group.name, &version.name),
            "resources": resources.collect::<Vec<_>>(),
        });
        if !group.name.is_empty() {
            // The oldest document of all has never said its version.
            document["apiVersion"] = "v1".into();
        }
        Some(document)
    }

    /// Every group and version, the preferred version of a group first.
    pub fn group_versions(&self) -> impl Iterator<Item = (&str, &str)> {
        self.groups.iter().flat_map(|group| {
            group
                .versions
                .iter()
                .map(|version| (group.name.as_str(), version.name.as_str()))
        })
    }

    fn selected(&self, is_core: bool) -> impl Iterator<Item = &Group> {
        self.groups.iter().filter(move |group| group.name.is_empty() == is_core)
    }
}

/// The `ETag` of a document, quotes included.
pub fn etag(document: &[u8]) -> String {
    format!("\"{}\"", content_hash(document))
}

/// The hash by which discovery and OpenAPI name a content: SHA-512 in upper case.
pub fn content_hash(content: &[u8]) -> String {
    hexadecimal(&Sha512::digest(content)).to_uppercase()
}

/// Bytes as lower-case hexadecimal digits.
pub(crate) fn hexadecimal(bytes: &[u8]) -> String {
    let digit = |nibble: u8| char::from_digit(u32::from(nibble), 16).unwrap_or_default();
    bytes
        .iter()
        .flat_map(|byte| [digit(byte >> 4), digit(byte & 15)])
        .collect()
}

fn group(name: String, versions: BTreeMap<String, Resources>) -> Group {
    let mut versions: Vec<Version> = versions
        .into_iter()
        .map(|(name, mut resources)| {
            resources.sort_by(|(left, _), (right, _)| left.plural.cmp(&right.plural));
            Version { name, resources }
        })
        .collect();
    versions.sort_by(|left, right| version::compare(&left.name, &right.name));
    Group { name, versions }
}

impl Group {
    fn aggregated(&self) -> Value {
        let metadata = if self.name.is_empty() {
            json!({})
        } else {
            json!({"name": self.name})
        };
        let versions = self.versions.iter().map(|version| {
            let resources = version
                .resources
                .iter()
                .map(|(resource, origin)| aggregated_resource(resource, *origin));
            json!({
                "version": version.name,
                "resources": resources.collect::<Vec<_>>(),
                "freshness": "Current",
            })
        });
        json!({"metadata": metadata, "versions": versions.collect::<Vec<_>>()})
    }

    fn legacy(&self) -> Value {
        let versions: Vec<Value> = self
            .versions
            .iter()
            .map(|version| json!({"groupVersion": api_version(&self.name, &version.name), "version": version.name}))
            .collect();
        json!({"name": self.name, "preferredVersion": versions.first(), "versions": versions})
    }
}

fn aggregated_resource(resource: &Resource, origin: Origin) -> Value {
    let mut document = json!({
        "resource": resource.plural,
        "responseKind": response_kind(resource, &resource.group, &resource.version, &resource.kind, origin),
        "scope": match resource.scope {
            Scope::Cluster => "Cluster",
            Scope::Namespaced => "Namespaced",
        },
        "singularResource": resource.singular,
        "verbs": verb_words(resource.verbs.iter().copied(), origin),
    });
    add_names(&mut document, resource);
    let subresources = subresources(resource, origin).into_iter().map(|subresource| {
        let Subresource {
            name,
            kind,
            group,
            version,
            ..
        } = subresource;
        json!({
            "subresource": name,
            "responseKind": response_kind(resource, group, version, kind, origin),
            "verbs": sorted_words(subresource),
        })
    });
    let subresources: Vec<Value> = subresources.collect();
    if !subresources.is_empty() {
        document["subresources"] = subresources.into();
    }
    document
}

/// The kind of an answer. Built-in kinds leave out what the document around them says.
fn response_kind(resource: &Resource, group: &str, version: &str, kind: &str, origin: Origin) -> Value {
    let is_own = group == resource.group && version == resource.version;
    if is_own && origin == Origin::BuiltIn {
        json!({"group": "", "version": "", "kind": kind})
    } else {
        json!({"group": group, "version": version, "kind": kind})
    }
}

fn legacy_resources(resource: &Resource, origin: Origin) -> Vec<Value> {
    let mut main = json!({
        "name": resource.plural,
        "singularName": resource.singular,
        "namespaced": resource.is_namespaced(),
        "kind": resource.kind,
        "verbs": verb_words(resource.verbs.iter().copied(), origin),
    });
    add_names(&mut main, resource);
    if resource.verbs.is_superset(&BTreeSet::from([Verb::Create, Verb::List])) {
        main["storageVersionHash"] = storage_version_hash(resource).into();
    }
    let mut documents = vec![main];
    for subresource in subresources(resource, origin) {
        let mut document = json!({
            "name": format!("{}/{}", resource.plural, subresource.name),
            "singularName": "",
            "namespaced": resource.is_namespaced(),
            "kind": subresource.kind,
            "verbs": sorted_words(subresource),
        });
        if (&subresource.group, &subresource.version) != (&resource.group, &resource.version) {
            document["group"] = subresource.group.as_str().into();
            document["version"] = subresource.version.as_str().into();
        }
        documents.push(document);
    }
    documents
}

fn add_names(document: &mut Value, resource: &Resource) {
    if !resource.short_names.is_empty() {
        document["shortNames"] = resource.short_names.clone().into();
    }
    if !resource.categories.is_empty() {
        document["categories"] = resource.categories.clone().into();
    }
}

/// Subresources by name, except that upstream lists those of custom resources as it made them: status, then scale.
fn subresources(resource: &Resource, origin: Origin) -> Vec<&Subresource> {
    let mut subresources: Vec<&Subresource> = resource.subresources.iter().collect();
    subresources.sort_by(|left, right| left.name.cmp(&right.name));
    if origin == Origin::Custom {
        subresources.reverse();
    }
    subresources
}

fn verb_words(verbs: impl Iterator<Item = Verb>, origin: Origin) -> Vec<&'static str> {
    let mut verbs: Vec<Verb> = verbs.collect();
    match origin {
        Origin::BuiltIn => verbs.sort_by_key(|verb| verb.word()),
        Origin::Custom => verbs.sort_by_key(|verb| CUSTOM_VERBS.iter().position(|known| known == verb)),
    }
    verbs.into_iter().map(Verb::word).collect()
}

fn sorted_words(subresource: &Subresource) -> Vec<&'static str> {
    verb_words(subresource.verbs.iter().copied(), Origin::BuiltIn)
}

/// What tells clients that two versions are stored alike (apiserver, discovery/storageversionhash.go).
fn storage_version_hash(resource: &Resource) -> String {
    let version = resource.storage_version.rsplit('/').next().unwrap_or_default();
    let group = resource
        .storage_version
        .strip_suffix(version)
        .unwrap_or_default()
        .trim_end_matches('/');
    let digest = Sha256::digest(format!("{group}/{version}/{}", resource.kind));
    BASE64_STANDARD.encode(&digest[..8])
}

fn api_version(group: &str, version: &str) -> String {
    if group.is_empty() {
        version.to_owned()
    } else {
        format!("{group}/{version}")
    }
}

#[cfg(test)]
mod tests;
