//! One run for one machine: look at its Node, and give it the labels and taints of its pool if it is new. What is written is
//! decided in `node_metadata`; nothing is written on the management cluster.
//!
//! Nodes of hosted clusters announce nothing here. That a machine has a Node, and each change of it that counts, is in the
//! status of the Machine, which costs one read of the Node each time. A Node that was deleted and registered again is no
//! change of its Machine: such ones are found by whoever lists the Nodes for other reasons, and brought in line here, too.

use std::{sync::Arc, time::Duration};

use hyperplane_api::{
    cluster_api::machine::Machine,
    constants::{annotations, objects::kubeconfigs},
    hypershift::hosted_control_plane::HostedControlPlane,
};
use hyperplane_component_driver::rests;
use hyperplane_runtime::{Api, Context, Failure, Fence, Next, Reconciler, Remote, Store};
use jiff::{SignedDuration, Timestamp};
use k8s_openapi::api::core::v1::{Node, Secret};
use kube::{
    ResourceExt as _,
    api::{Patch, PatchParams},
};

use crate::{
    HostedConfigSettings,
    node_metadata::{missing, node_of},
    reconciler::{answers, kubeconfig},
};

/// The name of the controller, and of its field manager for ever.
pub(crate) const NAME: &str = "hosted-nodes";

/// Machines that are looked at at a time. A hosted cluster that does not answer holds one of these for its patience, and
/// must not hold up the machines of others.
pub(crate) const CONCURRENCY: usize = 16;

/// How soon it is looked again for what no change of a Machine announces: the end of a pause, an API server that is back.
const LOOK_AGAIN: Duration = Duration::from_mins(1);
/// How long a Node is left to its Machine before it counts as missed.
const MISSED: SignedDuration = SignedDuration::from_mins(1);
/// Missed Nodes that are looked at in one go; the next go has the next.
const MISSED_AT_ONCE: usize = 50;
/// The index of Machines by the names of their Nodes.
const INDEX: &str = "hosted-nodes/node";
/// How long one look may take.
const PATIENCE: Duration = Duration::from_secs(20);

/// The reconciler of new nodes.
pub(crate) struct NewNodes {
    pub(crate) control_planes: Store<HostedControlPlane>,
    pub(crate) secrets: Store<Secret>,
    pub(crate) fence: Fence,
    pub(crate) settings: HostedConfigSettings,
}

impl Reconciler for NewNodes {
    type Object = Machine;

    async fn reconcile(&self, context: &Context, machine: Arc<Machine>) -> Result<Next, Failure> {
        let namespace = machine.namespace().unwrap_or_default();
        let control_planes = self.control_planes.namespace(&namespace).all();
        let (Some(node), Some(control_plane)) = (node_of(&machine), control_planes.first()) else {
            return Ok(Next::OnChange);
        };
        let is_leaving = control_plane.metadata.deletion_timestamp.is_some();
        if is_leaving || !self.settings.serves(control_plane) {
            return Ok(Next::OnChange);
        }
        if rests(control_plane, context.now()).is_some() || !answers(control_plane) {
            return Ok(Next::After(LOOK_AGAIN));
        }
        self.visit(context, &machine, &namespace, node).await
    }
}

impl NewNodes {
    /// A look that ends. After one that went wrong the next begins with a connection of its own.
    async fn visit(&self, context: &Context, machine: &Machine, namespace: &str, node: &str) -> Result<Next, Failure> {
        let waits = || Failure::wait_until(format!("Secret {}", kubeconfigs::CONFIG_OPERATOR), LOOK_AGAIN);
        let kubeconfig = kubeconfig(&self.secrets, namespace).ok_or_else(waits)?;
        let look = async {
            let client = self.settings.reach.client(&kubeconfig.0).await?;
            let remote = Remote::new(&client, context.field_manager(), &self.fence);
            bring_in_line(&remote, context.field_manager(), machine, node).await
        };
        let looked = tokio::time::timeout(PATIENCE, look).await;
        let silent = || Failure::retry("the hosted API server did not answer in time");
        let looked = looked.unwrap_or_else(|_| Err(silent()));
        if looked.is_err() {
            self.settings.reach.forget(&kubeconfig.0);
        }
        looked
    }
}

