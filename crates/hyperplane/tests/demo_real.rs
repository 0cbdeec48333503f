//! One scenario, two grounds: the story of `up --demo`, by the real binary, on the embedded API server and on a real
//! kube-apiserver with etcd, controllers and scheduler, where the operators have no rights but those that are rendered for
//! them, and ask for nothing else. The same steps, the same claims, and in the end the same objects, as the real kubectl
//! sees them.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod apiserver;
mod audit;
mod kubectl;

use std::{
    collections::BTreeMap,
    fs,
    process::{Command, Stdio},
};

use apiserver::{Process, text};
use audit::Audit;
use hyperplane_testbed::{ControlPlane, Options};
use kubectl::Kubectl;
use serde_json::Value;

/// Kinds that are compared, in the namespaces of users and of the control plane.
const KINDS: &[&str] = &[
    "hostedclusters",
    "nodepools",
    "hostedcontrolplanes",
    "controlplanecomponents",
    "deployments",
    "statefulsets",
    "services",
    "secrets",
    "configmaps",
    "serviceaccounts",
    "roles",
    "rolebindings",
    "networkpolicies",
    "poddisruptionbudgets",
    "clusters.cluster.x-k8s.io",
    "machinedeployments",
    "machinesets",
    "machines",
    "machinehealthchecks",
    "kubevirtmachines",
    "kubevirtmachinetemplates",
];
const NAMESPACES: [&str; 2] = ["clusters", "clusters-demo"];

/// Who must have asked the real server for something, or its silence about refusals says nothing.
const ACCOUNTS: &[&str] = &[
    "system:serviceaccount:hyperplane:operator",
    "system:serviceaccount:clusters-demo:control-plane-operator",
    "system:serviceaccount:clusters-demo:control-plane-pki-operator",
    "system:serviceaccount:clusters-demo:hosted-cluster-config-operator",
    "system:serviceaccount:clusters-demo:ignition-server",
    "system:serviceaccount:clusters-demo:machine-approver",
];

/// Hashes in names have at least so many digits, and no word in a name is one by chance.
const SHORTEST_HASH: usize = 8;

/// Plays the story and gives what came of it.
fn play(arguments: &[&str]) -> Value {
    let output = Command::new(env!("CARGO_BIN_EXE_hyperplane"))
        .args(["up", "--demo", "--speed", "20", "-o", "json"])
        .args(arguments)
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    let outcome: Value = serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}: {said}"));
    assert!(output.status.success(), "{said}\n{outcome:#}");
    outcome
}

/// The steps and the claims of a story, without times and names that are drawn.
fn essence(outcome: &Value) -> Vec<String> {
    let steps = outcome["steps"].as_array().unwrap().iter();
    let steps = steps.map(|step| format!("{} over: {}", step["title"], step["isOver"]));
    let claims = outcome["claims"].as_array().unwrap().iter();
    let claims = claims.map(|claim| format!("{} held: {}", claim["id"], claim["held"]));
    steps.chain(claims).collect()
}

/// What kubectl sees: how many objects there are of each kind and name, and what the most important ones say. What is
/// drawn by chance in a name is left out.
fn seen(kubectl: &Kubectl) -> BTreeMap<String, usize> {
    let cluster = kubectl
        .json(&["get", "hostedcluster", "demo", "-n", "clusters"])
        .unwrap();
    let infra_id = cluster["spec"]["infraID"].as_str().unwrap();
    let mut seen = BTreeMap::new();
    for namespace in NAMESPACES {
        for kind in KINDS {
            let list = kubectl.json(&["get", kind, "-n", namespace]).unwrap();
            for object in list["items"].as_array().unwrap() {
                let name = undrawn(object["metadata"]["name"].as_str().unwrap(), infra_id);
                *seen
                    .entry(format!("{kind} {namespace}/{name}{}", told(object)))
                    .or_default() += 1;
            }
        }
    }
    seen
}

/// A name with a word for the cluster's infra id, which is drawn with or without digits, and without what comes from a hash
/// on: behind it a name is drawn.
fn undrawn(name: &str, infra_id: &str) -> String {
    let is_hash = |part: &&str| part.len() >= SHORTEST_HASH && part.bytes().all(|byte| byte.is_ascii_hexdigit());
    let name = name.replace(infra_id, "<infra id>");
    let kept: Vec<&str> = name.split('-').take_while(|part| !is_hash(part)).collect();
    kept.join("-")
}

