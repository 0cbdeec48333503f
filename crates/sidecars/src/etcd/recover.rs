//! `etcd-recover-member`: takes away the data of a member that keeps failing, and its pod, so that it starts empty and is
//! added to the others again. Owns looking and doing; what is done next, and whether it is safe, are functions of what was
//! seen.
//!
//! It is told for which pod it works: as soon as another pod has that place its work is done, however often it is started.
//! So it does not matter where it was killed on the way.

use std::time::Duration;

use futures::future::join_all;
use hyperplane_runtime::Api;
use k8s_openapi::{
    api::core::v1::{PersistentVolumeClaim, Pod},
    apimachinery::pkg::apis::meta::v1::ObjectMeta,
};
use kube::api::{DeleteParams, Preconditions};
use thiserror::Error;
use tokio::time::{Instant, sleep};

use super::{
    client::{Client, Status},
    membership::is_ours,
    topology::{Seat, Topology},
    wire::Member,
};
use crate::{
    patience::{Notes, PAUSE},
    tls::{TlsError, TlsFiles},
};

/// When to give up. The Job then tries again, and says so when it has tried often enough.
const PATIENCE: Duration = Duration::from_mins(5);

/// How few other members must be well at least, however many there are.
const FEWEST: usize = 2;

/// What the claim of a member's data is called before the name of the member.
const CLAIM_PREFIX: &str = "data";

/// What the program is to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings {
    /// The member that keeps failing, and the others.
    pub topology: Topology,
    /// The namespace of the members.
    pub namespace: String,
    /// The uid of the pod that keeps failing.
    pub uid: String,
}

/// What the other members say.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Others {
    /// All members, as a majority knows them; none where no majority answers.
    pub members: Vec<Member>,
    /// How those are that answer.
    pub statuses: Vec<Status>,
}

/// What to do next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// Nothing is left to do.
    Done,
    /// Take the data away, unless that has begun, and the pod.
    Reset,
    /// Look again later.
    Wait(&'static str),
}

/// Why a member is not brought back.
#[derive(Debug, Error)]
pub enum RecoverError {
    /// TLS cannot be spoken.
    #[error(transparent)]
    Tls(#[from] TlsError),
    /// The others could not go on.
    #[error("{name} is left as it is: {reason}")]
    Refused {
        /// The member.
        name: String,
        /// Why.
        reason: String,
    },
    /// The API server does not do what is asked.
    #[error("{what} {name} cannot be {done}")]
    Request {
        /// The kind of the object.
        what: &'static str,
        /// Its name.
        name: String,
        /// What was asked.
        done: &'static str,
        /// The server's answer.
        #[source]
        source: Box<kube::Error>,
    },
    /// Something does not come.
    #[error("{name} was waited for {} s: {reason}", PATIENCE.as_secs())]
    Waited {
        /// The member.
        name: String,
        /// For what.
        reason: &'static str,
    },
}

/// Decides the next step for the pod of a uid, from the pod that has its place and the claim of its data.
pub fn decide(uid: &str, pod: Option<&Pod>, claim: Option<&PersistentVolumeClaim>) -> Step {
    let is_leaving = |meta: &ObjectMeta| meta.deletion_timestamp.is_some();
    let Some(pod) = pod else {
        return Step::Wait("nobody has taken the place of the pod yet");
    };
    if pod.metadata.uid.as_deref() != Some(uid) {
        return Step::Done;
    }
    if is_leaving(&pod.metadata) {
        return Step::Wait("the pod has not ended yet");
    }
    // One that is well again keeps its data; one whose data goes with it in any case goes while the others are well.
    if is_ready(pod) && claim.is_some_and(|claim| !is_leaving(&claim.metadata)) {
        return Step::Done;
    }
    Step::Reset
}

fn is_ready(pod: &Pod) -> bool {
    let conditions = pod.status.iter().flat_map(|status| status.conditions.iter().flatten());
    let mut ready = conditions.filter(|condition| condition.type_ == "Ready");
    ready.any(|condition| condition.status == "True")
}

/// Whether the others go on without this member; if not, why. Only voters count that follow one of themselves.
pub fn check(own: &Seat, others: &Others) -> Result<(), String> {
    let voters: Vec<&Member> = others.members.iter().filter(|member| !member.is_learner).collect();
    if voters.is_empty() {
        return Err("no majority of the members answers".to_owned());
    }
    let leads = |id: u64| voters.iter().any(|member| member.id == id && !is_ours(member, own));
    let is_well = |member: &&&Member| {
        let mut statuses = others.statuses.iter();
        !is_ours(member, own) && statuses.any(|status| status.member == member.id && leads(status.leader))
    };
    let well = voters.iter().filter(is_well).count();
    let needed = (voters.len() / 2 + 1).max(FEWEST);
    if well < needed {
        return Err(format!(
            "{well} of the other members are well, and {needed} have to be: bring the others back first"
        ));
    }
    Ok(())
}

/// Asks all others at once. Whoever does not answer counts as not well.
pub async fn ask(topology: &Topology, tls: &TlsFiles) -> Result<Others, TlsError> {
    let connector = tls.connector().await?;
    let questions = topology.others.iter().map(|seat| {
        let client = Client::new(&seat.client_url, connector.clone());
        async move { (client.members().await, client.status().await) }
    });
    let mut others = Others::default();
    for (members, status) in join_all(questions).await {
        if let Ok(members) = members {
            others.members = members;
        }
        others.statuses.extend(status);
    }
    Ok(others)
}

/// Brings the member back, as far as this is done from outside: it starts empty. The others are asked by the function,
/// each time before something is taken away.
pub async fn run<F>(settings: &Settings, client: &kube::Client, ask: impl Fn() -> F) -> Result<(), RecoverError>
where
    F: Future<Output = Result<Others, TlsError>>,
{
    let own = &settings.topology.own;
    let member = Failing::new(settings, client);
    let begin = Instant::now();
    let mut notes = Notes::default();
    loop {
        let (pod, claim) = member.look().await?;
        let reason = match decide(&settings.uid, pod.as_ref(), claim.as_ref()) {
            Step::Done => {
                tracing::info!(
                    member = own.name,
                    "Another pod has the place of the member, or it is well again."
                );
                return Ok(());
            }
            Step::Wait(reason) => reason,
            Step::Reset => {
                check(own, &ask().await?).map_err(|reason| RecoverError::Refused {
                    name: own.name.clone(),
                    reason,
                })?;
                member.reset(claim.as_ref()).await?;
                "the pod has not ended yet"
            }
        };
        if begin.elapsed() >= PATIENCE {
            let name = own.name.clone();
            return Err(RecoverError::Waited { name, reason });
        }
        notes.waiting("a member of etcd to start empty", reason);
        sleep(PAUSE).await;
    }
}

/// The member that keeps failing, as the API server knows it.
struct Failing<'a> {
    settings: &'a Settings,
    pods: Api<Pod>,
    claims: Api<PersistentVolumeClaim>,
    /// The name of the claim of its data.
    claim: String,
}

