//! Tables of what is decided.

use serde_json::json;

use super::{Decision, decide};
use crate::{
    component::Component,
    inputs::{Inputs, RENDER_REVISION},
    manifest::{ObjectKind, Workload},
    support::{World, component, extended_release},
};

fn names(decision: &Decision) -> Vec<String> {
    match decision {
        Decision::Absent(names) => names
            .iter()
            .map(|name| format!("{} {}", name.kind, name.name))
            .collect(),
        other => panic!("{other:?}"),
    }
}

fn waits(decision: &Decision) -> String {
    match decision {
        Decision::Waiting(what) => what.join("; "),
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_component_whose_predicate_turns_false_is_taken_away_with_all_its_objects() {
    let world = World::annotated(&[("hypershift.openshift.io/disable-machine-management", "true")]);
    let decision = decide(component("cluster-autoscaler"), &world.inputs(), &world.settled());
    let kinds = ["Deployment", "ServiceAccount", "Role", "RoleBinding", "PodMonitor"];
    let expected: Vec<String> = kinds.iter().map(|kind| format!("{kind} cluster-autoscaler")).collect();
    assert_eq!(names(&decision), expected);
}

#[test]
fn the_manager_of_cluster_api_goes_where_its_work_is_ours_and_its_provider_stays() {
    let mut world = World::with(&json!({}));
    world.management.runs_machines = true;
    let decision = decide(component("cluster-api"), &world.inputs(), &world.settled());
    let kinds = ["Deployment", "ServiceAccount", "Role", "RoleBinding"];
    let expected: Vec<String> = kinds.iter().map(|kind| format!("{kind} cluster-api")).collect();
    assert_eq!(names(&decision), expected);
    let provider = decide(component("capi-provider"), &world.inputs(), &world.settled());
    world.management.runs_machines = false;
    assert_eq!(
        provider,
        decide(component("capi-provider"), &world.inputs(), &world.settled())
    );
}

#[test]
fn monitors_are_not_asked_for_where_they_are_not_known() {
    let mut world = World::annotated(&[("hypershift.openshift.io/disable-machine-management", "true")]);
    world.management.has_monitors = false;
    let decision = decide(component("cluster-autoscaler"), &world.inputs(), &world.settled());
    assert!(names(&decision).iter().all(|name| !name.contains("Monitor")));
}

#[test]
fn manifests_whose_predicate_is_false_are_unwanted() {
    let world = World::with(&json!({}));
    let unwanted = world.rendered("kube-apiserver").unwanted;
    let unwanted: Vec<&str> = unwanted.iter().map(|name| name.name.as_str()).collect();
    assert_eq!(
        unwanted,
        ["auth-config", "kas-client-ca", "kas-secret-encryption-config"]
    );
}

#[test]
fn monitors_that_are_not_wanted_any_more_are_taken_away() {
    let mut world = World::with(&json!({}));
    world.management.has_monitors = false;
    let rendered = world.rendered("kube-scheduler");
    assert!(rendered.manifests.iter().all(|manifest| !manifest.is_monitor()));
    assert!(
        rendered
            .unwanted
            .iter()
            .any(|name| name.kind == ObjectKind::ServiceMonitor)
    );
}

#[test]
fn what_a_control_plane_cannot_do_without_is_never_taken_away() {
    for (image, name) in [
        ("etcd", "etcd"),
        ("kube-apiserver", "kube-apiserver"),
        ("konnectivity-server", "kube-apiserver"),
        ("kube-scheduler", "kube-scheduler"),
    ] {
        let mut world = World::with(&json!({}));
        world.release.components.remove(image);
        let decision = decide(component(name), &world.inputs(), &world.settled());
        let said = waits(&decision);
        assert!(said.contains(&format!("has no image for {image}")), "{said}");
    }
    // What plain Kubernetes does not carry is not missed.
    let mut world = World::new(&json!({}), &extended_release());
    world.release.components.remove("openshift-apiserver");
    for name in ["openshift-apiserver", "konnectivity-agent"] {
        let decision = decide(component(name), &world.inputs(), &world.settled());
        assert!(matches!(decision, Decision::Absent(_)), "{name}");
    }
}

#[test]
fn a_revision_that_is_not_known_is_never_rendered() {
    let world = World::with(&json!({}));
    for revision in [0, RENDER_REVISION + 1] {
        let mut inputs = world.inputs();
        inputs.revision = revision;
        let decision = decide(component("etcd"), &inputs, &world.settled());
        assert!(waits(&decision).contains("run a newer one"), "{revision}");
    }
}

/// A revision that only tests know: pods of the scheduler end a second later than by the first one.
const SECOND_REVISION: u32 = RENDER_REVISION + 1;

/// The scheduler, as a program has it that knows both revisions.
fn with_second_revision() -> Component {
    fn adapt(inputs: &Inputs<'_>, workload: &mut Workload) {
        (component("kube-scheduler").adapt)(inputs, workload);
        if inputs.revision >= SECOND_REVISION {
            workload.pod_mut().termination_grace_period_seconds = Some(31);
        }
    }
    let known = component("kube-scheduler");
    Component {
        adapt,
        predicate: known.predicate,
        waits: known.waits,
        follow: known.follow,
        traits: known.traits,
        dependencies: known.dependencies,
        sidecars: known.sidecars,
        hosted_service_account: known.hosted_service_account,
        ..Component::new(known.name, known.kind, known.assets)
    }
}

#[test]
fn a_program_that_knows_a_second_revision_rolls_nothing_by_itself() {
    let world = World::with(&json!({}));
    let both = with_second_revision();
    let rendered = |component: &Component, revision: u32, newest_revision: u32| {
        let inputs = Inputs {
            revision,
            newest_revision,
            ..world.inputs()
        };
        decide(component, &inputs, &world.settled())
    };
    let before = rendered(component("kube-scheduler"), RENDER_REVISION, RENDER_REVISION);
    let pinned = rendered(&both, RENDER_REVISION, SECOND_REVISION);
    assert_eq!(pinned, before, "what is pinned is rendered as before, hashes included");
    // Moved by an upgrade, it is rendered by the second one, which an older program leaves alone.
    let (Decision::Apply(old), Decision::Apply(new)) = (before, rendered(&both, SECOND_REVISION, SECOND_REVISION))
    else {
        panic!("both are rendered");
    };
    assert_ne!(old.workload.template(), new.workload.template());
    let older = rendered(component("kube-scheduler"), SECOND_REVISION, RENDER_REVISION);
    assert!(waits(&older).contains("run a newer one"), "{older:?}");
}

#[test]
fn a_new_version_goes_from_etcd_to_the_api_server_to_everything_else() {
    let world = World::with(&json!({}));
    let mut observed = world.settled();
    for report in observed.reports.values_mut() {
        report.version = Some("1.35.0".to_owned());
    }
    let desired = world.inputs().desired_version().to_owned();
    let waits_for = |observed: &super::Observed| -> Vec<&str> {
        ["etcd", "kube-apiserver", "kube-scheduler"]
            .into_iter()
            .filter(|name| matches!(decide(component(name), &world.inputs(), observed), Decision::Waiting(_)))
            .collect()
    };
    assert_eq!(waits_for(&observed), ["kube-apiserver", "kube-scheduler"]);
    let mut reach = |name: &str| {
        observed.reports.get_mut(name).expect("it is there").version = Some(desired.clone());
        waits_for(&observed)
    };
    assert_eq!(reach("etcd"), ["kube-scheduler"]);
    assert!(reach("kube-apiserver").is_empty());
}
