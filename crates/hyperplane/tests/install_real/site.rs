//! A real management cluster with a note of every request, and what users ask of it.

use std::{
    fmt::Write as _,
    fs,
    path::{Path, PathBuf},
    time::Duration,
};

use hyperplane_testbed::{ControlPlane, Options};
use serde_json::{Value, json};
use tokio::time::{sleep, timeout};

use crate::{audit::Audit, program::hyperplane};

/// How long anything may take on a busy machine.
const PATIENCE: Duration = Duration::from_mins(3);
/// How often is looked.
const GLANCE: Duration = Duration::from_millis(500);
/// What clusters and pools are made of.
pub const RELEASE: &str = "hyperplane.dev/kubernetes:v1.36.4";
/// The namespace of the control plane.
pub const INSIDE: &str = "clusters-one";

/// A real management cluster with a note of every request.
pub struct Site {
    pub control_plane: ControlPlane,
    pub audit: Audit,
}

impl Site {
    pub async fn start(directory: &Path) -> Self {
        let audit = Audit::new(directory);
        let options = Options {
            controller_manager: true,
            api_server_arguments: audit.arguments(),
            ..Options::default()
        };
        Self {
            control_plane: ControlPlane::start(options).await.unwrap(),
            audit,
        }
    }

    pub async fn kubectl(&self, arguments: &[&str]) -> Result<String, String> {
        let answer = self.control_plane.kubectl(arguments).await.unwrap();
        if answer.status.success() {
            Ok(answer.stdout)
        } else {
            Err(answer.stderr)
        }
    }

    pub async fn json(&self, arguments: &[&str]) -> Value {
        let arguments = [arguments, ["-o", "json"].as_slice()].concat();
        serde_json::from_str(&self.kubectl(&arguments).await.unwrap()).unwrap()
    }

    pub async fn apply(&self, objects: &[Value]) {
        let list = json!({"apiVersion": "v1", "kind": "List", "items": objects}).to_string();
        let arguments = ["apply", "--server-side", "-f", "-"];
        let answer = self.control_plane.kubectl_with_input(&arguments, &list).await.unwrap();
        assert!(answer.status.success(), "{}", answer.stderr);
    }

    /// Runs a command of ours against the cluster; what it printed.
    pub fn run(&self, arguments: &[&str]) -> Result<String, String> {
        hyperplane(arguments, &self.control_plane.kubeconfig_path())
    }

    pub async fn until(&self, what: &str, look: impl AsyncFn() -> bool) {
        let looking = async {
            while !look().await {
                sleep(GLANCE).await;
            }
        };
        assert!(
            timeout(PATIENCE, looking).await.is_ok(),
            "{what} never came\n{}",
            self.story().await
        );
    }

    async fn story(&self) -> String {
        let clusters = self.kubectl(&["get", "hostedclusters,hostedcontrolplanes,controlplanecomponents", "-A"]);
        let events = self.kubectl(&["get", "events", "-A"]);
        let mut story = format!("{:?}\n{:?}\n{:?}", clusters.await, events.await, self.audit.refusals());
        for user in self.audit.accounts() {
            write!(story, "\n{user}: {:?}", self.audit.granted(&user)).unwrap();
        }
        story
    }

    /// A kubeconfig with the token of a service account, and nothing else.
    pub async fn kubeconfig_of(&self, namespace: &str, account: &str, directory: &Path) -> PathBuf {
        let token = self
            .kubectl(&["create", "token", account, "--namespace", namespace])
            .await;
        let token = token.unwrap().trim().to_owned();
        let config = fs::read_to_string(self.control_plane.kubeconfig_path()).unwrap();
        let mut config: Value = serde_saphyr::from_str(&config).unwrap();
        for user in config["users"].as_array_mut().unwrap() {
            user["user"] = json!({"token": token});
        }
        let path = directory.join(format!("{account}-kubeconfig"));
        fs::write(&path, config.to_string()).unwrap();
        path
    }

    /// Asks for a cluster with these fields of its spec, of which everything else is usual.
    pub async fn order_cluster(&self, fields: Value) {
        let pull = r#"{"auths": {"registry.example.com": {"auth": "dTpw"}}}"#;
        let mut cluster = json!({
            "apiVersion": "hypershift.openshift.io/v1beta1", "kind": "HostedCluster",
            "metadata": {"name": "one", "namespace": "clusters"},
            "spec": {
                "release": {"image": RELEASE},
                "pullSecret": {"name": "pull-secret"},
                "sshKey": {"name": "ssh-key"},
                "dns": {"baseDomain": "example.com"},
                "services": [
                    published("APIServer"), published("OAuthServer"), published("Konnectivity"), published("Ignition"),
                ],
            },
        });
        let Value::Object(fields) = fields else {
            panic!("{fields} is no spec")
        };
        cluster["spec"].as_object_mut().unwrap().extend(fields);
        self.apply(&[
            json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "clusters"}}),
            json!({
                "apiVersion": "v1", "kind": "Secret", "metadata": {"name": "pull-secret", "namespace": "clusters"},
                "stringData": {".dockerconfigjson": pull}, "type": "kubernetes.io/dockerconfigjson",
            }),
            json!({
                "apiVersion": "v1", "kind": "Secret", "metadata": {"name": "ssh-key", "namespace": "clusters"},
                "stringData": {"id_rsa.pub": "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIB2m user@example.com"},
            }),
            cluster,
        ])
        .await;
    }

    /// Waits for objects in the namespace of the control plane: kinds and names.
    pub async fn until_written(&self, objects: &[(&str, &str)]) {
        for (kind, name) in objects {
            self.until(&format!("{kind} {name}"), async || {
                let arguments = ["get", kind, name, "--namespace", INSIDE];
                self.kubectl(&arguments).await.is_ok()
            })
            .await;
        }
    }

    /// Asks for the end of the cluster, and waits for it.
    pub async fn remove_cluster(&self) {
        let arguments = [
            "delete",
            "hostedcluster",
            "one",
            "--namespace",
            "clusters",
            "--timeout=180s",
        ];
        self.kubectl(&arguments).await.unwrap();
        self.until("the end of the namespace of the control plane", async || {
            self.kubectl(&["get", "namespace", INSIDE]).await.is_err()
        })
        .await;
    }
}

/// How an endpoint is published where there is nothing but nodes.
fn published(service: &str) -> Value {
    let strategy = json!({"type": "NodePort", "nodePort": {"address": "192.0.2.7"}});
    json!({"service": service, "servicePublishingStrategy": strategy})
}
