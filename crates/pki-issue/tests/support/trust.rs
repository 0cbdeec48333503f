//! Who trusts whom, as rustls' verifier sees it.

use std::time::Duration;

use base64::{Engine as _, prelude::BASE64_STANDARD};
use hyperplane_api::constants::objects::{bundles, certificates, keys};
use rustls_pki_types::{CertificateDer, ServerName, UnixTime, pem::PemObject as _};
use serde_json::Value;
use webpki::{EndEntityCert, KeyUsage, anchor_from_trusted_cert};

use super::World;

/// Whether a certificate is trusted, for a client or for a server of a name.
pub fn accept(world: &World, pem: &str, bundle: &str, server: Option<&str>) -> Result<(), webpki::Error> {
    let der = CertificateDer::from_pem_slice(pem.as_bytes()).unwrap();
    let leaf = EndEntityCert::try_from(&der)?;
    let trusted: Vec<CertificateDer<'static>> = CertificateDer::pem_slice_iter(bundle.as_bytes())
        .map(Result::unwrap)
        .collect();
    let anchors: Vec<_> = trusted
        .iter()
        .map(|der| anchor_from_trusted_cert(der).unwrap())
        .collect();
    let now = UnixTime::since_unix_epoch(Duration::from_secs(world.now.as_second().try_into().unwrap()));
    let usage = if server.is_some() {
        KeyUsage::server_auth()
    } else {
        KeyUsage::client_auth()
    };
    leaf.verify_for_usage(webpki::ALL_VERIFICATION_ALGS, &anchors, &[], now, usage, None, None)?;
    match server {
        Some(name) => leaf.verify_is_valid_for_subject_name(&ServerName::try_from(name).unwrap()),
        None => Ok(()),
    }
}

/// Servers, who trusts them, and names by which they are reached.
pub const SERVERS: &[(&str, &str, &[&str])] = &[
    (
        certificates::API_SERVER,
        bundles::ROOT,
        &[
            "localhost",
            "127.0.0.1",
            "::1",
            "kubernetes",
            "kubernetes.default",
            "kubernetes.default.svc",
            "kubernetes.default.svc.cluster.local",
            "172.31.0.1",
            "fd00::1",
            "kube-apiserver",
            "kube-apiserver.clusters-example.svc",
            "kube-apiserver.clusters-example.svc.cluster.local",
            "api.example.com",
            "kubernetes.example.org",
            "172.20.0.1",
            "node.example.com",
            "api.example.hypershift.local",
        ],
    ),
    (
        certificates::SCHEDULER_SERVER,
        bundles::ROOT,
        &["localhost", "kube-scheduler.clusters-example.svc"],
    ),
    (certificates::CONTROLLER_MANAGER_SERVER, bundles::ROOT, &["localhost"]),
    (
        certificates::ETCD_SERVER,
        bundles::ETCD,
        &[
            "etcd-client",
            "etcd-client.clusters-example.svc",
            "etcd-0.etcd-discovery.clusters-example.svc",
            "etcd-2.etcd-discovery.clusters-example.svc.cluster.local",
            "localhost",
            "127.0.0.1",
            "::1",
        ],
    ),
    (
        certificates::ETCD_PEER,
        bundles::ETCD,
        &["etcd-1.etcd-discovery.clusters-example.svc"],
    ),
    (
        certificates::KONNECTIVITY_SERVER,
        bundles::KONNECTIVITY,
        &[
            "konnectivity-server-local",
            "konnectivity-server-local.clusters-example.svc",
            "localhost",
        ],
    ),
    (
        certificates::KONNECTIVITY_CLUSTER,
        bundles::KONNECTIVITY,
        &["konnectivity-server", "192.0.2.8"],
    ),
    (
        certificates::IGNITION_SERVER,
        bundles::IGNITION,
        &["ignition-server.clusters-example.svc", "ignition.example.com"],
    ),
    (
        certificates::OPENSHIFT_API_SERVER,
        bundles::ROOT,
        &[
            "openshift-apiserver.clusters-example.svc",
            "openshift-apiserver.clusters-example.svc.cluster.local",
        ],
    ),
    (certificates::CLUSTER_API_WEBHOOKS, bundles::ROOT, &["localhost"]),
];

