//! `hyperplane status` and `hyperplane explain` as a user runs them, against a whole management cluster on this machine.

use std::{
    fs,
    io::{BufRead as _, BufReader},
    path::{Path, PathBuf},
    process::{Child, Command, Output, Stdio},
    time::Duration,
};

use kube::{
    Api, Client,
    api::{ApiResource, DynamicObject, Patch, PatchParams, PostParams},
};
use serde_json::{Value, json};
use tokio::time::sleep;

use crate::apiserver::{Process, soon, text};

const EXAMPLE: &str = include_str!("../../../docs/examples/node-pools.yaml");
/// How often it is looked.
const LOOK: Duration = Duration::from_millis(500);
/// Columns of a usual screen.
const WIDTH: usize = 80;

const GOOD: i32 = 0;
const WRONG_USE: i32 = 2;
const NOT_GOOD: i32 = 3;

/// The binary, with a kubeconfig.
struct Cli {
    kubeconfig: PathBuf,
}

impl Cli {
    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_hyperplane"));
        command.args(arguments).arg("--kubeconfig").arg(&self.kubeconfig);
        command
    }

    /// The code and what it prints.
    fn run(&self, arguments: &[&str]) -> (i32, String) {
        let Output { status, stdout, stderr } = self.command(arguments).output().unwrap();
        let said = String::from_utf8(stdout).unwrap() + &String::from_utf8(stderr).unwrap();
        for line in said.lines().filter(|_| !arguments.contains(&"-o")) {
            assert!(line.chars().count() <= WIDTH || line.starts_with("error:"), "{line}");
            assert!(!line.contains('\u{1b}'), "a pipe has no colours: {line:?}");
        }
        (status.code().unwrap(), said)
    }

    fn json(&self, arguments: &[&str]) -> Value {
        let mut all = arguments.to_vec();
        all.extend(["-o", "json"]);
        let (_, said) = self.run(&all);
        serde_json::from_str(&said).unwrap_or_else(|error| panic!("{error}: {said}"))
    }

    /// Waits until a picture is as it should be.
    async fn until(&self, what: &str, arguments: &[&str], is_so: impl Fn(&Value) -> bool) -> Value {
        soon(what, async {
            loop {
                let found = self.json(arguments);
                if is_so(&found) {
                    return found;
                }
                sleep(LOOK).await;
            }
        })
        .await
    }
}

/// The name of a kind in paths: good enough for the kinds of these tests.
fn plural(kind: &str) -> String {
    format!("{}s", kind.to_lowercase())
}

async fn apply(client: &Client, manifest: &Value) {
    let text = |pointer: &str| manifest.pointer(pointer).and_then(Value::as_str).unwrap_or_default();
    let (api_version, kind, namespace) = (text("/apiVersion"), text("/kind"), text("/metadata/namespace"));
    let (group, version) = api_version.split_once('/').unwrap_or(("", api_version));
    let resource = ApiResource {
        group: group.to_owned(),
        version: version.to_owned(),
        api_version: api_version.to_owned(),
        kind: kind.to_owned(),
        plural: plural(kind),
    };
    let api: Api<DynamicObject> = if namespace.is_empty() {
        Api::all_with(client.clone(), &resource)
    } else {
        Api::namespaced_with(client.clone(), namespace, &resource)
    };
    let parameters = PatchParams::apply("test").force();
    api.patch(text("/metadata/name"), &parameters, &Patch::Apply(manifest))
        .await
        .unwrap();
}

async fn apply_example(client: &Client) {
    for document in EXAMPLE.split("\n---\n") {
        apply(client, &serde_saphyr::from_str(document).unwrap()).await;
    }
}

/// Merges into a pool of the example.
async fn change_pool(client: &Client, name: &str, change: Value) {
    let resource = ApiResource {
        group: "hypershift.openshift.io".to_owned(),
        version: "v1beta1".to_owned(),
        api_version: "hypershift.openshift.io/v1beta1".to_owned(),
        kind: "NodePool".to_owned(),
        plural: "nodepools".to_owned(),
    };
    let api: Api<DynamicObject> = Api::namespaced_with(client.clone(), "clusters", &resource);
    let parameters = PatchParams::default();
    api.patch(name, &parameters, &Patch::Merge(change)).await.unwrap();
}

/// A kubeconfig for somebody who may see clusters and nothing else.
async fn of_viewer(client: &Client, admin: &Path, directory: &Path) -> PathBuf {
    let metadata = json!({"name": "viewer", "namespace": "clusters"});
    let rbac = "rbac.authorization.k8s.io";
    for manifest in [
        json!({"apiVersion": "v1", "kind": "ServiceAccount", "metadata": metadata}),
        json!({"apiVersion": format!("{rbac}/v1"), "kind": "Role", "metadata": metadata, "rules": [
            {"apiGroups": ["hypershift.openshift.io"], "resources": ["hostedclusters"], "verbs": ["get", "list"]},
        ]}),
        json!({"apiVersion": format!("{rbac}/v1"), "kind": "RoleBinding", "metadata": metadata,
            "roleRef": {"apiGroup": rbac, "kind": "Role", "name": "viewer"},
            "subjects": [{"kind": "ServiceAccount", "name": "viewer", "namespace": "clusters"}]}),
    ] {
        apply(client, &manifest).await;
    }
    let accounts: Api<k8s_openapi::api::core::v1::ServiceAccount> = Api::namespaced(client.clone(), "clusters");
    let request = hyperplane_objects::read(json!({"spec": {"audiences": []}, "metadata": {}})).unwrap();
    let token = accounts
        .create_token_request("viewer", &PostParams::default(), &request)
        .await;
    let token = token.unwrap().status.unwrap().token.unwrap();
    let mut kubeconfig: Value = serde_saphyr::from_str(&fs::read_to_string(admin).unwrap()).unwrap();
    for user in kubeconfig["users"].as_array_mut().unwrap() {
        user["user"] = json!({"token": token});
    }
    let path = directory.join("viewer");
    fs::write(&path, serde_saphyr::to_string(&kubeconfig).unwrap()).unwrap();
    path
}

