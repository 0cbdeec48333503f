//! `hyperplane install` on a real API server: what is rendered passes strict validation, the operator that it installs
//! works with the token of its account and nothing else, as does every other role, and `hyperplane uninstall` leaves
//! nothing behind.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

#[path = "../audit/mod.rs"]
mod audit;
mod pod;
mod program;
mod roles;
mod site;

use serde_json::json;

use crate::{pod::start, site::Site};

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

    let operator = start(&site, "hyperplane", "operator", directory.path()).await;
    site.order_cluster(json!({"platform": {"type": "None"}})).await;
    site.until_written(WRITTEN).await;

    let refused = site.run(&["uninstall"]).unwrap_err();
    assert!(refused.contains("HostedCluster clusters/one"), "{refused}");
    site.remove_cluster().await;
    assert_eq!(operator.end(), Some(0));
    assert_eq!(site.audit.refusals(), Vec::<String>::new());
    assert!(site.audit.requests() > 100, "nothing was noted");
    leaves_nothing(&site).await;
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
