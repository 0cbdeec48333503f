//! Tables of what defaults give.

use hyperplane_api::constants::{annotations, labels};
use hyperplane_planner::version::{Scheme, Version};
use k8s_openapi::{api::core::v1::PodAntiAffinity, apimachinery::pkg::util::intstr::IntOrString};
use serde_json::json;

use super::{is_moving, keep_live_requests, override_requests};
use crate::{
    manifest::{Manifest, Workload},
    support::{World, component, flag, said},
    warnings::{Subject, warnings},
};

const SINGLE: &str = "SingleReplica";
const HIGHLY: &str = "HighlyAvailable";
const DEDICATED_NODES: (&str, &str) = (
    "hypershift.openshift.io/topology",
    "dedicated-request-serving-components",
);

fn deployment(world: &World, name: &str) -> k8s_openapi::api::apps::v1::DeploymentSpec {
    match world.rendered(name).workload {
        Workload::Deployment(deployment) => deployment.spec.clone().expect("it has a spec"),
        other => panic!("{other:?}"),
    }
}

fn with_policy(policy: &str, topology: &[(&str, &str)]) -> World {
    let mut world = World::with(&json!({"spec": {"controllerAvailabilityPolicy": policy}}));
    let annotations = world.control_plane.metadata.annotations.get_or_insert_default();
    annotations.extend(
        topology
            .iter()
            .map(|(key, value)| ((*key).to_owned(), (*value).to_owned())),
    );
    world
}

#[test]
fn replicas_and_their_exchange_follow_the_policy() {
    for (name, policy, topology, replicas, surge, unavailable) in [
        ("kube-apiserver", SINGLE, &[][..], 1, 1, 0),
        ("kube-apiserver", HIGHLY, &[], 3, 1, 0),
        ("kube-apiserver", HIGHLY, &[DEDICATED_NODES], 2, 1, 1),
        ("router", HIGHLY, &[], 3, 1, 0),
        ("router", HIGHLY, &[DEDICATED_NODES], 2, 1, 1),
        ("kube-scheduler", SINGLE, &[], 1, 1, 0),
        ("kube-scheduler", HIGHLY, &[], 2, 1, 0),
        ("kube-scheduler", HIGHLY, &[DEDICATED_NODES], 2, 1, 0),
    ] {
        let spec = deployment(&with_policy(policy, topology), name);
        let rolling = spec
            .strategy
            .and_then(|strategy| strategy.rolling_update)
            .expect("it rolls");
        let found = (spec.replicas, rolling.max_surge, rolling.max_unavailable);
        let number = |number| Some(IntOrString::Int(number));
        assert_eq!(
            found,
            (Some(replicas), number(surge), number(unavailable)),
            "{name} {policy}"
        );
    }
}

#[test]
fn a_new_pod_may_stand_beside_those_that_it_replaces() {
    // The minor of the management cluster, what replicas keep apart from, and how they are exchanged.
    let keys = Some(vec!["pod-template-hash".to_owned()]);
    for (minor, keys, surge, unavailable) in [("v1.32.9", None, 0, 1), ("v1.33.0", keys, 1, 0)] {
        let mut world = with_policy(HIGHLY, &[]);
        world.management.kubernetes = Version::parse(Scheme::Kubernetes, minor).expect("it is a version");
        let spec = deployment(&world, "kube-apiserver");
        let rolling = spec.strategy.and_then(|strategy| strategy.rolling_update);
        let rolling = rolling.expect("it rolls");
        let number = |number| Some(IntOrString::Int(number));
        assert_eq!(
            (rolling.max_surge, rolling.max_unavailable),
            (number(surge), number(unavailable)),
            "{minor}"
        );
        let affinity = spec.template.spec.and_then(|pod| pod.affinity);
        let anti = affinity.and_then(|affinity| affinity.pod_anti_affinity);
        let required = anti.and_then(|anti| anti.required_during_scheduling_ignored_during_execution);
        let required = required.expect("replicas keep apart");
        assert!(required.iter().all(|term| term.match_label_keys == keys), "{minor}");
        // The pods of a StatefulSet have no such label, and their volumes keep them where they are.
        let Workload::StatefulSet(etcd) = world.rendered("etcd").workload else {
            panic!("etcd is a StatefulSet");
        };
        let text = serde_json::to_string(etcd.as_ref()).expect("it is written");
        assert!(!text.contains("matchLabelKeys"), "{minor}");
    }
}

