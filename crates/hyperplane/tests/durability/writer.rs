//! A client that writes, one request after the other, and remembers what was acknowledged.

use std::{collections::BTreeMap, time::Duration};

use kube::{Client, Error};
use serde_json::{Value, json};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use super::{
    dice::Dice,
    objects::{self, Kind, name, number, revision},
};

/// Names that one writer uses: few, so that each is created, changed and deleted many times.
const NAMES: u64 = 8;

/// How long a client may take to notice that its server is dead. Nobody owes it an answer then: once in some thousand
/// kills the client's library waits for one for ever.
const GRIEF: Duration = Duration::from_secs(10);

/// Comes when a server has been dead for so long that no answer of it is on its way.
async fn buried(dead: &CancellationToken) {
    dead.cancelled().await;
    tokio::time::sleep(GRIEF).await;
}

/// What was asked for and not answered when the server died.
#[derive(Clone, Debug)]
struct Pending {
    name: String,
    /// The number that the object says afterwards; none if it is deleted.
    number: Option<u64>,
}

/// A write that was acknowledged. Deletes have no revision in their answer.
#[derive(Clone, Copy, Debug)]
pub struct Acknowledged {
    /// Of which kind.
    pub kind: Kind,
    /// At which revision.
    pub revision: Option<u64>,
}

/// A client that writes.
pub struct Writer {
    kind: Kind,
    id: u64,
    dice: Dice,
    next: u64,
    /// What exists, as the server said it.
    objects: BTreeMap<String, Value>,
    pending: Option<Pending>,
}

impl Writer {
    /// A writer that has written nothing.
    pub fn new(seed: u64, kind: Kind, id: u64) -> Self {
        Self {
            kind,
            id,
            dice: Dice::new(seed, id),
            next: 0,
            objects: BTreeMap::new(),
            pending: None,
        }
    }

    /// Writes until the server dies, which the token tells.
    pub async fn run(
        mut self,
        client: Client,
        acknowledged: mpsc::UnboundedSender<Acknowledged>,
        dead: CancellationToken,
    ) -> Self {
        loop {
            let (method, path, body) = self.choose();
            let answer = tokio::select! {
                biased;
                answer = objects::send(&client, method, &path, &body) => answer,
                () = buried(&dead) => return self,
            };
            match answer {
                Ok(answer) => {
                    let revision = self.acknowledge(answer);
                    let kind = self.kind;
                    acknowledged.send(Acknowledged { kind, revision }).ok();
                }
                Err(Error::Api(status)) => panic!("{method} {path} was refused: {status:?}"),
                Err(_) => return self,
            }
        }
    }

    /// What to ask for next.
    fn choose(&mut self) -> (&'static str, String, Value) {
        let name = format!("writer-{}-{}", self.id, self.dice.below(NAMES));
        let (collection, path) = (self.kind.path(), format!("{}/{name}", self.kind.path()));
        self.next += 1;
        let mut object = self.kind.object(&name, self.next);
        let existing = self.objects.get(&name);
        let choice = self.dice.below(4);
        let number = if existing.is_some() && choice == 0 {
            None
        } else {
            Some(self.next)
        };
        self.pending = Some(Pending { name, number });
        match (existing, choice) {
            (Some(_), 0) => ("DELETE", path, Value::Null),
            (Some(existing), 1 | 2) => {
                object["metadata"]["resourceVersion"] = existing["metadata"]["resourceVersion"].clone();
                ("PUT", path, object)
            }
            (None, 0 | 1) => ("POST", collection, object),
            _ => ("PATCH", format!("{path}?fieldManager=applier&force=true"), object),
        }
    }

    /// Remembers what the server said.
    fn acknowledge(&mut self, answer: Value) -> Option<u64> {
        let pending = self.pending.take().expect("an answer has a question");
        if pending.number.is_none() {
            assert_eq!(answer["status"], json!("Success"), "{answer}");
            self.objects.remove(&pending.name);
            return None;
        }
        assert_eq!(number(self.kind, &answer), pending.number, "{answer}");
        let revision = revision(&answer);
        self.objects.insert(pending.name, answer);
        Some(revision)
    }

    /// Compares what it knows with what the server has after a restart: all that was acknowledged is there as it was, and
    /// what was not is there whole, or not at all.
    pub fn check(&mut self, kind: Kind, found: &BTreeMap<String, Value>) {
        if kind != self.kind {
            return;
        }
        if let Some(pending) = self.pending.take() {
            self.settle(&pending, found.get(&pending.name));
        }
        let prefix = format!("writer-{}-", self.id);
        let mine = found.iter().filter(|(name, _)| name.starts_with(&prefix));
        let mine: BTreeMap<String, Value> = mine.map(|(name, object)| (name.clone(), object.clone())).collect();
        for (name, object) in &self.objects {
            let found = mine.get(name);
            assert!(
                found == Some(object),
                "acknowledged: {object:.400}\nfound: {found:.400?}"
            );
        }
        for name in mine.keys() {
            assert!(self.objects.contains_key(name), "{name} was deleted and is back");
        }
    }

    /// Finds out whether a write that was not answered was made.
    fn settle(&mut self, pending: &Pending, found: Option<&Value>) {
        let before = self.objects.get(&pending.name);
        if found == before {
            return;
        }
        match found {
            None => assert_eq!(pending.number, None, "{} is lost", pending.name),
            Some(object) => {
                assert_eq!(
                    number(self.kind, object),
                    pending.number,
                    "{} is half there",
                    name(object)
                );
                assert!(
                    before.is_none_or(|before| revision(before) < revision(object)),
                    "{object:.400}"
                );
            }
        }
        match found {
            None => self.objects.remove(&pending.name),
            Some(object) => self.objects.insert(pending.name.clone(), object.clone()),
        };
    }
}
