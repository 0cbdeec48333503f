//! `hyperplane upgrade check` as a user runs it.

use std::{
    fs,
    io::Write as _,
    path::{Path, PathBuf},
    process::{Command, Output, Stdio},
};

use serde_json::{Value, json};
use tempfile::TempDir;

const GOOD: i32 = 0;
const WRONG_USE: i32 = 2;
const NOT_GOOD: i32 = 3;

/// State files in a directory of their own.
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
}

fn command() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_hyperplane"));
    command.args(["upgrade", "check"]);
    command
}

fn check(before: &Path, arguments: &[&str]) -> Output {
    command().arg("-f").arg(before).args(arguments).output().unwrap()
}

fn text(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).unwrap()
}

fn report(output: &Output) -> Value {
    serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}: {}", text(&output.stderr)))
}

fn rules(report: &Value, list: &str) -> Vec<String> {
    let findings = report[list].as_array().unwrap().iter();
    findings
        .map(|finding| finding["rule"].as_str().unwrap().to_owned())
        .collect()
}

#[test]
fn a_good_state() {
    let files = Files::new();
    let state = files.write("now.yaml", "controlPlane: {kubeApiServers: [v1.36.4]}\n");
    let output = check(&state, &["-o", "json"]);
    assert_eq!(output.status.code(), Some(GOOD));
    assert!(output.stderr.is_empty(), "{}", text(&output.stderr));
    let expected = json!({
        "ok": true,
        "policies": ["kubernetes", "etcd", "prerequisites"],
        "violations": [],
        "warnings": [],
        "unknown": [],
    });
    assert_eq!(report(&output), expected);
    assert!(text(&check(&state, &[]).stdout).starts_with("OK: 0 violations, 0 warnings, 0 unknown\n"));
}

