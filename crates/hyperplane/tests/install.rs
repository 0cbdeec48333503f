//! `hyperplane install render` and its relatives as a user has them, without a cluster.

use std::process::{Command, Output};

use serde_json::Value;

fn hyperplane(line: &str) -> Output {
    Command::new(env!("CARGO_BIN_EXE_hyperplane"))
        .args(line.split_whitespace())
        .output()
        .unwrap()
}

fn printed(line: &str) -> String {
    let output = hyperplane(line);
    assert!(
        output.status.success(),
        "{line}: {}",
        String::from_utf8_lossy(&output.stderr)
    );
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn both_texts_say_the_same_in_the_same_order() {
    let yaml = printed("install render --machines separate --monitoring");
    let documents: Vec<Value> = yaml
        .split("---\n")
        .filter(|document| !document.is_empty())
        .map(|document| serde_saphyr::from_str(document).unwrap())
        .collect();
    let json: Value =
        serde_json::from_str(&printed("install render --machines separate --monitoring -o json")).unwrap();
    assert_eq!(json["items"].as_array().unwrap(), &documents);
    let kinds: Vec<&str> = documents
        .iter()
        .map(|object| object["kind"].as_str().unwrap())
        .collect();
    assert_eq!(kinds[..2], ["Namespace", "CustomResourceDefinition"]);
    assert_eq!(kinds.iter().filter(|kind| **kind == "Deployment").count(), 2);
    assert!(kinds.contains(&"ServiceMonitor"));
}

#[test]
fn the_command_line_of_the_operator_is_one_that_it_takes() {
    let choices = "--scope east --machines separate --tenant-operators dedicated --management-network 10.0.0.0/8 \
                   --ingress-domain apps.example.com --monitoring-namespace metrics --management-platform AWS --boot-image \
                   os:1 --kinds nothing -o json";
    let all: Value = serde_json::from_str(&printed(&format!("install render {choices}"))).unwrap();
    let deployments = all["items"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|one| one["kind"] == "Deployment");
    let mut seen = 0;
    for deployment in deployments {
        let arguments = &deployment["spec"]["template"]["spec"]["containers"][0]["args"];
        let arguments: Vec<&str> = arguments.as_array().unwrap().iter().filter_map(Value::as_str).collect();
        // It gets as far as looking for a cluster, which is not there.
        let output = Command::new(env!("CARGO_BIN_EXE_hyperplane"))
            .args(&arguments)
            .env_clear()
            .env("KUBECONFIG", "/nowhere")
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(
            !said.contains("unexpected argument") && !said.contains("Usage:"),
            "{said}"
        );
        assert!(said.contains("no cluster is known"), "{said}");
        seen += 1;
    }
    assert_eq!(seen, 2);
}

#[test]
fn what_cannot_be_installed_is_wrong_use() {
    for (line, words) in [
        ("install render --replicas 0", "use 1 to 5"),
        ("install render --namespace Hyper", "a-z"),
        ("install render --management-network 10.0.0.1/8", "10.0.0.1/8"),
        ("install instance-admin one", "--user"),
    ] {
        let output = hyperplane(line);
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{line}: {said}");
        assert!(said.contains(words), "{line}: {said}");
    }
}

#[test]
fn the_right_to_one_cluster_names_its_secrets() {
    let printed = printed("install instance-admin one --namespace teams --user ada --group admins -o json");
    let all: Value = serde_json::from_str(&printed).unwrap();
    let (role, binding) = (&all["items"][0], &all["items"][1]);
    assert_eq!(role["metadata"]["namespace"], "teams");
    let names = role["rules"][0]["resourceNames"].as_array().unwrap();
    assert!(
        names.iter().all(|name| name.as_str().unwrap().starts_with("one-")),
        "{names:?}"
    );
    assert_eq!(binding["subjects"].as_array().unwrap().len(), 2);
}
