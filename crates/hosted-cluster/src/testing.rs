//! Clusters, settings and surroundings for the tests of this crate.

#[path = "../../api/tests/support/samples.rs"]
mod samples;

use std::sync::Arc;

use hyperplane_api::{
    constants::{annotations, objects::keys, ours},
    hyperplane::distribution_release::DistributionRelease,
    hypershift::{hosted_cluster::HostedCluster, hosted_control_plane::HostedControlPlane},
};
use hyperplane_component_driver::Facts;
use hyperplane_planner::{
    catalogue,
    version::{Scheme, Version},
};
use jiff::Timestamp;
use k8s_openapi::{
    ByteString,
    api::core::v1::{Namespace, Secret},
};
use serde_json::{Value, json};

use crate::{
    build::{Blueprint, Desired, build},
    components, defaults,
    dereference::{Content, Seen, Source, State},
    names, references,
    settings::{HostedClusterSettings, ManagementNetworks, ServedKinds},
    validate::{Case, Verdict, validate},
};

pub(crate) use self::samples::IMAGE;
use self::samples::merge;

/// The uid of the cluster of tests.
pub(crate) const UID: &str = "11111111-2222-4333-8444-555555555555";

/// A moment.
pub(crate) fn now() -> Timestamp {
    Timestamp::constant(1_800_000_000, 0)
}

/// What the operator is told.
pub(crate) fn settings() -> HostedClusterSettings {
    HostedClusterSettings {
        facts: Facts {
            kubernetes: Version::parse(Scheme::Kubernetes, "1.36.4").unwrap(),
            image: "registry.example.com/hyperplane:1".to_owned(),
            ingress_domain: Some("apps.example.com".to_owned()),
            has_monitors: false,
            runs_machines: false,
        },
        served: ServedKinds::ALL,
        dedicates_operators: false,
        assigns_user_ids: false,
        networks: ManagementNetworks::default(),
        management_platform: None,
        reach: hyperplane_runtime::Reach::sockets(),
        seed: 7,
        entropy: hyperplane_runtime::Entropy::new(|bytes| bytes.fill(7)),
    }
}

/// A cluster that nothing is wrong with, and with changes.
pub(crate) fn cluster(change: &Value) -> HostedCluster {
    let mut manifest = samples::hosted_cluster(&json!({
        "metadata": {"name": "blue", "namespace": "clusters", "uid": UID, "generation": 1},
        "spec": {
            "infraID": "blue-abcde",
            "clusterID": "11111111-2222-4333-8444-555555555555",
            "pullSecret": {"name": "registry"},
            "networking": {"machineNetwork": [{"cidr": "192.168.0.0/24"}]},
            "services": services("LoadBalancer"),
        },
    }));
    merge(&mut manifest, change);
    hyperplane_objects::read(&manifest).unwrap()
}

/// All services, published in one way.
pub(crate) fn services(strategy: &str) -> Value {
    samples::services(&json!({"type": strategy}))
}

/// What a run sees of a cluster whose every reference leads somewhere.
pub(crate) fn seen(cluster: &HostedCluster) -> Seen {
    let (orders, _) = references::orders(cluster);
    let sources = orders.into_iter().map(|order| {
        let mut content = Content {
            stamp: format!("clusters/{}@uid/1", order.source),
            ..Content::default()
        };
        for key in &order.keys {
            content.data.insert(key.from.clone(), good_value(&key.from));
        }
        Source {
            order,
            state: State::Read(content),
        }
    });
    Seen {
        sources: sources.collect(),
        zones: 3,
        closed_networks: ["10.128.0.0/14", "172.30.0.0/16", "192.0.2.10/32"]
            .map(str::to_owned)
            .into(),
        namespaces: [("hosts".to_owned(), true)].into(),
        ..Seen::default()
    }
}

fn good_value(key: &str) -> Vec<u8> {
    match key {
        keys::PULL_SECRET => br#"{"auths":{}}"#.to_vec(),
        keys::ENCRYPTION_KEY => vec![1; 32],
        _ => b"something".to_vec(),
    }
}

