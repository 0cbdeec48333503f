//! What changes what: everything that a component is made from changes its pods, nothing else does, and what is missing
//! is always named.

use std::sync::Arc;

use hyperplane_api::constants::conditions::control_plane_component::{AVAILABLE, ROLLOUT_COMPLETE};
use hyperplane_components::{Component, Decision, Observed, Rendered, Workload, decide};
use k8s_openapi::{
    ByteString,
    api::core::v1::{ConfigMap, PodTemplateSpec, Secret},
};
use proptest::{prelude::*, sample::Index};
use serde_json::json;

use crate::{
    any::worlds,
    support::{self, World, choices::every_world, component},
};

/// ConfigMaps that programs read anew while they run.
const READ_WHILE_RUNNING: &[&str] = &["client-ca", "etcd-state", "router"];

#[test]
fn a_change_of_what_is_mounted_changes_the_pods() {
    for world in every_world() {
        for (name, rendered) in world.all_rendered() {
            for source in mounted(&rendered) {
                let Some(changed) = with_other_content(&world, &source) else {
                    continue;
                };
                let is_read = READ_WHILE_RUNNING.contains(&source.1.as_str());
                let is_same = template(&changed.rendered(name)) == template(&rendered);
                assert_eq!(is_same, is_read, "{name} and {source:?}");
            }
        }
    }
}

#[test]
fn a_change_of_what_is_not_mounted_changes_nothing() {
    for world in every_world() {
        let mut other = world.clone();
        for name in ["metrics-client", "admin-kubeconfig", "somebody-else"] {
            support::add_secret(&mut other.objects, name, &["tls.crt", "kubeconfig"]);
        }
        support::add_config_map(&mut other.objects, "user-ca-bundle", &["other"]);
        assert_eq!(all(&world), all(&other));
    }
}

#[test]
fn what_has_nothing_to_do_with_components_changes_nothing() {
    for world in every_world() {
        let mut other = world.clone();
        let meta = &mut other.control_plane.metadata;
        meta.generation = Some(77);
        meta.resource_version = Some("12345".to_owned());
        meta.labels = Some([("team".to_owned(), "blue".to_owned())].into());
        meta.annotations
            .get_or_insert_default()
            .insert("example.com/note".to_owned(), "hello".to_owned());
        meta.finalizers = Some(vec!["example.com/one".to_owned()]);
        other.control_plane.status = hyperplane_objects::read(json!({"ready": true})).expect("it is a status");
        assert_eq!(all(&world), all(&other));
    }
}

#[test]
fn a_restart_date_changes_the_pods_of_every_component() {
    for world in every_world() {
        let mut other = world.clone();
        let annotations = other.control_plane.metadata.annotations.get_or_insert_default();
        annotations.insert("hypershift.openshift.io/restart-date".to_owned(), "later".to_owned());
        for (name, rendered) in world.all_rendered() {
            assert_ne!(template(&rendered), template(&other.rendered(name)), "{name}");
        }
    }
}

