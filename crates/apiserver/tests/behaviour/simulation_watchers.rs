//! Clients that follow a collection over restarts and forgotten revisions, and notice when a change is missing, comes
//! twice or out of order.

use std::{
    collections::{BTreeMap, BTreeSet},
    time::Duration,
};

use serde_json::Value;
use tokio::time::sleep;

use crate::{simulation_actors::Acknowledged, simulation_ground::Ground};

/// What a client knows of a collection.
pub(crate) struct Follower {
    path: &'static str,
    kind: &'static str,
    /// Revisions by namespace and name.
    known: BTreeMap<(String, String), u64>,
    last: u64,
    /// What was told without a gap, as ranges that begin after the first and end with the second.
    covered: Vec<(u64, u64)>,
    seen: BTreeSet<u64>,
}

fn key(object: &Value) -> (String, String) {
    let text = |field: &str| object["metadata"][field].as_str().unwrap_or_default().to_owned();
    (text("namespace"), text("name"))
}

fn revision(object: &Value) -> u64 {
    object["metadata"]["resourceVersion"].as_str().unwrap().parse().unwrap()
}

impl Follower {
    pub(crate) fn new(path: &'static str, kind: &'static str) -> Self {
        Self {
            path,
            kind,
            known: BTreeMap::new(),
            last: 0,
            covered: Vec::new(),
            seen: BTreeSet::new(),
        }
    }

    /// Follows for ever.
    pub(crate) async fn run(&mut self, ground: &Ground) {
        loop {
            if self.last == 0 {
                self.list(ground).await;
            }
            self.watch(ground).await;
            sleep(Duration::from_millis(10)).await;
        }
    }

    async fn list(&mut self, ground: &Ground) {
        let list = ground.get(self.path).await.unwrap();
        self.known = list["items"]
            .as_array()
            .unwrap()
            .iter()
            .map(|item| (key(item), revision(item)))
            .collect();
        self.last = revision(&list);
        self.covered.push((self.last, self.last));
    }

    async fn watch(&mut self, ground: &Ground) {
        let path = format!(
            "{}?watch=true&resourceVersion={}&allowWatchBookmarks=true&timeoutSeconds=90",
            self.path, self.last
        );
        let mut watch = ground.world.watch(&path).await;
        while let Some(event) = watch.next().await {
            if event["type"] == "ERROR" {
                assert_eq!(event["object"]["code"], 410, "{event:#}");
                self.last = 0;
                return;
            }
            self.take(event["type"].as_str().unwrap(), &event["object"]);
        }
    }

    fn take(&mut self, word: &str, object: &Value) {
        let (key, revision) = (key(object), revision(object));
        if word == "BOOKMARK" {
            assert!(
                revision >= self.last,
                "a bookmark goes back: {revision} after {}",
                self.last
            );
        } else {
            assert!(
                revision > self.last,
                "{word} of {key:?} at {revision} after {}",
                self.last
            );
            let previous = match word {
                "DELETED" => self.known.remove(&key),
                _ => self.known.insert(key.clone(), revision),
            };
            assert_eq!(previous.is_some(), word != "ADDED", "{word} of {key:?} at {revision}");
            self.seen.insert(revision);
        }
        self.last = revision;
        self.covered.last_mut().unwrap().1 = revision;
    }

    /// Whether it knows what is there, and was told of every acknowledged write.
    pub(crate) async fn check(&mut self, ground: &Ground, acknowledged: &[Acknowledged]) {
        let list = ground.get(self.path).await.unwrap();
        let there: BTreeMap<(String, String), u64> = list["items"]
            .as_array()
            .unwrap()
            .iter()
            .map(|item| (key(item), revision(item)))
            .collect();
        assert_eq!(self.known, there, "{}", self.path);
        for write in acknowledged.iter().filter(|write| write.kind == self.kind) {
            let covered = self
                .covered
                .iter()
                .any(|(after, until)| *after < write.revision && write.revision <= *until);
            assert!(
                !covered || self.seen.contains(&write.revision),
                "{write:?} was never told"
            );
        }
    }
}
