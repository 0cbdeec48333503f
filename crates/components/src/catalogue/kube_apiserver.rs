//! The API server of a hosted cluster, with the konnectivity server beside it in the same pods.

mod certificates;
mod tuning;

use hyperplane_api::{
    constants::objects::{components, copies, keys},
    hypershift::{
        hosted_cluster::issuer_of_service_accounts,
        services::{PublishedService, PublishingStrategyType},
    },
};
use k8s_openapi::{
    ByteString,
    api::core::v1::{Container, KeyToPath, Volume},
};

use super::etcd;
use crate::{
    component::{Asset, Component, Traits, WorkloadKind, asset},
    configuration::{audit, authentication, client_ca, encryption, feature_gates, tls, token_webhook},
    flags,
    infrastructure::strategy,
    inputs::Inputs,
    manifest::{Manifest, Workload},
    replicas,
    volumes::{config_map_volume, mount, secret_volume},
};

const NAME: &str = components::API_SERVER;

const ASSETS: &[Asset] = &[
    asset!("kube-apiserver/config.yaml").adapted(adapt_config),
    asset!("kube-apiserver/audit-config.yaml").adapted(adapt_audit),
    asset!("kube-apiserver/authentication-config.yaml")
        .when(authentication::is_wanted)
        .adapted(adapt_authentication),
    asset!("kube-apiserver/client-ca.yaml")
        .when(client_ca::is_wanted)
        .adapted(adapt_client_ca),
    asset!("kube-apiserver/egress-selector.yaml"),
    asset!("kube-apiserver/encryption-config.yaml").when(encryption::is_wanted),
    asset!("kube-apiserver/konnectivity-local-service.yaml").adapted(adapt_local_tunnel),
    asset!("kube-apiserver/pod-disruption-budget.yaml"),
    asset!("kube-apiserver/service-monitor.yaml"),
    asset!("kube-apiserver/deployment.yaml"),
];

pub(super) const COMPONENT: Component = Component {
    dependencies: &[components::ETCD],
    traits: Traits {
        is_request_serving: true,
        is_spread: true,
        is_api_critical: true,
        precedes_api_server: true,
        has_three_replicas: true,
        ..Traits::ORDINARY
    },
    waits,
    warnings,
    adapt,
    follow,
    ..Component::new(NAME, WorkloadKind::Deployment, ASSETS)
};

/// How long a server that is told to end still takes connections, in seconds: a load balancer looks at its targets now and
/// then only, and one may stand before the ports of nodes as well, while the Services of a cluster drop one at once.
const BALANCER_DELAY: i64 = 70;
const SERVICE_DELAY: i64 = 15;

/// How long requests under way may take after that, in seconds, and a little more.
const DRAIN: i64 = 65;

fn waits(inputs: &Inputs<'_>) -> Vec<String> {
    let mut waits = encryption::waits(inputs);
    waits.extend(authentication::waits(inputs));
    waits.extend(audit::waits(inputs));
    waits.extend(token_webhook::waits(inputs));
    waits.extend(client_ca::waits(inputs));
    if !etcd::is_managed(inputs) && etcd::unmanaged(inputs).is_none() {
        waits.push("spec.etcd.unmanaged is absent: say where etcd is found".to_owned());
    }
    waits
}

fn warnings(inputs: &Inputs<'_>) -> Vec<String> {
    let parts = [
        tuning::warnings(inputs),
        feature_gates::warnings(inputs),
        tls::warnings(inputs),
        audit::warnings(inputs),
        certificates::warnings(inputs),
        token_webhook::warnings(inputs),
        client_ca::warnings(inputs),
    ];
    parts.into_iter().flatten().collect()
}

fn adapt(inputs: &Inputs<'_>, workload: &mut Workload) {
    let count = replicas::of(&COMPONENT, inputs);
    if let Some(container) = workload.container_mut(NAME) {
        network(inputs, container);
        issuer(inputs, container);
        tls::set(inputs, container);
        feature_gates::set(inputs, container);
        tuning::set(inputs, count, container);
        flags::set(
            container,
            "shutdown-delay-duration",
            format!("{}s", shutdown_delay(inputs)),
        );
        if authentication::is_wanted(inputs) {
            flags::set(
                container,
                "authentication-config",
                "/etc/kubernetes/authentication/config.yaml",
            );
        }
    }
    if let Some(container) = workload.container_mut(components::KONNECTIVITY_SERVER) {
        flags::set(container, "server-count", count.to_string());
        let ciphers = tls::profile(inputs).secure_ciphers();
        if !ciphers.is_empty() {
            flags::set(container, "cipher-suites", ciphers.join(","));
        }
    }
    workload.pod_mut().termination_grace_period_seconds = Some(shutdown_delay(inputs) + DRAIN);
    store(inputs, workload);
    optional_files(inputs, workload);
    certificates::mount_named(inputs, workload);
}

