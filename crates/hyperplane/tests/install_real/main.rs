//! `hyperplane install` on a real API server: what is rendered passes strict validation, the operator that it installs
//! works with the token of its account and nothing else, and `hyperplane uninstall` leaves nothing behind.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod audit;
mod program;

use std::{fs, path::Path, time::Duration};

use hyperplane_testbed::{ControlPlane, Options};
use serde_json::{Value, json};
use tokio::time::{sleep, timeout};

use crate::{
    audit::Audit,
    program::{Running, hyperplane},
};

/// How long anything may take on a busy machine.
const PATIENCE: Duration = Duration::from_mins(3);
/// How often is looked.
const GLANCE: Duration = Duration::from_millis(500);
/// What the operator and its tenants have written before long, without a node on which anything could run.
const WRITTEN: &[(&str, &str)] = &[
    ("hostedcontrolplane", "one"),
    ("secret", "pull-secret"),
    ("secret", "admin-kubeconfig"),
    ("configmap", "root-ca"),
    ("role", "control-plane-operator"),
    ("networkpolicy", "same-namespace"),
    ("service", "kube-apiserver"),
    ("statefulset", "etcd"),
    ("controlplanecomponent", "etcd"),
];

/// A real management cluster with a note of every request.
struct Site {
    control_plane: ControlPlane,
    audit: Audit,
}