/// Clients, and who trusts them.
pub const CLIENTS: &[(&str, &str)] = &[
    (certificates::API_SERVER_KUBELET_CLIENT, bundles::KUBELET_CLIENT),
    (certificates::AGGREGATOR_CLIENT, bundles::AGGREGATOR_CLIENT),
    (certificates::SYSTEM_ADMIN, bundles::CLIENT),
    (certificates::BOOTSTRAP, bundles::CLIENT),
    (certificates::CONFIG_OPERATOR, bundles::CLIENT),
    (certificates::SCHEDULER_CLIENT, bundles::CLIENT),
    (certificates::CONTROLLER_MANAGER_CLIENT, bundles::CLIENT),
    (certificates::ETCD_SERVER, bundles::ETCD),
    (certificates::ETCD_PEER, bundles::ETCD),
    (certificates::METRICS_CLIENT, bundles::CLIENT),
    (certificates::KONNECTIVITY_CLIENT, bundles::KONNECTIVITY),
    (certificates::KONNECTIVITY_AGENT, bundles::KONNECTIVITY),
];

/// Everything that is there is trusted where it is shown, and every kubeconfig trusts the server that it leads to.
pub fn assert_trusted(world: &World, when: &str) {
    let is_there = |secret: &str| world.existing.secrets.contains_key(secret);
    for (secret, bundle, names) in SERVERS.iter().filter(|(secret, ..)| is_there(secret)) {
        let pem = world.text(secret, keys::TLS_CERTIFICATE);
        let accepted = accept(world, &pem, &world.bundle(bundle), names.first().copied());
        assert_eq!(accepted, Ok(()), "{when}: {secret}");
    }
    for (secret, bundle) in CLIENTS.iter().filter(|(secret, _)| is_there(secret)) {
        let pem = world.text(secret, keys::TLS_CERTIFICATE);
        assert_eq!(
            accept(world, &pem, &world.bundle(bundle), None),
            Ok(()),
            "{when}: {secret}"
        );
    }
    if is_there(certificates::ETCD_CLIENT) {
        let pem = world.text(certificates::ETCD_CLIENT, keys::ETCD_CLIENT_CERTIFICATE);
        assert_eq!(
            accept(world, &pem, &world.bundle(bundles::ETCD), None),
            Ok(()),
            "{when}"
        );
        if is_there(certificates::ETCD_SERVER) {
            let trusted = world.text(certificates::ETCD_CLIENT, keys::ETCD_CLIENT_CA);
            let server = world.text(certificates::ETCD_SERVER, keys::TLS_CERTIFICATE);
            assert_eq!(accept(world, &server, &trusted, Some("etcd-client")), Ok(()), "{when}");
        }
    }
    for (secret, content) in kubeconfigs(world) {
        let client = decode(&content["users"][0]["user"]["client-certificate-data"]);
        let accepted = accept(world, &client, &world.bundle(bundles::CLIENT), None);
        assert_eq!(accepted, Ok(()), "{when}: {secret}");
        if is_there(certificates::API_SERVER) {
            let trusted = decode(&content["clusters"][0]["cluster"]["certificate-authority-data"]);
            let server = world.text(certificates::API_SERVER, keys::TLS_CERTIFICATE);
            let accepted = accept(world, &server, &trusted, Some("localhost"));
            assert_eq!(accepted, Ok(()), "{when}: the server of {secret}");
        }
    }
}

/// Every kubeconfig, by its Secret.
pub fn kubeconfigs(world: &World) -> Vec<(String, Value)> {
    let parsed = |name: &String| {
        let data = world.existing.secrets[name].data.as_ref()?;
        let text = data
            .get(keys::KUBECONFIG)
            .or_else(|| data.get(keys::CLUSTER_API_KUBECONFIG))?;
        Some((
            name.clone(),
            serde_saphyr::from_str(str::from_utf8(&text.0).unwrap()).unwrap(),
        ))
    };
    world.existing.secrets.keys().filter_map(parsed).collect()
}

/// The names of all authorities.
pub fn authorities() -> Vec<&'static str> {
    hyperplane_pki_issue::authority_names().collect()
}

fn decode(value: &Value) -> String {
    String::from_utf8(BASE64_STANDARD.decode(value.as_str().unwrap()).unwrap()).unwrap()
}
