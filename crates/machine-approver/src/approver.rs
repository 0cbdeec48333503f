//! The controller: every undecided request is judged by what the caches know, and approved if it is right. Owns the write;
//! the decision is in `judge`.

use std::{sync::Arc, time::Duration};

use hyperplane_api::cluster_api::machine::Machine;
use hyperplane_runtime::{Api, Context, EventType, Failure, Manager, Next, ObjectKey, Reconciler, Store, Watch};
use k8s_openapi::api::{certificates::v1::CertificateSigningRequest, core::v1::Node};
use kube::{
    ResourceExt as _,
    api::{Patch, PatchParams},
    core::PartialObjectMeta,
};
use serde_json::{Value, json};

use crate::{
    judge::{Refusal, Surroundings, Verdict, judge},
    machine::node_names,
    memory::Memory,
    request::{Purpose, approved_node, pending_node},
};

/// The name of the controller, and of its field manager for ever.
pub const NAME: &str = "machine-approver";

/// The index of machines, and of requests that were approved, by the names of their nodes.
const INDEX: &str = "node";

/// The index of requests that wait for a first certificate, by the names of their nodes.
const PENDING: &str = "pending-node";

/// How often a request that was refused is judged again. Machines are watched in another cluster, whose changes trigger
/// nothing here; judging asks no server.
const AGAIN: Duration = Duration::from_secs(5);

/// The reason of the condition.
const REASON: &str = "MachineApproved";

/// The reason of the event about requests of which at most one is a machine's.
const CONTESTED: &str = "MachineContested";

/// What is watched of Nodes: which there are.
type NodeName = PartialObjectMeta<Node>;

/// Judges and approves.
struct Approver {
    requests: Store<CertificateSigningRequest>,
    nodes: Store<NodeName>,
    machines: Store<Machine>,
    memory: Arc<Memory>,
}

/// Prepares a store of machines for the approver.
pub(crate) fn index_machines(machines: &Store<Machine>) {
    machines.add_index(INDEX, |machine| node_names(machine).into_iter().collect());
}

/// Adds the controller to the manager of a hosted cluster. The machines are watched elsewhere.
pub(crate) fn register(manager: &mut Manager, machines: &Store<Machine>, memory: &Arc<Memory>) {
    let watch = Watch::<CertificateSigningRequest>::all();
    let requests = manager.store(watch.clone());
    requests.add_index(INDEX, |request| approved_node(request).into_iter().collect());
    requests.add_index(PENDING, |request| pending_node(request).into_iter().collect());
    let nodes = manager.store(Watch::<NodeName>::all());
    let approver = Approver {
        requests,
        nodes: nodes.clone(),
        machines: machines.clone(),
        memory: Arc::clone(memory),
    };
    manager
        .controller(NAME, watch, approver)
        .reads(&nodes)
        .reads(machines)
        // One at a time: a verdict must know of those before it.
        .concurrency(1)
        .register();
}

impl Reconciler for Approver {
    type Object = CertificateSigningRequest;

    /// What is remembered of a request that is gone is not needed any more.
    const SWEEPS: bool = true;

    async fn reconcile(&self, context: &Context, object: Arc<CertificateSigningRequest>) -> Result<Next, Failure> {
        let request = object.name_any();
        self.memory.forget_namesake(&object);
        match judge(&object, self) {
            Verdict::Ignored => {
                self.memory.forget(&request);
                Ok(Next::OnChange)
            }
            Verdict::Refused(refusal) => {
                self.tell(context, &request, &refusal);
                Ok(Next::After(AGAIN))
            }
            Verdict::Approved { purpose, machine, node } => {
                if purpose == Purpose::FirstClient {
                    self.memory.give(&node, &object);
                }
                approve(context, &object, purpose, &machine).await?;
                tracing::info!(request, machine, node, "A request for a certificate is approved.");
                Ok(Next::OnChange)
            }
        }
    }

    async fn sweep(&self, _: &Context, key: &ObjectKey) -> Result<(), Failure> {
        self.memory.forget(&key.name);
        Ok(())
    }
}

impl Approver {
    /// Says why a request is not approved, once. Of one that is contested the hosted cluster is told as well: only
    /// somebody who knows the machine can decide.
    fn tell(&self, context: &Context, request: &str, refusal: &Refusal) {
        let reason = refusal.to_string();
        if !self.memory.say(request, &reason) {
            return;
        }
        if matches!(refusal, Refusal::Contested { .. }) {
            tracing::error!(request, reason, "A request for a certificate is contested.");
            context.event(EventType::Warning, CONTESTED, reason);
        } else {
            tracing::info!(request, reason, "A request for a certificate is not approved.");
        }
    }
}

impl Surroundings for Approver {
    fn machines(&self, node: &str) -> Vec<Arc<Machine>> {
        self.machines.by_index(INDEX, node)
    }

    fn has_node(&self, node: &str) -> bool {
        self.nodes.get(&ObjectKey::cluster(node)).is_some()
    }

    fn approved(&self, node: &str) -> Vec<Arc<CertificateSigningRequest>> {
        let mut approved = self.requests.by_index(INDEX, node);
        approved.extend(self.memory.given(node));
        approved
    }

    fn pending(&self, node: &str) -> Vec<Arc<CertificateSigningRequest>> {
        self.requests.by_index(PENDING, node)
    }
}

async fn approve(
    context: &Context,
    object: &CertificateSigningRequest,
    purpose: Purpose,
    machine: &str,
) -> Result<(), Failure> {
    let api: Api<CertificateSigningRequest> = Api::all(context.client().clone());
    let parameters = PatchParams {
        field_manager: Some(format!("hyperplane/{NAME}")),
        ..PatchParams::default()
    };
    let patch = Patch::Merge(approval(object, purpose, machine));
    api.patch_approval(&object.name_any(), &parameters, &patch).await?;
    Ok(())
}

/// The approval of exactly the request that was judged: whatever has changed since, it does not hold.
fn approval(object: &CertificateSigningRequest, purpose: Purpose, machine: &str) -> Value {
    let asked = match purpose {
        Purpose::FirstClient => "its first certificate",
        Purpose::Serving => "a serving certificate",
    };
    let approved = json!({
        "type": "Approved",
        "status": "True",
        "reason": REASON,
        "message": format!("Machine {machine} asks for {asked}."),
    });
    let known = object
        .status
        .iter()
        .flat_map(|status| status.conditions.iter().flatten());
    let mut conditions: Vec<Value> = known.map(|condition| json!(condition)).collect();
    conditions.push(approved);
    json!({
        "metadata": {"uid": object.metadata.uid, "resourceVersion": object.metadata.resource_version},
        "status": {"conditions": conditions},
    })
}