impl Site {
    async fn start(directory: &Path) -> Self {
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

    async fn kubectl(&self, arguments: &[&str]) -> Result<String, String> {
        let answer = self.control_plane.kubectl(arguments).await.unwrap();
        if answer.status.success() {
            Ok(answer.stdout)
        } else {
            Err(answer.stderr)
        }
    }

    async fn json(&self, arguments: &[&str]) -> Value {
        let arguments = [arguments, ["-o", "json"].as_slice()].concat();
        serde_json::from_str(&self.kubectl(&arguments).await.unwrap()).unwrap()
    }

    async fn apply(&self, objects: &[Value]) {
        let list = json!({"apiVersion": "v1", "kind": "List", "items": objects}).to_string();
        let arguments = ["apply", "--server-side", "-f", "-"];
        let answer = self.control_plane.kubectl_with_input(&arguments, &list).await.unwrap();
        assert!(answer.status.success(), "{}", answer.stderr);
    }

    /// Runs a command of ours against the cluster; what it printed.
    fn run(&self, arguments: &[&str]) -> Result<String, String> {
        hyperplane(arguments, &self.control_plane.kubeconfig_path())
    }

    async fn until(&self, what: &str, look: impl AsyncFn() -> bool) {
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
        format!("{:?}\n{:?}\n{:?}", clusters.await, events.await, self.audit.refusals())
    }

    /// A kubeconfig with the token of the account of the operator, and nothing else.
    async fn token_kubeconfig(&self, directory: &Path) -> std::path::PathBuf {
        let token = self
            .kubectl(&["create", "token", "operator", "--namespace", "hyperplane"])
            .await;
        let token = token.unwrap().trim().to_owned();
        let config = fs::read_to_string(self.control_plane.kubeconfig_path()).unwrap();
        let mut config: Value = serde_saphyr::from_str(&config).unwrap();
        for user in config["users"].as_array_mut().unwrap() {
            user["user"] = json!({"token": token});
        }
        let path = directory.join("operator-kubeconfig");
        fs::write(&path, config.to_string()).unwrap();
        path
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs a real control plane: cargo xtask test"]
async fn what_is_rendered_passes_strict_validation() {
    let directory = tempfile::tempdir().unwrap();
    let site = Site::start(directory.path()).await;
    site.run(&["install", "apply", "--machines=separate"]).unwrap();
    let rendered = site.run(&["install", "render", "--machines=separate"]).unwrap();
    let arguments = [
        "apply",
        "--server-side",
        "--force-conflicts",
        "--dry-run=server",
        "--validate=strict",
        "-f",
        "-",
    ];
    let answer = site
        .control_plane
        .kubectl_with_input(&arguments, &rendered)
        .await
        .unwrap();
    assert!(answer.status.success(), "{}", answer.stderr);
    assert_eq!(answer.stderr, "", "kubectl or the server warns");
    assert_eq!(answer.stdout.lines().count(), rendered.matches("\nkind: ").count());
    // Restricted pods are let into a restricted namespace.
    let deployment = site
        .json(&["get", "deployment", "operator", "--namespace", "hyperplane"])
        .await;
    let template = &deployment["spec"]["template"];
    let pod = json!({
        "apiVersion": "v1", "kind": "Pod",
        "metadata": {"name": "operator", "namespace": "hyperplane", "labels": template["metadata"]["labels"]},
        "spec": template["spec"],
    });
    let arguments = ["create", "--dry-run=server", "-f", "-"];
    let answer = site
        .control_plane
        .kubectl_with_input(&arguments, &pod.to_string())
        .await
        .unwrap();
    assert!(answer.status.success(), "{}", answer.stderr);
    assert_eq!(answer.stderr, "");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs a real control plane: cargo xtask test"]
async fn the_operator_works_with_the_token_of_its_account_and_leaves_nothing_behind() {
    let directory = tempfile::tempdir().unwrap();
    let site = Site::start(directory.path()).await;
    let told = site.run(&["install", "apply"]).unwrap();
    assert!(told.contains("Deployment operator written"), "{told}");
    let again = site.run(&["install", "apply"]).unwrap();
    assert!(again.lines().all(|line| line.ends_with(" unchanged")), "{again}");

    let deployment = site
        .json(&["get", "deployment", "operator", "--namespace", "hyperplane"])
        .await;
    let arguments = &deployment["spec"]["template"]["spec"]["containers"][0]["args"];
    let arguments: Vec<&str> = arguments.as_array().unwrap().iter().filter_map(Value::as_str).collect();
    // The port of the pod may be taken on this machine.
    let arguments: Vec<&str> = arguments
        .into_iter()
        .filter(|word| !word.starts_with("--listen"))
        .collect();
    let kubeconfig = site.token_kubeconfig(directory.path()).await;
    let operator = Running::start(&arguments, &kubeconfig);
    hosts(&site).await;

    let refused = site.run(&["uninstall"]).unwrap_err();
    assert!(refused.contains("HostedCluster clusters/one"), "{refused}");
    let deleted = site.kubectl(&[
        "delete",
        "hostedcluster",
        "one",
        "--namespace",
        "clusters",
        "--timeout=180s",
    ]);
    deleted.await.unwrap();
    site.until("the end of the namespace of the control plane", async || {
        site.kubectl(&["get", "namespace", "clusters-one"]).await.is_err()
    })
    .await;
    assert_eq!(operator.end(), Some(0));
    assert_eq!(site.audit.refusals(), Vec::<String>::new());
    assert!(site.audit.requests() > 100, "nothing was noted");
    leaves_nothing(&site).await;
}

/// A cluster without machines is hosted, as far as that goes without a node.
async fn hosts(site: &Site) {
    let pull = r#"{"auths": {"registry.example.com": {"auth": "dTpw"}}}"#;
    let cluster = json!({
        "apiVersion": "hypershift.openshift.io/v1beta1", "kind": "HostedCluster",
        "metadata": {"name": "one", "namespace": "clusters"},
        "spec": {
            "release": {"image": "hyperplane.dev/kubernetes:v1.36.4"},
            "pullSecret": {"name": "pull-secret"},
            "sshKey": {"name": "ssh-key"},
            "dns": {"baseDomain": "example.com"},
            "platform": {"type": "None"},
            "services": [
                published("APIServer"), published("OAuthServer"), published("Konnectivity"), published("Ignition"),
            ],
        },
    });
    site.apply(&[
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
    for (kind, name) in WRITTEN {
        site.until(&format!("{kind} {name}"), async || {
            let arguments = ["get", kind, name, "--namespace", "clusters-one"];
            site.kubectl(&arguments).await.is_ok()
        })
        .await;
    }
}

/// How an endpoint is published where there is nothing but nodes.
fn published(service: &str) -> Value {
    let strategy = json!({"type": "NodePort", "nodePort": {"address": "192.0.2.7"}});
    json!({"service": service, "servicePublishingStrategy": strategy})
}

async fn leaves_nothing(site: &Site) {
    let told = site.run(&["uninstall", "--remove-kinds"]).unwrap();
    assert!(told.contains("Namespace hyperplane deleted"), "{told}");
    let kinds = "clusterroles,clusterrolebindings,priorityclasses,customresourcedefinitions,namespaces";
    let left = site.json(&["get", kinds]).await;
    let names = left["items"].as_array().unwrap().iter();
    let names: Vec<String> = names
        .map(|object| format!("{} {}", object["kind"], object["metadata"]["name"]))
        .filter(|title| {
            ["hyper", "cluster.x-k8s.io", "agent-install"]
                .iter()
                .any(|word| title.contains(word))
        })
        .collect();
    assert_eq!(names, Vec::<String>::new());
}
