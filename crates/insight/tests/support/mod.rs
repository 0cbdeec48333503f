//! Situations as files: objects from which another situation may begin, with what differs, and what could not be read.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]
#![allow(dead_code, reason = "each target uses its part")]

use std::{
    fs,
    path::{Path, PathBuf},
};

use hyperplane_api::unused;
use hyperplane_insight::{Kind, Place, Scene, Served};
use jiff::Timestamp;
use serde::Deserialize;
use serde_json::{Value, json};

/// The namespace of users in all situations.
pub const CLUSTERS: &str = "clusters";
/// The namespace of the control plane in all situations.
pub const CONTROL_PLANE: &str = "clusters-blue";

/// One file.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct File {
    from: Option<String>,
    about: Option<String>,
    now: Option<String>,
    objects: Vec<Value>,
    change: Vec<Change>,
    remove: Vec<String>,
    remove_all: Vec<String>,
    add: Vec<Value>,
    unread: Vec<Unread>,
}

/// What differs of one object.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Change {
    object: String,
    #[serde(default)]
    merge: Value,
    #[serde(default)]
    conditions: Vec<Value>,
}

/// Lists that could not be read.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Unread {
    namespace: Option<String>,
    inside: bool,
    why: String,
}

/// A situation with everything that it begins with.
#[derive(Clone, Debug, Default)]
pub struct Situation {
    pub about: String,
    pub now: Timestamp,
    pub objects: Vec<Value>,
    pub unread: Vec<Unread>,
}

/// The folder of situations.
pub fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/situations")
}

/// The names of all situations, in order.
pub fn names() -> Vec<String> {
    let files = fs::read_dir(folder()).unwrap().map(|entry| entry.unwrap().path());
    let files = files.filter(|path| path.extension().is_some_and(|extension| extension == "yaml"));
    let mut names: Vec<String> = files
        .map(|path| path.file_stem().unwrap().to_str().unwrap().to_owned())
        .collect();
    names.sort();
    names
}

/// A situation by name.
pub fn situation(name: &str) -> Situation {
    let path = folder().join(format!("{name}.yaml"));
    let text = fs::read_to_string(&path).unwrap();
    let file: File = serde_saphyr::from_str(&text).unwrap_or_else(|error| panic!("{name}: {error}"));
    let mut situation = file.from.as_deref().map(situation).unwrap_or_default();
    situation.about = file.about.unwrap_or(situation.about);
    situation.now = file.now.map_or(situation.now, |now| now.parse().unwrap());
    situation.objects.extend(file.objects);
    for change in file.change {
        let object = situation
            .objects
            .iter_mut()
            .find(|object| title(object) == change.object);
        let object = object.unwrap_or_else(|| panic!("{name}: there is no {}", change.object));
        merge(object, &change.merge);
        change
            .conditions
            .into_iter()
            .for_each(|condition| set(object, condition));
    }
    for removed in &file.remove {
        let before = situation.objects.len();
        situation.objects.retain(|object| title(object) != *removed);
        assert_eq!(before, situation.objects.len() + 1, "{name}: there is no {removed}");
    }
    situation
        .objects
        .retain(|object| !file.remove_all.iter().any(|kind| object["kind"] == *kind));
    situation.objects.extend(file.add);
    situation.unread.extend(file.unread);
    situation
}

fn title(object: &Value) -> String {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    format!("{} {}", text(&object["kind"]), text(&object["metadata"]["name"]))
}

/// RFC 7386.
fn merge(object: &mut Value, change: &Value) {
    let Some(fields) = change.as_object() else {
        if !change.is_null() {
            *object = change.clone();
        }
        return;
    };
    if !object.is_object() {
        *object = json!({});
    }
    for (key, value) in fields {
        if value.is_null() {
            object.as_object_mut().unwrap().remove(key);
        } else {
            merge(&mut object[key], value);
        }
    }
}

/// Puts a condition in place of the one of its type.
fn set(object: &mut Value, condition: Value) {
    let conditions = &mut object["status"]["conditions"];
    if !conditions.is_array() {
        *conditions = json!([]);
    }
    let conditions = conditions.as_array_mut().unwrap();
    conditions.retain(|known| known["type"] != condition["type"]);
    conditions.push(condition);
}

impl Situation {
    /// What is known in it: every list of every place, but for those that could not be read.
    pub fn scene(&self) -> Scene {
        let mut scene = Scene::new(self.now);
        for kind in Kind::ALL {
            for place in places(*kind) {
                let unread = self.unread.iter().find(|unread| unread.concerns(&place));
                match unread {
                    Some(unread) => scene.add_unread(*kind, place, &unread.why),
                    None => scene.add(*kind, place.clone(), self.at(*kind, &place)),
                }
            }
        }
        for kind in unused::KINDS {
            let definition = (kind.definition)();
            let version = format!("{}/{}", definition.group, definition.version);
            let objects = self.objects.iter();
            let of_kind =
                objects.filter(|object| object["kind"] == definition.kind && object["apiVersion"] == version.as_str());
            scene.add_idle(kind, of_kind.cloned());
        }
        scene
    }

    fn at(&self, kind: Kind, place: &Place) -> Vec<Value> {
        let of_kind = self.objects.iter().filter(|object| object["kind"] == kind.name());
        let here = of_kind.filter(|object| match place {
            Place::Namespace(name) => object["metadata"]["namespace"] == **name,
            Place::Inside(_) => true,
        });
        here.cloned().collect()
    }
}

impl Unread {
    fn concerns(&self, place: &Place) -> bool {
        match place {
            Place::Namespace(name) => self.namespace.as_ref() == Some(name),
            Place::Inside(_) => self.inside,
        }
    }
}

fn places(kind: Kind) -> Vec<Place> {
    let (beside, plane) = (Place::namespace(CLUSTERS), Place::namespace(CONTROL_PLANE));
    match kind.served() {
        Served::Beside => vec![beside],
        Served::ControlPlane => vec![plane],
        Served::Both => vec![beside, plane],
        Served::Inside => vec![Place::inside(CONTROL_PLANE)],
    }
}
