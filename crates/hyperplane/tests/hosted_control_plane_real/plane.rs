//! A control plane as our own pure functions make it: certificates by `pki-issue`, objects by `components`. No operator
//! has a part in it.

use std::{
    collections::BTreeMap,
    net::{Ipv4Addr, SocketAddrV4},
    path::PathBuf,
    sync::Arc,
};

use anyhow::{Context as _, Result, ensure};
use hyperplane_api::constants::objects::{keys, kubeconfigs};
use hyperplane_components::{Manifest, Objects, Rendered, Workload, hosted_service_accounts, published_services};
use hyperplane_pki_issue::{
    Existing, Host, KeyAlgorithm, Lifetime, Published, SecretKey, ServiceAccount, ServiceAccountKey, Wanted, Write,
    first_address, issue, plan,
};
use hyperplane_testbed::assets::{Assets, Program};
use jiff::Timestamp;
use k8s_openapi::api::core::v1::Service;
use serde_json::{Value, json};

use crate::{
    network::NODE,
    rendering::{NAMESPACE, Scene, published, release},
};

/// Where clients outside find the API server.
pub const API_SERVER: SocketAddrV4 = SocketAddrV4::new(NODE, 30_443);

/// Everything that is rendered for one release, and the programs that its images hold.
pub struct Plane {
    pub version: String,
    pub objects: Objects,
    pub workloads: BTreeMap<&'static str, Workload>,
    pub services: Vec<Service>,
    pub programs: BTreeMap<String, PathBuf>,
}

impl Plane {
    /// Renders a control plane of a minor.
    pub fn render(minor: &str, policy: &str, certificates: &Existing, assets: &Assets) -> Result<Self> {
        let release = release(minor);
        let mut scene = Scene::new(release, &json!({}), &fields(policy));
        scene.objects.secrets.clone_from(&certificates.secrets);
        scene.objects.config_maps.clone_from(&certificates.config_maps);
        let mut services = published_services(&scene.control_plane, &scene.management);
        let mut workloads = BTreeMap::new();
        for name in ["etcd", "kube-apiserver", "kube-controller-manager", "kube-scheduler"] {
            let Rendered {
                manifests, workload, ..
            } = scene.rendered(name);
            for manifest in manifests {
                keep(manifest, &mut scene.objects, &mut services);
            }
            workloads.insert(name, workload);
        }
        Ok(Self {
            version: release.version.as_str().to_owned(),
            objects: scene.objects,
            workloads,
            services,
            programs: programs(assets)?,
        })
    }
}

fn fields(policy: &str) -> Value {
    let at_node = |port: u16| json!({"type": "NodePort", "nodePort": {"address": NODE, "port": port}});
    json!({
        "controllerAvailabilityPolicy": policy,
        "services": [
            published("APIServer", &at_node(API_SERVER.port())),
            published("Konnectivity", &at_node(30_445)),
            published("Ignition", &at_node(30_446)),
        ],
    })
}

fn keep(manifest: Manifest, objects: &mut Objects, services: &mut Vec<Service>) {
    match manifest {
        Manifest::ConfigMap(map) => {
            let name = map.metadata.name.clone().unwrap_or_default();
            objects.config_maps.insert(name, Arc::new(*map));
        }
        Manifest::Secret(secret) => {
            let name = secret.metadata.name.clone().unwrap_or_default();
            objects.secrets.insert(name, Arc::new(*secret));
        }
        Manifest::Service(service) => services.push(*service),
        _ => {}
    }
}

/// What images hold, by the command that is run from them. etcd and konnectivity do not have the version of a release,
/// and are the same for all of them here.
fn programs(assets: &Assets) -> Result<BTreeMap<String, PathBuf>> {
    let newest = Assets::locate()?;
    let rows = [
        ("etcd", newest.path(Program::Etcd)?),
        ("/proxy-server", newest.path(Program::KonnectivityServer)?),
        ("kube-apiserver", assets.path(Program::ApiServer)?),
        ("kube-controller-manager", assets.path(Program::ControllerManager)?),
        ("kube-scheduler", assets.path(Program::Scheduler)?),
        ("hyperplane", PathBuf::from(env!("CARGO_BIN_EXE_hyperplane"))),
    ];
    Ok(rows.map(|(command, path)| (command.to_owned(), path)).into())
}

/// Issues everything that the PKI operator would.
pub fn certificates(now: Timestamp) -> Result<Existing> {
    let wanted = wanted()?;
    let mut existing = Existing::default();
    let planned = plan(&wanted, &existing, now);
    let before = existing.clone();
    for write in issue(&planned, &wanted, &before, now) {
        match write? {
            Write::Create(secret) | Write::Secret(secret) => {
                let name = secret.metadata.name.clone().unwrap_or_default();
                existing.secrets.insert(name, Arc::new(secret));
            }
            Write::ConfigMap(map) => {
                let name = map.metadata.name.clone().unwrap_or_default();
                existing.config_maps.insert(name, Arc::new(map));
            }
        }
    }
    let left = plan(&wanted, &existing, now);
    ensure!(left.issue.is_empty(), "not all is issued at once");
    Ok(existing)
}

fn wanted() -> Result<Wanted> {
    let at = |port: u16| Published::At {
        host: Host::Address(Ipv4Addr::into(NODE)),
        port,
    };
    let accounts = hosted_service_accounts().map(|(component, account)| ServiceAccount {
        component: component.to_owned(),
        namespace: account.namespace.to_owned(),
        name: account.name.to_owned(),
    });
    Ok(Wanted {
        namespace: NAMESPACE.to_owned(),
        cluster: "one".to_owned(),
        infra_id: "one-abcde".to_owned(),
        service_addresses: vec![first_address("172.31.0.0/16")?],
        api_server: at(API_SERVER.port()),
        konnectivity: at(30_445),
        ignition: at(30_446),
        api_server_name: None,
        api_server_addresses: vec![Host::parse("172.20.0.1")?],
        algorithm: KeyAlgorithm::EcdsaP256,
        lifetime: Lifetime::default(),
        service_accounts: accounts.collect(),
        admin_kubeconfig: SecretKey {
            name: kubeconfigs::ADMIN.to_owned(),
            key: keys::KUBECONFIG.to_owned(),
        },
        service_account_key: ServiceAccountKey::Generated,
        labels: BTreeMap::new(),
        annotations: BTreeMap::new(),
        owner: None,
    })
}

/// The administrator's kubeconfig.
pub fn admin_kubeconfig(certificates: &Existing) -> Result<String> {
    let secret = certificates
        .secrets
        .get(kubeconfigs::ADMIN)
        .context("there is a kubeconfig")?;
    let data = secret
        .data
        .as_ref()
        .and_then(|data| data.get(keys::KUBECONFIG))
        .context("it has its key")?;
    Ok(String::from_utf8(data.0.clone())?)
}