impl<'a> Failing<'a> {
    fn new(settings: &'a Settings, client: &kube::Client) -> Self {
        Self {
            settings,
            pods: Api::namespaced(client.clone(), &settings.namespace),
            claims: Api::namespaced(client.clone(), &settings.namespace),
            claim: format!("{CLAIM_PREFIX}-{}", settings.topology.own.name),
        }
    }

    fn name(&self) -> &'a str {
        &self.settings.topology.own.name
    }

    async fn look(&self) -> Result<(Option<Pod>, Option<PersistentVolumeClaim>), RecoverError> {
        let pod = self.pods.get_opt(self.name()).await;
        let claim = self.claims.get_opt(&self.claim).await;
        Ok((
            pod.map_err(refused("Pod", self.name(), "read"))?,
            claim.map_err(refused("PersistentVolumeClaim", &self.claim, "read"))?,
        ))
    }

    /// The data goes first: a pod that is made anew takes whatever claim is there.
    async fn reset(&self, claim: Option<&PersistentVolumeClaim>) -> Result<(), RecoverError> {
        let data = claim.filter(|claim| claim.metadata.deletion_timestamp.is_none());
        if let Some(uid) = data.and_then(|claim| claim.metadata.uid.clone()) {
            tracing::info!(
                member = self.name(),
                claim = self.claim,
                "Taking the data of a member away."
            );
            let deleted = self.claims.delete(&self.claim, &exactly(uid)).await;
            settled(deleted).map_err(refused("PersistentVolumeClaim", &self.claim, "deleted"))?;
        }
        tracing::info!(member = self.name(), "Taking the pod of a member away.");
        let deleted = self.pods.delete(self.name(), &exactly(self.settings.uid.clone())).await;
        settled(deleted).map_err(refused("Pod", self.name(), "deleted"))
    }
}

/// Deletes the object of a uid, and no other of its name.
fn exactly(uid: String) -> DeleteParams {
    DeleteParams::background().preconditions(Preconditions {
        uid: Some(uid),
        resource_version: None,
    })
}

/// What is gone, or is another one by now, is as it should be: it is looked again.
fn settled<T>(deleted: Result<T, kube::Error>) -> Result<(), kube::Error> {
    match deleted {
        Err(kube::Error::Api(status)) if status.is_not_found() || status.is_conflict() => Ok(()),
        deleted => deleted.map(drop),
    }
}

fn refused(what: &'static str, name: &str, done: &'static str) -> impl FnOnce(kube::Error) -> RecoverError {
    let name = name.to_owned();
    move |source| RecoverError::Request {
        what,
        name,
        done,
        source: Box::new(source),
    }
}

#[cfg(test)]
mod tests;