#[test]
fn a_release_restarts_only_what_it_changes() {
    let world = with_policy(SINGLE, &[]);
    let mut next = world.clone();
    next.control_plane.spec.release_image = "registry.example.com/release:next".to_owned();
    for (name, rendered) in next.all_rendered() {
        let before = world.rendered(name).workload;
        assert_eq!(
            rendered.workload.template(),
            before.template(),
            "{name} has the same images"
        );
        let released = rendered.workload.meta().annotations.as_ref();
        let released = released.and_then(|all| all.get(annotations::RELEASE_IMAGE.as_str()));
        assert_eq!(released, Some(&next.control_plane.spec.release_image), "{name}");
    }
}

#[test]
fn an_election_of_etcd_leaves_api_servers_in_their_service() {
    // Readiness looks at etcd, so all of them fail at once while it has no leader, for a second or two.
    const TOLERATED_SECONDS: i32 = 10;
    for policy in [SINGLE, HIGHLY] {
        let world = with_policy(policy, &[]);
        let workload = world.rendered("kube-apiserver").workload;
        let server = workload
            .containers()
            .find(|container| container.name == "kube-apiserver")
            .expect("it is there");
        let probe = server.readiness_probe.as_ref().expect("it says when it is ready");
        let (period, failures) = (probe.period_seconds, probe.failure_threshold);
        let tolerated = period.zip(failures).map(|(period, failures)| period * (failures - 1));
        assert!(tolerated >= Some(TOLERATED_SECONDS), "{policy}: {probe:?}");
    }
}

#[test]
fn a_program_with_a_capability_in_its_file_can_be_executed() {
    let world = with_policy(HIGHLY, &[]);
    let mut with = Vec::new();
    for (name, rendered) in world.all_rendered() {
        for container in rendered.workload.containers() {
            let context = container.security_context.as_ref();
            let capabilities = context
                .and_then(|context| context.capabilities.clone())
                .expect("they are said");
            assert_eq!(capabilities.drop, Some(vec!["ALL".to_owned()]), "{}", container.name);
            with.extend(capabilities.add.map(|added| (name, container.name.clone(), added)));
        }
    }
    let expected = (
        "kube-apiserver",
        "kube-apiserver".to_owned(),
        vec!["NET_BIND_SERVICE".to_owned()],
    );
    assert_eq!(with, [expected]);
}

#[test]
fn what_holds_no_lease_never_runs_twice() {
    for policy in [SINGLE, HIGHLY] {
        let spec = deployment(&with_policy(policy, &[]), "machine-approver");
        let strategy = spec.strategy.expect("it has a strategy");
        assert_eq!(spec.replicas, Some(1), "{policy}");
        assert_eq!(strategy.type_.as_deref(), Some("Recreate"), "{policy}");
        assert_eq!(strategy.rolling_update, None, "the API server refuses it");
    }
}

#[test]
fn a_debugged_deployment_has_no_replicas() {
    let world = World::annotated(&[(
        annotations::DEBUG_DEPLOYMENTS.as_str(),
        "kube-scheduler, machine-approver",
    )]);
    for (name, replicas) in [
        ("kube-scheduler", 0),
        ("machine-approver", 0),
        ("kube-controller-manager", 2),
    ] {
        assert_eq!(deployment(&world, name).replicas, Some(replicas), "{name}");
    }
}

#[test]
fn zones_are_required_only_where_there_are_enough() {
    // Zones, component, and whether each of zone and node is required.
    for (zones, name, zone, node) in [
        (0, "kube-apiserver", false, false),
        (1, "kube-apiserver", false, true),
        (2, "kube-apiserver", false, true),
        (3, "kube-apiserver", true, true),
        (2, "kube-scheduler", true, true),
        (1, "kube-scheduler", false, true),
    ] {
        let mut world = World::with(&json!({}));
        world.management.zones = zones;
        let affinity = deployment(&world, name).template.spec.and_then(|pod| pod.affinity);
        let anti = affinity
            .and_then(|affinity| affinity.pod_anti_affinity)
            .expect("replicas keep apart");
        for (key, is_required) in [("topology.kubernetes.io/zone", zone), ("kubernetes.io/hostname", node)] {
            assert_eq!(
                (requires(&anti, key), prefers(&anti, key)),
                (is_required, !is_required),
                "{name} {zones} {key}"
            );
        }
        let together = pod_affinity_weight(&world, name);
        // What is only preferred must not be outweighed by the other pods of the control plane, each of which counts.
        assert_eq!(together, if zone && node { 100 } else { 1 }, "{name} {zones}");
        let warnings = warnings(&world.inputs());
        let is_crowded = warnings
            .iter()
            .any(|warning| warning.about == Subject::Zones && warning.sentence.contains(name));
        assert_eq!(is_crowded, !zone, "{name} {zones}");
    }
    let single = with_policy(SINGLE, &[]);
    let affinity = deployment(&single, "kube-apiserver")
        .template
        .spec
        .and_then(|pod| pod.affinity);
    assert_eq!(affinity.and_then(|affinity| affinity.pod_anti_affinity), None);
}

