//! All that is known: lists of objects by kind and place, and which of them could not be read.

use std::{collections::BTreeMap, fmt};

use hyperplane_api::unused::UnusedKind;
use jiff::Timestamp;
use serde::Serialize;
use serde_json::Value;

use crate::{kind::Kind, object::Object};

/// Where a list was read.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum Place {
    /// A namespace of the management cluster.
    Namespace(String),
    /// The hosted cluster whose control plane is in this namespace.
    Inside(String),
}

impl Place {
    /// A namespace of the management cluster.
    pub fn namespace(name: &str) -> Self {
        Self::Namespace(name.to_owned())
    }

    /// The hosted cluster of a control plane.
    pub fn inside(control_plane: &str) -> Self {
        Self::Inside(control_plane.to_owned())
    }
}

impl fmt::Display for Place {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Namespace(name) => write!(formatter, "in namespace {name}"),
            Self::Inside(_) => formatter.write_str("in the hosted cluster"),
        }
    }
}

/// A list of which nothing is known.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Unread {
    /// The kind.
    pub kind: Kind,
    /// Where.
    pub place: Place,
    /// Why, in words.
    pub why: String,
}

impl fmt::Display for Unread {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} {}: {}", self.kind.several(), self.place, self.why)
    }
}

/// What is said of a list that nobody asked for.
const NOT_ASKED: &str = "nobody looked";

/// All that is known at a moment.
#[derive(Clone, Debug)]
pub struct Scene {
    /// The moment.
    pub now: Timestamp,
    lists: BTreeMap<(Kind, Place), Result<Vec<Object>, String>>,
    idle: Vec<(&'static UnusedKind, Object)>,
}

impl Scene {
    /// Nothing is known yet.
    pub const fn new(now: Timestamp) -> Self {
        Self {
            now,
            lists: BTreeMap::new(),
            idle: Vec::new(),
        }
    }

    /// Adds a list that was read. Members of lists do not say their kind: it is added.
    pub fn add(&mut self, kind: Kind, place: Place, objects: impl IntoIterator<Item = Value>) {
        let named = objects.into_iter().map(|value| named(value, kind.name()));
        self.lists.insert((kind, place), Ok(named.collect()));
    }

    /// Adds a list that could not be read.
    pub fn add_unread(&mut self, kind: Kind, place: Place, why: &str) {
        self.lists.insert((kind, place), Err(why.to_owned()));
    }

    /// Adds objects of a cluster, or of all clusters, that nothing acts on. Nothing waits for them, so nobody has to be told
    /// when they could not be read.
    pub fn add_idle(&mut self, kind: &'static UnusedKind, objects: impl IntoIterator<Item = Value>) {
        let objects = objects
            .into_iter()
            .map(|value| (kind, named(value, (kind.definition)().kind)));
        self.idle.extend(objects);
    }

    /// Objects that nothing acts on.
    pub(crate) fn idle(&self) -> &[(&'static UnusedKind, Object)] {
        &self.idle
    }

    /// The objects of a kind at a place, or that they are not known.
    pub(crate) fn list(&self, kind: Kind, place: &Place) -> Result<&[Object], Unread> {
        let unread = |why: &str| Unread {
            kind,
            place: place.clone(),
            why: why.to_owned(),
        };
        match self.lists.get(&(kind, place.clone())) {
            Some(Ok(objects)) => Ok(objects),
            Some(Err(why)) => Err(unread(why)),
            None => Err(unread(NOT_ASKED)),
        }
    }

    /// The objects of a kind in all namespaces that were read.
    pub(crate) fn everywhere(&self, kind: Kind) -> impl Iterator<Item = &Object> {
        let lists = self.lists.iter().filter(move |((found, _), _)| *found == kind);
        lists.filter_map(|(_, list)| list.as_ref().ok()).flatten()
    }

    /// An object by its name.
    pub(crate) fn find(&self, kind: Kind, namespace: &str, name: &str) -> Option<&Object> {
        self.list(kind, &Place::namespace(namespace))
            .ok()?
            .iter()
            .find(|object| object.name() == name)
    }

    /// All lists that were asked for and could not be read.
    pub(crate) fn unread(&self) -> impl Iterator<Item = Unread> {
        self.lists.iter().filter_map(|((kind, place), list)| {
            list.as_ref().err().map(|why| Unread {
                kind: *kind,
                place: place.clone(),
                why: why.clone(),
            })
        })
    }
}

/// An object that says its kind.
fn named(mut value: Value, kind: &str) -> Object {
    if let Some(fields) = value.as_object_mut() {
        fields.insert("kind".to_owned(), kind.into());
    }
    Object::new(value)
}

/// The namespace of the control plane of a cluster. It follows from names alone.
pub(crate) fn control_plane_namespace(namespace: &str, cluster: &str) -> String {
    format!("{namespace}-{}", cluster.replace('.', "-"))
}