/// Prepares a store of Machines for [`machine_of`].
pub(crate) fn index_machines(machines: &Store<Machine>) {
    machines.add_index(INDEX, |machine| {
        node_of(machine).map(str::to_owned).into_iter().collect()
    });
}

/// The Machine of a namespace that has become a Node.
pub(crate) fn machine_of(machines: &Store<Machine>, namespace: &str, node: &str) -> Option<Arc<Machine>> {
    machines.namespace(namespace).by_index(INDEX, node).into_iter().next()
}

/// Brings Nodes in line that no change of their Machines told of. What goes wrong is told, and tried again with the next
/// look: it must not hold up everything else that is looked at.
pub(crate) async fn catch_up(
    remote: &Remote,
    manager: &str,
    machine_of: impl Fn(&str) -> Option<Arc<Machine>>,
    unmarked: &[(String, Timestamp)],
    now: Timestamp,
) {
    let missed = unmarked.iter().filter(|(_, since)| now.duration_since(*since) > MISSED);
    let missed = missed.filter_map(|(node, _)| Some((node, machine_of(node)?)));
    for (node, machine) in missed.take(MISSED_AT_ONCE) {
        if let Err(failure) = bring_in_line(remote, manager, &machine, node).await {
            let (machine, reason) = (machine.name_any(), failure.report());
            tracing::warn!(machine, node, reason, "A node lacks what its pool says.");
        }
    }
}

async fn bring_in_line(remote: &Remote, manager: &str, machine: &Machine, name: &str) -> Result<Next, Failure> {
    let nodes: Api<Node> = Api::all(remote.client().clone());
    let Some(node) = nodes.get_opt(name).await? else {
        // Its kubelet may register it again.
        return Ok(Next::After(LOOK_AGAIN));
    };
    let patch = missing(machine, &node).map_err(|error| {
        let field = format!("metadata.annotations[{}]", annotations::TAINTS.as_str());
        Failure::user(field, error.to_string(), "set spec.taints of the NodePool")
    })?;
    if let Some(patch) = patch {
        let parameters = PatchParams {
            field_manager: Some(manager.to_owned()),
            ..PatchParams::default()
        };
        nodes.patch(name, &parameters, &Patch::Merge(patch)).await?;
        tracing::info!(
            machine = machine.name_any(),
            node = name,
            "A new node has the labels and taints of its pool."
        );
    }
    Ok(Next::OnChange)
}

#[cfg(test)]
mod tests {
    use std::{
        convert::Infallible,
        sync::{Mutex, PoisonError},
    };

    use http::{Method, Request, Response, StatusCode};
    use kube::{Client, client::Body};
    use serde_json::{Value, json};
    use tower::service_fn;

    use super::*;

    /// A hosted cluster with at most one node, and what was written to it.
    #[derive(Clone, Default)]
    struct Hosted(Arc<Mutex<(Option<Value>, Vec<Value>)>>);

    impl Hosted {
        fn with(node: Value) -> Self {
            let hosted = Self::default();
            hosted.lock().0 = Some(node);
            hosted
        }

        fn lock(&self) -> std::sync::MutexGuard<'_, (Option<Value>, Vec<Value>)> {
            self.0.lock().unwrap_or_else(PoisonError::into_inner)
        }

        fn answer(&self, method: &Method, body: &[u8]) -> (StatusCode, Value) {
            let mut held = self.lock();
            if *method == Method::PATCH {
                let patch: Value = serde_json::from_slice(body).unwrap();
                if let Some(node) = &mut held.0 {
                    node["metadata"]["annotations"] = patch["metadata"]["annotations"].clone();
                }
                held.1.push(patch);
            }
            let missing = || json!({"kind": "Status", "status": "Failure", "code": 404, "reason": "NotFound"});
            match &held.0 {
                Some(node) => (StatusCode::OK, node.clone()),
                None => (StatusCode::NOT_FOUND, missing()),
            }
        }

