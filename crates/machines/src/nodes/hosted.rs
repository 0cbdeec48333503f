//! A visit to one hosted cluster: the requests that machines need there, each with an end. Decides nothing.

use std::fmt::Debug;

use hyperplane_api::constants::ours;
use hyperplane_objects::Kind;
use hyperplane_runtime::{Api, Fence, ObjectKey, Remote, field_manager};
use k8s_openapi::{
    ByteString, Resource as _,
    api::{
        core::v1::{PersistentVolume, PersistentVolumeClaim, Pod},
        policy::v1::{Eviction, PodDisruptionBudget},
        storage::v1::VolumeAttachment,
    },
};
use kube::{
    Client,
    api::{DeleteParams, ListParams, Patch, PatchParams, PostParams, Preconditions},
    core::Status,
};
use serde_json::{Value, json};
use tokio::time::{Instant, timeout};

use super::{NoAnswer, NodeList, NodeView, PATIENCE, Whose, bounded};

/// How many objects one request asks for.
const PAGE: u32 = 500;
/// How many such requests a list may take: ten thousand nodes are more than Kubernetes is made for, and a tenant who
/// makes more must not fill our memory.
const PAGES: usize = 20;
/// What the API server gives as the cause when a budget forbids an eviction.
const BUDGET_CAUSE: &str = "DisruptionBudget";

/// What became of an eviction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Evicted {
    /// The pod is going.
    Accepted,
    /// The pod is not there any more.
    Gone,
    /// The pod is not as it was read: it changed this moment, or another has its name.
    Changed,
    /// The server refuses.
    Refused {
        /// In its words, of bounded length.
        answer: String,
        /// Because of a PodDisruptionBudget.
        is_budget: bool,
    },
}

/// One hosted cluster, with connections.
#[derive(Clone)]
pub(crate) struct HostedCluster {
    remote: Remote,
    whose: Whose,
    kubeconfig: ByteString,
}

impl HostedCluster {
    pub(super) fn new(client: &Client, fence: &Fence, whose: Whose, kubeconfig: ByteString) -> Self {
        Self {
            remote: Remote::new(client, manager(), fence),
            whose,
            kubeconfig,
        }
    }

    /// All nodes.
    pub(super) async fn list_nodes(&self) -> Result<NodeList, NoAnswer> {
        let nodes = self.list(Api::<NodeView>::all(self.client()), ListParams::default());
        nodes.await.map(NodeList::new)
    }

    /// A node as it is this moment, or none.
    pub(crate) async fn node(&self, name: &str) -> Result<Option<NodeView>, NoAnswer> {
        self.ask(Api::<NodeView>::all(self.client()).get_opt(name)).await
    }

    /// Changes exactly the node that was read, in exactly the state that was read.
    pub(crate) async fn patch_node(&self, node: &NodeView, mut patch: Value) -> Result<(), NoAnswer> {
        patch["metadata"]["uid"] = node.metadata.uid.clone().into();
        patch["metadata"]["resourceVersion"] = node.metadata.resource_version.clone().into();
        let api = Api::<NodeView>::all(self.client());
        let parameters = PatchParams {
            field_manager: Some(manager()),
            ..PatchParams::default()
        };
        let patch = Patch::Merge(patch);
        self.ask(api.patch(node.name(), &parameters, &patch)).await.map(drop)
    }

    /// Removes exactly the node that was read; that it is gone already is a success, that it was replaced is none.
    pub(crate) async fn delete_node(&self, node: &NodeView) -> Result<(), NoAnswer> {
        let api = Api::<NodeView>::all(self.client());
        let parameters = DeleteParams::background().preconditions(Preconditions {
            uid: node.metadata.uid.clone(),
            resource_version: None,
        });
        self.ask(async {
            match api.delete(node.name(), &parameters).await {
                Err(kube::Error::Api(status)) if status.is_not_found() => Ok(()),
                other => other.map(drop),
            }
        })
        .await
    }

    /// The pods on a node that have not ended. Those that have may be thousands, and hold nobody up.
    pub(crate) async fn pods(&self, node: &str) -> Result<Vec<Pod>, NoAnswer> {
        let fields = format!("spec.nodeName={node},status.phase!=Succeeded,status.phase!=Failed");
        let parameters = ListParams::default().fields(&fields);
        self.list(Api::<Pod>::all(self.client()), parameters).await
    }

    /// A claim to a volume, or none.
    pub(crate) async fn claim(&self, claim: &ObjectKey) -> Result<Option<PersistentVolumeClaim>, NoAnswer> {
        let api = Api::<PersistentVolumeClaim>::namespaced(self.client(), &claim.namespace);
        self.ask(api.get_opt(&claim.name)).await
    }

    /// A volume, or none.
    pub(crate) async fn volume(&self, name: &str) -> Result<Option<PersistentVolume>, NoAnswer> {
        self.ask(Api::<PersistentVolume>::all(self.client()).get_opt(name))
            .await
    }

    /// The attachments of volumes to a node. No selector knows their node.
    pub(crate) async fn attachments(&self, node: &str) -> Result<Vec<VolumeAttachment>, NoAnswer> {
        let api = Api::<VolumeAttachment>::all(self.client());
        let mut all = self.list(api, ListParams::default()).await?;
        all.retain(|attachment| attachment.spec.node_name == node);
        Ok(all)
    }

