//! The HostedControlPlane of a cluster: every field of the spec, with references to copies in place of originals, and the
//! annotations by which its components are run.

use std::collections::BTreeMap;

use hyperplane_api::{
    common::{LocalObjectReference, SecretKeyReference},
    constants::{
        annotations, labels,
        objects::{certificates, copies, keys, kubeconfigs},
        ours,
    },
    hypershift::{
        etcd::Etcd,
        hosted_cluster::{HostedCluster, HostedClusterSpec},
        hosted_control_plane::{HostedControlPlane, HostedControlPlaneSpec},
        platform::Platform,
        platform_type::PlatformType,
        secret_encryption::SecretEncryption,
    },
};
use hyperplane_components::RENDER_REVISION;

use super::{Blueprint, control_plane_name, mirrored};
use crate::{metadata::pair, validate::control_plane_image};

/// Annotations that are computed rather than mirrored.
const COMPUTED: &[hyperplane_api::constants::Annotation] = &[
    annotations::CLUSTER,
    annotations::DISABLE_CLUSTER_AUTOSCALER,
    annotations::DEFAULT_SECURITY_CONTEXT_UID,
    ours::TENANT_OPERATORS,
    ours::RENDER_REVISION,
    ours::RENDER_IMAGE,
    ours::RENDER_ZONES,
    ours::RENDER_KUBERNETES,
    ours::RUNS_MACHINES,
    ours::INGRESS_DOMAIN,
    ours::RESTART_DATE_SYNCED,
];

pub(super) fn build(blueprint: &Blueprint<'_>) -> HostedControlPlane {
    let name = control_plane_name(blueprint.cluster);
    let mut control_plane = HostedControlPlane::new(&name, spec(blueprint));
    control_plane.metadata = blueprint.metadata(&name);
    let labels = control_plane.metadata.labels.get_or_insert_default();
    labels.insert(
        labels::CAPI_CLUSTER_NAME.as_str().to_owned(),
        blueprint.infra_id.to_owned(),
    );
    let annotations = control_plane.metadata.annotations.get_or_insert_default();
    annotations.extend(mirrored::of(blueprint.cluster));
    annotations.extend(computed(blueprint));
    control_plane
}

/// The control plane as it is, paused or not. Everything else that we ever wrote stays.
pub(crate) fn with_pause(live: &HostedControlPlane, paused_until: Option<String>) -> HostedControlPlane {
    let name = live.metadata.name.clone().unwrap_or_default();
    let mut control_plane = HostedControlPlane::new(&name, live.spec.clone());
    control_plane.spec.paused_until = paused_until;
    control_plane.metadata.namespace.clone_from(&live.metadata.namespace);
    let is_our_label = |key: &str| key == labels::CAPI_CLUSTER_NAME.as_str() || key == ours::MANAGED_BY.as_str();
    let synced = ours::RESTART_DATE_SYNCED.of(live);
    let restart = annotations::RESTART_DATE.as_str();
    let is_ours = |key: &str, value: &str| {
        mirrored::is_mirrored(key)
            || COMPUTED.iter().any(|computed| computed.as_str() == key)
            || (key == restart && synced == Some(value))
    };
    let labels = live.metadata.labels.iter().flatten();
    let labels = labels.filter(|(key, _)| is_our_label(key));
    control_plane.metadata.labels = Some(labels.map(|(key, value)| (key.clone(), value.clone())).collect());
    let annotations = live.metadata.annotations.iter().flatten();
    let annotations = annotations.filter(|(key, value)| is_ours(key, value));
    control_plane.metadata.annotations = Some(annotations.map(|(key, value)| (key.clone(), value.clone())).collect());
    control_plane
}

fn computed(blueprint: &Blueprint<'_>) -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    let scales = blueprint
        .seen
        .node_pools
        .iter()
        .any(|pool| pool.spec.auto_scaling.is_some());
    if !scales {
        found.extend([pair(annotations::DISABLE_CLUSTER_AUTOSCALER, "true")]);
    }
    let mode = if blueprint.has_dedicated_operators() {
        "dedicated"
    } else {
        "shared"
    };
    found.extend([pair(ours::TENANT_OPERATORS, mode)]);
    found.extend(
        blueprint
            .user_id
            .map(|user| pair(annotations::DEFAULT_SECURITY_CONTEXT_UID, &user.to_string())),
    );
    let runs_machines = blueprint.settings.facts.runs_machines;
    found.extend(runs_machines.then(|| pair(ours::RUNS_MACHINES, "true")));
    found.extend(rendering(blueprint));
    found.extend(ingress_domain(blueprint));
    found.extend(restart(blueprint));
    found
}

/// How components are rendered. It stays as it was until the next upgrade, or until somebody asks: a newer program, or one
/// more zone, restarts nothing by itself.
fn rendering(blueprint: &Blueprint<'_>) -> Vec<(String, String)> {
    let live = blueprint.seen.control_plane.as_deref();
    let kept = live.filter(|live| {
        let image = live
            .spec
            .control_plane_release_image
            .as_ref()
            .unwrap_or(&live.spec.release_image);
        let is_upgrade = image != control_plane_image(blueprint.cluster);
        let asked = ours::RENDER_REVISION_REQUEST.of(blueprint.cluster);
        let is_asked = asked != ours::RENDER_REVISION_REQUEST.of(*live);
        !is_upgrade && !is_asked
    });
    let current = [
        (ours::RENDER_REVISION, RENDER_REVISION.to_string()),
        (ours::RENDER_IMAGE, blueprint.settings.facts.image.clone()),
        (ours::RENDER_ZONES, blueprint.seen.zones.to_string()),
        // Patches and builds decide nothing.
        (
            ours::RENDER_KUBERNETES,
            blueprint.settings.facts.kubernetes.minor_text(),
        ),
    ];
    let value = |(key, current): (hyperplane_api::constants::Annotation, String)| {
        let kept = kept.and_then(|live| key.of(live));
        pair(key, kept.unwrap_or(&current))
    };
    current.into_iter().map(value).collect()
}

