//! `hyperplane up` as a user has it: the real binary on real time, and the real kubectl, with the example of the
//! documentation.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod apiserver;
mod kubectl;

use std::{collections::BTreeMap, fs};

use apiserver::{Process, text};
use kubectl::Kubectl;
use serde_json::Value;

const EXAMPLE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/examples/node-pools.yaml");
/// The pools of the example, with the number of their nodes.
const POOLS: [(&str, &str); 2] = [("batch", "2"), ("web", "3")];
const NODES: usize = 5;
const VERSION: &str = "1.35.8";

/// The columns of a table, by the names of its rows. Columns begin where their titles do.
fn table(text: &str) -> BTreeMap<String, BTreeMap<String, String>> {
    let mut lines = text.lines();
    let head = lines.next().unwrap_or_default();
    let titles: Vec<&str> = head
        .split("  ")
        .map(str::trim)
        .filter(|title| !title.is_empty())
        .collect();
    let starts: Vec<usize> = titles.iter().map(|title| head.find(title).unwrap()).collect();
    let cells = |line: &str| -> BTreeMap<String, String> {
        let cell = |place: usize| {
            let end = starts.get(place + 1).copied().unwrap_or(line.len()).min(line.len());
            line.get(starts[place]..end).unwrap_or_default().trim().to_owned()
        };
        titles
            .iter()
            .enumerate()
            .map(|(place, title)| ((*title).to_owned(), cell(place)))
            .collect()
    };
    lines.map(cells).map(|row| (row["NAME"].clone(), row)).collect()
}

fn condition(object: &Value, type_: &str) -> String {
    let conditions = object["status"]["conditions"].as_array().into_iter().flatten();
    let mut found = conditions.filter(|condition| condition["type"] == type_);
    found
        .next()
        .and_then(|condition| condition["status"].as_str())
        .unwrap_or_default()
        .to_owned()
}

#[tokio::test]
#[ignore = "needs a real control plane: cargo xtask test"]
async fn two_pools_become_nodes_and_everything_that_is_told_of_them_is_true() {
    let directory = tempfile::tempdir().unwrap();
    let data = directory.path().join("data");
    let process = Process::up(&["--in-memory", "--data-dir", text(&data)]);
    let management = Kubectl::new(&process.kubeconfig());
    management.run(&["apply", "--server-side", "-f", EXAMPLE]).unwrap();
    let secret = ["get", "secret", "blue-admin-kubeconfig", "-n", "clusters"];
    let kubeconfig = ["-o", "go-template={{.data.kubeconfig | base64decode}}"];
    let kubeconfig = management
        .until("the kubeconfig of the hosted cluster", |kubectl| {
            kubectl.run(&[secret.as_slice(), kubeconfig.as_slice()].concat()).ok()
        })
        .await;
    let path = directory.path().join("hosted");
    fs::write(&path, kubeconfig).unwrap();

    let hosted = Kubectl::new(&path);
    let nodes = hosted
        .until("nodes that are ready", |kubectl| {
            let nodes = table(&kubectl.run(&["get", "nodes"]).ok()?);
            let is_ready = |row: &BTreeMap<String, String>| row["STATUS"] == "Ready";
            (nodes.len() == NODES && nodes.values().all(is_ready)).then_some(nodes)
        })
        .await;
    assert!(
        nodes.values().all(|row| row["VERSION"] == format!("v{VERSION}")),
        "{nodes:?}"
    );

    let told = management
        .until("pools that say so", |kubectl| {
            let pools = table(&kubectl.run(&["get", "np", "-n", "clusters"]).ok()?);
            pools.values().all(|row| row["VERSION"] == VERSION).then_some(pools)
        })
        .await;
    for (name, count) in POOLS {
        let row = &told[name];
        let columns = [
            "CLUSTER",
            "DESIRED NODES",
            "CURRENT NODES",
            "UPDATINGVERSION",
            "UPDATINGCONFIG",
        ];
        assert_eq!(
            columns.map(|title| row[title].as_str()),
            ["blue", count, count, "False", "False"],
            "{told:?}"
        );
        let of_pool = nodes.keys().filter(|node| node.starts_with(&format!("{name}-")));
        assert_eq!(of_pool.count().to_string(), count, "{nodes:?}");
    }

    for way in ["ControlPlaneConnectionAvailable", "DataPlaneConnectionAvailable"] {
        management
            .until(way, |kubectl| {
                let cluster = kubectl.json(&["get", "hc", "blue", "-n", "clusters"])?;
                (condition(&cluster, way) == "True").then_some(())
            })
            .await;
    }
    let log = hosted
        .run(&["logs", "-n", "kube-system", "daemonset/konnectivity-agent"])
        .unwrap();
    assert!(log.contains("It is ready."), "{log}");
    let (status, _) = process.end("-TERM");
    assert!(status.success());
}