fn pod_affinity_weight(world: &World, name: &str) -> i32 {
    let affinity = deployment(world, name).template.spec.and_then(|pod| pod.affinity);
    let pods = affinity.and_then(|affinity| affinity.pod_affinity);
    let terms = pods.and_then(|pods| pods.preferred_during_scheduling_ignored_during_execution);
    terms.into_iter().flatten().map(|term| term.weight).sum()
}

fn requires(anti: &PodAntiAffinity, key: &str) -> bool {
    let terms = &anti.required_during_scheduling_ignored_during_execution;
    terms.iter().flatten().any(|term| term.topology_key == key)
}

fn prefers(anti: &PodAntiAffinity, key: &str) -> bool {
    let terms = &anti.preferred_during_scheduling_ignored_during_execution;
    terms
        .iter()
        .flatten()
        .any(|term| term.pod_affinity_term.topology_key == key)
}

#[test]
fn priorities_follow_what_a_component_is_and_annotations_win() {
    let world = World::annotated(&[]);
    let own = World::annotated(&[
        (annotations::ETCD_PRIORITY_CLASS.as_str(), "a"),
        (annotations::API_CRITICAL_PRIORITY_CLASS.as_str(), "b"),
        (annotations::CONTROL_PLANE_PRIORITY_CLASS.as_str(), "c"),
    ]);
    for (name, usual, overridden) in [
        ("etcd", "hypershift-etcd", "a"),
        ("kube-apiserver", "hypershift-api-critical", "b"),
        ("kube-scheduler", "hypershift-control-plane", "c"),
        ("router", "hypershift-control-plane", "c"),
    ] {
        for (world, expected) in [(&world, usual), (&own, overridden)] {
            let rendered = world.rendered(name);
            let class = rendered.workload.pod().and_then(|pod| pod.priority_class_name.clone());
            assert_eq!(class.as_deref(), Some(expected), "{name}");
        }
    }
}

#[test]
fn budgets_follow_the_policy() {
    let one = Some(IntOrString::Int(1));
    for (policy, at_least, at_most) in [(SINGLE, one.clone(), None), (HIGHLY, None, one)] {
        for name in ["etcd", "kube-apiserver", "router"] {
            let rendered = with_policy(policy, &[]).rendered(name);
            let budget = rendered.manifests.into_iter().find_map(|manifest| match manifest {
                Manifest::PodDisruptionBudget(budget) => budget.spec,
                _ => None,
            });
            let budget = budget.expect("it has a budget");
            assert_eq!(
                (budget.min_available, budget.max_unavailable),
                (at_least.clone(), at_most.clone())
            );
            assert_eq!(budget.unhealthy_pod_eviction_policy.as_deref(), Some("AlwaysAllow"));
        }
    }
}

#[test]
fn tenants_set_only_labels_that_steer_nothing() {
    for (key, value, is_set) in [
        ("team", "blue", true),
        ("example.com/team", "blue", true),
        ("mykubernetes.io/team", "blue", true),
        ("app", "other", false),
        ("app.kubernetes.io/managed-by", "me", false),
        (labels::NEED_MANAGEMENT_KAS_ACCESS.as_str(), "true", false),
        ("hyperplane.dev/anything", "true", false),
        ("cluster.x-k8s.io/anything", "true", false),
        ("Hypershift.OpenShift.io/hosted-control-plane", "other", false),
        ("team", "no good value", false),
        ("no good key", "blue", false),
    ] {
        let world = World::with(&json!({"spec": {"labels": {key: value}}}));
        let rendered = world.rendered("kube-scheduler");
        let template = rendered
            .workload
            .template()
            .and_then(|template| template.metadata.clone());
        let labels = template.and_then(|meta| meta.labels).expect("pods have labels");
        assert_eq!(
            labels.get(key).is_some_and(|found| found == value),
            is_set,
            "{key}={value}"
        );
    }
}

