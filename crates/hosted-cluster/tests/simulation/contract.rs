//! An operator of an older version, which runs in the namespace of its control plane, goes on to work under this manager:
//! what it expects is still made, its command line is one that it understands, and what it reports is still read. A file of
//! a version is written once, with that version, and never changed: `cargo xtask bless` writes only those that are missing.

use std::{collections::BTreeMap, env, fs, path::PathBuf};

use hyperplane_api::{
    constants::ours,
    hypershift::{control_plane_component::ControlPlaneComponent, hosted_control_plane::HostedControlPlane},
};
use k8s_openapi::api::{
    apps::v1::Deployment,
    core::v1::{ConfigMap, Secret, ServiceAccount},
    rbac::v1::{ClusterRole, ClusterRoleBinding, Role, RoleBinding},
};
use kube::{
    Api,
    api::{ListParams, Patch, PatchParams},
};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::world::{Known, World};

const INSIDE: &str = "clusters-blue";
/// Versions whose operators must work under this manager.
const VERSIONS: &[&str] = &["0.1"];
/// Annotations that nobody relies on: they differ from run to run, or are pinned on each control plane for its own operator.
const DRAWN: &[&str] = &[
    "hyperplane.dev/claimed-by",
    "hyperplane.dev/copied-from",
    "hyperplane.dev/render-image",
    "hyperplane.dev/render-revision",
    "hyperplane.dev/render-zones",
    "hypershift.openshift.io/desired-state-hash",
];

/// What an operator reports at some point, and what the manager must make of it.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Stage {
    name: String,
    /// The status of the HostedControlPlane.
    status: Value,
    /// ControlPlaneComponents by name, with the conditions of each.
    components: BTreeMap<String, Value>,
    /// The conditions of the HostedCluster that follow.
    expected: BTreeMap<String, String>,
    /// The state of its version that follows.
    version: String,
}

fn file(version: &str, part: &str) -> PathBuf {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/contract");
    folder.join(format!("v{version}-{part}.yaml"))
}

/// A cluster with operators of its own.
async fn dedicated() -> (World, crate::world::Process) {
    World::settled(json!({
        "metadata": {"annotations": {ours::TENANT_OPERATORS.as_str(): "dedicated"}},
        "spec": {"infraID": "blue-abcde", "clusterID": "11111111-2222-4333-8444-555555555555"},
    }))
    .await
}

#[tokio::test(start_paused = true)]
async fn what_an_older_operator_expects_is_still_made() {
    let (world, process) = dedicated().await;
    let made = made(&world).await;
    #[allow(
        clippy::disallowed_methods,
        reason = "the switch that writes golden files is a variable, as in every crate"
    )]
    let is_blessed = env::var_os("HYPERPLANE_BLESS").is_some();
    for version in VERSIONS {
        let path = file(version, "expects");
        if is_blessed && !path.exists() {
            fs::write(&path, serde_saphyr::to_string(&made).unwrap()).unwrap();
        }
        let frozen: BTreeMap<String, Value> = serde_saphyr::from_str(&fs::read_to_string(&path).unwrap()).unwrap();
        assert!(frozen.len() >= 15, "{version} expects too little");
        for (title, expected) in &frozen {
            let found = made.get(title);
            let found = found.unwrap_or_else(|| panic!("an operator of {version} expects {title}"));
            let missing = missing(expected, found);
            assert!(
                missing.is_empty(),
                "an operator of {version} expects of {title}: {missing:?}"
            );
        }
    }
    process.stop().await;
}

#[tokio::test(start_paused = true)]
async fn what_an_older_operator_reports_is_still_read() {
    for version in VERSIONS {
        let text = fs::read_to_string(file(version, "reports")).unwrap();
        let stages: Vec<Stage> = serde_saphyr::from_str(&text).unwrap();
        assert!(!stages.is_empty());
        let (world, process) = dedicated().await;
        for stage in stages {
            report(&world, &stage).await;
            world.settle().await;
            let conditions = world.conditions("blue").await;
            for (type_, expected) in &stage.expected {
                let (status, reason, message) = &conditions[type_];
                assert_eq!(
                    status, expected,
                    "{version}, {}: {type_} {reason} {message}",
                    stage.name
                );
            }
            let status = world.hosted_cluster("blue").await.status.unwrap();
            let newest = status.version.unwrap().history.into_iter().next().unwrap();
            assert_eq!(
                format!("{:?}", newest.state),
                stage.version,
                "{version}, {}",
                stage.name
            );
        }
        assert_eq!(world.refusals(), [] as [&str; 0]);
        process.stop().await;
    }
}

/// Writes what an operator of that version writes.
async fn report(world: &World, stage: &Stage) {
    let api: Api<ControlPlaneComponent> = world.api(INSIDE);
    let parameters = PatchParams::apply("older-operator").force();
    for (name, conditions) in &stage.components {
        let mut object = json!({
            "apiVersion": "hypershift.openshift.io/v1beta1", "kind": "ControlPlaneComponent",
            "metadata": {"name": name, "labels": {ours::MANAGED_BY.as_str(): ours::MANAGED_BY_US}},
        });
        api.patch(name, &parameters, &Patch::Apply(&object)).await.unwrap();
        object["status"] = json!({"conditions": conditions, "version": stage.status["version"]});
        api.patch_status(name, &parameters, &Patch::Apply(&object))
            .await
            .unwrap();
    }
    world.report(INSIDE, "blue", stage.status.clone()).await;
}

