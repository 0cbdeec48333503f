//! A cluster and a pool, and what a machine of it is told.

#![allow(
    dead_code,
    clippy::unwrap_used,
    reason = "not every test uses everything; a test may end here"
)]

pub mod corpus;
mod documents;

use std::collections::BTreeMap;

use hyperplane_api::hypershift::{
    configuration::ClusterConfiguration, networking::ClusterNetworking, platform_type::PlatformType,
};
use hyperplane_ignition_render::{
    Problem, document,
    worker::{Endpoint, RENDER_REVISION, WorkerInputs, render},
};
use hyperplane_planner::{catalogue, release::Release};
use serde_json::{Value, json};

use self::documents::{KUBELET, MACHINE, MIRRORS};

/// What differs from one cluster to the next.
#[derive(Clone, Debug)]
pub struct World {
    pub revision: u32,
    pub release: Release,
    pub platform: PlatformType,
    pub networking: ClusterNetworking,
    pub configuration: Option<ClusterConfiguration>,
    pub trust_bundle: String,
    pub registry_authorities: BTreeMap<String, String>,
    pub ssh_keys: String,
    pub config: Vec<(String, String)>,
}

impl World {
    pub fn new(platform: PlatformType) -> Self {
        Self {
            revision: RENDER_REVISION,
            release: catalogue::by_version("v1.36.4").unwrap().clone(),
            platform,
            networking: ClusterNetworking::default(),
            configuration: None,
            trust_bundle: String::new(),
            registry_authorities: BTreeMap::new(),
            ssh_keys: String::new(),
            config: Vec::new(),
        }
    }

    pub fn render(&self) -> Result<Vec<u8>, Vec<Problem>> {
        let documents = document::read(&self.config)?;
        render(&WorkerInputs {
            revision: self.revision,
            release: &self.release,
            platform: &self.platform,
            networking: &self.networking,
            configuration: self.configuration.as_ref(),
            api_server: Endpoint {
                host: "api.one.example.com",
                port: 443,
            },
            bootstrap_kubeconfig: b"kind: Config\n",
            kubelet_client_authority: "KUBELET CLIENT AUTHORITY\n",
            trust_bundles: &[("user-ca-bundle", &self.trust_bundle)],
            registry_authorities: &self.registry_authorities,
            ssh_keys: &self.ssh_keys,
            pull_secret: br#"{"auths":{}}"#,
            documents: &documents,
        })
    }

    pub fn payload(&self) -> Value {
        let bytes = self.render().unwrap_or_else(|problems| panic!("{problems:?}"));
        serde_json::from_slice(&bytes).unwrap()
    }
}

pub fn configuration(value: Value) -> Option<ClusterConfiguration> {
    hyperplane_objects::read(value).unwrap()
}

/// Clusters whose payloads are recorded.
pub fn cases() -> Vec<(&'static str, World)> {
    let mut full = World::new(PlatformType::KubeVirt);
    full.configuration = configuration(json!({
        "proxy": {"httpsProxy": "http://user:100%25@proxy.example.com:3128", "noProxy": "example.com"},
        "apiServer": {"tlsSecurityProfile": {"type": "Modern"}},
        "image": {"registrySources": {"insecureRegistries": ["lab.example.com:5000"]}},
    }));
    "AUTHORITY\n".clone_into(&mut full.trust_bundle);
    let authority = ("mirror.example.com".to_owned(), "AUTHORITY OF THE MIRROR\n".to_owned());
    full.registry_authorities.extend([authority]);
    "ssh-ed25519 AAAA admin@example.com\n".clone_into(&mut full.ssh_keys);
    full.config = vec![("config".to_owned(), [MACHINE, KUBELET, MIRRORS].join("---\n"))];
    vec![
        ("agent", World::new(PlatformType::Agent)),
        ("kubevirt", World::new(PlatformType::KubeVirt)),
        ("kubevirt-full", full),
        ("none", World::new(PlatformType::None)),
    ]
}
