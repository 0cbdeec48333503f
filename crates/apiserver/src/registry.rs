//! Which resources are served right now. A registry is a value: a new one replaces it when a definition of custom
//! resources comes, changes or goes, and servers without any share one.

use std::{collections::BTreeMap, sync::Arc};

use hyperplane_kinds::{Resource, Target};
use hyperplane_merge::ResetFields;
use hyperplane_store::Revision;
use hyperplane_wire::Origin;
use tokio_util::sync::CancellationToken;

use crate::documents::Documents;

/// A resource and since when it is served as it is.
#[derive(Clone, Debug)]
pub struct Served {
    /// What is served.
    pub resource: Arc<Resource>,
    /// Its group and version, as objects name them.
    pub api_version: String,
    /// Objects that were written later need no defaults when they are read: they got them when they were written.
    pub since: Revision,
    /// Whether it comes from a definition.
    pub is_custom: bool,
    /// Whether only the server itself reaches it: its definition is there, but none of its versions is served.
    pub is_hidden: bool,
    /// Cancelled when its definition is on its way out: nothing new is created then.
    pub terminating: CancellationToken,
    /// What writes to the object cannot own.
    pub main_reset: ResetFields,
    /// What writes to its status cannot own.
    pub status_reset: ResetFields,
    /// Cancelled when it is served no longer, or differently: watches end then, and clients begin anew.
    pub gone: CancellationToken,
}

type Versions = BTreeMap<String, BTreeMap<String, Arc<Served>>>;

/// All resources that are served.
#[derive(Debug, Default)]
pub struct Registry {
    groups: BTreeMap<String, Versions>,
    definitions: BTreeMap<String, Vec<Arc<Served>>>,
    documents: Documents,
}

impl Served {
    /// A built-in resource.
    pub fn new(resource: Arc<Resource>) -> Self {
        let api_version = resource.api_version();
        let reset = |target| ResetFields::none().exclude(&api_version, resource.behaviour.reset_fields(target));
        Self {
            main_reset: if resource.has_status() {
                reset(Target::Main)
            } else {
                ResetFields::none()
            },
            status_reset: reset(Target::Status),
            since: Revision::default(),
            is_custom: false,
            is_hidden: false,
            terminating: CancellationToken::new(),
            gone: CancellationToken::new(),
            api_version,
            resource,
        }
    }

    /// A custom resource that is served since a revision.
    pub fn custom(resource: Arc<Resource>, since: Revision) -> Self {
        Self {
            since,
            is_custom: true,
            ..Self::new(resource)
        }
    }

    /// A custom resource of which no version is served.
    pub fn hidden(resource: Arc<Resource>, since: Revision) -> Self {
        Self {
            is_hidden: true,
            ..Self::custom(resource, since)
        }
    }

    /// Whether it is built in or comes from a definition, which some answers depend on.
    pub fn origin(&self) -> Origin {
        if self.is_custom {
            Origin::Custom
        } else {
            Origin::BuiltIn
        }
    }
}

impl Registry {
    /// A registry of built-in resources.
    pub fn of_built_in(resources: impl IntoIterator<Item = Arc<Resource>>) -> Self {
        let mut registry = Self::default();
        for resource in resources {
            registry.insert(Arc::new(Served::new(resource)));
        }
        registry
    }

    /// This registry with the resources of one definition in place of those it had before.
    pub fn with_definition(&self, name: &str, resources: Vec<Arc<Served>>) -> Self {
        let mut registry = self.without_definition(name);
        for served in resources.iter().filter(|served| !served.is_hidden) {
            registry.insert(Arc::clone(served));
        }
        registry.definitions.insert(name.to_owned(), resources);
        registry
    }

    /// This registry without the resources of one definition.
    pub fn without_definition(&self, name: &str) -> Self {
        let mut registry = Self {
            groups: self.groups.clone(),
            definitions: self.definitions.clone(),
            documents: Documents::default(),
        };
        for served in registry.definitions.remove(name).unwrap_or_default() {
            served.gone.cancel();
            registry.remove(&served.resource);
        }
        registry
    }

    /// The resource at a path.
    pub fn find(&self, group: &str, version: &str, plural: &str) -> Option<&Arc<Served>> {
        self.groups.get(group)?.get(version)?.get(plural)
    }

    /// The resource of a kind.
    pub fn find_kind(&self, api_version: &str, kind: &str) -> Option<&Arc<Served>> {
        let (group, version) = api_version.split_once('/').unwrap_or(("", api_version));
        let mut resources = self.groups.get(group)?.get(version)?.values();
        resources.find(|served| served.resource.kind == kind)
    }

    /// Whether built-in resources are served in a version of a group.
    pub fn is_built_in(&self, group: &str, version: &str) -> bool {
        let resources = self.groups.get(group).and_then(|versions| versions.get(version));
        resources.is_some_and(|resources| resources.values().any(|served| !served.is_custom))
    }

    /// Whether built-in resources are served in a group.
    pub fn has_built_in(&self, group: &str) -> bool {
        let versions = self.groups.get(group).into_iter().flat_map(BTreeMap::values);
        versions.flat_map(BTreeMap::values).any(|served| !served.is_custom)
    }

    /// Whether a version of a group is served.
    pub fn has_version(&self, group: &str, version: &str) -> bool {
        self.groups
            .get(group)
            .is_some_and(|versions| versions.contains_key(version))
    }

    /// Every resource, in order of group, version and name.
    pub fn all(&self) -> impl Iterator<Item = &Arc<Served>> {
        self.groups
            .values()
            .flat_map(BTreeMap::values)
            .flat_map(BTreeMap::values)
    }

    /// The resources of one definition.
    pub fn of_definition(&self, name: &str) -> &[Arc<Served>] {
        self.definitions.get(name).map(Vec::as_slice).unwrap_or_default()
    }

    /// The resources that only the server itself reaches.
    pub fn hidden(&self) -> impl Iterator<Item = &Arc<Served>> {
        self.definitions.values().flatten().filter(|served| served.is_hidden)
    }

    /// One resource per collection, in the version in which it is stored where that is served.
    pub fn stored(&self) -> Vec<&Arc<Served>> {
        let mut collections: BTreeMap<&str, &Arc<Served>> = BTreeMap::new();
        for served in self.all().chain(self.hidden()) {
            let resource = &served.resource;
            let is_storage_version = served.api_version == resource.storage_version;
            if is_storage_version || !collections.contains_key(&*resource.collection) {
                collections.insert(&resource.collection, served);
            }
        }
        collections.into_values().collect()
    }

    /// The documents about what is served.
    pub(crate) const fn documents(&self) -> &Documents {
        &self.documents
    }

    fn insert(&mut self, served: Arc<Served>) {
        let resource = &served.resource;
        let versions = self.groups.entry(resource.group.clone()).or_default();
        let resources = versions.entry(resource.version.clone()).or_default();
        resources.insert(resource.plural.clone(), served);
    }

    fn remove(&mut self, resource: &Resource) {
        let Some(versions) = self.groups.get_mut(&resource.group) else {
            return;
        };
        if let Some(resources) = versions.get_mut(&resource.version) {
            resources.remove(&resource.plural);
            if resources.is_empty() {
                versions.remove(&resource.version);
            }
        }
        if versions.is_empty() {
            self.groups.remove(&resource.group);
        }
    }
}