#[test]
fn names_are_compared_without_what_is_drawn() {
    let cases = [
        ("demo-yxlyk", "demo-yxlyk", "<infra id>"),
        ("demo-yxlyk-kubeconfig", "demo-yxlyk", "<infra id>-kubeconfig"),
        ("demo-4x9lk-kubeconfig", "demo-4x9lk", "<infra id>-kubeconfig"),
        ("demo-batch-2426c10107-bcdfg", "demo-yxlyk", "demo-batch"),
        ("token-demo-web-adbeafdcbe", "demo-yxlyk", "token-demo-web"),
        ("kube-apiserver", "demo-yxlyk", "kube-apiserver"),
    ];
    for (name, infra_id, expected) in cases {
        assert_eq!(undrawn(name, infra_id), expected, "{name}");
    }
}

/// What a cluster, a pool, a component or a machine says of itself.
fn told(object: &Value) -> String {
    let status = &object["status"];
    let history = status["version"]["history"].as_array().into_iter().flatten();
    let history: Vec<String> = history
        .map(|entry| format!("{}:{}", entry["version"], entry["state"]))
        .collect();
    let conditions = status["conditions"].as_array().into_iter().flatten();
    let mut conditions: Vec<String> = conditions
        .map(|condition| format!("{}={}", condition["type"], condition["status"]))
        .collect();
    conditions.sort();
    let is_ours = object["apiVersion"]
        .as_str()
        .is_some_and(|group| group.contains("hypershift"));
    if is_ours {
        format!(" {} {history:?} {conditions:?}", object["spec"]["release"]["image"])
    } else {
        String::new()
    }
}

fn lines(seen: &BTreeMap<String, usize>) -> Vec<String> {
    seen.iter().map(|(what, count)| format!("{count} x {what}")).collect()
}

/// What only one of two lists has, and what only the other one has.
fn difference(these: &[String], those: &[String]) -> (Vec<String>, Vec<String>) {
    let only =
        |these: &[String], those: &[String]| these.iter().filter(|line| !those.contains(line)).cloned().collect();
    (only(these, those), only(those, these))
}

/// The story ends its process. On the embedded server everything is there again at the next start, and some of what a
/// cluster says of itself is only found out in the minute after.
#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs a real control plane: cargo xtask test"]
async fn the_story_ends_the_same_on_both_grounds() {
    let directory = tempfile::tempdir().unwrap();
    let audit = Audit::new(directory.path());
    let options = Options {
        controller_manager: true,
        scheduler: true,
        api_server_arguments: audit.arguments(),
        ..Options::default()
    };
    let control_plane = ControlPlane::start(options).await.unwrap();
    let kubeconfig = control_plane.kubeconfig_path();
    let on_real = {
        let kubeconfig = kubeconfig.clone();
        let playing = move || play(&["--kubeconfig", text(&kubeconfig), "--twin"]);
        tokio::task::spawn_blocking(playing).await.unwrap()
    };
    let real = lines(&seen(&Kubectl::new(&kubeconfig)));
    assert_eq!(audit.refusals(), Vec::<String>::new());
    let accounts = audit.accounts();
    for account in ACCOUNTS {
        assert!(accounts.contains(*account), "{account} is not among {accounts:?}");
    }

    let data = directory.path().join("data");
    let on_embedded = play(&["--data-dir", text(&data), "--listen", "127.0.0.1:0"]);
    assert_eq!(essence(&on_embedded), essence(&on_real));
    let embedded = Process::up(&["--data-dir", text(&data)]);
    Kubectl::new(&embedded.kubeconfig())
        .until("the same objects on both grounds", |kubectl| {
            let (only_on_embedded, only_on_real) = difference(&lines(&seen(kubectl)), &real);
            if !only_on_embedded.is_empty() || !only_on_real.is_empty() {
                println!("only on the embedded server: {only_on_embedded:#?}, only on the real one: {only_on_real:#?}");
                return None;
            }
            Some(())
        })
        .await;
    assert!(fs::exists(data.join("demo.yaml")).unwrap());
    assert!(embedded.end("-TERM").0.success());
}
