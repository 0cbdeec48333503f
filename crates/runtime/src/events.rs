//! Kubernetes events: recording them, aggregated. Owns names, counts and the task that posts them; a reconcile never
//! waits for an event, and a flood of them is cut short here and not in the API server.

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use hyperplane_objects::Kind;
use jiff::Timestamp;
use k8s_openapi::{
    api::core::v1::{Event, EventSource, ObjectReference},
    apimachinery::pkg::apis::meta::v1::{ObjectMeta, Time},
};
use kube::{Client, api::PostParams};
use serde_json::json;
use tokio::{sync::mpsc, time::Instant};
use tokio_util::sync::CancellationToken;

use hyperplane_seams::{Clock, Random};

use crate::{endpoint::Endpoint, metrics::Metrics};

#[cfg(test)]
mod tests;

/// The same reason for the same object is written at most this often; in between it is only counted.
pub const EVENT_INTERVAL: Duration = Duration::from_mins(1);
/// Notes that may wait to be written. A full channel drops the newest and counts it: events are best effort.
const CHANNEL_LIMIT: usize = 1024;
/// Series remembered at most; beyond it the one that was quiet for longest is forgotten and would start anew.
const SERIES_LIMIT: usize = 4096;
/// A series that was quiet this long is over; the API server has dropped its event by then (default TTL one hour).
const SERIES_END: Duration = Duration::from_hours(1);
/// The API server refuses longer notes.
const NOTE_LIMIT: usize = 1024;

/// Whether an event is good news.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum EventType {
    /// Something happened as it should.
    Normal,
    /// Somebody should look.
    Warning,
}

/// One thing to tell about one object.
#[derive(Clone, Debug)]
pub(crate) struct Note {
    pub(crate) about: ObjectReference,
    pub(crate) type_: EventType,
    pub(crate) reason: &'static str,
    pub(crate) message: String,
}

/// Takes notes from reconcilers. Cheap to clone.
#[derive(Clone)]
pub(crate) struct Recorder {
    sender: mpsc::Sender<Note>,
    metrics: Metrics,
}

/// The other end of a [`Recorder`]: writes what it receives until it is told to stop.
pub(crate) struct Publisher {
    receiver: mpsc::Receiver<Note>,
    series: Aggregator,
    client: Client,
    clock: Clock,
}

pub(crate) fn channel(
    client: Client,
    clock: Clock,
    source: &str,
    instance: &str,
    metrics: Metrics,
) -> (Recorder, Publisher) {
    let (sender, receiver) = mpsc::channel(CHANNEL_LIMIT);
    let publisher = Publisher {
        receiver,
        series: Aggregator::new(source, instance),
        client,
        clock,
    };
    (Recorder { sender, metrics }, publisher)
}

impl Recorder {
    pub(crate) fn record(&self, note: Note) {
        if self.sender.try_send(note).is_err() {
            self.metrics.event_dropped();
        }
    }
}

impl Publisher {
    /// Writes events until `stop`, then what is still waiting.
    pub(crate) async fn run(mut self, stop: CancellationToken) {
        let mut next_flush = Instant::now() + EVENT_INTERVAL;
        loop {
            tokio::select! {
                biased;
                () = tokio::time::sleep_until(next_flush) => {
                    next_flush += EVENT_INTERVAL;
                    self.flush().await;
                }
                note = self.receiver.recv() => match note {
                    Some(note) => self.take(note).await,
                    None => return,
                },
                () = stop.cancelled() => return self.flush().await,
            }
        }
    }

    async fn take(&mut self, note: Note) {
        let now = self.clock.now();
        if let Some(write) = self.series.take(note, now) {
            self.write(write).await;
        }
    }

    async fn flush(&mut self) {
        for write in self.series.flush(self.clock.now()) {
            self.write(write).await;
        }
    }

    async fn write(&mut self, write: EventWrite) {
        let result = match &write {
            EventWrite::Create(event) => create(&self.client, event).await,
            EventWrite::Count(event) => count(&self.client, event).await,
        };
        if let Err(error) = result {
            tracing::debug!(%error, "Event was not written.");
        }
    }
}

async fn create(client: &Client, event: &Event) -> kube::Result<()> {
    let endpoint = Endpoint::of::<Event>(event.metadata.namespace.as_deref());
    let body = endpoint.body(event)?;
    endpoint.create(client, &PostParams::default(), &body).await.map(drop)
}

/// Raises the count of an event, or creates it again if it has expired.
async fn count(client: &Client, event: &Event) -> kube::Result<()> {
    let endpoint = Endpoint::of::<Event>(event.metadata.namespace.as_deref());
    let name = event.metadata.name.as_deref().unwrap_or_default();
    let patch = json!({
        "count": event.count, "lastTimestamp": event.last_timestamp, "message": event.message
    });
    match endpoint.merge(client, name, &patch).await {
        Err(kube::Error::Api(status)) if status.is_not_found() => create(client, event).await,
        other => other.map(drop),
    }
}

/// A write that the aggregation decided on.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum EventWrite {
    Create(Box<Event>),
    Count(Box<Event>),
}

