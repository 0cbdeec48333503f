//! `etcd-defrag`: gives back what members of etcd hold and do not use, one member per pass and the leader last, and lets
//! members vote that have caught up. Owns the pauses; the choice is a function of what all members say.

use std::time::Duration;

use futures::future::try_join_all;
use thiserror::Error;
use tokio::time::{MissedTickBehavior, interval_at};

use super::{
    client::{Client, ClientError, Status},
    wire::Member,
};
use crate::{
    patience::chain,
    tls::{TlsError, TlsFiles},
};

/// How often it is looked whether a member waits for its vote. Only what grows a cluster ever does.
const PROMOTION_PERIOD: Duration = Duration::from_secs(30);

/// What the program is to do.
#[derive(Clone, Debug)]
pub struct Settings {
    /// All members.
    pub endpoints: Vec<String>,
    /// The member beside which this program runs. With it, only the program beside the leader acts, so that those of
    /// all members do not do the same at once.
    pub name: Option<String>,
    /// How members are spoken to.
    pub tls: TlsFiles,
    /// The time from one pass to the next.
    pub interval: Duration,
    /// From when on it is worth it.
    pub thresholds: Thresholds,
}

/// From when on a defragmentation is worth that a member answers nobody meanwhile.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Thresholds {
    /// How much of its file a member does not use.
    pub unused_percent: u64,
    /// How large its file is.
    pub database_bytes: u64,
}

impl Default for Thresholds {
    fn default() -> Self {
        Self {
            unused_percent: 45,
            database_bytes: 100_000_000,
        }
    }
}

impl Thresholds {
    fn are_reached_by(self, status: &Status) -> bool {
        let unused = status.database_bytes.saturating_sub(status.used_bytes);
        // Wider than the numbers, so that no product is too large.
        let share = u128::from(unused) * 100 >= u128::from(status.database_bytes) * u128::from(self.unused_percent);
        status.database_bytes > 0 && status.database_bytes >= self.database_bytes && share
    }
}

/// Chooses the member to defragment in this pass, as an index: a follower before the leader, and among followers the
/// first. All members must have the same leader: while one is away or undecided, no other one is taken away.
pub fn choose(members: &[Status], thresholds: Thresholds) -> Option<usize> {
    let leader = members.first()?.leader;
    if leader == 0 || members.iter().any(|status| status.leader != leader) {
        return None;
    }
    let worthy = |status: &&Status| thresholds.are_reached_by(status);
    let chosen = members
        .iter()
        .filter(worthy)
        .min_by_key(|status| status.member == leader)?;
    members.iter().position(|status| status.member == chosen.member)
}

/// Whether the member of this name leads.
fn leads(name: &str, members: &[Member], statuses: &[Status]) -> bool {
    let own = members.iter().find(|member| member.name == name);
    own.is_some_and(|own| statuses.first().is_some_and(|status| status.leader == own.id))
}

/// Why a pass did nothing. The next one tries again.
#[derive(Debug, Error)]
pub enum PassError {
    /// TLS cannot be spoken.
    #[error(transparent)]
    Tls(#[from] TlsError),
    /// A member did not do what was asked.
    #[error(transparent)]
    Client(#[from] ClientError),
}

/// Goes on until it is dropped.
pub async fn run(settings: &Settings) {
    let start = tokio::time::Instant::now();
    let mut passes = interval_at(start + settings.interval, settings.interval);
    passes.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut looks = interval_at(start + PROMOTION_PERIOD, PROMOTION_PERIOD);
    looks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        let (what, outcome) = tokio::select! {
            _ = passes.tick() => ("defragmentation", pass(settings).await.map(drop)),
            _ = looks.tick() => ("promotion", promote(settings).await),
        };
        if let Err(error) = outcome {
            tracing::warn!(
                error = chain(&error),
                what,
                "A pass did nothing, and the next one tries again."
            );
        }
    }
}

/// One pass. Says which endpoint was defragmented, if any was.
pub async fn pass(settings: &Settings) -> Result<Option<&str>, PassError> {
    let clients = clients(settings).await?;
    // One that does not answer fails the pass: two members at a time are not taken away.
    let statuses = try_join_all(clients.iter().map(Client::status)).await?;
    if !is_its_turn(settings, &clients, &statuses).await? {
        return Ok(None);
    }
    let Some(index) = choose(&statuses, settings.thresholds) else {
        return Ok(None);
    };
    let (endpoint, before) = (settings.endpoints[index].as_str(), &statuses[index]);
    clients[index].defragment().await?;
    let after = clients[index].status().await?;
    tracing::info!(
        endpoint,
        bytes_before = before.database_bytes,
        bytes_after = after.database_bytes,
        "Defragmented a member."
    );
    Ok(Some(endpoint))
}

async fn is_its_turn(settings: &Settings, clients: &[Client], statuses: &[Status]) -> Result<bool, ClientError> {
    match (&settings.name, clients.first()) {
        (Some(name), Some(client)) => Ok(leads(name, &client.members().await?, statuses)),
        _ => Ok(true),
    }
}

/// Lets members vote that have what the others have. etcd refuses those that do not yet.
pub async fn promote(settings: &Settings) -> Result<(), PassError> {
    let clients = clients(settings).await?;
    let Some(client) = clients.first() else { return Ok(()) };
    for member in client.members().await? {
        if member.is_learner && member.has_started() {
            client.promote(member.id).await?;
            tracing::info!(member = member.name, "A member votes now.");
        }
    }
    Ok(())
}

async fn clients(settings: &Settings) -> Result<Vec<Client>, TlsError> {
    let connector = settings.tls.connector().await?;
    let client = |endpoint: &String| Client::new(endpoint, connector.clone());
    Ok(settings.endpoints.iter().map(client).collect())
}

#[cfg(test)]
mod tests;
