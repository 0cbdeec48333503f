//! Ownership through the scale subresource: the replicas of an object are owned as `spec.replicas` of a Scale.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::{
    managers::{Entry, Managers, Planned, decode, plan},
    set::Set,
};

const SCALE_VERSION: &str = "autoscaling/v1";
const SCALE_PATH: [&str; 2] = ["spec", "replicas"];

/// Where each version of a resource keeps its replicas; `None` for a version without a scale subresource.
#[derive(Clone, Debug, Default)]
pub struct ScaleFields {
    paths: BTreeMap<String, Option<Vec<String>>>,
}

impl ScaleFields {
    /// In this version, the replicas are at this path.
    pub fn at(mut self, api_version: &str, path: Option<&[&str]>) -> Self {
        let path = path.map(|path| path.iter().map(|&step| step.to_owned()).collect());
        self.paths.insert(api_version.to_owned(), path);
        self
    }

    /// The path in a version that has one.
    fn path(&self, api_version: &str) -> Option<Vec<&str>> {
        let path = self.paths.get(api_version)?.as_ref()?;
        Some(path.iter().map(String::as_str).collect())
    }

    /// The managedFields of a Scale: those who own the replicas of the object.
    pub fn to_scale(&self, managed_fields: &Value) -> Value {
        let Ok(parents) = decode(managed_fields) else {
            return Value::Null;
        };
        let mut scale = Managers::new();
        for (identity, entry) in parents {
            if self
                .path(entry.api_version)
                .is_some_and(|path| entry.set.has_fields(&path))
            {
                scale.insert(identity, Entry::new(SCALE_VERSION, entry.time, replicas(&SCALE_PATH)));
            }
        }
        list(plan(scale))
    }

    /// The managedFields of the object after its Scale was written: who owns the replicas now, and who no longer does.
    ///
    /// `api_version` is the version of the object through which the Scale was reached.
    pub fn to_parent(&self, managed_fields: &Value, scale_managed_fields: &Value, api_version: &str) -> Value {
        let (Ok(parents), Ok(mut scale)) = (decode(managed_fields), decode(scale_managed_fields)) else {
            return managed_fields.clone();
        };
        let mut times: BTreeMap<_, _> = parents
            .iter()
            .map(|(identity, entry)| (*identity, entry.time.clone()))
            .collect();
        let mut result = Managers::new();
        for (identity, mut entry) in parents {
            if !self.paths.contains_key(entry.api_version) {
                continue;
            }
            if let Some(path) = self.path(entry.api_version).filter(|path| entry.set.has_fields(path))
                && scale.remove(&identity).is_none()
            {
                entry.set.subtract(&replicas(&path));
            }
            if !entry.set.is_empty() {
                result.insert(identity, Entry::new(entry.api_version, entry.time, entry.set));
            }
        }
        let path = self.path(api_version).unwrap_or_default();
        let stealers = scale.into_iter().filter(|(_, entry)| entry.set.has_fields(&SCALE_PATH));
        for (identity, _) in stealers {
            let time = times.remove(&identity).flatten();
            result.insert(identity, Entry::new(api_version, time, replicas(&path)));
        }
        list(plan(result))
    }
}

fn replicas<'a>(path: &[&'a str]) -> Set<'a> {
    let mut set = Set::default();
    set.insert_fields(path);
    set
}

fn list(planned: Vec<Planned>) -> Value {
    let entries: Vec<Value> = planned
        .into_iter()
        .filter_map(|entry| match entry {
            Planned::Write(entry) => Some(entry),
            Planned::Keep(_) | Planned::Restamp(..) => None,
        })
        .collect();
    if entries.is_empty() {
        Value::Null
    } else {
        Value::Array(entries)
    }
}
