//! One visit to the cluster with the machines: what is there is read, compared and brought in line. A visit has an end,
//! and what goes wrong in it is told, not thrown: nothing of the management cluster waits for another one.

use std::{collections::BTreeMap, future::Future, time::Duration};

use hyperplane_api::{
    constants::{annotations, ours},
    hypershift::hosted_cluster::HostedCluster,
};
use hyperplane_runtime::{Api, Failure, Fence, Manifest, ObjectKey, Reach, Remote, field_manager};
use k8s_openapi::api::networking::v1::NetworkPolicy;
use kube::api::{DeleteParams, Preconditions};
use thiserror::Error;

use super::{
    Outcome, Site,
    networks::{self, Networks, Unread},
    told,
};
use crate::{
    NAME,
    build::{MachinesElsewhere, elsewhere, elsewhere_name},
    names,
};

/// How long a visit may take. A connection whose other end is gone says nothing, and the run has a deadline of its own.
const LONGEST_VISIT: Duration = Duration::from_secs(20);

#[derive(Debug, Error)]
enum VisitError {
    #[error(
        "the cluster with the machines did not answer within {} seconds",
        LONGEST_VISIT.as_secs()
    )]
    Silent,
    #[error("NetworkPolicy {0} on the cluster with the machines was not made for this cluster: delete it there")]
    Taken(ObjectKey),
}

/// The way to a place.
#[derive(Clone, Copy)]
pub(super) struct Way<'a> {
    pub(super) reach: &'a Reach,
    pub(super) fence: &'a Fence,
    pub(super) site: &'a Site,
}

impl Way<'_> {
    /// Brings the policy in line.
    pub(super) async fn isolate(
        &self,
        cluster: &HostedCluster,
        infra_id: &str,
        dns: &[BTreeMap<String, String>],
    ) -> Outcome {
        let visit = async {
            let remote = self.remote().await?;
            let (networks, refusal) = match networks::read(remote.client()).await {
                Ok(networks) => (networks, None),
                Err(Unread::Refused(why)) => (Networks::default(), Some(why)),
                Err(Unread::Failed(why)) => return Ok(Outcome::Unread(why)),
            };
            let policy = elsewhere(&MachinesElsewhere {
                cluster,
                infra_id,
                namespace: &self.site.namespace,
                closed: &networks.closed,
                dns,
                router: networks.router.as_ref(),
            });
            Ok(match write(&remote, cluster, &policy, refusal.is_none()).await {
                Ok(()) => refusal.map_or(Outcome::Isolated, Outcome::Unread),
                Err(failure) => Outcome::Unwritten(told(&failure)),
            })
        };
        let visited: Result<Outcome, Failure> = self.in_time(visit).await;
        let outcome = visited.unwrap_or_else(|failure| Outcome::Unread(told(&failure)));
        if outcome != Outcome::Isolated {
            self.reach.forget(&self.site.kubeconfig);
        }
        outcome
    }

    /// Takes the policy away.
    pub(super) async fn remove(&self, cluster: &HostedCluster, infra_id: &str) -> Result<(), Failure> {
        let key = ObjectKey::namespaced(&self.site.namespace, elsewhere_name(infra_id));
        self.in_time(async { remove(&self.remote().await?, cluster, &key).await })
            .await
    }

    async fn remote(&self) -> Result<Remote, Failure> {
        let client = self.reach.client(&self.site.kubeconfig).await?;
        Ok(Remote::new(
            &client,
            field_manager(ours::MANAGED_BY_US, NAME),
            self.fence,
        ))
    }

    /// A visit that ends. After one that went wrong the next begins with connections of its own.
    async fn in_time<T>(&self, visit: impl Future<Output = Result<T, Failure>> + Send) -> Result<T, Failure> {
        let visited = tokio::time::timeout(LONGEST_VISIT, visit).await;
        let visited = visited.unwrap_or_else(|_| Err(Failure::retry(VisitError::Silent)));
        if visited.is_err() {
            self.reach.forget(&self.site.kubeconfig);
        }
        visited
    }
}

/// Writes the policy where it differs. One that closes nothing, because nothing is known, never replaces another.
async fn write(
    remote: &Remote,
    cluster: &HostedCluster,
    policy: &NetworkPolicy,
    closes_networks: bool,
) -> Result<(), Failure> {
    let key = ObjectKey::of(policy);
    let live = remote.get::<NetworkPolicy>(&key).await?;
    if live.as_ref().is_some_and(|live| !is_of(live, cluster)) {
        return Err(Failure::fatal(VisitError::Taken(key)));
    }
    if live.is_some() && !closes_networks {
        return Ok(());
    }
    if remote.apply(&Manifest::of(policy)?).await? {
        tracing::info!(cluster = names::title(cluster), policy = %key, "Wrote a network policy on another cluster.");
    }
    Ok(())
}

async fn remove(remote: &Remote, cluster: &HostedCluster, key: &ObjectKey) -> Result<(), Failure> {
    let live = remote.get::<NetworkPolicy>(key).await?;
    let Some(live) = live.filter(|live| is_of(live, cluster)) else {
        return Ok(());
    };
    let api: Api<NetworkPolicy> = Api::namespaced(remote.client().clone(), &key.namespace);
    let only_this = DeleteParams::default().preconditions(Preconditions {
        uid: live.metadata.uid,
        resource_version: None,
    });
    match api.delete(&key.name, &only_this).await {
        Ok(()) => Ok(()),
        Err(kube::Error::Api(status)) if status.is_not_found() => Ok(()),
        Err(error) => Err(error.into()),
    }
}

/// Whether a policy was made for a cluster.
fn is_of(policy: &NetworkPolicy, cluster: &HostedCluster) -> bool {
    annotations::CLUSTER.of(policy) == Some(names::title(cluster).as_str())
}
