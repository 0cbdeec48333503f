//! The lease: carries out what [`crate::election`] decides, against the API server, and opens and shuts the fence.
//! Everything it reads and writes is one Lease object.

use std::time::Duration;

use k8s_openapi::{
    api::coordination::v1::{Lease, LeaseSpec},
    apimachinery::pkg::apis::meta::v1::{MicroTime, ObjectMeta},
};
use kube::{Client, api::PostParams};
use serde_json::Value;
use tokio::time::{Instant, timeout};
use tokio_util::sync::CancellationToken;

use hyperplane_seams::Clock;

use crate::{
    election::{Election, Move, Record},
    endpoint::Endpoint,
    fence::{Fence, Leadership},
    metrics::Metrics,
};

/// client-go's default; a leader that dies is replaced within this time and a little more.
pub const LEASE_DURATION: Duration = Duration::from_secs(15);
/// Releasing is best effort: a shutdown does not wait longer for it.
const RELEASE_TIMEOUT: Duration = Duration::from_secs(3);

/// Which lease to hold, and as whom.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LeaseSettings {
    /// The namespace of the Lease object.
    pub namespace: String,
    /// The name of the Lease object.
    pub name: String,
    /// Who this process is. Must differ between processes that may run at the same time.
    pub identity: String,
    /// How long a silent leader is respected. Whole seconds; with less than a few, every hiccup ends leadership.
    pub duration: Duration,
}

impl LeaseSettings {
    /// The usual duration.
    pub fn new(namespace: impl Into<String>, name: impl Into<String>, identity: impl Into<String>) -> Self {
        Self {
            namespace: namespace.into(),
            name: name.into(),
            identity: identity.into(),
            duration: LEASE_DURATION,
        }
    }
}

/// The task that keeps the lease.
pub(crate) struct LeaseKeeper {
    settings: LeaseSettings,
    endpoint: Endpoint,
    client: Client,
    clock: Clock,
    fence: Fence,
    metrics: Metrics,
    election: Election,
    started: Instant,
    acquired: Option<MicroTime>,
    is_leader: bool,
}

impl LeaseKeeper {
    pub(crate) fn new(settings: LeaseSettings, client: Client, clock: Clock, fence: Fence, metrics: Metrics) -> Self {
        metrics.leads(&settings.name, false);
        Self {
            endpoint: Endpoint::of::<Lease>(Some(&settings.namespace)),
            election: Election::new(&settings.identity, settings.duration),
            settings,
            client,
            clock,
            fence,
            metrics,
            started: Instant::now(),
            acquired: None,
            is_leader: false,
        }
    }

    /// Takes and renews the lease until `stop`, then releases it.
    pub(crate) async fn run(mut self, stop: CancellationToken) {
        loop {
            let turn = async {
                let pause = self.turn().await;
                tokio::time::sleep(pause).await;
            };
            tokio::select! {
                biased;
                () = stop.cancelled() => break,
                () = turn => {}
            }
        }
        self.fence.set(Leadership::Standby);
        self.metrics.leads(&self.settings.name, false);
        if timeout(RELEASE_TIMEOUT, self.release()).await.is_err() {
            tracing::warn!(lease = %self.settings.name, "Lease was not released in time and will expire.");
        }
    }

    /// One move, and how long to rest after it.
    async fn turn(&mut self) -> Duration {
        let now = self.started.elapsed();
        let action = self.election.begin(now);
        if let Move::Rest(pause) = action {
            return self.publish(pause);
        }
        let is_read = action == Move::Read;
        // A request never outlives the leadership that it would renew.
        let left = self.election.leads_until(now).map(|until| until.saturating_sub(now));
        let limit = left.unwrap_or(Duration::MAX).min(self.settings.duration / 3);
        let answer = timeout(limit, self.perform(action)).await;
        let finished = self.started.elapsed();
        match answer {
            Ok(Ok(record)) if is_read => self.election.read(record, finished),
            Ok(Ok(Some(record))) => self.election.wrote(record),
            Ok(Ok(None)) | Err(_) => self.election.failed(finished),
            Ok(Err(error)) => {
                tracing::debug!(lease = %self.settings.name, %error, "Lease request failed and will be retried.");
                self.election.failed(finished);
            }
        }
        self.publish(Duration::ZERO)
    }

