//! A control plane as our own pure functions make it: certificates by `pki-issue`, objects by `components`. No operator
//! has a part in it.

use std::{collections::BTreeMap, net::SocketAddrV4, path::PathBuf};

use anyhow::{Context as _, Result};
use hyperplane_api::constants::objects::keys;
use hyperplane_components::{Manifest, Objects, Rendered, Workload, published_services};
use hyperplane_pki_issue::Existing;
use hyperplane_planner::release::Release;
use hyperplane_testbed::assets::{Assets, Program};
use jiff::Timestamp;
use k8s_openapi::api::core::v1::Service;
use serde_json::{Value, json};

use crate::{
    issuing,
    network::NODE,
    rendering::{World, published, release},
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
        let mut world = World::new(&json!({"spec": fields(release, policy)}), release);
        world.objects.secrets.clone_from(&certificates.secrets);
        world.objects.config_maps.clone_from(&certificates.config_maps);
        let mut services = published_services(&world.control_plane, &world.management);
        let mut workloads = BTreeMap::new();
        for name in ["etcd", "kube-apiserver", "kube-controller-manager", "kube-scheduler"] {
            let Rendered {
                manifests, workload, ..
            } = world.rendered(name);
            for manifest in manifests {
                keep(manifest, &mut world.objects, &mut services);
            }
            workloads.insert(name, workload);
        }
        Ok(Self {
            version: release.version.as_str().to_owned(),
            objects: world.objects,
            workloads,
            services,
            programs: programs(assets)?,
        })
    }
}

fn fields(release: &Release, policy: &str) -> Value {
    let at_node = |port: u16| json!({"type": "NodePort", "nodePort": {"address": NODE, "port": port}});
    json!({
        "releaseImage": release.image,
        "controllerAvailabilityPolicy": policy,
        "services": [
            published("APIServer", &at_node(API_SERVER.port())),
            published("Konnectivity", &at_node(issuing::KONNECTIVITY)),
            published("Ignition", &at_node(issuing::IGNITION)),
        ],
    })
}

fn keep(manifest: Manifest, objects: &mut Objects, services: &mut Vec<Service>) {
    match manifest {
        Manifest::Service(service) => services.push(*service),
        other => issuing::keep(other, objects),
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
    issuing::certificates(NODE, API_SERVER.port(), now)
}

/// An issued kubeconfig.
pub fn kubeconfig(certificates: &Existing, name: &str) -> Result<String> {
    let secret = certificates.secrets.get(name).context("there is a kubeconfig")?;
    let data = secret
        .data
        .as_ref()
        .and_then(|data| data.get(keys::KUBECONFIG))
        .context("it has its key")?;
    Ok(String::from_utf8(data.0.clone())?)
}