/// The pure part: which notes become which writes.
#[derive(Debug)]
pub(crate) struct Aggregator {
    source: String,
    instance: String,
    /// Makes names unique among processes, as the counter does within one; short, whatever the instance is called.
    prefix: String,
    counter: u64,
    series: BTreeMap<SeriesKey, Series>,
}

type SeriesKey = (String, String, EventType, &'static str);

#[derive(Clone, Debug)]
struct Series {
    event: Event,
    written: Timestamp,
    last: Timestamp,
    is_behind: bool,
}

impl Aggregator {
    pub(crate) fn new(source: &str, instance: &str) -> Self {
        Self {
            source: source.to_owned(),
            instance: instance.to_owned(),
            prefix: format!("{:016x}", Random::named(0, instance).next_u64()),
            counter: 0,
            series: BTreeMap::new(),
        }
    }

    pub(crate) fn take(&mut self, mut note: Note, now: Timestamp) -> Option<EventWrite> {
        shorten(&mut note.message);
        let key = series_key(&note);
        match self.series.get_mut(&key) {
            Some(series) if since(series.last, now) < SERIES_END => {
                series.event.count = series.event.count.map(|count| count.saturating_add(1));
                series.event.last_timestamp = Some(Time(now));
                series.event.message = Some(note.message);
                series.last = now;
                series.is_behind = true;
                series
                    .due(now)
                    .then(|| EventWrite::Count(Box::new(series.publish(now))))
            }
            _ => {
                self.make_room();
                let event = self.new_event(note, now);
                let series = Series {
                    event: event.clone(),
                    written: now,
                    last: now,
                    is_behind: false,
                };
                self.series.insert(key, series);
                Some(EventWrite::Create(Box::new(event)))
            }
        }
    }

    /// The counts that are behind and may be written again; series that are over are forgotten.
    pub(crate) fn flush(&mut self, now: Timestamp) -> Vec<EventWrite> {
        self.series
            .retain(|_, series| series.is_behind || since(series.last, now) < SERIES_END);
        let due = self
            .series
            .values_mut()
            .filter(|series| series.is_behind && series.due(now));
        due.map(|series| EventWrite::Count(Box::new(series.publish(now))))
            .collect()
    }

    fn make_room(&mut self) {
        if self.series.len() >= SERIES_LIMIT {
            let quietest = self.series.iter().min_by_key(|(_, series)| series.last);
            if let Some(key) = quietest.map(|(key, _)| key.clone()) {
                self.series.remove(&key);
            }
        }
    }

    fn new_event(&mut self, note: Note, now: Timestamp) -> Event {
        self.counter += 1;
        let stem = stem(note.about.name.as_deref().unwrap_or_default());
        let name = format!("{stem}.{:x}.{}.{}", now.as_millisecond(), self.prefix, self.counter);
        // Events about cluster-scoped objects live in the namespace "default" (client-go, tools/record).
        let namespace = note.about.namespace.clone().unwrap_or_else(|| "default".to_owned());
        Event {
            metadata: ObjectMeta {
                name: Some(name),
                namespace: Some(namespace),
                ..ObjectMeta::default()
            },
            involved_object: note.about,
            type_: Some(format!("{:?}", note.type_)),
            reason: Some(note.reason.to_owned()),
            message: Some(note.message),
            count: Some(1),
            first_timestamp: Some(Time(now)),
            last_timestamp: Some(Time(now)),
            source: Some(EventSource {
                component: Some(self.source.clone()),
                host: None,
            }),
            reporting_component: Some(self.source.clone()),
            reporting_instance: Some(self.instance.clone()),
            ..Event::default()
        }
    }
}

impl Series {
    fn due(&self, now: Timestamp) -> bool {
        since(self.written, now) >= EVENT_INTERVAL
    }

    fn publish(&mut self, now: Timestamp) -> Event {
        self.written = now;
        self.is_behind = false;
        self.event.clone()
    }
}

fn series_key(note: &Note) -> SeriesKey {
    let uid = note.about.uid.clone().unwrap_or_default();
    let name = note.about.name.clone().unwrap_or_default();
    (uid, name, note.type_, note.reason)
}

fn since(earlier: Timestamp, now: Timestamp) -> Duration {
    Duration::try_from(now.duration_since(earlier)).unwrap_or_default()
}

/// The name of an object as the beginning of a name that every kind accepts: lower case, no colons as RBAC has them,
/// and short enough for what follows.
fn stem(name: &str) -> String {
    let allowed = |character: char| match character {
        'a'..='z' | '0'..='9' | '.' => character,
        _ => '-',
    };
    let stem: String = name.chars().take(200).map(allowed).collect();
    let stem = stem.trim_matches(['-', '.']);
    if stem.is_empty() {
        "object".to_owned()
    } else {
        stem.to_owned()
    }
}

fn shorten(message: &mut String) {
    if message.len() > NOTE_LIMIT {
        let end = (0..=NOTE_LIMIT).rev().find(|end| message.is_char_boundary(*end));
        message.truncate(end.unwrap_or(0));
    }
}

impl std::fmt::Debug for Recorder {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("Recorder")
    }
}

/// How an object is named in its events.
pub(crate) fn reference<K: Kind>(object: &K) -> Arc<ObjectReference> {
    Arc::new(object.object_ref(&()))
}
