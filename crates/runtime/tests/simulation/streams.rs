//! Watch streams of the in-memory server: events from a version on, bookmarks, and every way a stream can end.

use std::{collections::VecDeque, time::Duration};

use futures::stream;
use http::Response;
use http_body_util::{BodyExt, StreamBody};
use hyper::body::{Bytes, Frame};
use hyperplane_runtime::BoxError;
use serde_json::{Value, json};
use tokio::{sync::watch, time::Instant};

use crate::{
    server::{Answer, Route, Server, status},
    state::Event,
};

/// How often a quiet watch gets a bookmark.
const BOOKMARK: Duration = Duration::from_mins(1);

struct Stream {
    server: Server,
    route: Route,
    cursor: u64,
    lines: VecDeque<Value>,
    revisions: watch::Receiver<u64>,
    end: Instant,
    ending: Ending,
}

#[derive(Clone, Copy, PartialEq)]
enum Ending {
    Clean,
    Reset,
    Gone,
    Over,
}

pub fn watch(server: &Server, route: &Route) -> Answer {
    let cursor = route.get("resourceVersion").parse().unwrap_or(0);
    let mut inner = server.lock();
    let (mut end, mut ending) = (Instant::now() + Duration::from_secs(290), Ending::Clean);
    if inner.faults.is_watch_flaky && inner.random.below(3) == 0 {
        end = Instant::now() + inner.random.up_to(Duration::from_secs(20));
        ending = [Ending::Clean, Ending::Reset, Ending::Gone][usize::try_from(inner.random.below(3)).unwrap_or(0)];
    }
    if cursor < inner.state.compacted {
        if inner.is_gone_an_answer {
            return status(410, "Expired");
        }
        (end, ending) = (Instant::now(), Ending::Gone);
    }
    drop(inner);
    let state = Stream {
        server: server.clone(),
        route: Route {
            plural: route.plural.clone(),
            namespace: route.namespace.clone(),
            name: route.name.clone(),
            subresource: None,
            query: route.query.clone(),
        },
        cursor,
        lines: VecDeque::new(),
        revisions: server.0.revisions.subscribe(),
        end,
        ending,
    };
    let frames = stream::unfold(state, |mut state| async move {
        let line = state.next().await?;
        let frame = line.map(|line| Frame::data(Bytes::from(format!("{line}\n"))));
        Some((frame, state))
    });
    Response::new(StreamBody::new(frames).boxed_unsync())
}

impl Stream {
    async fn next(&mut self) -> Option<Result<Value, BoxError>> {
        loop {
            if let Some(line) = self.lines.pop_front() {
                return Some(Ok(line));
            }
            if Instant::now() >= self.end {
                return self.finish();
            }
            self.revisions.mark_unchanged();
            if !self.fetch() {
                self.ending = Ending::Gone;
                return self.finish();
            }
            if self.lines.is_empty() {
                tokio::select! {
                    biased;
                    _ = self.revisions.changed() => {}
                    () = tokio::time::sleep_until(self.end) => {}
                    () = tokio::time::sleep(BOOKMARK) => self.lines.push_back(self.bookmark()),
                }
            }
        }
    }

    /// Takes the events since the cursor; false if they are forgotten.
    fn fetch(&mut self) -> bool {
        let inner = self.server.lock();
        if self.cursor < inner.state.compacted {
            return false;
        }
        let history = &inner.state.history;
        let first = history.partition_point(|event| event.revision <= self.cursor);
        for event in history.range(first..) {
            self.lines.extend(tell(&self.route, event));
        }
        self.cursor = inner.state.revision;
        true
    }

    fn bookmark(&self) -> Value {
        json!({"type": "BOOKMARK", "object": {"kind": "x", "apiVersion": "v1",
            "metadata": {"resourceVersion": self.cursor.to_string()}}})
    }

    fn finish(&mut self) -> Option<Result<Value, BoxError>> {
        match std::mem::replace(&mut self.ending, Ending::Over) {
            Ending::Gone => Some(Ok(
                json!({"type": "ERROR", "object": {"kind": "Status", "apiVersion": "v1",
                "status": "Failure", "code": 410, "reason": "Expired", "message": "too old resource version"}}),
            )),
            Ending::Reset => Some(Err("the connection was reset".into())),
            Ending::Clean | Ending::Over => None,
        }
    }
}

/// One event as this watch sees it: an object that stops matching is deleted for it.
fn tell(route: &Route, event: &Event) -> Option<Value> {
    let matches = |object: &Option<Value>| object.as_ref().is_some_and(|object| route.selects(&event.id, object));
    let (kind, object) = match (matches(&event.old), matches(&event.new)) {
        (false, false) => return None,
        (false, true) => ("ADDED", event.new.clone()),
        (true, true) => ("MODIFIED", event.new.clone()),
        (true, false) => {
            let mut last = event.old.clone();
            if let Some(last) = &mut last {
                last["metadata"]["resourceVersion"] = event.revision.to_string().into();
            }
            ("DELETED", last)
        }
    };
    Some(json!({"type": kind, "object": object}))
}