#[test]
fn requests_are_overridden_by_annotations_and_kept_where_others_changed_them() {
    let key = "resource-request-override.hypershift.openshift.io/kube-scheduler.kube-scheduler";
    for (value, cpu, problem) in [
        ("cpu=1000m", "1", None),
        ("cpu=50m,memory=1Gi", "50m", None),
        (" cpu = 50m ", "50m", None),
        ("cpu", "25m", Some("must be resource=amount")),
        ("cpu=lots", "25m", Some("is not an amount")),
        ("cpu=-1", "25m", Some("is not an amount")),
        ("gpu=1", "25m", Some("is not cpu, memory or ephemeral-storage")),
    ] {
        let world = World::annotated(&[(key, value)]);
        assert_eq!(
            cpu_of(&world.rendered("kube-scheduler").workload).as_deref(),
            Some(cpu),
            "{value}"
        );
        let said = said(&world);
        assert_eq!(problem.is_none(), !said.contains(key), "{value}: {said}");
        assert!(said.contains(problem.unwrap_or_default()), "{value}: {said}");
    }
    for (rest, problem) in [
        ("nobody.nothing", "there is no component nobody"),
        ("alone", "must end in workload.container"),
    ] {
        let key = format!("resource-request-override.hypershift.openshift.io/{rest}");
        let said = said(&World::annotated(&[(&key, "cpu=1")]));
        assert!(said.contains(problem), "{said}");
    }
}

#[test]
fn a_request_that_somebody_changed_stays_and_an_annotation_wins_over_it() {
    let world = World::annotated(&[]);
    let mut live = world.rendered("kube-scheduler").workload;
    set_cpu(&mut live, "90m");
    let mut next = world.rendered("kube-scheduler").workload;
    keep_live_requests(Some(&live), &mut next);
    assert_eq!(cpu_of(&next).as_deref(), Some("90m"));
    let key = "resource-request-override.hypershift.openshift.io/kube-scheduler.kube-scheduler";
    let annotated = World::annotated(&[(key, "cpu=70m")]);
    override_requests(component("kube-scheduler"), &annotated.inputs(), &mut next);
    assert_eq!(cpu_of(&next).as_deref(), Some("70m"));
}

fn cpu_of(workload: &Workload) -> Option<String> {
    let mut containers = workload.containers();
    let container = containers.find(|one| one.name == "kube-scheduler")?;
    let requests = container.resources.as_ref()?.requests.as_ref()?;
    requests.get("cpu").map(|amount| amount.0.clone())
}

fn set_cpu(workload: &mut Workload, amount: &str) {
    let container = workload.container_mut("kube-scheduler").expect("it is there");
    let requests = container
        .resources
        .get_or_insert_default()
        .requests
        .get_or_insert_default();
    let amount = k8s_openapi::apimachinery::pkg::api::resource::Quantity(amount.to_owned());
    requests.insert("cpu".to_owned(), amount);
}

#[test]
fn an_image_that_may_come_to_mean_another_is_pulled_again() {
    for (image, expected) in [
        ("registry.example.com:5000/a", true),
        ("registry.example.com:5000/a:latest", true),
        ("a:v1", false),
        ("registry.example.com/a@sha256:00", false),
        ("registry.example.com/a:latest@sha256:00", false),
    ] {
        assert_eq!(is_moving(image), expected, "{image}");
    }
}

#[test]
fn pods_on_the_way_of_a_request_get_nodes_of_their_own_on_request() {
    let further = (
        annotations::REQUEST_SERVING_NODE_ADDITIONAL_SELECTOR.as_str(),
        "size=large, no good=pair",
    );
    let world = World::annotated(&[DEDICATED_NODES, further]);
    for (name, is_isolated) in [("kube-apiserver", true), ("kube-scheduler", false)] {
        let affinity = deployment(&world, name).template.spec.and_then(|pod| pod.affinity);
        let nodes = affinity
            .and_then(|affinity| affinity.node_affinity)
            .expect("nodes are preferred");
        let required = nodes.required_during_scheduling_ignored_during_execution;
        let terms = required
            .map(|required| required.node_selector_terms)
            .unwrap_or_default();
        let keys: Vec<String> = terms
            .into_iter()
            .flat_map(|term| term.match_expressions.unwrap_or_default())
            .map(|one| one.key)
            .collect();
        let expected = [
            labels::REQUEST_SERVING_COMPONENT.as_str(),
            labels::CLUSTER.as_str(),
            "size",
        ];
        let expected = if is_isolated { &expected[..] } else { &[] };
        assert_eq!(keys, expected, "{name}");
    }
    assert_eq!(
        flag(
            &world.rendered("kube-apiserver").workload,
            "konnectivity-server",
            "server-count"
        )
        .as_deref(),
        Some("2")
    );
}