/// Changes what is in the object that a field refers to.
pub(crate) fn set_source(seen: &mut Seen, field: &str, key: &str, value: &[u8]) {
    let mut sources = seen.sources.iter_mut();
    let source = sources.find(|source| source.order.field == field).unwrap();
    let State::Read(content) = &mut source.state else {
        panic!("{field} is missing");
    };
    content.data.insert(key.to_owned(), value.to_vec());
}

/// Puts a Secret into the namespace of the control plane: a copy of an original in some state, or something else.
pub(crate) fn put_secret(seen: &mut Seen, name: &str, copied_from: Option<&str>, data: &[(&str, &[u8])]) {
    let mut secret = Secret::default();
    secret.metadata.name = Some(name.to_owned());
    let stamp = copied_from.map(|stamp| (ours::COPIED_FROM.as_str().to_owned(), stamp.to_owned()));
    secret.metadata.annotations = stamp.map(|stamp| [stamp].into());
    let data = data
        .iter()
        .map(|(key, value)| ((*key).to_owned(), ByteString(value.to_vec())));
    secret.data = Some(data.collect());
    seen.objects.secrets.insert(name.to_owned(), Arc::new(secret));
}

/// Gives a cluster the control plane that it asks for, with changes.
pub(crate) fn put_control_plane(cluster: &HostedCluster, seen: &mut Seen, change: &Value) {
    let made = desired(cluster, seen, &settings()).control_plane;
    seen.namespace = Some(namespace(cluster, UID));
    seen.control_plane = Some(live(&made, change));
}

/// The namespace of the control plane, made for somebody.
pub(crate) fn namespace(cluster: &HostedCluster, claimant: &str) -> Arc<Namespace> {
    let namespace = json!({"metadata": {"name": names::namespace_of(cluster), "annotations": {
        annotations::CLUSTER.as_str(): "others/red", ours::CLAIMED_BY.as_str(): claimant}}});
    Arc::new(hyperplane_objects::read(&namespace).unwrap())
}

/// A release like the one that clusters of tests have, with changes.
pub(crate) fn release(change: &Value) -> Arc<DistributionRelease> {
    let objects = catalogue::objects();
    let found = objects.into_iter().find(|release| {
        let image = release.spec.image.as_ref().map(ToString::to_string);
        image.as_deref() == Some(IMAGE)
    });
    let mut value = serde_json::to_value(found.unwrap()).unwrap();
    merge(&mut value, change);
    Arc::new(hyperplane_objects::read(&value).unwrap())
}

/// What is judged of a cluster.
pub(crate) fn judge(cluster: &HostedCluster, seen: &Seen, settings: &HostedClusterSettings) -> Verdict {
    validate(&Case {
        cluster,
        seen,
        settings,
        now: now(),
    })
}

/// Everything that is to exist for a cluster.
pub(crate) fn desired(cluster: &HostedCluster, seen: &Seen, settings: &HostedClusterSettings) -> Desired {
    let platform = hyperplane_platforms::of(&cluster.spec).unwrap();
    let verdict = judge(cluster, seen, settings);
    let pair = verdict.releases.as_ref().unwrap();
    build(&Blueprint {
        cluster,
        infra_id: cluster.spec.infra_id.as_ref().unwrap().as_str(),
        namespace: &names::namespace_of(cluster),
        seen,
        settings,
        platform,
        user_id: None,
        ignition_endpoint: Some("ignition.example.com:443"),
        of_cluster_api: components::of_cluster_api(cluster, pair, platform, &settings.facts),
    })
}

/// The control plane of a cluster as the server would have it.
pub(crate) fn live(control_plane: &HostedControlPlane, change: &Value) -> Arc<HostedControlPlane> {
    let mut value = serde_json::to_value(control_plane).unwrap();
    merge(
        &mut value,
        &json!({"metadata": {"uid": "control-plane", "generation": 1}}),
    );
    merge(&mut value, change);
    Arc::new(hyperplane_objects::read(&value).unwrap())
}

/// What is missing in a cluster, by the settings of tests.
pub(crate) fn complete(cluster: &HostedCluster, seen: &Seen) -> Option<defaults::Completion> {
    defaults::complete(cluster, seen, &settings())
}
