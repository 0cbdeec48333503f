//! Names of kinds and resources together with their group, as messages write them.

use std::fmt;

use hyperplane_kinds::Resource;

/// A resource of a group, in whatever version.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GroupResource {
    /// The group, empty for the core group.
    pub group: String,
    /// The plural; empty where a message is about no resource.
    pub resource: String,
}

impl GroupResource {
    /// The resource of a group.
    pub fn new(group: impl Into<String>, resource: impl Into<String>) -> Self {
        Self {
            group: group.into(),
            resource: resource.into(),
        }
    }

    /// The group and plural of a served resource.
    pub fn of(resource: &Resource) -> Self {
        Self::new(&resource.group, &resource.plural)
    }
}

impl fmt::Display for GroupResource {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        qualified(formatter, &self.resource, &self.group)
    }
}

/// A kind of a group, in whatever version.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GroupKind {
    /// The group, empty for the core group.
    pub group: String,
    /// The kind.
    pub kind: String,
}

impl GroupKind {
    /// The kind of a group.
    pub fn new(group: impl Into<String>, kind: impl Into<String>) -> Self {
        Self {
            group: group.into(),
            kind: kind.into(),
        }
    }

    /// The group and kind of a served resource.
    pub fn of(resource: &Resource) -> Self {
        Self::new(&resource.group, &resource.kind)
    }
}

impl fmt::Display for GroupKind {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        qualified(formatter, &self.kind, &self.group)
    }
}

/// Whether a kind came with the server or from a CustomResourceDefinition. Upstream serves the two by different code,
/// and clients see it in a few answers: media types, missing `kind`, order of verbs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// Part of the server.
    BuiltIn,
    /// Defined by a CustomResourceDefinition.
    Custom,
}

fn qualified(formatter: &mut fmt::Formatter<'_>, name: &str, group: &str) -> fmt::Result {
    if group.is_empty() {
        formatter.write_str(name)
    } else {
        write!(formatter, "{name}.{group}")
    }
}
