//! The way of a machine from its instance to its Node: provisioned, configured, approved, ready.

use hyperplane_api::constants::conditions::{machine as types, node_pool};

use super::{Walk, events};
use crate::{
    cause::Trouble,
    kind::Kind,
    object::{Object, Truth},
    rule,
    scene::Place,
};

/// After so long something that says nothing counts as stuck. Virtual machines boot within.
const PATIENCE_SECONDS: i64 = 600;
/// What kubelets say of a runtime without a network plugin.
const NETWORK_MISSING: &[&str] = &["NetworkPluginNotReady", "cni plugin not initialized"];
/// Who asks for the first certificate of a node is not the node; it asks this signer.
const CLIENT_SIGNER: &str = "kubernetes.io/kube-apiserver-client-kubelet";
/// How nodes are called by the API server.
const NODE_USER: &str = "system:node:";

/// The instance behind a machine, where it is known.
pub(super) fn instance_of<'a>(walk: &mut Walk<'a>, machine: &Object) -> Option<&'a Object> {
    let kind = Kind::named(machine.text("/spec/infrastructureRef/kind")?)?;
    let name = machine.text("/spec/infrastructureRef/name")?;
    let all = walk.list(kind, &Place::namespace(machine.namespace()));
    all.iter().find(|instance| instance.name() == name)
}

/// An instance that does not come.
pub(super) fn instance(walk: &mut Walk<'_>, machine: &Object) -> Trouble {
    let said = machine.condition(types::INFRASTRUCTURE_READY.as_str());
    let words = said.map_or("nothing is known of its instance yet", |said| said.words());
    let found = instance_of(walk, machine);
    let object = found.unwrap_or(machine);
    let warning = events::last_warning(walk, object, &[]);
    let failed = found.and_then(|found| found.text("/status/failureMessage"));
    let ready = found.and_then(|found| found.condition("Ready"));
    let ready = ready.filter(|ready| ready.status == Truth::False);
    let own = failed
        .map(str::to_owned)
        .or_else(|| ready.map(|ready| ready.words().to_owned()))
        .or_else(|| warning.map(|said| said.words()));
    let is_young = is_young(walk, machine);
    let is_certain = own.is_some() || !is_young;
    let what = own.unwrap_or_else(|| words.to_owned());
    if !is_certain {
        let remedy = "Wait: its provider makes the instance.";
        return Trouble::new(object.reference(), &rule::STARTING, what, remedy).since(machine.created());
    }
    let remedy = "Look at what its provider says of it, and give the platform what the message asks for: credentials, \
                  quota, capacity, images.";
    Trouble::new(object.reference(), &rule::INSTANCE, what, remedy)
        .since(said.and_then(|said| said.since).or_else(|| machine.created()))
}

/// A machine with an instance and without a Node.
pub(super) fn join(walk: &mut Walk<'_>, pool: Option<&Object>, machine: &Object) -> Trouble {
    let found = instance_of(walk, machine);
    let object = found.unwrap_or(machine);
    let said = events::last_warning(walk, object, &["IgnitionFailed", "JoinFailed"]);
    if let Some(said) = said.filter(|said| said.reason == "IgnitionFailed") {
        return unconfigured(object, said.message).since(said.at);
    }
    if let Some(request) = pending(walk, machine, object.name()) {
        return unapproved(request);
    }
    if let Some(said) = said {
        let remedy = "Read the journal of its kubelet on the console of the machine.";
        return Trouble::new(object.reference(), &rule::NOT_JOINED, said.message, remedy).since(said.at);
    }
    let reached = pool.and_then(|pool| pool.condition(node_pool::REACHED_IGNITION_ENDPOINT.as_str()));
    let since = machine.created();
    if is_young(walk, machine) {
        let remedy = "Wait: it boots, fetches its configuration and asks for its certificates.";
        let what = "runs, and is not a node yet";
        return Trouble::new(object.reference(), &rule::STARTING, what, remedy).since(since);
    }
    if reached.is_some_and(|reached| reached.status == Truth::False) {
        return unconfigured(object, "no machine of the pool has fetched its configuration").since(since);
    }
    let remedy = "Look at its console: it has its configuration, and its kubelet has not reached the API server.";
    let what = "runs for long, and has not become a node";
    Trouble::new(object.reference(), &rule::NOT_JOINED, what, remedy).since(since)
}

fn unconfigured(instance: &Object, what: &str) -> Trouble {
    let remedy = "Look whether machines reach the published address of the ignition server (hyperplane status shows it), \
                  and at the console of the machine.";
    let what = format!("does not get its configuration: {what}");
    Trouble::new(instance.reference(), &rule::IGNITION, what, remedy)
}

/// A request of the machine that nobody has answered, or that was denied.
fn pending<'a>(walk: &mut Walk<'a>, machine: &Object, node: &str) -> Option<&'a Object> {
    let requests = walk.list(Kind::CertificateSigningRequest, &Place::inside(machine.namespace()));
    let mut mine = requests.iter().filter(|request| {
        let user = request.text("/spec/username").unwrap_or_default();
        let is_first = request.text("/spec/signerName") == Some(CLIENT_SIGNER) && !user.starts_with(NODE_USER);
        let is_node = user
            .strip_prefix(NODE_USER)
            .is_some_and(|name| name == node || name == machine.name());
        is_node || is_first
    });
    mine.find(|request| !request.says("Approved", Truth::True))
}

fn unapproved(request: &Object) -> Trouble {
    let denied = request.condition("Denied");
    let what = match denied {
        Some(denied) => format!("was denied: {}", denied.words()),
        None => "waits for approval".to_owned(),
    };
    let remedy = format!(
        "The log of machine-approver says why it does not approve it. Only if you know that the machine made it: kubectl \
         certificate approve {} in the hosted cluster.",
        request.name()
    );
    Trouble::new(request.reference(), &rule::CERTIFICATE, what, remedy)
        .since(request.created())
        .fact("who asks", request.text("/spec/username"))
}

/// A Node that is not as it should be.
pub(super) fn node(walk: &mut Walk<'_>, machine: &Object, words: &str) -> Trouble {
    let name = machine.text("/status/nodeRef/name").unwrap_or_default();
    let nodes = walk.list(Kind::Node, &Place::inside(machine.namespace()));
    let found = nodes.iter().find(|node| node.name() == name);
    let Some(node) = found else {
        let remedy = "Look at the node in the hosted cluster: kubectl describe node.";
        return Trouble::new(machine.reference(), &rule::NODE, words, remedy);
    };
    let ready = node.condition("Ready").filter(|ready| ready.status != Truth::True);
    let said = ready.map_or(words, |ready| ready.words());
    let since = ready.and_then(|ready| ready.since);
    if NETWORK_MISSING.iter().any(|missing| said.contains(missing)) {
        let remedy = "Install a network plugin in the hosted cluster, such as Cilium, Calico or Flannel.";
        let trouble = Trouble::new(node.reference(), &rule::NETWORK_PLUGIN, said, remedy);
        return trouble.since(since);
    }
    let remedy = format!("Look at the node in the hosted cluster: kubectl describe node {name}.");
    Trouble::new(node.reference(), &rule::NODE, said, remedy).since(since)
}

fn is_young(walk: &Walk<'_>, machine: &Object) -> bool {
    let now = walk.scene.now.as_second();
    machine
        .created()
        .is_some_and(|created| now.saturating_sub(created.as_second()) < PATIENCE_SECONDS)
}
