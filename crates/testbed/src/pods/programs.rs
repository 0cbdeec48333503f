//! Which programs a management cluster runs, and where they are. It starts nothing.

use std::path::PathBuf;

use crate::{
    assets::{Assets, Error, KUBERNETES_VERSION, Program},
    parts::Part,
};

/// Programs that Debian does not have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Programs {
    /// The store.
    pub etcd: PathBuf,
    /// The API server.
    pub api_server: PathBuf,
    /// The controllers.
    pub controller_manager: PathBuf,
    /// The scheduler.
    pub scheduler: PathBuf,
    /// The command-line client.
    pub kubectl: PathBuf,
    /// Runs pods on a node.
    pub kubelet: PathBuf,
    /// Service addresses on a node.
    pub kube_proxy: PathBuf,
    /// Enforces network policies.
    pub network_policies: PathBuf,
}

impl Programs {
    /// Those that `cargo xtask kube-assets --pods` has built.
    pub fn locate() -> Result<Self, Error> {
        let built = Assets::locate_built(KUBERNETES_VERSION)?;
        Ok(Self {
            etcd: built.path(Program::Etcd)?,
            api_server: built.path(Program::ApiServer)?,
            controller_manager: built.path(Program::ControllerManager)?,
            scheduler: built.path(Program::Scheduler)?,
            kubectl: built.path(Program::Kubectl)?,
            kubelet: built.path(Program::Kubelet)?,
            kube_proxy: built.path(Program::KubeProxy)?,
            network_policies: Part::NetworkPolicies.locate()?,
        })
    }
}
