//! `hyperplane explain rollout` as a user runs it.

use std::{
    fs,
    path::PathBuf,
    process::{Command, Output},
};

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::samples;

const GOOD: i32 = 0;
const WRONG_USE: i32 = 2;
const NOT_GOOD: i32 = 3;

const OLD_IMAGE: &str = "hyperplane.dev/kubernetes:v1.36.3";

const KUBELET: &str = "apiVersion: machineconfiguration.openshift.io/v1\nkind: KubeletConfig\nmetadata: {name: \
                       big-pods}\nspec: {kubeletConfig: {maxPods: 500}}\n";

/// Files in a directory of their own.
struct Files {
    directory: TempDir,
}

impl Files {
    fn new() -> Self {
        Self {
            directory: TempDir::new().unwrap(),
        }
    }

    fn write(&self, name: &str, text: &str) -> PathBuf {
        let path = self.directory.path().join(name);
        fs::write(&path, text).unwrap();
        path
    }

    /// Objects as a list, as kubectl prints them.
    fn list(&self, name: &str, objects: &[Value]) -> PathBuf {
        self.write(
            name,
            &json!({"apiVersion": "v1", "kind": "List", "items": objects}).to_string(),
        )
    }

    /// What the command says of an edit.
    fn explain(&self, before: &[Value], after: &[Value], arguments: &[&str]) -> Output {
        let (before, after) = (self.list("now.json", before), self.list("then.json", after));
        let mut command = command();
        command.arg("-f").arg(before).arg("--after").arg(after);
        command.args(arguments).output().unwrap()
    }
}

fn command() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_hyperplane"));
    command.args(["explain", "rollout"]);
    command
}

/// The versions of a control plane that has reached one.
fn history(version: &str, image: &str) -> Value {
    json!({
        "desired": {"version": version, "image": image},
        "history": [{"state": "Completed", "version": version, "image": image,
            "startedTime": "2027-01-01T00:00:00Z", "completionTime": "2027-01-01T00:10:00Z"}],
        "observedGeneration": 1,
    })
}

fn cluster(change: &Value) -> Value {
    let mut object = samples::hosted_cluster(&json!({
        "metadata": {"name": "blue"},
        "spec": {
            "infraID": "blue-abcde",
            "clusterID": "11111111-2222-4333-8444-555555555555",
            "sshKey": {"name": "ssh-key"},
            "dns": {"baseDomain": "example.com"},
            "platform": {"type": "KubeVirt", "kubevirt": {}},
        },
        "status": {
            "controlPlaneEndpoint": {"host": "api.example.com", "port": 6443},
            "controlPlaneVersion": history("1.36.4", samples::IMAGE),
        },
    }));
    samples::merge(&mut object, change);
    object
}

fn pool(name: &str, change: &Value) -> Value {
    let mut object = json!({
        "apiVersion": "hypershift.openshift.io/v1beta1",
        "kind": "NodePool",
        "metadata": {"name": name, "namespace": "clusters"},
        "spec": {
            "clusterName": "blue",
            "release": {"image": OLD_IMAGE},
            "replicas": 3,
            "management": {"upgradeType": "Replace"},
            "platform": {"type": "KubeVirt", "kubevirt": {"rootVolume": {
                "type": "Persistent", "diskImage": {"containerDiskImage": "registry.example.com/os:1"}}}},
        },
    });
    samples::merge(&mut object, change);
    object
}

fn config_map(name: &str, text: &str) -> Value {
    json!({
        "apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name, "namespace": "clusters"},
        "data": {"config": text},
    })
}

fn text(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).unwrap()
}

fn outlook(output: &Output) -> Value {
    serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}: {}", text(&output.stderr)))
}

/// The fields of a pool by which it rolls.
fn rolling(pool: &Value) -> Vec<&str> {
    let changes = pool["changes"].as_array().unwrap().iter();
    changes
        .filter(|change| change["rolls"] == true)
        .map(|change| change["field"].as_str().unwrap())
        .collect()
}