#[test]
fn a_bad_move_has_every_field_of_the_contract() {
    let files = Files::new();
    let before = files.write("now.json", r#"{"controlPlane": {"kubeApiServers": ["v1.34.1"]}}"#);
    let after = files.write("then.json", r#"{"controlPlane": {"kubeApiServers": ["v1.36.4"]}}"#);
    let output = check(&before, &["--after", after.to_str().unwrap(), "-o", "json"]);
    assert_eq!(output.status.code(), Some(NOT_GOOD));
    let report = report(&output);
    assert_eq!(report["ok"], false);
    let finding = &report["violations"][0];
    assert_eq!(finding["id"], "kubernetes/KT-01/controlPlane.kubeApiServers@transition");
    assert_eq!(finding["policy"], "kubernetes");
    assert_eq!(finding["rule"], "KT-01");
    assert_eq!(finding["subject"], "controlPlane.kubeApiServers");
    assert_eq!(finding["state"], "transition");
    assert_eq!(
        finding["evidence"],
        json!({"from": "v1.34.1", "to": "v1.36.4", "minors": 2})
    );
    assert_eq!(finding["remedy"], "Go to 1.35 first.");
    assert!(finding["message"].as_str().unwrap().contains("v1.34.1 to v1.36.4"));
}

#[test]
fn what_is_not_known_is_no_pass() {
    let files = Files::new();
    let state = files.write("now.yaml", "{}");
    let output = check(&state, &["-o", "json"]);
    assert_eq!(output.status.code(), Some(NOT_GOOD));
    assert_eq!(rules(&report(&output), "unknown"), ["K-01"]);
}

#[test]
fn all_ways_to_print_say_the_same() {
    let files = Files::new();
    let (before, after, _) = ten_broken(&files);
    let run = |format: &str| check(&before, &["--after", after.to_str().unwrap(), "-o", format]);
    let (json, yaml, table) = (run("json"), run("yaml"), run("table"));
    for output in [&json, &yaml, &table] {
        assert_eq!(output.status.code(), Some(NOT_GOOD));
    }
    let report = report(&json);
    let from_yaml: Value = serde_saphyr::from_str(text(&yaml.stdout)).unwrap();
    assert_eq!(report, from_yaml);
    let table = text(&table.stdout);
    let words = table.split_whitespace().collect::<Vec<_>>().join(" ");
    for finding in ["violations", "warnings", "unknown"]
        .iter()
        .flat_map(|list| report[list].as_array().unwrap())
    {
        for field in ["rule", "reason", "subject", "remedy"] {
            let value = finding[field].as_str().unwrap();
            assert!(words.contains(value), "{value} is not in the table");
        }
    }
    for line in table.lines() {
        assert!(line.chars().count() <= 80, "{line}");
    }
}

/// Before, after, and the rules that the move breaks.
fn ten_broken(files: &Files) -> (PathBuf, PathBuf, Vec<String>) {
    let all: Value = serde_saphyr::from_str(include_str!("ten_broken_upgrades.yaml")).unwrap();
    let write = |name: &str| files.write(&format!("{name}.json"), &all[name].to_string());
    let rules = all["rules"].as_array().unwrap().iter();
    let rules = rules.map(|rule| rule.as_str().unwrap().to_owned()).collect();
    (write("before"), write("after"), rules)
}

#[test]
fn ten_broken_rules_are_told_at_once_each_with_a_remedy() {
    let files = Files::new();
    let (before, after, expected) = ten_broken(&files);
    assert!(expected.len() >= 10);
    let report = report(&check(&before, &["--after", after.to_str().unwrap(), "-o", "json"]));
    let told = rules(&report, "violations");
    for rule in &expected {
        assert!(told.contains(rule), "{rule} is not among {told:?}");
    }
    for finding in report["violations"].as_array().unwrap() {
        let remedy = finding["remedy"].as_str().unwrap();
        assert!(remedy.ends_with('.') && remedy.contains(' '), "{finding}");
        assert!(!finding["evidence"].as_object().unwrap().is_empty(), "{finding}");
    }
}

#[test]
fn everything_that_is_wrong_with_both_files_is_told_at_once() {
    let files = Files::new();
    let before = files.write(
        "now.yaml",
        "controlPlane: {kubeApiServers: [1.30, v1.x], etcd: none}\npools: [{name: a, paused: perhaps}]\n",
    );
    let after = files.write("then.yaml", "distribution: {scheme: plan9}\npools: {a: 1}\n");
    let output = check(&before, &["--after", after.to_str().unwrap()]);
    assert_eq!(output.status.code(), Some(WRONG_USE));
    assert!(output.stdout.is_empty());
    let error = text(&output.stderr);
    for expected in [
        "now.yaml is not a state:",
        "controlPlane.kubeApiServers[0]: 1.3 is a number, and YAML reads 1.30 as 1.3: write versions in quotes",
        "controlPlane.kubeApiServers[1]: \"v1.x\"",
        "controlPlane.etcd: \"none\"",
        "pools[0].paused: must be true or false",
        "then.yaml is not a state:",
        "distribution.scheme: \"plan9\" is none of kubernetes, openshift, acp, k0s, gke",
    ] {
        assert!(error.contains(expected), "{expected:?} is not in {error}");
    }
    let remedies = error.lines().filter(|line| *line == "Correct what is named.");
    assert_eq!(remedies.count(), 2, "one for each file: {error}");
    assert!(error.ends_with("\nCorrect what is named.\n"), "{error}");
}

#[test]
fn files_that_cannot_be_read() {
    let files = Files::new();
    let missing = files.directory.path().join("missing.yaml");
    let output = check(&missing, &[]);
    assert_eq!(output.status.code(), Some(WRONG_USE));
    let error = text(&output.stderr);
    assert!(error.contains("missing.yaml cannot be read: No such file"), "{error}");
    assert!(error.ends_with("; give a file that can be read\n"), "{error}");
    for nonsense in ["a: [", "{\"a\": ", "just words", "- 1"] {
        let output = check(&files.write("nonsense", nonsense), &[]);
        assert_eq!(output.status.code(), Some(WRONG_USE), "{nonsense}");
        let error = text(&output.stderr);
        assert!(error.contains("nonsense"), "{error}");
        let remedies = ["; look at the line that is named\n", "\nCorrect what is named.\n"];
        assert!(remedies.iter().any(|remedy| error.ends_with(remedy)), "{error}");
    }
}

#[test]
fn numbers_that_lost_nothing_are_taken() {
    let files = Files::new();
    let state = files.write("now.yaml", "controlPlane: {kubeApiServers: [1.36, 1.34]}\n");
    assert_eq!(rules(&report(&check(&state, &["-o", "json"])), "violations"), ["K-02"]);
}

#[test]
fn unknown_fields_are_noted_and_decide_nothing() {
    let files = Files::new();
    let state = files.write(
        "now.yaml",
        "controlPlane: {kubeApiServers: [v1.36.4], kubeApiServer: v1.36.4}\ncolour: red\nnow: 2026-11-16T00:00:00Z\n",
    );
    let output = check(&state, &[]);
    assert_eq!(output.status.code(), Some(GOOD));
    let notes = text(&output.stderr);
    assert!(
        notes.contains("note: controlPlane.kubeApiServer is no field of a state"),
        "{notes}"
    );
    assert!(notes.contains("note: colour is no field of a state"), "{notes}");
    assert_eq!(notes.lines().count(), 2, "{notes}");
}

#[test]
fn an_unknown_policy_is_answered_with_all_of_them() {
    let files = Files::new();
    let state = files.write("now.yaml", "{}");
    let output = check(&state, &["--policy", "everything"]);
    assert_eq!(output.status.code(), Some(WRONG_USE));
    let error = text(&output.stderr);
    for name in [
        "kubernetes",
        "etcd",
        "kubeadm",
        "openshift-parity",
        "hypershift",
        "cluster-api",
        "gardener",
        "acp",
    ] {
        assert!(error.contains(name), "{name} is not in {error}");
    }
    assert_eq!(command().output().unwrap().status.code(), Some(WRONG_USE));
}

#[test]
fn policies_that_are_chosen_replace_the_default() {
    let files = Files::new();
    let state = files.write(
        "now.yaml",
        "distribution: {scheme: openshift, version: 4.18.3}\npools: [{name: a, versions: [4.15.9]}]\n",
    );
    let by_default = check(&state, &["-o", "json"]);
    assert_eq!(by_default.status.code(), Some(NOT_GOOD));
    assert_eq!(rules(&report(&by_default), "violations"), ["H-17"]);
    let chosen = check(
        &state,
        &["-o", "json", "--policy", "hypershift", "--policy", "hypershift"],
    );
    assert_eq!(chosen.status.code(), Some(GOOD));
    let report = report(&chosen);
    assert_eq!(report["policies"], json!(["hypershift"]));
    let warning = &report["warnings"][0];
    assert_eq!(warning["reason"], "SourcesDisagree");
    assert!(warning["disagreements"].as_array().unwrap().len() >= 3, "{warning}");
}

#[test]
fn what_the_second_state_leaves_out_stays_as_it_is() {
    let files = Files::new();
    let before = files.write(
        "now.yaml",
        "controlPlane: {kubeApiServers: [v1.36.4]}\npools: [{name: a, kubelets: [v1.33.4]}]\n",
    );
    let after = files.write("then.yaml", "controlPlane: {kubeApiServers: [v1.37.0]}\n");
    let output = check(&before, &["--after", after.to_str().unwrap(), "-o", "json"]);
    assert_eq!(rules(&report(&output), "violations"), ["K-05", "KT-04"]);
}

#[test]
fn a_state_comes_from_standard_input_once() {
    let run = |arguments: &[&str]| {
        let mut child = command()
            .args(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut input = child.stdin.take().unwrap();
        input.write_all(b"controlPlane: {kubeApiServers: [v1.36.4]}\n").ok();
        drop(input);
        child.wait_with_output().unwrap()
    };
    assert_eq!(run(&["-f", "-"]).status.code(), Some(GOOD));
    let twice = run(&["-f", "-", "--after", "-"]);
    assert_eq!(twice.status.code(), Some(WRONG_USE));
    let error = text(&twice.stderr);
    assert!(error.contains("standard input can be read once"), "{error}");
    assert!(error.ends_with("; give the others as files\n"), "{error}");
}

#[test]
fn the_same_text_every_time() {
    let files = Files::new();
    let (before, after, _) = ten_broken(&files);
    let run = || check(&before, &["--after", after.to_str().unwrap(), "-o", "json"]).stdout;
    assert_eq!(run(), run());
}

#[test]
fn help_fits_in_eighty_columns() {
    for arguments in [
        &["upgrade", "--help"][..],
        &["upgrade", "check", "--help"],
        &["upgrade", "check", "-h"],
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
    let document = include_str!("../../../docs/upgrade-check.md");
    let files = Files::new();
    let before = files.write("now.yaml", &block(document, "\nnow.yaml:\n"));
    let after = files.write("then.yaml", &block(document, "\nthen.yaml:\n"));
    let output = check(&before, &["--after", after.to_str().unwrap()]);
    assert_eq!(output.status.code(), Some(NOT_GOOD));
    let transcript = block(
        document,
        "    $ hyperplane upgrade check -f now.yaml --after then.yaml\n",
    );
    assert_eq!(format!("{}$ echo $?\n3\n", text(&output.stdout)), transcript);
}

#[test]
fn policies_are_listed_with_their_sources() {
    let run = |format: &str| {
        let binary = env!("CARGO_BIN_EXE_hyperplane");
        Command::new(binary)
            .args(["upgrade", "policies", "-o", format])
            .output()
            .unwrap()
    };
    let policies: Value = serde_json::from_slice(&run("json").stdout).unwrap();
    let table = run("table");
    for policy in policies.as_array().unwrap() {
        assert!(!policy["source"].as_str().unwrap().is_empty(), "{policy}");
        assert!(
            text(&table.stdout).contains(policy["name"].as_str().unwrap()),
            "{policy}"
        );
    }
    for line in text(&table.stdout).lines() {
        assert!(line.chars().count() <= 80, "{line}");
    }
    let from_yaml: Value = serde_saphyr::from_str(text(&run("yaml").stdout)).unwrap();
    assert_eq!(from_yaml, policies);
    let (wide, names) = (run("wide"), run("name"));
    let mut names = text(&names.stdout).lines();
    for policy in policies.as_array().unwrap() {
        let [name, source] = ["name", "source"].map(|field| policy[field].as_str().unwrap());
        let line = text(&wide.stdout)
            .lines()
            .find(|line| line.starts_with(&format!("{name} ")));
        assert!(line.unwrap().ends_with(source), "{line:?}");
        assert_eq!(names.next(), Some(&*format!("policy/{name}")));
    }
    assert_eq!(names.next(), None);
}