/// Keys come and go in steps, each after all servers have taken up the one before. While one is missing the component
/// waits, and nothing of it is written.
fn follow(
    inputs: &Inputs<'_>,
    live: Option<&Workload>,
    manifests: &mut [Manifest],
    workload: &mut Workload,
) -> Vec<String> {
    let (configuration, waits) = encryption::next(inputs, live);
    let Some(configuration) = configuration else {
        return waits;
    };
    let meta = workload.template_mut().metadata.get_or_insert_default();
    meta.annotations
        .get_or_insert_default()
        .extend(configuration.annotations());
    let of_name = manifests.iter_mut().filter_map(|manifest| match manifest {
        Manifest::Secret(secret) if secret.metadata.name.as_deref() == Some(encryption::SECRET) => Some(secret),
        _ => None,
    });
    for secret in of_name {
        let data = secret.data.get_or_insert_default();
        let text = configuration.text.clone().into_bytes();
        data.insert(keys::ENCRYPTION_CONFIGURATION.to_owned(), ByteString(text));
        if let Some(annotation) = configuration.step_annotation() {
            secret.metadata.annotations.get_or_insert_default().extend([annotation]);
        }
    }
    waits
}

fn shutdown_delay(inputs: &Inputs<'_>) -> i64 {
    let strategy = strategy(inputs.control_plane, &PublishedService::ApiServer);
    let is_balanced = strategy.is_some_and(|one| {
        matches!(
            one.strategy_type,
            PublishingStrategyType::LoadBalancer | PublishingStrategyType::NodePort
        )
    });
    if is_balanced { BALANCER_DELAY } else { SERVICE_DELAY }
}

fn network(inputs: &Inputs<'_>, container: &mut Container) {
    let networking = inputs.networking();
    let services: Vec<&str> = networking
        .service_network
        .iter()
        .map(|entry| entry.cidr.as_str())
        .collect();
    flags::set(container, "advertise-address", networking.advertised_address());
    flags::set(container, "service-cluster-ip-range", services.join(","));
    let ports = inputs.node_ports().filter(|ports| !ports.is_empty());
    flags::set_some(container, "service-node-port-range", ports);
}

fn issuer(inputs: &Inputs<'_>, container: &mut Container) {
    let issuer = issuer_of_service_accounts(&inputs.control_plane.spec.issuer_url);
    flags::set(container, "api-audiences", issuer);
    flags::set(container, "service-account-issuer", issuer);
    flags::set(
        container,
        "service-account-jwks-uri",
        format!("{issuer}/openid/v1/jwks"),
    );
}

/// An etcd of the user's own is found where the spec says, and trusted by what its Secret holds.
fn store(inputs: &Inputs<'_>, workload: &mut Workload) {
    let Some(unmanaged) = etcd::unmanaged(inputs) else {
        return;
    };
    if let Some(container) = workload.container_mut(NAME) {
        flags::set(container, "etcd-servers", &unmanaged.endpoint);
        let shards = unmanaged.shards.iter().flat_map(|shard| {
            let endpoint = shard.endpoint.as_str();
            shard.resources.iter().map(move |resource| {
                let group = resource.api_group.as_str();
                format!("{group}/{}#{endpoint}", resource.resource.as_str())
            })
        });
        let shards: Vec<String> = shards.collect();
        if !shards.is_empty() {
            flags::set(container, "etcd-servers-overrides", shards.join(","));
        }
    }
    if let Some(container) = workload.container_mut("wait-for-etcd") {
        flags::set(
            container,
            "https",
            format!("{}/health", unmanaged.endpoint.trim_end_matches('/')),
        );
    }
    let pod = workload.pod_mut();
    let volumes = pod.volumes.iter_mut().flatten();
    for volume in volumes.filter(|volume| volume.name == "etcd-client") {
        let secret = volume.secret.get_or_insert_default();
        secret.secret_name = Some(unmanaged.tls.client_secret.name.clone());
    }
}