    async fn perform(&mut self, action: Move) -> kube::Result<Option<Record>> {
        let name = self.settings.name.clone();
        match action {
            Move::Read => Ok(self
                .endpoint
                .get_opt(&self.client, &name)
                .await?
                .as_ref()
                .map(to_record)),
            Move::Create => {
                let lease = self.lease(None, 0);
                let body = self.endpoint.body(&lease)?;
                let answer = self
                    .endpoint
                    .create(&self.client, &PostParams::default(), &body)
                    .await?;
                Ok(Some(to_record(&answer)))
            }
            Move::Replace { version, transitions } => {
                let lease = self.lease(Some(version), transitions);
                let answer = self.replace(&lease).await?;
                Ok(Some(to_record(&answer)))
            }
            Move::Rest(_) => Ok(None),
        }
    }

    async fn replace(&self, lease: &Lease) -> kube::Result<Value> {
        let (name, body) = (&self.settings.name, self.endpoint.body(lease)?);
        self.endpoint
            .replace(&self.client, name, &PostParams::default(), &body)
            .await
    }

    /// Opens or shuts the fence according to the election; hands back the pause, cut to the end of leadership.
    fn publish(&mut self, pause: Duration) -> Duration {
        let now = self.started.elapsed();
        let until = self.election.leads_until(now);
        if let Some(until) = until {
            self.fence.set(Leadership::Leader {
                until: self.started + until,
                transitions: self.election.held().map_or(0, |record| record.transitions),
            });
        } else if self.election.is_informed() {
            self.acquired = None;
            self.fence.set(Leadership::Standby);
        }
        if std::mem::replace(&mut self.is_leader, until.is_some()) != until.is_some() {
            self.metrics.leads(&self.settings.name, until.is_some());
            tracing::info!(lease = %self.settings.name, leads = until.is_some(), "Leadership changed.");
        }
        until.map_or(pause, |until| pause.min(until.saturating_sub(now)))
    }

    async fn release(&mut self) {
        if self.election.held().is_none() {
            return;
        }
        let read = self.endpoint.get_opt(&self.client, &self.settings.name).await;
        let Ok(Some(record)) = read.map(|lease| lease.as_ref().map(to_record)) else {
            return;
        };
        if record.holder != self.settings.identity {
            return;
        }
        let mut lease = self.lease(Some(record.version), record.transitions);
        if let Some(spec) = &mut lease.spec {
            spec.holder_identity = Some(String::new());
            spec.lease_duration_seconds = Some(1);
        }
        let released = self.replace(&lease).await;
        if let Err(error) = released {
            tracing::warn!(lease = %self.settings.name, %error, "Lease was not released and will expire.");
        }
    }

    fn lease(&mut self, version: Option<String>, transitions: i32) -> Lease {
        let now = MicroTime(self.clock.now());
        let acquired = self.acquired.get_or_insert_with(|| now.clone()).clone();
        let seconds = i32::try_from(self.settings.duration.as_secs())
            .unwrap_or(i32::MAX)
            .max(1);
        Lease {
            metadata: ObjectMeta {
                name: Some(self.settings.name.clone()),
                namespace: Some(self.settings.namespace.clone()),
                resource_version: version,
                ..ObjectMeta::default()
            },
            spec: Some(LeaseSpec {
                holder_identity: Some(self.settings.identity.clone()),
                lease_duration_seconds: Some(seconds),
                lease_transitions: Some(transitions),
                acquire_time: Some(acquired),
                renew_time: Some(now),
                ..LeaseSpec::default()
            }),
        }
    }
}

/// Reads the few fields that matter; a lease of unknown shape counts as held by somebody for the usual duration.
fn to_record(lease: &Value) -> Record {
    let spec = &lease["spec"];
    let seconds = spec["leaseDurationSeconds"].as_u64();
    Record {
        version: lease["metadata"]["resourceVersion"]
            .as_str()
            .unwrap_or_default()
            .to_owned(),
        holder: spec["holderIdentity"].as_str().unwrap_or_default().to_owned(),
        duration: seconds.map_or(LEASE_DURATION, Duration::from_secs),
        transitions: spec["leaseTransitions"]
            .as_i64()
            .and_then(|count| i32::try_from(count).ok())
            .unwrap_or(0),
    }
}