/// The domain that a control plane began with. Clients know the names under it.
fn ingress_domain(blueprint: &Blueprint<'_>) -> Option<(String, String)> {
    let live = blueprint.seen.control_plane.as_deref();
    let kept = live.and_then(|live| ours::INGRESS_DOMAIN.of(live));
    let current = blueprint.settings.facts.ingress_domain.as_deref();
    kept.or(current).map(|domain| pair(ours::INGRESS_DOMAIN, domain))
}

/// A restart that the cluster asks for is handed on once. One that was asked of the control plane itself is left alone until
/// the cluster asks again.
fn restart(blueprint: &Blueprint<'_>) -> Vec<(String, String)> {
    let live = blueprint.seen.control_plane.as_deref();
    let synced = live.and_then(|live| ours::RESTART_DATE_SYNCED.of(live));
    let present = live.and_then(|live| annotations::RESTART_DATE.of(live));
    // Pods carry the date: taking it back would restart them once more.
    let Some(wanted) = annotations::RESTART_DATE.of(blueprint.cluster).or(synced) else {
        return Vec::new();
    };
    let mut found = vec![pair(ours::RESTART_DATE_SYNCED, wanted)];
    let is_overridden = synced == Some(wanted) && present.is_some_and(|present| present != wanted);
    if !is_overridden {
        found.push(pair(annotations::RESTART_DATE, wanted));
    }
    found
}

fn spec(blueprint: &Blueprint<'_>) -> HostedControlPlaneSpec {
    let spec = blueprint.cluster.spec.clone();
    let copy = |name: &str| LocalObjectReference { name: name.to_owned() };
    let is_given =
        |reference: &Option<LocalObjectReference>| reference.as_ref().is_some_and(|given| !given.name.is_empty());
    HostedControlPlaneSpec {
        release_image: spec.release.image.as_str().to_owned(),
        control_plane_release_image: own_release(blueprint.cluster),
        platform: platform(&spec),
        networking: Some(spec.networking),
        services: spec.services,
        dns: spec.dns.unwrap_or_default(),
        kube_api_server_dns_name: spec.kube_api_server_dns_name,
        etcd: etcd(spec.etcd),
        controller_availability_policy: spec.controller_availability_policy,
        infrastructure_availability_policy: spec.infrastructure_availability_policy,
        pull_secret: copy(copies::PULL_SECRET),
        // The field is required; an empty name means that there are no keys.
        ssh_key: copy(if is_given(&spec.ssh_key) { copies::SSH_KEY } else { "" }),
        // Cluster API has one of its own, for use from inside.
        kubeconfig: Some(SecretKeyReference {
            name: kubeconfigs::ADMIN.to_owned(),
            key: keys::KUBECONFIG.to_owned(),
        }),
        secret_encryption: spec.secret_encryption.map(encryption),
        issuer_url: spec.issuer_url,
        service_account_signing_key: is_given(&spec.service_account_signing_key)
            .then(|| copy(certificates::SERVICE_ACCOUNT_KEYS)),
        additional_trust_bundle: is_given(&spec.additional_trust_bundle).then(|| copy(copies::USER_CA_BUNDLE)),
        audit_webhook: is_given(&spec.audit_webhook).then(|| copy(copies::AUDIT_WEBHOOK)),
        image_content_sources: spec.image_content_sources,
        capabilities: spec.capabilities,
        configuration: spec.configuration,
        operator_configuration: spec.operator_configuration,
        autoscaling: spec.autoscaling,
        auto_node: spec.auto_node,
        monitoring: spec.monitoring,
        node_selector: spec.node_selector,
        tolerations: spec.tolerations,
        labels: spec.labels,
        olm_catalog_placement: spec.olm_catalog_placement,
        fips: spec.fips,
        cluster_id: spec.cluster_id.map(|id| id.as_str().to_owned()),
        infra_id: blueprint.infra_id.to_owned(),
        update_service: spec.update_service,
        channel: spec.channel,
        paused_until: spec.paused_until.map(|text| text.as_str().to_owned()),
    }
}

fn own_release(cluster: &HostedCluster) -> Option<String> {
    let release = cluster.spec.control_plane_release.as_ref();
    release.map(|release| release.image.as_str().to_owned())
}

/// Components see hosts that agents have enrolled as hosts that join by themselves.
fn platform(spec: &HostedClusterSpec) -> Platform {
    let mut platform = spec.platform.clone();
    if platform.type_ == PlatformType::Agent {
        platform.type_ = PlatformType::None;
        platform.agent = None;
    }
    platform
}

fn etcd(mut etcd: Etcd) -> Etcd {
    if let Some(unmanaged) = &mut etcd.unmanaged {
        certificates::ETCD_CLIENT.clone_into(&mut unmanaged.tls.client_secret.name);
    }
    etcd
}

fn encryption(mut encryption: SecretEncryption) -> SecretEncryption {
    if let Some(keys) = &mut encryption.aescbc {
        copies::ENCRYPTION_KEY.clone_into(&mut keys.active_key.name);
        if let Some(before) = &mut keys.backup_key {
            copies::ENCRYPTION_KEY_BEFORE.clone_into(&mut before.name);
        }
    }
    encryption
}
