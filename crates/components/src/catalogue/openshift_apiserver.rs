//! OpenShift's API server, where the release carries it: an API that the hosted API server aggregates.

use hyperplane_api::constants::objects::components;
use serde_json::{Value, json};

use super::etcd;
use crate::{
    component::{Asset, Component, Sidecar, Traits, WorkloadKind, asset},
    configuration::{audit, file, tls},
    inputs::Inputs,
    manifest::{Manifest, Workload},
};

pub(super) const NAME: &str = components::OPENSHIFT_API_SERVER;

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

/// The key of the configuration.
const FILE: &str = "config.yaml";

/// What servers offer is the same everywhere, and an etcd of the user's own serves this API, too.
fn adapt_config(inputs: &Inputs<'_>, manifest: &mut Manifest) {
    let Manifest::ConfigMap(map) = manifest else { return };
    let Some(text) = map.data.get_or_insert_default().get_mut(FILE) else {
        return;
    };
    let mut configuration: Value = serde_saphyr::from_str(text).expect("the asset holds YAML, which a test reads");
    let tls = tls::profile(inputs);
    configuration["servingInfo"]["minTLSVersion"] = json!(tls.oldest);
    if !tls.ciphers.is_empty() {
        configuration["servingInfo"]["cipherSuites"] = json!(tls.ciphers);
    }
    if let Some(unmanaged) = etcd::unmanaged(inputs) {
        configuration["storageConfig"]["urls"] = json!([unmanaged.endpoint]);
    }
    *text = file(&configuration);
}

fn adapt(inputs: &Inputs<'_>, workload: &mut Workload) {
    let Some(unmanaged) = etcd::unmanaged(inputs) else {
        return;
    };
    if let (Some(container), Some(host)) = (workload.container_mut(NAME), host(&unmanaged.endpoint)) {
        let variables = container.env.iter_mut().flatten();
        for variable in variables.filter(|variable| variable.name == "NO_PROXY") {
            let listed = variable.value.get_or_insert_default();
            listed.push(',');
            listed.push_str(host);
        }
    }
    let volumes = workload.pod_mut().volumes.iter_mut().flatten();
    for volume in volumes.filter(|volume| volume.name == "etcd-client") {
        let secret = volume.secret.get_or_insert_default();
        secret.secret_name = Some(unmanaged.tls.client_secret.name.clone());
    }
}

/// The host of an address with a scheme; none where it could end the list that it comes to stand in.
fn host(endpoint: &str) -> Option<&str> {
    let rest = endpoint.split_once("://").map_or(endpoint, |(_, rest)| rest);
    let authority = rest.split('/').next().unwrap_or_default();
    let host = match authority.strip_prefix('[') {
        Some(inner) => inner.split(']').next().unwrap_or_default(),
        None => authority.rsplit_once(':').map_or(authority, |(host, _)| host),
    };
    Some(host).filter(|host| !host.is_empty() && !host.contains(','))
}
