//! One served resource as data: how it is named, addressed, listed, selected and stored.

use std::{collections::BTreeSet, sync::Arc};

use crate::Behaviour;

/// Whether objects live in namespaces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// One of a name in the cluster.
    Cluster,
    /// One of a name in each namespace.
    Namespaced,
}

/// What a client can ask of a resource.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Verb {
    /// POST.
    Create,
    /// DELETE of one object.
    Delete,
    /// DELETE of all that a selector finds.
    DeleteCollection,
    /// GET of one object.
    Get,
    /// GET of all.
    List,
    /// PATCH.
    Patch,
    /// PUT.
    Update,
    /// GET of changes.
    Watch,
}

impl Verb {
    /// Every verb, in the order in which discovery lists them.
    pub const ALL: [Self; 8] = [
        Self::Create,
        Self::Delete,
        Self::DeleteCollection,
        Self::Get,
        Self::List,
        Self::Patch,
        Self::Update,
        Self::Watch,
    ];

    /// The word in discovery, in rules and in audit lines.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Create => "create",
            Self::Delete => "delete",
            Self::DeleteCollection => "deletecollection",
            Self::Get => "get",
            Self::List => "list",
            Self::Patch => "patch",
            Self::Update => "update",
            Self::Watch => "watch",
        }
    }
}

/// A path below an object, such as `status` or `eviction`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Subresource {
    /// The last part of the path.
    pub name: String,
    /// The kind that is sent and received: the resource's own for `status`, `Scale`, `Eviction`, `TokenRequest`.
    pub kind: String,
    /// The group of that kind.
    pub group: String,
    /// The version of that kind.
    pub version: String,
    /// What can be asked of it.
    pub verbs: BTreeSet<Verb>,
}

/// Where a scalable object keeps its numbers, as paths of field names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScalePaths {
    /// The wish.
    pub specification: Vec<String>,
    /// The count.
    pub status: Vec<String>,
    /// The selector of what is counted, as a string, if there is one.
    pub selector: Option<Vec<String>>,
}

/// One column of a table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Column {
    /// The header.
    pub name: String,
    /// `string`, `integer`, `number`, `boolean` or `date`.
    pub kind: String,
    /// The format, which is `name` for the name.
    pub format: String,
    /// What the column shows.
    pub description: String,
    /// 0 for columns that are always shown; others only by `-o wide`.
    pub priority: i32,
}

/// A field that a field selector may name, besides `metadata.name` and `metadata.namespace`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SelectableField {
    /// What clients write.
    pub label: String,
    /// Where the value is; several where the first that is set counts.
    pub paths: Vec<Vec<String>>,
    /// What an absent value reads as.
    pub default: String,
}

/// What happens to dependents when a client does not say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Propagation {
    /// They are collected after the owner is gone.
    Background,
    /// They stay.
    Orphan,
}

/// A resource of one group and version.
#[derive(Clone, Debug)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a fact of its own that upstream decides per kind"
)]
pub struct Resource {
    /// The API group, empty for the core group.
    pub group: String,
    /// The version.
    pub version: String,
    /// The name in paths.
    pub plural: String,
    /// The name of one.
    pub singular: String,
    /// The kind of an object.
    pub kind: String,
    /// The kind of a list.
    pub list_kind: String,
    /// What kubectl accepts in place of the plural.
    pub short_names: Vec<String>,
    /// Groups of resources, such as `all`.
    pub categories: Vec<String>,
    /// Whether objects live in namespaces.
    pub scope: Scope,
    /// What can be asked of it.
    pub verbs: BTreeSet<Verb>,
    /// The paths below an object.
    pub subresources: Vec<Subresource>,
    /// Where a scalable object keeps its numbers.
    pub scale: Option<ScalePaths>,
    /// The columns of a table, the name included.
    pub columns: Vec<Column>,
    /// The fields that a selector may name.
    pub selectable_fields: Vec<SelectableField>,
    /// Under which name objects are stored. Versions of one resource share it, and so do the two groups of Events.
    pub collection: Arc<str>,
    /// The `apiVersion` that stored objects carry.
    pub storage_version: String,
    /// Whether spec changes are counted in `metadata.generation`.
    pub has_generation: bool,
    /// Whether PUT of an absent name creates it.
    pub creates_on_update: bool,
    /// Whether PUT without a resourceVersion overwrites.
    pub allows_unconditional_update: bool,
    /// What happens to dependents when a client does not say.
    pub default_propagation: Propagation,
    /// Whether a deletion answers with the object in place of a Status.
    pub returns_deleted: bool,
    /// The text of the warning that every request gets, for versions on their way out.
    pub deprecation: Option<String>,
    /// What its objects do differently from others.
    pub behaviour: Arc<dyn Behaviour>,
}

impl Resource {
    /// `group/version`, or the version alone in the core group.
    pub fn api_version(&self) -> String {
        if self.group.is_empty() {
            self.version.clone()
        } else {
            format!("{}/{}", self.group, self.version)
        }
    }

    /// `plural.group`, as messages name a resource; the plural alone in the core group.
    pub fn qualified(&self) -> String {
        if self.group.is_empty() {
            self.plural.clone()
        } else {
            format!("{}.{}", self.plural, self.group)
        }
    }

    /// Whether its objects live in namespaces.
    pub fn is_namespaced(&self) -> bool {
        self.scope == Scope::Namespaced
    }

    /// The subresource of this name.
    pub fn subresource(&self, name: &str) -> Option<&Subresource> {
        self.subresources.iter().find(|subresource| subresource.name == name)
    }

    /// Whether objects are answered and never stored, as questions about access are.
    pub fn is_virtual(&self) -> bool {
        !self.verbs.contains(&Verb::Get) && !self.verbs.contains(&Verb::List)
    }

    /// Whether status is written by a path of its own.
    pub fn has_status(&self) -> bool {
        self.subresource("status").is_some()
    }
}