#[test]
fn each_edit_rolls_by_its_field_or_not_at_all() {
    let with_config = json!({"spec": {"config": [{"name": "kubelet"}]}});
    let before = [
        cluster(&json!({})),
        pool("workers", &with_config),
        config_map("kubelet", KUBELET),
    ];
    let workers = |change: Value| {
        let mut object = pool("workers", &with_config);
        samples::merge(&mut object, &change);
        object
    };
    let rows = [
        (workers(json!({"spec": {"replicas": 9}})), None),
        (workers(json!({"spec": {"nodeLabels": {"a": "b"}}})), None),
        (config_map("kubelet", &format!("# The same.\n{KUBELET}")), None),
        (config_map("other", "nothing of it is read"), None),
        (
            workers(json!({"spec": {"release": {"image": samples::IMAGE}}})),
            Some("spec.release"),
        ),
        (
            config_map("kubelet", &KUBELET.replace("500", "250")),
            Some("spec.config"),
        ),
        (
            workers(json!({"spec": {"platform": {"kubevirt": {"compute": {"cores": 8}}}}})),
            Some("spec.platform"),
        ),
        (
            cluster(&json!({"spec": {"pullSecret": {"name": "other"}}})),
            Some("spec.pullSecret"),
        ),
    ];
    let files = Files::new();
    for (after, field) in rows {
        let output = files.explain(&before, std::slice::from_ref(&after), &["-o", "json"]);
        let outlook = outlook(&output);
        let pool = &outlook["pools"][0];
        assert_eq!(rolling(pool), field.into_iter().collect::<Vec<_>>(), "{after}");
        let (outcome, nodes, code) = match field {
            Some(_) => ("Rolls", 3, NOT_GOOD),
            None => ("Stays", 0, GOOD),
        };
        assert_eq!(pool["outcome"], outcome, "{after}");
        assert_eq!(outlook["nodes"], nodes, "{after}");
        assert_eq!(output.status.code(), Some(code), "{after}");
    }
}

#[test]
fn only_what_the_manager_replaces_rolls() {
    let files = Files::new();
    let none = json!({"spec": {"platform": {"type": "None", "kubevirt": null}}});
    let disabled = json!({"metadata": {"annotations": {"hypershift.openshift.io/disable-machine-management": "true"}}});
    let replaced = |replace: Value| json!({"spec": {"management": {"replace": replace}}});
    let rows = [
        (
            json!({}),
            replaced(json!({"strategy": "OnDelete", "rollingUpdate": null})),
            ("OnDelete", 3, NOT_GOOD, "when users delete them"),
        ),
        (
            json!({}),
            json!({"spec": {"management": {"upgradeType": "InPlace", "replace": null}}}),
            ("Stays", 0, GOOD, "InPlace is not carried out"),
        ),
        (none.clone(), none, ("Stays", 0, GOOD, "hosts stay as they are")),
        (disabled, json!({}), ("Stays", 0, GOOD, "hosts stay as they are")),
    ];
    for (of_cluster, of_pool, (outcome, nodes, code, note)) in rows {
        let mut edited = pool("workers", &of_pool);
        samples::merge(&mut edited, &json!({"spec": {"release": {"image": samples::IMAGE}}}));
        let before = [cluster(&of_cluster), pool("workers", &of_pool)];
        let output = files.explain(&before, &[edited], &["-o", "json"]);
        let outlook = outlook(&output);
        let pool = &outlook["pools"][0];
        assert_eq!(
            (&pool["outcome"], &pool["nodes"]),
            (&json!(outcome), &json!(nodes)),
            "{pool}"
        );
        assert_eq!(outlook["nodes"], 0, "the manager itself replaces none: {pool}");
        assert!(pool["notes"].to_string().contains(note), "{pool}");
        assert_eq!(rolling(pool).is_empty(), outcome == "Stays", "{pool}");
        assert_eq!(output.status.code(), Some(code), "{pool}");
    }
}

