//! A HostedControlPlane: what it judged, its endpoints, and its components.

use hyperplane_api::constants::{conditions::hosted_control_plane as types, reasons};

use super::{Walk, components, events, judgements, kubectl, leads};
use crate::{
    cause::Trouble,
    expectation::{Standing, standing},
    explain::Link,
    kind::Kind,
    object::{Condition, Object, Truth},
    rule,
    scene::Place,
};

/// What a control plane waits for.
pub(super) fn control_plane(walk: &mut Walk<'_>, plane: &Object) -> Option<Link> {
    if !walk.enters(plane) {
        return None;
    }
    let before = walk.found();
    let judged = judgements::of_control_plane(walk, plane);
    let mut because = walk.settle_all(judged);
    because.extend(endpoints(walk, plane));
    because.extend(components::components(walk, plane));
    let unserved = unserved(plane).filter(|trouble| !walk.is_told(&trouble.what));
    // A kubeconfig that is missing, or an endpoint that is silent, follows from what was found above.
    let unserved = unserved.filter(|_| walk.found() == before);
    because.extend(walk.settle_all(unserved));
    (!because.is_empty()).then(|| headed(plane, because))
}

fn headed(plane: &Object, because: Vec<Link>) -> Link {
    let available = plane.condition(types::AVAILABLE.as_str());
    let bad = available.filter(|condition| condition.status != Truth::True);
    let what = match &bad {
        Some(condition) => format!("does not serve: {}", condition.words()),
        None => "serves, and is not as it should be".to_owned(),
    };
    Link {
        since: bad.and_then(|condition| condition.since),
        ..leads(plane, what, because)
    }
}

/// Load balancers without an address, and otherwise what the control plane says of its endpoints.
fn endpoints(walk: &mut Walk<'_>, plane: &Object) -> Vec<Link> {
    let Some(condition) = plane.condition(types::INFRASTRUCTURE_READY.as_str()) else {
        return Vec::new();
    };
    if standing(&condition) != Standing::Bad {
        return Vec::new();
    }
    let services = walk.list(Kind::Service, &Place::namespace(plane.namespace()));
    let mut troubles = Vec::new();
    for service in services.iter().filter(|service| waits_for_address(service)) {
        troubles.push(without_address(walk, service));
    }
    if troubles.is_empty() {
        let remedy = "Do what the message asks for in spec.services of the HostedCluster; a Service that does not exist \
                      yet comes by itself.";
        let trouble = Trouble::new(plane.reference(), &rule::NO_ADDRESS, condition.words(), remedy);
        troubles.push(trouble.since(condition.since));
    }
    walk.settle_all(troubles)
}

fn waits_for_address(service: &Object) -> bool {
    let is_balancer = service.text("/spec/type") == Some("LoadBalancer");
    is_balancer && service.items("/status/loadBalancer/ingress").next().is_none()
}

fn without_address(walk: &mut Walk<'_>, service: &Object) -> Trouble {
    let said = events::last_warning(walk, service, &[]);
    let what = match said {
        Some(said) => format!("its load balancer has no address: {}", said.words()),
        None => "its load balancer has no address, and nobody says why".to_owned(),
    };
    let remedy = "Let something on the management cluster serve Services of type LoadBalancer (a cloud's controller, \
                  MetalLB), or publish by NodePort or Route in spec.services.";
    Trouble::new(service.reference(), &rule::NO_ADDRESS, what, remedy)
        .since(service.created())
        .fact("event", said.map(|said| said.words()))
}

/// What a control plane says of itself that no component explains.
fn unserved(plane: &Object) -> Option<Trouble> {
    let available = plane.condition(types::AVAILABLE.as_str());
    let Some(condition) = available else {
        let what = "has reported nothing yet";
        let remedy = format!("Look again in a moment, and at {}.", kubectl("describe", plane));
        return Some(Trouble::new(plane.reference(), &rule::UNREPORTED, what, remedy).since(plane.created()));
    };
    (condition.status != Truth::True).then(|| of_condition(plane, &condition))
}

fn of_condition(plane: &Object, condition: &Condition<'_>) -> Trouble {
    let is = |reason: hyperplane_api::constants::Reason| condition.reason == reason.as_str();
    let (rule, remedy) = if is(reasons::KAS_LOAD_BALANCER_NOT_REACHABLE) {
        let remedy = "Look at what lies between here and the published address: its load balancer, DNS, filters.";
        (&rule::UNREACHABLE, remedy.to_owned())
    } else if is(reasons::KUBECONFIG_WAITING_FOR_CREATE) {
        let remedy = "It comes with the certificates; look at what the operator of certificates says if it does not.";
        (&rule::MISSING_INPUT, remedy.to_owned())
    } else {
        let remedy = format!("Look again in a moment, and at {}.", kubectl("describe", plane));
        (&rule::STARTING, remedy)
    };
    Trouble::new(plane.reference(), rule, condition.words(), remedy).since(condition.since)
}
