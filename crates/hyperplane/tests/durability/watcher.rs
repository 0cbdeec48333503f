//! A client that watches, resumes where it was, and holds the server to every promise of a watch.

use std::collections::{BTreeMap, BTreeSet};

use futures::AsyncBufReadExt as _;
use http::Request;
use kube::{Client, Error};
use serde_json::Value;
use tokio::sync::oneshot;

use super::objects::{self, Kind, name, revision};

/// The label selector of watchers that see part of a kind.
pub const ODD: &str = "parity=odd";

/// An event: its revision, its type and the name of its object.
pub type Seen = (u64, String, String);

/// A state that every watcher must come to at a revision.
pub struct Checkpoint {
    /// The revision.
    pub revision: u64,
    /// All objects of the kind at that revision.
    pub state: BTreeMap<String, Value>,
    /// The revisions of writes that were acknowledged since the checkpoint before.
    pub acknowledged: BTreeSet<u64>,
}

/// What a watcher says when it has come to a checkpoint.
pub struct Passed {
    /// What it saw since the checkpoint before; none if it had to list.
    pub seen: Option<Vec<Seen>>,
}

/// A client that watches.
pub struct Watcher {
    /// What it watches.
    pub kind: Kind,
    /// Whether it sees only some of the objects.
    pub is_selecting: bool,
    /// How often it was told that it was too late.
    pub relists: u64,
    position: u64,
    state: BTreeMap<String, Value>,
    seen: Vec<Seen>,
    has_relisted: bool,
}

impl Watcher {
    /// A watcher that begins with a list of all objects.
    pub fn new(kind: Kind, is_selecting: bool, list: &Value) -> Self {
        let mut state = by_name(list);
        state.retain(|_, object| !is_selecting || is_odd(object));
        Self {
            kind,
            is_selecting,
            relists: 0,
            position: revision(list),
            state,
            seen: Vec::new(),
            has_relisted: false,
        }
    }

    /// Watches until the server dies, past a checkpoint.
    pub async fn run(mut self, client: Client, checkpoint: Checkpoint, passed: oneshot::Sender<Passed>) -> Self {
        let mut waiting = Some((checkpoint, passed));
        loop {
            if self.follow(&client, &mut waiting).await {
                assert!(waiting.is_none(), "a watch ended before its checkpoint");
                return self;
            }
            self.relist(&client).await;
            self.arrive(&mut waiting);
        }
    }

    /// Follows one stream. Says whether it was cut; otherwise its position was too old.
    async fn follow(&mut self, client: &Client, waiting: &mut Option<(Checkpoint, oneshot::Sender<Passed>)>) -> bool {
        let uri = format!("{}&watch=true&resourceVersion={}", self.uri(), self.position);
        let request = Request::get(uri).body(Vec::new()).unwrap();
        let mut lines = match client.request_stream(request).await {
            Ok(stream) => stream.lines(),
            Err(Error::Api(status)) => panic!("a watch was refused: {status:?}"),
            Err(_) => return true,
        };
        while let Some(Ok(line)) = futures::StreamExt::next(&mut lines).await {
            // The last line of a server that died may be cut.
            let Ok(event) = serde_json::from_str::<Value>(&line) else {
                break;
            };
            if event["type"] == "ERROR" {
                assert_eq!(event["object"]["code"], 410, "{event}");
                println!("{:?} at {}: {}", self.kind, self.position, event["object"]["message"]);
                return false;
            }
            self.take(event);
            self.arrive(waiting);
        }
        true
    }

    fn uri(&self) -> String {
        let selector = if self.is_selecting { ODD } else { "" };
        format!("{}?labelSelector={selector}", self.kind.path())
    }

    /// One event, which must follow from what was seen before.
    fn take(&mut self, mut event: Value) {
        let object = event["object"].take();
        let (name, revision, change) = (
            name(&object).to_owned(),
            revision(&object),
            event["type"].as_str().unwrap(),
        );
        assert!(
            revision > self.position,
            "{change} {name} at {revision} after {}",
            self.position
        );
        self.position = revision;
        let before = match change {
            "DELETED" => self.state.remove(&name),
            _ => self.state.insert(name.clone(), object),
        };
        assert_eq!(before.is_none(), change == "ADDED", "{change} {name} at {revision}");
        self.seen.push((revision, change.to_owned(), name));
    }

    async fn relist(&mut self, client: &Client) {
        let list = objects::send(client, "GET", &self.uri(), &Value::Null).await.unwrap();
        assert!(revision(&list) > self.position, "a list runs backwards");
        self.position = revision(&list);
        self.state = by_name(&list);
        self.has_relisted = true;
        self.relists += 1;
    }

    /// Passes the checkpoint that it waits for, if it is there.
    fn arrive(&mut self, waiting: &mut Option<(Checkpoint, oneshot::Sender<Passed>)>) {
        let Some((checkpoint, passed)) = waiting.take_if(|(checkpoint, _)| self.position >= checkpoint.revision) else {
            return;
        };
        self.compare(&checkpoint);
        let seen = std::mem::take(&mut self.seen);
        let seen = (!std::mem::take(&mut self.has_relisted)).then_some(seen);
        passed.send(Passed { seen }).ok();
    }

    fn compare(&self, checkpoint: &Checkpoint) {
        let mut expected = checkpoint.state.clone();
        if self.is_selecting {
            expected.retain(|_, object| is_odd(object));
        }
        let differing = expected
            .iter()
            .find(|(name, object)| self.state.get(*name) != Some(object));
        assert_eq!(differing, None, "of {:?}", self.kind);
        assert_eq!(self.state.len(), expected.len());
        if !self.is_selecting && !self.has_relisted {
            let seen: BTreeSet<u64> = self.seen.iter().map(|(revision, ..)| *revision).collect();
            let missed: Vec<&u64> = checkpoint.acknowledged.difference(&seen).collect();
            assert!(
                missed.is_empty(),
                "{:?} at {missed:?} were acknowledged and not seen",
                self.kind
            );
        }
    }
}

fn is_odd(object: &Value) -> bool {
    object["metadata"]["labels"]["parity"] == "odd"
}

/// The objects of a list by their names, as events carry them.
pub fn by_name(list: &Value) -> BTreeMap<String, Value> {
    let kind = list["kind"].as_str().unwrap().trim_end_matches("List");
    let mut objects = BTreeMap::new();
    for item in list["items"].as_array().unwrap() {
        let mut object = item.clone();
        // Items of built-in kinds do not say what they are; events do.
        object["kind"] = kind.into();
        object["apiVersion"] = list["apiVersion"].clone();
        objects.insert(name(item).to_owned(), object);
    }
    objects
}