#[test]
fn what_only_the_manager_writes_is_no_edit() {
    // As users keep it: without status and without what the manager and the schema add.
    let edited = cluster(&json!({"status": null, "spec": {"infraID": null, "clusterID": null}}));
    let spelled = pool("workers", &json!({"spec": {"arch": "amd64"}}));
    let output = Files::new().explain(
        &[cluster(&json!({})), pool("workers", &json!({}))],
        &[edited, spelled],
        &["-o", "json"],
    );
    assert_eq!(output.status.code(), Some(GOOD), "{}", text(&output.stderr));
    assert_eq!(outlook(&output)["pools"][0]["changes"], json!([]));
}

#[test]
fn nodes_are_counted_where_they_were_seen() {
    let observed = json!({"status": {"nodesInfo": {"nodeVersions": [
        {"ocpVersion": "1.36.3", "kubeletVersion": "v1.36.3", "readyNodeCount": 6, "unreadyNodeCount": 1}]}}});
    let before = [
        cluster(&json!({})),
        pool("seen", &observed),
        pool("unseen", &json!({})),
        pool("other", &json!({})),
    ];
    let next = json!({"spec": {"release": {"image": samples::IMAGE}}});
    let after = [pool("seen", &next), pool("unseen", &next), pool("new", &json!({}))];
    let output = Files::new().explain(&before, &after, &["-o", "json"]);
    let outlook = outlook(&output);
    let pools = outlook["pools"].as_array().unwrap().iter();
    let told: Vec<Value> = pools
        .map(|pool| json!([pool["pool"], pool["outcome"], pool["nodes"]]))
        .collect();
    let expected = [
        json!(["clusters/new", "New", 0]),
        json!(["clusters/other", "Stays", 0]),
        json!(["clusters/seen", "Rolls", 7]),
        json!(["clusters/unseen", "Rolls", 3]),
    ];
    assert_eq!(told, expected);
    assert_eq!(outlook["nodes"], 10);
}

#[test]
fn what_is_missing_is_no_pass() {
    let before = [
        pool("alone", &json!({"spec": {"clusterName": "red"}})),
        pool(
            "lost",
            &json!({"spec": {"config": [{"name": "missing"}], "release": {"image": "example.com/a:1"}}}),
        ),
        cluster(&json!({})),
    ];
    let files = Files::new();
    let output = files.explain(&before, &[config_map("other", KUBELET)], &["-o", "json"]);
    assert_eq!(output.status.code(), Some(NOT_GOOD));
    let outlook = outlook(&output);
    let problems = |index: usize| outlook["pools"][index]["problems"].to_string();
    assert!(problems(0).contains("HostedCluster clusters/red"), "{}", problems(0));
    assert!(problems(1).contains("ConfigMap clusters/missing"), "{}", problems(1));
    assert!(problems(1).contains("spec.release.image"), "{}", problems(1));
    assert_eq!(outlook["pools"][0]["outcome"], "Unknown");
}

#[test]
fn releases_come_from_a_file_of_their_own_too() {
    let files = Files::new();
    let image = "example.com/release:1.36.9";
    let releases = files.write(
        "releases.yaml",
        &format!("distribution: kubernetes\nversion: \"1.36.9\"\nkubernetesVersion: \"1.36.9\"\nimage: {image}\n"),
    );
    let before = [cluster(&json!({})), pool("workers", &json!({}))];
    let after = [pool("workers", &json!({"spec": {"release": {"image": image}}}))];
    let output = files.explain(
        &before,
        &after,
        &["--releases", releases.to_str().unwrap(), "-o", "json"],
    );
    let change = outlook(&output)["pools"][0]["changes"][0].clone();
    let expected = json!({"field": "spec.release", "from": "1.36.3", "to": "1.36.9", "rolls": true});
    assert_eq!(change, expected, "{}", text(&output.stderr));
    // The control plane is at 1.36.4: also a patch of it comes first.
    assert_eq!(outlook(&output)["pools"][0]["outcome"], "Held");
}