/// Everything that the manager makes for operators of a control plane, by kind and name.
async fn made(world: &World) -> BTreeMap<String, Value> {
    let mut all = BTreeMap::new();
    collect::<HostedControlPlane>(world, &mut all).await;
    collect::<ServiceAccount>(world, &mut all).await;
    collect::<Role>(world, &mut all).await;
    collect::<RoleBinding>(world, &mut all).await;
    collect::<ClusterRole>(world, &mut all).await;
    collect::<ClusterRoleBinding>(world, &mut all).await;
    collect::<Secret>(world, &mut all).await;
    collect::<ConfigMap>(world, &mut all).await;
    collect::<Deployment>(world, &mut all).await;
    all
}

async fn collect<K: Known>(world: &World, all: &mut BTreeMap<String, Value>) {
    let api: Api<K> = Api::all(world.client.clone());
    let list = ListParams::default().labels(&ours::selector());
    for object in api.list(&list).await.unwrap() {
        let namespace = object.meta().namespace.as_deref();
        if !matches!(namespace, None | Some(INSIDE)) {
            continue;
        }
        let title = format!("{} {}", K::kind(&()), object.meta().name.as_deref().unwrap_or_default());
        all.insert(title, essence(&serde_json::to_value(&object).unwrap()));
    }
}

/// What others can rely on of an object: labels, annotations, and what it says. Of Secrets and ConfigMaps, only which keys
/// they have; of Deployments, only the command lines.
fn essence(object: &Value) -> Value {
    let mut metadata = json!({});
    for part in ["labels", "annotations"] {
        if let Some(found) = object["metadata"].get(part) {
            metadata[part] = found.clone();
            for key in DRAWN {
                metadata[part].as_object_mut().unwrap().remove(*key);
            }
        }
    }
    let mut kept = json!({"metadata": metadata});
    for part in ["rules", "roleRef", "subjects", "imagePullSecrets"] {
        if let Some(found) = object.get(part) {
            kept[part] = found.clone();
        }
    }
    if let Some(data) = object["data"].as_object() {
        kept["keys"] = data.keys().cloned().collect();
    }
    match object["spec"]["template"]["spec"].get("containers") {
        Some(containers) => kept["command"] = containers[0]["args"].clone(),
        None if object.get("spec").is_some() => kept["spec"] = object["spec"].clone(),
        None => {}
    }
    kept
}

/// What was expected and is not there, by its path. There may be more than was expected, but for command lines: a program
/// refuses a flag that it does not know.
fn missing(expected: &Value, found: &Value) -> Vec<String> {
    let mut paths = Vec::new();
    compare("", expected, found, &mut paths);
    paths
}

fn compare(path: &str, expected: &Value, found: &Value, missing: &mut Vec<String>) {
    match (expected, found) {
        (Value::Object(expected), Value::Object(found)) => {
            for (key, value) in expected {
                let path = format!("{path}/{key}");
                match (key.as_str(), found.get(key)) {
                    (_, None) => missing.push(path),
                    ("rules", Some(found)) => {
                        let held = rights(found);
                        missing.extend(rights(value).into_iter().filter(|right| !held.contains(right)));
                    }
                    ("command", Some(found)) if found != value => missing.push(format!("{path}: {value}, not {found}")),
                    (_, Some(found)) => compare(&path, value, found, missing),
                }
            }
        }
        (Value::Array(expected), Value::Array(found)) => {
            let is_there = |one: &Value| found.iter().any(|other| self::missing(one, other).is_empty());
            let lost = expected.iter().filter(|one| !is_there(one));
            missing.extend(lost.map(|one| format!("{path}: {one}")));
        }
        _ if expected == found => {}
        _ => missing.push(format!("{path}: {expected}, not {found}")),
    }
}

/// Every right of some rules, as words.
fn rights(rules: &Value) -> Vec<String> {
    let words = |value: &Value| -> Vec<String> {
        let all = value.as_array().into_iter().flatten();
        all.map(|word| word.as_str().unwrap_or_default().to_owned()).collect()
    };
    let mut all = Vec::new();
    for rule in rules.as_array().into_iter().flatten() {
        for group in words(&rule["apiGroups"]) {
            for resource in words(&rule["resources"]) {
                for verb in words(&rule["verbs"]) {
                    all.push(format!("{verb} {resource} of {group:?} {}", rule["resourceNames"]));
                }
            }
        }
    }
    all
}

#[test]
fn less_than_was_expected_is_noticed() {
    let rule = |verbs: &[&str]| json!([{"apiGroups": [""], "resources": ["pods"], "verbs": verbs}]);
    let before = json!({"rules": rule(&["get", "list"]), "spec": {"a": 1, "b": [{"c": 2}]}, "command": ["x"]});
    let more = json!({
        "rules": rule(&["get", "list", "watch"]), "spec": {"a": 1, "b": [{"c": 2, "d": 3}], "e": 4}, "command": ["x"],
    });
    assert_eq!(missing(&before, &more), Vec::<String>::new());
    for (less, words) in [
        (
            json!({"rules": rule(&["get"]), "spec": before["spec"], "command": ["x"]}),
            "list pods",
        ),
        (
            json!({"rules": before["rules"], "spec": {"a": 2, "b": [{"c": 2}]}, "command": ["x"]}),
            "/spec/a",
        ),
        (
            json!({"rules": before["rules"], "spec": {"a": 1, "b": []}, "command": ["x"]}),
            "/spec/b",
        ),
        (
            json!({"rules": before["rules"], "spec": before["spec"], "command": ["x", "--new"]}),
            "/command",
        ),
        (json!({"rules": before["rules"], "command": ["x"]}), "/spec"),
    ] {
        let missing = missing(&before, &less);
        assert!(missing.iter().any(|path| path.contains(words)), "{missing:?}");
    }
}
