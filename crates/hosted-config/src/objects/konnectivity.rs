//! The way from the control plane to the nodes: agents on every node dial out to the konnectivity server.

use hyperplane_api::constants::objects::{bundles, certificates, components, keys};
use k8s_openapi::{
    api::{
        apps::v1::DaemonSet,
        core::v1::{ConfigMap, Secret, ServiceAccount},
    },
    apimachinery::pkg::apis::meta::v1::ObjectMeta,
};
use serde_json::json;
use sha2::{Digest as _, Sha256};

use super::{Incomplete, SYSTEM_NAMESPACE, Set, Wanted, access::object, asset};

/// On the pods: the certificate that they were started with.
const CERTIFICATE: &str = "hyperplane.dev/certificate";

pub(super) fn add(wanted: &Wanted<'_>, set: &mut Set) -> Result<(), Incomplete> {
    set.add::<ServiceAccount>(object(&json!({
        "metadata": {"name": components::KONNECTIVITY_AGENT, "namespace": SYSTEM_NAMESPACE},
    })));
    set.add(Secret {
        metadata: named(certificates::KONNECTIVITY_AGENT),
        type_: Some("Opaque".to_owned()),
        data: wanted.konnectivity_agent.data.clone(),
        ..Secret::default()
    });
    set.add(ConfigMap {
        metadata: named(bundles::KONNECTIVITY),
        data: wanted.konnectivity_authority.data.clone(),
        ..ConfigMap::default()
    });
    set.add(daemon_set(wanted)?);
    Ok(())
}

fn daemon_set(wanted: &Wanted<'_>) -> Result<DaemonSet, Incomplete> {
    let mut daemon_set: DaemonSet = asset(include_str!("../assets/konnectivity-agent.yaml"));
    let template = &mut daemon_set.spec.get_or_insert_default().template;
    // The agent reads its certificate once.
    let certificate = fingerprint(wanted.konnectivity_agent);
    wanted.finish(components::KONNECTIVITY_AGENT, &[(CERTIFICATE, certificate)], template)?;
    for container in template.spec.iter_mut().flat_map(|pod| &mut pod.containers) {
        container.args.get_or_insert_default().extend([
            format!("--proxy-server-host={}", wanted.konnectivity.host),
            format!("--proxy-server-port={}", wanted.konnectivity.port),
        ]);
    }
    Ok(daemon_set)
}

/// What tells one certificate from the next.
fn fingerprint(secret: &Secret) -> String {
    let data = secret.data.as_ref();
    let certificate = data.and_then(|data| data.get(keys::TLS_CERTIFICATE));
    let digest = Sha256::digest(certificate.map_or(&[][..], |certificate| &certificate.0));
    let start = digest
        .iter()
        .take(8)
        .fold(0_u64, |start, byte| start << 8 | u64::from(*byte));
    format!("{start:016x}")
}

fn named(name: &str) -> ObjectMeta {
    ObjectMeta {
        name: Some(name.to_owned()),
        namespace: Some(SYSTEM_NAMESPACE.to_owned()),
        ..ObjectMeta::default()
    }
}