#[test]
fn a_roll_that_versions_forbid_is_held_and_says_why() {
    let files = Files::new();
    let image = "example.com/release:1.37.0";
    let releases = files.write(
        "releases.yaml",
        &format!("distribution: kubernetes\nversion: \"1.37.0\"\nkubernetesVersion: \"1.37.0\"\nimage: {image}\n"),
    );
    let arguments = ["--releases", releases.to_str().unwrap(), "-o", "json"];
    let ahead = json!({"spec": {"release": {"image": image}}});
    let after = [pool("workers", &ahead), pool("new", &ahead)];
    let told = |of_cluster: &Value| {
        let before = [cluster(of_cluster), pool("workers", &json!({}))];
        let output = files.explain(&before, &after, &arguments);
        assert_eq!(output.status.code(), Some(NOT_GOOD), "{}", text(&output.stderr));
        outlook(&output)
    };
    let skew = |pool: &Value| pool["skew"][0].as_str().unwrap_or_default().to_owned();

    let held = told(&json!({}));
    let (new, workers) = (&held["pools"][0], &held["pools"][1]);
    assert_eq!((&workers["outcome"], &workers["nodes"]), (&json!("Held"), &json!(3)));
    assert_eq!(held["nodes"], 0, "nothing is replaced as long as it is held");
    assert_eq!(rolling(workers), ["spec.release"]);
    assert!(skew(workers).starts_with("The pool does not roll until"), "{workers}");
    assert!(
        skew(workers).contains("1.37.0") && skew(workers).contains("1.36.4"),
        "{workers}"
    );
    assert!(skew(new).starts_with("The pool makes no nodes until"), "{new}");

    let insists =
        json!({"metadata": {"annotations": {"hypershift.openshift.io/skip-release-image-validation": "true"}}});
    let forced = told(&insists);
    assert_eq!(forced["pools"][1]["outcome"], "Rolls");
    assert_eq!(forced["nodes"], 3);
    assert!(
        skew(&forced["pools"][1]).contains("because an annotation says so"),
        "{forced}"
    );

    let moved = told(&json!({"status": {"controlPlaneVersion": history("1.37.0", image)}}));
    assert_eq!(
        (&moved["pools"][1]["outcome"], &moved["pools"][1]["skew"]),
        (&json!("Rolls"), &json!([]))
    );

    let silent = told(&json!({"status": {"controlPlaneVersion": null}}));
    assert_eq!(silent["pools"][1]["outcome"], "Rolls");
    assert!(
        skew(&silent["pools"][1]).starts_with("Whether versions hold it cannot be said"),
        "{silent}"
    );
}

#[test]
fn an_edit_that_a_server_would_refuse_is_refused_with_all_that_is_wrong() {
    let before = [cluster(&json!({})), pool("workers", &json!({}))];
    let after = [
        pool("workers", &json!({"spec": {"clusterName": "red"}})),
        pool("other", &json!({"spec": {"replicas": "many", "colour": "red"}})),
        json!({"metadata": {"name": "nameless"}}),
    ];
    let output = Files::new().explain(&before, &after, &[]);
    assert_eq!(output.status.code(), Some(WRONG_USE));
    assert!(output.stdout.is_empty());
    let error = text(&output.stderr);
    for expected in [
        "NodePool workers: spec.clusterName",
        "NodePool other: spec.replicas",
        "object 3 has no apiVersion or no kind",
    ] {
        assert!(error.contains(expected), "{expected:?} is not in {error}");
    }
    assert!(error.ends_with("\nCorrect what is named.\n"), "{error}");
}

#[test]
fn unknown_fields_are_noted_and_decide_nothing() {
    let before = [cluster(&json!({})), pool("workers", &json!({}))];
    let after = [pool("workers", &json!({"spec": {"colour": "red"}}))];
    let output = Files::new().explain(&before, &after, &[]);
    assert_eq!(output.status.code(), Some(GOOD));
    assert!(
        text(&output.stderr).contains("spec.colour is no field of it"),
        "{}",
        text(&output.stderr)
    );
}

