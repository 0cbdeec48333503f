//! Containers of ours in the pods of components: what each looks like, and where it goes.

use std::collections::BTreeMap;

use hyperplane_api::constants::objects::{bundles, certificates, ports, services};
use k8s_openapi::{
    api::core::v1::{Container, ResourceRequirements},
    apimachinery::pkg::api::resource::Quantity,
};

use crate::{
    component::{Component, Sidecar},
    inputs::Inputs,
    manifest::Workload,
    volumes::{config_map_volume, mount, secret_volume},
};

/// The image of this program, as assets name it.
const IMAGE: &str = "hyperplane";

/// The volume with a kubeconfig for the hosted API server, which components that act there have.
const KUBECONFIG_VOLUME: &str = "kubeconfig";
const KUBECONFIG_PATH: &str = "/etc/kubernetes/kubeconfig";

/// Where the proxies of a pod listen, each at a port of its own: a pod may have both.
const HTTPS_PROXY_PORT: u16 = 8090;
const SOCKS5_PROXY_PORT: u16 = 8094;

/// The first minor of Kubernetes in which a container can start before the others and run along with them.
const FIRST_WITH_NATIVE_SIDECARS: u64 = 29;

/// Adds the containers that a component asks for.
pub(crate) fn inject(component: &Component, inputs: &Inputs<'_>, workload: &mut Workload) {
    for sidecar in component.sidecars {
        match sidecar {
            Sidecar::AvailabilityProber(apis) => availability_prober(apis, workload),
            Sidecar::TokenMinter { audience, volume } => token_minter(component, inputs, audience, volume, workload),
            Sidecar::KonnectivityHttpsProxy => {
                konnectivity_proxy("konnectivity-https-proxy", HTTPS_PROXY_PORT, workload);
            }
            Sidecar::KonnectivitySocks5Proxy => {
                konnectivity_proxy("konnectivity-socks5-proxy", SOCKS5_PROXY_PORT, workload);
            }
        }
    }
}

fn availability_prober(apis: &[&str], workload: &mut Workload) {
    let mut arguments = vec![
        "availability-prober".to_owned(),
        format!("--kubeconfig={KUBECONFIG_PATH}/kubeconfig"),
    ];
    arguments.extend(apis.iter().map(|api| format!("--required-api={api}")));
    let prober = Container {
        volume_mounts: Some(vec![mount(KUBECONFIG_VOLUME, KUBECONFIG_PATH)]),
        ..container("availability-prober", arguments)
    };
    workload
        .pod_mut()
        .init_containers
        .get_or_insert_default()
        .insert(0, prober);
}

fn token_minter(component: &Component, inputs: &Inputs<'_>, audience: &str, volume: &str, workload: &mut Workload) {
    const TOKEN_PATH: &str = "/var/run/secrets/token";
    let account = component
        .hosted_service_account
        .expect("a component that has tokens minted names its service account, which a test looks for");
    let arguments = vec![
        "token-minter".to_owned(),
        format!("--kubeconfig={KUBECONFIG_PATH}/kubeconfig"),
        format!("--service-account-namespace={}", account.namespace),
        format!("--service-account-name={}", account.name),
        format!("--token-audience={audience}"),
        format!("--token-file={TOKEN_PATH}/token"),
    ];
    let mut minter = Container {
        volume_mounts: Some(vec![
            mount(KUBECONFIG_VOLUME, KUBECONFIG_PATH),
            mount(volume, TOKEN_PATH),
        ]),
        ..container("token-minter", arguments)
    };
    let pod = workload.pod_mut();
    if inputs.management.kubernetes.generation() >= FIRST_WITH_NATIVE_SIDECARS {
        minter.restart_policy = Some("Always".to_owned());
        pod.init_containers.get_or_insert_default().push(minter);
    } else {
        pod.containers.push(minter);
    }
}

/// A proxy that leads through the konnectivity server into the hosted cluster's network.
fn konnectivity_proxy(program: &str, port: u16, workload: &mut Workload) {
    const CLIENT_VOLUME: &str = "konnectivity-proxy-client";
    const CLIENT_PATH: &str = "/etc/konnectivity/proxy-client";
    const TRUST_VOLUME: &str = "konnectivity-proxy-ca";
    const TRUST_PATH: &str = "/etc/konnectivity/proxy-ca";
    let arguments = vec![
        program.to_owned(),
        format!("--listen=127.0.0.1:{port}"),
        format!("--konnectivity-host={}", services::KONNECTIVITY_LOCAL),
        format!("--konnectivity-port={}", ports::KONNECTIVITY_LOCAL),
        format!("--ca-file={TRUST_PATH}/ca.crt"),
        format!("--cert-file={CLIENT_PATH}/tls.crt"),
        format!("--key-file={CLIENT_PATH}/tls.key"),
    ];
    let proxy = Container {
        volume_mounts: Some(vec![mount(CLIENT_VOLUME, CLIENT_PATH), mount(TRUST_VOLUME, TRUST_PATH)]),
        ..container(program, arguments)
    };
    let pod = workload.pod_mut();
    pod.containers.push(proxy);
    let volumes = pod.volumes.get_or_insert_default();
    if volumes.iter().any(|volume| volume.name == CLIENT_VOLUME) {
        return;
    }
    volumes.push(secret_volume(CLIENT_VOLUME, certificates::KONNECTIVITY_CLIENT));
    volumes.push(config_map_volume(TRUST_VOLUME, bundles::KONNECTIVITY));
}

fn container(name: &str, arguments: Vec<String>) -> Container {
    let amount = |text: &str| Quantity(text.to_owned());
    let requests = [("cpu".to_owned(), amount("10m")), ("memory".to_owned(), amount("30Mi"))];
    Container {
        name: name.to_owned(),
        image: Some(IMAGE.to_owned()),
        command: Some(vec![IMAGE.to_owned()]),
        args: Some(arguments),
        resources: Some(ResourceRequirements {
            requests: Some(BTreeMap::from(requests)),
            ..ResourceRequirements::default()
        }),
        ..Container::default()
    }
}
