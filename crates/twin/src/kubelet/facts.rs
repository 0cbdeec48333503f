//! What a kubelet asks the world. Two implementations: the stores of a running twin, and tables in tests.

use std::sync::Arc;

use k8s_openapi::api::core::v1::{ConfigMap, PersistentVolumeClaim, Pod, Secret};

use crate::{faults::FaultKind, programs::Need, settings::Programs};

/// How far a container is that is an API server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Serving {
    /// It is being opened.
    Starting,
    /// It answers.
    Up,
    /// It ended, with these words.
    Failed(String),
}

/// How far a program of ours is that really runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Progress {
    /// It has not begun.
    Starting,
    /// Nothing is to be seen of it.
    Unseen,
    /// It runs.
    Running,
    /// It ended, or failed with these words.
    Ended(Result<(), String>),
}

/// What can be asked.
pub(crate) trait Facts {
    /// A Secret of a namespace.
    fn secret(&self, namespace: &str, name: &str) -> Option<Arc<Secret>>;
    /// A ConfigMap of a namespace.
    fn config_map(&self, namespace: &str, name: &str) -> Option<Arc<ConfigMap>>;
    /// A claim of a namespace.
    fn claim(&self, namespace: &str, name: &str) -> Option<Arc<PersistentVolumeClaim>>;
    /// Pulls an image; the error is why it cannot be had.
    fn pull(&self, image: &str) -> Result<(), String>;
    /// What is known of programs.
    fn programs(&self) -> &Programs;
    /// What goes wrong with a container.
    fn faults(&self, pod: &Pod, container: &str) -> Vec<FaultKind>;
    /// Whether what a program needs is there, as seen from a namespace.
    fn is_met(&self, namespace: &str, need: &Need) -> bool;
    /// How far the API server of a pod is.
    fn serving(&self, pod: &Pod) -> Serving;
    /// How far the program of ours is that a container runs.
    fn progress(&self, pod: &Pod, container: &str, restarts: i32) -> Progress;
    /// The address of the node of a pod.
    fn host(&self, pod: &Pod) -> String;
    /// The address of a pod: always the same for the same pod, and nobody else's.
    fn address(&self, pod: &Pod) -> String;
}