#[test]
fn files_that_cannot_be_read_tell_no_secrets() {
    let files = Files::new();
    let good = files.list("good.json", &[cluster(&json!({}))]);
    for (name, content) in [
        ("broken.yaml", "password: \"hunter2\nfield: ["),
        ("broken.json", "{\"password\": \"hunter2\", "),
        ("empty.yaml", "---\n"),
    ] {
        let path = files.write(name, content);
        let output = command()
            .arg("-f")
            .arg(&good)
            .arg("--after")
            .arg(path)
            .output()
            .unwrap();
        assert_eq!(output.status.code(), Some(WRONG_USE), "{name}");
        let error = text(&output.stderr);
        assert!(error.contains(name) && !error.contains("hunter2"), "{error}");
        let remedies = ["; look at line ", "; give a file with some\n"];
        assert!(remedies.iter().any(|remedy| error.contains(remedy)), "{error}");
    }
    assert_eq!(
        command().arg("-f").arg(&good).output().unwrap().status.code(),
        Some(WRONG_USE)
    );
    let twice = command().args(["-f", "-", "--after", "-"]).output().unwrap();
    assert!(text(&twice.stderr).contains("standard input can be read once"));
}

#[test]
fn all_ways_to_print_say_the_same_in_eighty_columns() {
    let files = Files::new();
    let before = [
        cluster(&json!({})),
        pool("workers", &json!({})),
        pool(&"long".repeat(15), &json!({"spec": {"clusterName": "red"}})),
    ];
    let after = [pool(
        "workers",
        &json!({"spec": {"release": {"image": samples::IMAGE}, "replicas": 5}}),
    )];
    let run = |format: &str| files.explain(&before, &after, &["-o", format]);
    let (json, yaml, table) = (run("json"), run("yaml"), run("table"));
    let from_yaml: Value = serde_saphyr::from_str(text(&yaml.stdout)).unwrap();
    assert_eq!(outlook(&json), from_yaml);
    let table = text(&table.stdout);
    for line in table.lines() {
        assert!(line.chars().count() <= 80, "{line}");
    }
    let words = table.split_whitespace().collect::<Vec<_>>().join(" ");
    for expected in [
        "Pools that roll: 1 of 2.",
        "ROLLS clusters/workers · cluster blue · nodes: 3 spec.release: 1.36.3 -> 1.36.4",
        "spec.replicas: machines are added or removed (rolls nothing)",
        "UNKNOWN clusters/longlong",
    ] {
        assert!(words.contains(expected), "{expected:?} is not in {words}");
    }
}

#[test]
fn help_fits_in_eighty_columns() {
    for arguments in [
        &["explain", "--help"][..],
        &["explain", "rollout", "--help"],
        &["explain", "rollout", "-h"],
    ] {
        let help = Command::new(env!("CARGO_BIN_EXE_hyperplane"))
            .args(arguments)
            .output()
            .unwrap();
        assert!(help.status.success());
        for line in text(&help.stdout).lines() {
            assert!(line.chars().count() <= 80, "{arguments:?}: {line}");
        }
    }
}

/// The indented block of the document after a line.
fn block(document: &str, line: &str) -> String {
    let (_, rest) = document.split_once(line).unwrap();
    let lines = rest.lines().skip_while(|line| line.is_empty());
    let block = lines.take_while(|line| line.is_empty() || line.starts_with("    "));
    let block: Vec<&str> = block.map(|line| line.strip_prefix("    ").unwrap_or(line)).collect();
    format!("{}\n", block.join("\n").trim_end())
}

#[test]
fn the_example_of_the_document_is_true() {
    let document = include_str!("../../../docs/node-pools.md");
    let files = Files::new();
    let then = files.write("then.yaml", &block(document, "\nthen.yaml:\n"));
    let now = files.list(
        "now.json",
        &[cluster(&json!({})), pool("web", &json!({})), pool("batch", &json!({}))],
    );
    let output = command().arg("-f").arg(now).arg("--after").arg(then).output().unwrap();
    let transcript = block(
        document,
        "    $ hyperplane explain rollout -f now.yaml --after then.yaml\n",
    );
    assert_eq!(format!("{}$ echo $?\n3\n", text(&output.stdout)), transcript);
}
