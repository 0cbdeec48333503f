//! What the in-memory server stores: objects, revisions, history, and a trace of everything that happened.

use std::collections::{BTreeMap, VecDeque};

use serde_json::{Value, json};

use crate::fields;

/// Plural, namespace, name.
pub type Id = (String, String, String);

/// One change, as watches tell it.
#[derive(Clone)]
pub struct Event {
    pub revision: u64,
    pub id: Id,
    pub old: Option<Value>,
    pub new: Option<Value>,
}

/// One line of the trace: virtual milliseconds, actor, verb, object, and the resulting version or code.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    pub at: u128,
    pub actor: String,
    pub verb: &'static str,
    pub object: String,
    pub result: String,
}

/// A refusal with its HTTP code and reason.
#[derive(Debug)]
pub struct Refusal(pub u16, pub &'static str);

#[derive(Default)]
pub struct State {
    pub revision: u64,
    pub objects: BTreeMap<Id, Value>,
    pub history: VecDeque<Event>,
    pub compacted: u64,
    uids: u64,
}

impl State {
    pub fn create(&mut self, id: &Id, mut object: Value) -> Result<Value, Refusal> {
        if self.objects.contains_key(id) {
            return Err(Refusal(409, "AlreadyExists"));
        }
        self.uids += 1;
        object["metadata"]["uid"] = format!("uid-{}", self.uids).into();
        object["metadata"]["name"] = id.2.clone().into();
        if !id.1.is_empty() {
            object["metadata"]["namespace"] = id.1.clone().into();
        }
        if object.get("spec").is_some() {
            object["metadata"]["generation"] = 1.into();
        }
        Ok(self.commit(id, Some(object)).unwrap_or_default())
    }

    /// Replaces an object; bookkeeping that belongs to the server is carried over.
    pub fn update(&mut self, id: &Id, mut object: Value) -> Result<Value, Refusal> {
        let Some(old) = self.objects.get(id).cloned() else {
            return Err(Refusal(404, "NotFound"));
        };
        let version = &object["metadata"]["resourceVersion"];
        if version.is_string() && *version != old["metadata"]["resourceVersion"] {
            return Err(Refusal(409, "Conflict"));
        }
        for kept in ["uid", "generation", "deletionTimestamp", "resourceVersion"] {
            if let Some(value) = old["metadata"].get(kept) {
                object["metadata"][kept] = value.clone();
            }
        }
        if object == old {
            return Ok(old);
        }
        if object.get("spec") != old.get("spec") {
            let generation = old["metadata"]["generation"].as_i64().unwrap_or(0);
            object["metadata"]["generation"] = (generation + 1).into();
        }
        let is_deleted = object["metadata"]["deletionTimestamp"].is_string();
        let has_finalizers = object["metadata"]["finalizers"]
            .as_array()
            .is_some_and(|all| !all.is_empty());
        if is_deleted && !has_finalizers {
            self.commit(id, None);
            return Ok(object);
        }
        Ok(self.commit(id, Some(object)).unwrap_or_default())
    }

    /// An update by somebody who does not apply: appliers lose what it changes.
    pub fn edit(&mut self, id: &Id, edit: impl FnOnce(&mut Value)) -> Result<Value, Refusal> {
        let Some(old) = self.objects.get(id).cloned() else {
            return Err(Refusal(404, "NotFound"));
        };
        let mut new = old.clone();
        edit(&mut new);
        fields::disown(&old, &mut new);
        self.update(id, new)
    }

    pub fn apply(
        &mut self,
        id: &Id,
        intent: &Value,
        manager: &str,
        subresource: Option<&str>,
    ) -> Result<Value, Refusal> {
        let mut body = intent.clone();
        let uid = body["metadata"]["uid"].clone();
        let version = body["metadata"]["resourceVersion"].clone();
        for identity in ["name", "namespace", "uid", "resourceVersion"] {
            fields::remove(&mut body, &["metadata".to_owned(), identity.to_owned()]);
        }
        let types = ["apiVersion", "kind"].map(|name| {
            let value = body[name].clone();
            fields::remove(&mut body, &[name.to_owned()]);
            (name, value)
        });
        match self.objects.get(id).cloned() {
            None if subresource.is_some() || uid.is_string() => Err(Refusal(404, "NotFound")),
            Some(live) if uid.is_string() && uid != live["metadata"]["uid"] => Err(Refusal(409, "Conflict")),
            Some(live) if version.is_string() && version != live["metadata"]["resourceVersion"] => {
                Err(Refusal(409, "Conflict"))
            }
            Some(live) => self.update(id, fields::apply(&live, &body, manager, subresource)),
            None => {
                let mut empty = json!({"metadata": {}});
                for (name, value) in types {
                    empty[name] = value;
                }
                self.create(id, fields::apply(&empty, &body, manager, None))
            }
        }
    }

    /// Deletes an object for which the preconditions hold, if some are given.
    pub fn delete(&mut self, id: &Id, preconditions: &Value, now: &str) -> Result<Value, Refusal> {
        let Some(mut object) = self.objects.get(id).cloned() else {
            return Err(Refusal(404, "NotFound"));
        };
        for given in ["uid", "resourceVersion"] {
            let wanted = &preconditions[given];
            if wanted.is_string() && object["metadata"][given] != *wanted {
                return Err(Refusal(409, "Conflict"));
            }
        }
        let has_finalizers = object["metadata"]["finalizers"]
            .as_array()
            .is_some_and(|all| !all.is_empty());
        if !has_finalizers {
            self.commit(id, None);
        } else if !object["metadata"]["deletionTimestamp"].is_string() {
            object["metadata"]["deletionTimestamp"] = now.into();
            self.commit(id, Some(object.clone()));
        }
        Ok(object)
    }

    /// Forgets the history: watches from before must list again.
    pub fn compact(&mut self) {
        self.compacted = self.revision;
        self.history.clear();
    }

    fn commit(&mut self, id: &Id, new: Option<Value>) -> Option<Value> {
        self.revision += 1;
        let version = Value::from(self.revision.to_string());
        let new = new.map(|mut object| {
            object["metadata"]["resourceVersion"] = version.clone();
            object
        });
        let old = match &new {
            Some(object) => self.objects.insert(id.clone(), object.clone()),
            None => self.objects.remove(id),
        };
        let old = old.map(|mut object| {
            if new.is_none() {
                object["metadata"]["resourceVersion"] = version;
            }
            object
        });
        self.history.push_back(Event {
            revision: self.revision,
            id: id.clone(),
            old,
            new: new.clone(),
        });
        new
    }
}