/// Files that only some control planes have.
fn optional_files(inputs: &Inputs<'_>, workload: &mut Workload) {
    if authentication::is_wanted(inputs) {
        let volume = config_map_volume("authentication-config", "auth-config");
        add_volume(workload, volume, "/etc/kubernetes/authentication");
    }
    if encryption::is_wanted(inputs) {
        let volume = secret_volume("encryption-config", encryption::SECRET);
        add_volume(workload, volume, "/etc/kubernetes/encryption");
        set(
            workload,
            "encryption-provider-config",
            "/etc/kubernetes/encryption/config.yaml",
        );
    }
    if client_ca::is_wanted(inputs) {
        let volumes = workload.pod_mut().volumes.iter_mut().flatten();
        for volume in volumes.filter(|volume| volume.name == "client-ca") {
            client_ca::BOTH.clone_into(&mut volume.config_map.get_or_insert_default().name);
        }
    }
    if let Some(secret) = token_webhook::secret(inputs) {
        let mut volume = secret_volume("token-webhook", secret);
        only(&mut volume, &[token_webhook::KEY]);
        add_volume(workload, volume, "/etc/kubernetes/token-webhook");
        let path = format!("/etc/kubernetes/token-webhook/{}", token_webhook::KEY);
        set(workload, "authentication-token-webhook-config-file", &path);
        set(workload, "authentication-token-webhook-version", "v1");
    }
    if audit::has_webhook(inputs) {
        let volume = secret_volume("audit-webhook", copies::AUDIT_WEBHOOK);
        add_volume(workload, volume, "/etc/kubernetes/audit-webhook");
        let path = format!("/etc/kubernetes/audit-webhook/{}", keys::AUDIT_WEBHOOK);
        set(workload, "audit-webhook-config-file", &path);
        set(workload, "audit-webhook-initial-backoff", "5s");
        set(workload, "audit-webhook-mode", "batch");
    }
}

fn set(workload: &mut Workload, flag: &str, value: &str) {
    if let Some(container) = workload.container_mut(NAME) {
        flags::set(container, flag, value);
    }
}

/// Limits a volume to these keys of its Secret, without which the component waits.
fn only(volume: &mut Volume, keys: &[&str]) {
    let item = |key: &&str| KeyToPath {
        key: (*key).to_owned(),
        path: (*key).to_owned(),
        ..KeyToPath::default()
    };
    let secret = volume.secret.get_or_insert_default();
    secret.items = Some(keys.iter().map(item).collect());
}

/// Adds a volume to the pods, and mounts it in the container of the API server.
fn add_volume(workload: &mut Workload, volume: Volume, path: &str) {
    let name = volume.name.clone();
    workload.pod_mut().volumes.get_or_insert_default().push(volume);
    if let Some(container) = workload.container_mut(NAME) {
        container.volume_mounts.get_or_insert_default().push(mount(&name, path));
    }
}

fn adapt_config(inputs: &Inputs<'_>, manifest: &mut Manifest) {
    if !feature_gates::enforces_pod_security(inputs) {
        return;
    }
    if let Manifest::ConfigMap(map) = manifest {
        for text in map.data.iter_mut().flatten().map(|(_, text)| text) {
            *text = text.replace("enforce: privileged", "enforce: restricted");
        }
    }
}

/// An API server that starts goes through its own tunnel where no other has one: webhooks that it calls before it is ready
/// may run on nodes. Where there are others, theirs have agents already, and a new one not yet.
fn adapt_local_tunnel(inputs: &Inputs<'_>, manifest: &mut Manifest) {
    if let (1, Manifest::Service(service)) = (replicas::of(&COMPONENT, inputs), manifest) {
        service.spec.get_or_insert_default().publish_not_ready_addresses = Some(true);
    }
}

fn adapt_audit(inputs: &Inputs<'_>, manifest: &mut Manifest) {
    set_data(manifest, "policy.yaml", audit::policy(inputs));
}

/// While somebody who is to be trusted is missing the component waits, and nothing of it is written.
fn adapt_client_ca(inputs: &Inputs<'_>, manifest: &mut Manifest) {
    if let Some(text) = client_ca::bundle(inputs) {
        set_data(manifest, keys::CA_CERTIFICATE, text);
    }
}

fn adapt_authentication(inputs: &Inputs<'_>, manifest: &mut Manifest) {
    set_data(manifest, "config.yaml", authentication::configuration(inputs));
}

fn set_data(manifest: &mut Manifest, key: &str, text: String) {
    if let Manifest::ConfigMap(map) = manifest {
        map.data.get_or_insert_default().insert(key.to_owned(), text);
    }
}
