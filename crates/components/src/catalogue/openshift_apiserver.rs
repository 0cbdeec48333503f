//! OpenShift's API server, where the release carries it: an API that the hosted API server aggregates.

use super::etcd;
use crate::{
    component::{Asset, Component, Sidecar, Traits, WorkloadKind, asset},
    configuration::audit,
    inputs::Inputs,
    manifest::{Manifest, Workload},
};

pub(super) const NAME: &str = "openshift-apiserver";

const ASSETS: &[Asset] = &[
    asset!("openshift-apiserver/audit-config.yaml").adapted(adapt_audit),
    asset!("openshift-apiserver/config.yaml").adapted(adapt_config),
    asset!("openshift-apiserver/service.yaml"),
    asset!("openshift-apiserver/pod-disruption-budget.yaml"),
    asset!("openshift-apiserver/service-monitor.yaml"),
    asset!("openshift-apiserver/deployment.yaml"),
];

pub(super) const COMPONENT: Component = Component {
    traits: Traits {
        is_spread: true,
        is_api_critical: true,
        has_three_replicas: true,
        ..Traits::ORDINARY
    },
    sidecars: &[Sidecar::AvailabilityProber(&[]), Sidecar::KonnectivityHttpsProxy],
    adapt,
    ..Component::new(NAME, WorkloadKind::Deployment, ASSETS)
};

fn adapt_audit(inputs: &Inputs<'_>, manifest: &mut Manifest) {
    if let Manifest::ConfigMap(map) = manifest {
        map.data
            .get_or_insert_default()
            .insert("policy.yaml".to_owned(), audit::policy(inputs));
    }
}

/// An etcd of the user's own serves this API, too.
fn adapt_config(inputs: &Inputs<'_>, manifest: &mut Manifest) {
    let endpoint = etcd::unmanaged(inputs).map(|unmanaged| unmanaged.endpoint.as_str());
    let (Manifest::ConfigMap(map), Some(endpoint)) = (manifest, endpoint) else {
        return;
    };
    for text in map.data.iter_mut().flatten().map(|(_, text)| text) {
        *text = text.replace("https://etcd-client:2379", endpoint);
    }
}

fn adapt(inputs: &Inputs<'_>, workload: &mut Workload) {
    let Some(unmanaged) = etcd::unmanaged(inputs) else {
        return;
    };
    let volumes = workload.pod_mut().volumes.iter_mut().flatten();
    for volume in volumes.filter(|volume| volume.name == "etcd-client") {
        let secret = volume.secret.get_or_insert_default();
        secret.secret_name = Some(unmanaged.tls.client_secret.name.clone());
    }
}