/// A command that goes on, with what it prints line by line.
struct Watching {
    child: Child,
    lines: tokio::sync::mpsc::UnboundedReceiver<String>,
}

impl Watching {
    fn new(cli: &Cli, arguments: &[&str]) -> Self {
        let mut child = cli.command(arguments).stdout(Stdio::piped()).spawn().unwrap();
        let stdout = BufReader::new(child.stdout.take().unwrap());
        let (sender, lines) = tokio::sync::mpsc::unbounded_channel();
        std::thread::spawn(move || {
            for line in stdout.lines().map_while(Result::ok) {
                if sender.send(line).is_err() {
                    return;
                }
            }
        });
        Self { child, lines }
    }

    async fn until(&mut self, what: &str, is_it: impl Fn(&str) -> bool) -> String {
        soon(what, async {
            loop {
                let line = self
                    .lines
                    .recv()
                    .await
                    .unwrap_or_else(|| panic!("{what}: it ended before"));
                if is_it(&line) {
                    return line;
                }
            }
        })
        .await
    }

    fn interrupt(mut self) -> bool {
        let id = self.child.id().to_string();
        assert!(Command::new("kill").args(["-INT", &id]).status().unwrap().success());
        self.child.wait().unwrap().success()
    }
}

fn is_ready(status: &Value) -> bool {
    let pools = status["pools"].as_array().into_iter().flatten();
    let is_there = |pool: &Value| pool["state"] == "Ready" && pool["desired"] == pool["ready"];
    status["state"] == "Available" && pools.clone().count() == 2 && pools.clone().all(is_there)
}

/// What is said where there is no cluster.
fn nothing_is_there(cli: &Cli) {
    let (code, said) = cli.run(&["status"]);
    assert_eq!(
        (code, said.contains("There are no clusters here")),
        (GOOD, true),
        "{said}"
    );
    let (code, said) = cli.run(&["status", "blue"]);
    assert_eq!(code, WRONG_USE, "{said}");
    assert!(
        said.contains("HostedCluster clusters/blue") && said.contains("does not exist"),
        "{said}"
    );
    let (code, said) = cli.run(&["explain", "blue"]);
    assert_eq!((code, said.contains("does not exist")), (WRONG_USE, true), "{said}");
}

#[tokio::test]
async fn a_cluster_is_followed_from_its_wish_to_its_pause() {
    let directory = tempfile::tempdir().unwrap();
    let data = directory.path().join("data");
    let process = Process::up(&["--in-memory", "--data-dir", text(&data)]);
    let client = process.client().await;
    let cli = Cli {
        kubeconfig: process.kubeconfig(),
    };

    nothing_is_there(&cli);
    apply_example(&client).await;
    let ready = cli
        .until("a cluster that is ready", &["status", "blue"], is_ready)
        .await;
    assert_eq!(ready["versions"]["reached"], "1.36.4", "{ready}");
    assert!(ready["components"].as_array().unwrap().len() > 3, "{ready}");
    let quiet = |status: &Value| status["blockers"].as_array().is_some_and(Vec::is_empty);
    let quiet = cli
        .until("a cluster without blockers", &["status", "blue"], quiet)
        .await;
    assert_eq!(quiet["unread"], json!([]), "{quiet}");

    let (code, said) = cli.run(&["explain", "cluster", "blue"]);
    assert_eq!((code, said.starts_with("Nothing is waiting")), (GOOD, true), "{said}");
    let (code, said) = cli.run(&["explain", "web"]);
    assert_eq!(
        (code, said.starts_with("Nothing is waiting: NodePool web")),
        (GOOD, true),
        "{said}"
    );
    let (code, said) = cli.run(&["status", "-A"]);
    assert_eq!(code, GOOD);
    assert!(said.contains("clusters   blue  Available"), "{said}");
    let (_, said) = cli.run(&["status", "-o", "name"]);
    assert_eq!(said, "hostedcluster.hypershift.openshift.io/blue\n");
    let (_, said) = cli.run(&["status", "blue"]);
    assert!(
        said.contains("kube-apiserver") && said.contains("Nothing is waiting"),
        "{said}"
    );

    let mut watching = Watching::new(&cli, &["status", "blue", "-w"]);
    watching
        .until("the first picture", |line| line.contains("BLOCKERS"))
        .await;
    change_pool(&client, "web", json!({"spec": {"pausedUntil": "true"}})).await;
    let line = watching
        .until("the pause", |line| line.contains("+ ") && line.contains("Paused"))
        .await;
    assert!(line.contains("web"), "{line}");
    assert!(watching.interrupt(), "it ends well when it is told to");

    let (code, said) = cli.run(&["explain", "np", "web"]);
    assert_eq!(code, NOT_GOOD, "{said}");
    assert!(said.contains("is paused") && said.contains("pausedUntil"), "{said}");

    let viewer = Cli {
        kubeconfig: of_viewer(&client, &process.kubeconfig(), directory.path()).await,
    };
    let (code, said) = viewer.run(&["explain", "cluster", "blue"]);
    assert_eq!(code, NOT_GOOD, "what may not be seen is never good: {said}");
    assert!(said.contains("forbidden"), "{said}");
    let (code, said) = viewer.run(&["status", "blue"]);
    assert_eq!(code, GOOD, "{said}");
    assert!(said.contains("Available") && said.contains("NOT READ"), "{said}");
    let (status, _) = process.end("-TERM");
    assert!(status.success());
}