    /// The budgets of a namespace.
    pub(crate) async fn budgets(&self, namespace: &str) -> Result<Vec<PodDisruptionBudget>, NoAnswer> {
        let api = Api::<PodDisruptionBudget>::namespaced(self.client(), namespace);
        self.list(api, ListParams::default()).await
    }

    /// Asks that a pod go, and no other of its name. That it takes too long concerns this pod only: whoever has to agree to
    /// evictions in the hosted cluster may be slow for one pod and not for others.
    pub(crate) async fn evict(
        &self,
        pod: &ObjectKey,
        uid: &str,
        grace_period_seconds: Option<u32>,
    ) -> Result<Evicted, NoAnswer> {
        let api = Api::<Pod>::namespaced(self.client(), &pod.namespace);
        let body = eviction(pod, uid, grace_period_seconds);
        let parameters = PostParams::default();
        let request = api.create_subresource("eviction", &pod.name, &parameters, &body);
        match self.try_ask(request).await {
            Some(Ok(_)) => Ok(Evicted::Accepted),
            Some(Err(kube::Error::Api(status))) if status.is_not_found() => Ok(Evicted::Gone),
            Some(Err(kube::Error::Api(status))) if status.is_conflict() => Ok(Evicted::Changed),
            // Whatever else it says concerns this pod; the others may still go.
            Some(Err(kube::Error::Api(status))) => Ok(Evicted::Refused {
                answer: bounded(&status.message),
                is_budget: is_of_budget(&status),
            }),
            Some(Err(error)) => Err(NoAnswer::of(error)),
            None => Ok(Evicted::Refused {
                answer: nothing(),
                is_budget: false,
            }),
        }
    }

    /// All objects of a list, page by page.
    async fn list<K: Kind>(&self, api: Api<K>, parameters: ListParams) -> Result<Vec<K>, NoAnswer> {
        let mut found = Vec::new();
        let mut parameters = parameters.limit(PAGE);
        for _ in 0..PAGES {
            let page = self.ask(api.list(&parameters)).await?;
            found.extend(page.items);
            match page.metadata.continue_.filter(|token| !token.is_empty()) {
                Some(token) => parameters = parameters.continue_token(&token),
                None => return Ok(found),
            }
        }
        let (kind, count) = (K::kind(&()), found.len());
        Err(NoAnswer::new(&format!(
            "it has more than {count} objects of kind {kind}"
        )))
    }

    fn client(&self) -> Client {
        self.remote.client().clone()
    }

    /// A request that ends. One that got no answer is told to all who would ask the same cluster.
    async fn ask<T>(&self, request: impl Future<Output = kube::Result<T>> + Send) -> Result<T, NoAnswer> {
        let began = Instant::now();
        match self.try_ask(request).await {
            Some(Ok(answer)) => Ok(answer),
            Some(Err(error)) => {
                let is_answer = matches!(error, kube::Error::Api(_));
                let no_answer = NoAnswer::of(error);
                if !is_answer {
                    self.whose.note_silence(&no_answer, began);
                }
                Err(no_answer)
            }
            None => {
                let no_answer = NoAnswer::new(&nothing());
                self.whose.note_silence(&no_answer, began);
                Err(no_answer)
            }
        }
    }

    /// A request that ends, with nothing if it takes too long. After one that got no answer, the next begins with a
    /// connection of its own.
    async fn try_ask<T>(&self, request: impl Future<Output = kube::Result<T>> + Send) -> Option<kube::Result<T>> {
        let answer = timeout(PATIENCE, request).await.ok();
        if !matches!(answer, Some(Ok(_) | Err(kube::Error::Api(_)))) {
            self.whose.forget(&self.kubeconfig);
        }
        answer
    }
}

/// What an eviction is asked for with. The library's own gives the options a name that no server knows, so that neither the
/// identity of the pod nor its grace period would count.
fn eviction(pod: &ObjectKey, uid: &str, grace_period_seconds: Option<u32>) -> Value {
    let mut options = json!({"preconditions": {"uid": uid}});
    if let Some(seconds) = grace_period_seconds {
        options["gracePeriodSeconds"] = json!(seconds);
    }
    json!({
        "apiVersion": Eviction::API_VERSION, "kind": Eviction::KIND,
        "metadata": {"namespace": pod.namespace, "name": pod.name}, "deleteOptions": options,
    })
}

/// What is said of a request that took too long.
fn nothing() -> String {
    format!("nothing within {} seconds", PATIENCE.as_secs())
}

/// Whether an eviction was refused for a budget: one that has nothing left, or several where there may be one.
fn is_of_budget(status: &Status) -> bool {
    let causes = status.details.iter().flat_map(|details| &details.causes);
    let is_named = causes.into_iter().any(|cause| cause.reason == BUDGET_CAUSE);
    is_named || status.message.contains("PodDisruptionBudget")
}

/// The field manager of what we write there.
fn manager() -> String {
    field_manager(ours::MANAGED_BY_US, "machine")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_eviction_names_the_pod_by_its_identity() {
        let pod = ObjectKey::namespaced("shop", "db-0");
        let read = |grace: Option<u32>| {
            let read: Eviction = hyperplane_objects::read(eviction(&pod, "one", grace)).unwrap();
            let options = read.delete_options.unwrap();
            (options.preconditions.unwrap().uid, options.grace_period_seconds)
        };
        assert_eq!(read(None), (Some("one".to_owned()), None));
        assert_eq!(read(Some(1)), (Some("one".to_owned()), Some(1)));
    }
}