#[test]
fn monitors_change_no_workload() {
    for world in every_world() {
        let mut other = world.clone();
        other.management.has_monitors = !world.management.has_monitors;
        let workloads = |world: &World| -> Vec<Workload> {
            let all = world.all_rendered().into_iter();
            all.map(|(_, rendered)| rendered.workload).collect()
        };
        assert_eq!(workloads(&world), workloads(&other));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn an_object_that_is_missing_is_named(world in worlds(), index in any::<Index>()) {
        let all = world.all_rendered();
        let (name, rendered) = index.get(&all);
        for source in mounted(rendered) {
            let mut without = world.clone();
            let was_there = match source.0 {
                Kind::Secret => without.objects.secrets.remove(&source.1).is_some(),
                Kind::ConfigMap => without.objects.config_maps.remove(&source.1).is_some(),
            };
            if was_there {
                assert_waits_for(&without, component(name), &world.settled(), &source.1);
            }
        }
    }

    #[test]
    fn a_dependency_that_is_not_there_is_named(world in worlds(), index in any::<Index>()) {
        let all = world.all_rendered();
        let (name, _) = index.get(&all);
        let one = component(name);
        let implicit = (!one.traits.precedes_api_server).then_some("kube-apiserver");
        for dependency in one.dependencies.iter().copied().chain(implicit) {
            if !all.iter().any(|(present, _)| *present == dependency) {
                // What the control plane does not have is not waited for, and that is said.
                let decision = decide(one, &world.inputs(), &world.settled());
                let report = world.report(one, &decision);
                prop_assert!(report.rollout_complete.message.contains(dependency), "{}", name);
                continue;
            }
            for observed in unsettled(&world, dependency) {
                assert_waits_for(&world, one, &observed, dependency);
            }
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    ConfigMap,
    Secret,
}

/// What the pods mount, besides what is optional.
fn mounted(rendered: &Rendered) -> Vec<(Kind, String)> {
    let volumes = rendered.workload.pod().and_then(|pod| pod.volumes.clone());
    let named = volumes.into_iter().flatten().filter_map(|volume| {
        let secret = volume.secret.and_then(|secret| secret.secret_name);
        let secret = secret.map(|name| (Kind::Secret, name));
        secret.or_else(|| volume.config_map.map(|map| (Kind::ConfigMap, map.name)))
    });
    named.collect()
}

/// The same world in which an object that somebody else wrote has another content; none where the component writes it.
fn with_other_content(world: &World, source: &(Kind, String)) -> Option<World> {
    let mut other = world.clone();
    match source.0 {
        Kind::Secret => {
            let mut object: Secret = (**other.objects.secrets.get(&source.1)?).clone();
            for value in object.data.iter_mut().flatten().map(|(_, value)| value) {
                // A key must keep its length, and a file its form.
                if value.0.starts_with(b"{") {
                    value.0.push(b'\n');
                } else {
                    *value = ByteString(vec![b'x'; value.0.len()]);
                }
            }
            other.objects.secrets.insert(source.1.clone(), Arc::new(object));
        }
        Kind::ConfigMap => {
            let mut object: ConfigMap = (**other.objects.config_maps.get(&source.1)?).clone();
            for value in object.data.iter_mut().flatten().map(|(_, value)| value) {
                value.push('x');
            }
            other.objects.config_maps.insert(source.1.clone(), Arc::new(object));
        }
    }
    Some(other)
}

fn template(rendered: &Rendered) -> PodTemplateSpec {
    rendered.workload.template().expect("it has pods").clone()
}

fn all(world: &World) -> Vec<(&'static str, Rendered)> {
    world.all_rendered()
}

/// Worlds in which a dependency is unknown, does not serve, is not rolled out, or has another version.
fn unsettled(world: &World, dependency: &str) -> Vec<Observed> {
    let mut absent = world.settled();
    absent.reports.remove(dependency);
    let mut all = vec![absent];
    for condition in [AVAILABLE, ROLLOUT_COMPLETE] {
        let mut observed = world.settled();
        let report = observed.reports.get_mut(dependency).expect("it is there");
        report.conditions.retain(|one| one.type_ != condition.as_str());
        all.push(observed);
    }
    for version in [None, Some("1.2.3".to_owned())] {
        let mut observed = world.settled();
        let report = observed.reports.get_mut(dependency).expect("it is there");
        report.version = version;
        all.push(observed);
    }
    all
}

/// Nothing is written, and the report says what is waited for.
fn assert_waits_for(world: &World, component: &Component, observed: &Observed, what: &str) {
    let decision = decide(component, &world.inputs(), observed);
    let Decision::Waiting(_) = &decision else {
        panic!("{} does not wait for {what}", component.name);
    };
    let report = world.report(component, &decision);
    assert!(!report.rollout_complete.holds);
    assert_eq!(report.rollout_complete.reason, "WaitingForDependencies");
    let message = &report.rollout_complete.message;
    assert!(message.contains(what), "{}: {message}", component.name);
}
