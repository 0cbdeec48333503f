//! The cloud of a hosted cluster on KubeVirt, where the release carries its program: nodes are virtual machines, and load
//! balancers are Services of the cluster below.

use hyperplane_api::{
    constants::{labels, objects::copies},
    hypershift::{platform::kubevirt::KubeVirtCredentials, platform_type::PlatformType},
};
use serde_json::json;

use crate::{
    component::{Asset, Component, HostedServiceAccount, Sidecar, Traits, WorkloadKind, asset},
    configuration::file,
    flags,
    inputs::Inputs,
    manifest::{Manifest, Workload},
    volumes::{mount, secret_volume},
};

const NAME: &str = "kubevirt-cloud-controller-manager";
const CONTAINER: &str = "cloud-controller-manager";

const CREDENTIALS_PATH: &str = "/etc/kubernetes/infra-kubeconfig";

const ASSETS: &[Asset] = &[
    asset!("kubevirt-cloud-controller-manager/service-account.yaml"),
    asset!("kubevirt-cloud-controller-manager/role.yaml"),
    asset!("kubevirt-cloud-controller-manager/role-binding.yaml"),
    asset!("kubevirt-cloud-controller-manager/cloud-config.yaml").adapted(adapt_config),
    asset!("kubevirt-cloud-controller-manager/deployment.yaml"),
];

pub(super) const COMPONENT: Component = Component {
    traits: Traits {
        is_spread: true,
        needs_management_api: true,
        ..Traits::ORDINARY
    },
    predicate: is_on_kubevirt,
    sidecars: &[Sidecar::AvailabilityProber(&[])],
    adapt,
    hosted_service_account: Some(HostedServiceAccount {
        namespace: "kube-system",
        name: "cloud-controller-manager",
    }),
    ..Component::new(NAME, WorkloadKind::Deployment, ASSETS)
};

fn is_on_kubevirt(inputs: &Inputs<'_>) -> bool {
    *inputs.platform() == PlatformType::KubeVirt
}

/// Access to another cluster that the machines run on, if they do not run on this one.
fn elsewhere<'a>(inputs: &Inputs<'a>) -> Option<&'a KubeVirtCredentials> {
    let platform = inputs.control_plane.spec.platform.kubevirt.as_ref()?;
    let credentials = platform.credentials.as_ref()?;
    credentials.infra_kube_config_secret.is_some().then_some(credentials)
}

fn adapt_config(inputs: &Inputs<'_>, manifest: &mut Manifest) {
    let elsewhere = elsewhere(inputs);
    let namespace = elsewhere.map_or(inputs.namespace(), |credentials| &credentials.infra_namespace);
    let mut configuration = json!({
        "namespace": namespace,
        "loadBalancer": {"enabled": true, "creationPollInterval": 5, "creationPollTimeout": 300},
        "instancesV2": {"enabled": true, "zoneAndRegionEnabled": false},
        "infraLabels": {labels::CAPI_CLUSTER_NAME.as_str(): inputs.control_plane.spec.infra_id},
    });
    if elsewhere.is_some() {
        configuration["kubeconfig"] = json!(format!("{CREDENTIALS_PATH}/kubeconfig"));
    }
    if let Manifest::ConfigMap(map) = manifest {
        let data = map.data.get_or_insert_default();
        data.insert("cloud-config".to_owned(), file(&configuration));
    }
}

fn adapt(inputs: &Inputs<'_>, workload: &mut Workload) {
    if let Some(container) = workload.container_mut(CONTAINER) {
        flags::set(container, "cluster-name", &inputs.control_plane.spec.infra_id);
    }
    if elsewhere(inputs).is_none() {
        return;
    }
    let volumes = workload.pod_mut().volumes.get_or_insert_default();
    volumes.push(secret_volume("infra-kubeconfig", copies::KUBEVIRT_CREDENTIALS));
    if let Some(container) = workload.container_mut(CONTAINER) {
        let mounts = container.volume_mounts.get_or_insert_default();
        mounts.push(mount("infra-kubeconfig", CREDENTIALS_PATH));
    }
}
