//! A store with its writer, and short words for what tests do with it.

use std::sync::Arc;

use hyperplane_store::{
    Change, Disk, Event, Expect, Key, Limits, Memory, Observer, Operation, Revision, Store, WriterError,
};
use tokio::task::JoinHandle;

use crate::text::Text;

pub struct Running {
    pub store: Store<Text>,
    pub writer: JoinHandle<Result<(), WriterError>>,
}

impl Running {
    pub fn in_memory() -> Self {
        Self::on(Memory, Limits::default())
    }

    pub fn on(disk: impl Disk + 'static, limits: Limits) -> Self {
        Self::observed(disk, limits, Vec::new())
    }

    pub fn observed(disk: impl Disk + 'static, limits: Limits, observers: Vec<Arc<dyn Observer<Text>>>) -> Self {
        let (store, writer) = Store::open(disk, limits, observers).unwrap();
        Self {
            store,
            writer: tokio::spawn(writer.run()),
        }
    }

    /// Stores a text, whatever is there.
    pub async fn put(&self, collection: &str, name: &str, text: &str) -> Revision {
        self.store.commit(vec![put(collection, name, text)]).await.unwrap()[0].revision
    }

    pub async fn delete(&self, collection: &str, name: &str) -> Revision {
        self.store.commit(vec![delete(collection, name)]).await.unwrap()[0].revision
    }

    pub async fn close(self) -> Store<Text> {
        self.store.close();
        self.writer.await.unwrap().unwrap();
        self.store
    }
}

/// A key whose namespace is the part of the name before the slash.
pub fn key(collection: &str, name: &str) -> Key {
    let (namespace, name) = name.split_once('/').unwrap_or(("", name));
    Key::new(collection, namespace, name)
}

pub fn put(collection: &str, name: &str, text: &str) -> Operation<Text> {
    Operation {
        key: key(collection, name),
        expect: Expect::Any,
        change: Change::Put(Text(text.to_owned())),
    }
}

pub fn delete(collection: &str, name: &str) -> Operation<Text> {
    Operation {
        key: key(collection, name),
        expect: Expect::Any,
        change: Change::Delete,
    }
}

pub fn expecting(expect: Expect, operation: Operation<Text>) -> Operation<Text> {
    Operation { expect, ..operation }
}

/// Events in few words, such as `created a=1 at 3`.
pub fn told(events: &[Arc<Event<Text>>]) -> Vec<String> {
    let word = |event: &Arc<Event<Text>>| {
        let entry = &event.entry;
        format!(
            "{:?} {}={} at {}",
            event.kind, entry.key.name, entry.payload.0, event.revision
        )
    };
    events.iter().map(word).collect()
}
