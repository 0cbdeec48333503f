//! Reading objects that are JSON values: what is missing or of another type reads as empty. Knows no kinds.

use std::sync::Arc;

use serde_json::Value;

/// Where the objects are that a decision depends on; the server answers from its latest state.
pub trait Objects {
    /// The object, if it exists. The namespace is empty for objects of the cluster.
    fn get(&self, group: &str, resource: &str, namespace: &str, name: &str) -> Option<Arc<Value>>;
}

/// The value below the path, or null.
pub(crate) fn at<'a>(value: &'a Value, path: &[&str]) -> &'a Value {
    path.iter()
        .fold(value, |inner, field| inner.get(field).unwrap_or(&Value::Null))
}

/// The text below the path, or the empty one.
pub(crate) fn text<'a>(value: &'a Value, path: &[&str]) -> &'a str {
    at(value, path).as_str().unwrap_or("")
}

/// The entries of the list below the path.
pub(crate) fn list<'a>(value: &'a Value, path: &[&str]) -> &'a [Value] {
    at(value, path).as_array().map_or(&[], Vec::as_slice)
}

/// The texts of the list below the path.
pub(crate) fn texts(value: &Value, path: &[&str]) -> Vec<String> {
    list(value, path)
        .iter()
        .filter_map(Value::as_str)
        .map(str::to_owned)
        .collect()
}

pub(crate) fn name(object: &Value) -> &str {
    text(object, &["metadata", "name"])
}

pub(crate) fn namespace(object: &Value) -> &str {
    text(object, &["metadata", "namespace"])
}

pub(crate) fn uid(object: &Value) -> &str {
    text(object, &["metadata", "uid"])
}

#[cfg(test)]
pub(crate) mod world {
    //! Objects for tests.

    use std::collections::BTreeMap;

    use super::{Arc, Objects, Value, name, namespace};

    /// Everything that exists, by address.
    #[derive(Clone, Default)]
    pub(crate) struct World(BTreeMap<String, Arc<Value>>);

    impl World {
        /// Adds or replaces an object.
        pub fn put(&mut self, group: &str, resource: &str, object: Value) {
            let key = format!("{group}/{resource}/{}/{}", namespace(&object), name(&object));
            self.0.insert(key, Arc::new(object));
        }

        /// Takes an object away.
        pub fn remove(&mut self, resource: &str, namespace: &str, name: &str) {
            self.0
                .remove(&format!("/{resource}/{namespace}/{name}"))
                .expect("only what exists is removed");
        }
    }

    impl Objects for World {
        fn get(&self, group: &str, resource: &str, namespace: &str, name: &str) -> Option<Arc<Value>> {
            self.0.get(&format!("{group}/{resource}/{namespace}/{name}")).cloned()
        }
    }
}