        fn remote(&self) -> Remote {
            let hosted = self.clone();
            let service = service_fn(move |request: Request<Body>| {
                let hosted = hosted.clone();
                async move {
                    let (parts, body) = request.into_parts();
                    let body = body.collect_bytes().await.unwrap();
                    let (status, answer) = hosted.answer(&parts.method, &body);
                    let response = Response::builder().status(status);
                    Ok::<_, Infallible>(response.body(Body::from(answer.to_string().into_bytes())).unwrap())
                }
            });
            Remote::new(&Client::new(service, "default"), NAME, &Fence::open())
        }
    }

    fn machine(taints: &str) -> Machine {
        hyperplane_objects::read(json!({
            "metadata": {"name": "pool-1", "annotations": {annotations::TAINTS.as_str(): taints}},
            "spec": {
                "clusterName": "blue-abcde", "bootstrap": {"dataSecretName": "user-data"}, "providerID": "kubevirt://pool-1",
                "infrastructureRef": {"apiGroup": "infrastructure.cluster.x-k8s.io", "kind": "KubevirtMachine", "name": "pool-1"},
            },
            "status": {"nodeRef": {"name": "pool-1"}},
        }))
        .unwrap()
    }

    fn node() -> Value {
        json!({
            "apiVersion": "v1", "kind": "Node", "metadata": {"name": "pool-1", "uid": "1-2-3", "resourceVersion": "7"},
            "spec": {"providerID": "kubevirt://pool-1"},
        })
    }

    #[tokio::test]
    async fn a_node_is_written_to_once() {
        let hosted = Hosted::with(node());
        let machine = machine(r#"[{"key": "dedicated", "effect": "NoSchedule"}]"#);
        for _ in 0..2 {
            let next = bring_in_line(&hosted.remote(), NAME, &machine, "pool-1").await;
            assert_eq!(next.unwrap(), Next::OnChange);
        }
        let written = &hosted.lock().1;
        assert_eq!(written.len(), 1, "{written:?}");
        assert_eq!(written[0]["metadata"]["resourceVersion"], "7");
        assert_eq!(written[0]["spec"]["taints"][0]["key"], "dedicated");
    }

    #[tokio::test]
    async fn a_node_that_registered_again_is_caught_up_with() {
        let machine = Arc::new(machine(r#"[{"key": "dedicated", "effect": "NoSchedule"}]"#));
        let machine_of = |node: &str| (node == "pool-1").then(|| Arc::clone(&machine));
        let now = Timestamp::constant(1_000, 0);
        let since = |seconds: i64| now - SignedDuration::from_secs(seconds);
        for (what, name, since, expected) in [
            ("it is left to its machine at first", "pool-1", since(30), 0),
            ("it is nobody's", "other", since(300), 0),
            ("it was missed", "pool-1", since(300), 1),
        ] {
            let hosted = Hosted::with(node());
            catch_up(&hosted.remote(), NAME, machine_of, &[(name.to_owned(), since)], now).await;
            assert_eq!(hosted.lock().1.len(), expected, "{what}");
        }
    }

    #[tokio::test]
    async fn a_node_that_is_away_is_looked_for_again_and_a_mistake_is_told() {
        let away = Hosted::default();
        let next = bring_in_line(&away.remote(), NAME, &machine("[]"), "pool-1").await;
        assert_eq!(next.unwrap(), Next::After(LOOK_AGAIN));
        let hosted = Hosted::with(node());
        let failure = bring_in_line(&hosted.remote(), NAME, &machine("dedicated"), "pool-1").await;
        assert!(matches!(failure, Err(Failure::User { .. })), "{failure:?}");
        assert!(hosted.lock().1.is_empty());
    }
}
