//! Documents by tables: what is read, what is refused, and that the encoding is one.

#[path = "../../tests/support/documents.rs"]
mod documents;

use proptest::prelude::*;

use self::documents::{KUBELET, MACHINE};
use super::*;

fn problems(text: &str) -> Vec<String> {
    let found = read(&[("one", text)]).expect_err("it must not be read");
    found.iter().map(ToString::to_string).collect()
}

#[test]
fn documents_are_read_in_order_and_in_one_form() {
    let text = format!("---\n# nothing\n---\n{MACHINE}---\n{KUBELET}");
    let documents = read(&[("one", text.as_str())]).unwrap();
    let titles: Vec<String> = documents.iter().map(Document::title).collect();
    assert_eq!(titles, ["KubeletConfig/big-pods", "MachineConfig/50-motd"]);
    assert_eq!(
        documents[0].text,
        r#"{"apiVersion":"machineconfiguration.openshift.io/v1","kind":"KubeletConfig","metadata":{"name":"big-pods"},"spec":{"kubeletConfig":{"maxPods":500},"machineConfigPoolSelector":{"matchLabels":{"machineconfiguration.openshift.io/mco-built-in":""}}}}"#
    );
    let machine = &documents[1].value;
    assert_eq!(machine["metadata"]["labels"][ROLE], "worker");
    assert_eq!(machine["metadata"].get("creationTimestamp"), None);
    assert_eq!(machine["spec"]["config"]["storage"]["files"][0]["mode"], 0o644);
}

#[test]
fn how_a_document_is_spelled_does_not_matter() {
    let spelled = "{\"kind\": \"KubeletConfig\",\t\"apiVersion\": \"machineconfiguration.openshift.io/v1\",
        \"spec\": {\"kubeletConfig\": {\"maxPods\": 500}}, \"metadata\": {\"name\": \"big-pods\", \"uid\": \"1\"}}";
    let (plain, spelled) = (read(&[("a", KUBELET)]).unwrap(), read(&[("b", spelled)]).unwrap());
    assert_eq!(plain[0].text, spelled[0].text);
}

#[test]
fn what_is_written_is_read_again() {
    let text = format!("{MACHINE}---\n{KUBELET}");
    let documents = read(&[("one", text)]).unwrap();
    let again = read(&[("config", write(&documents))]).unwrap();
    let texts = |all: &[Document]| all.iter().map(|one| one.text.clone()).collect::<Vec<_>>();
    assert_eq!(texts(&documents), texts(&again));
}

#[test]
fn everything_wrong_is_told_with_its_place() {
    let text = format!(
        "{KUBELET}---\nkind: Pod\n---\n- 1\n---\n{}",
        MACHINE.replace("/etc/motd", "motd")
    );
    assert_eq!(
        problems(&text),
        [
            "ConfigMap one, document 2: kind: Pod cannot be given to nodes: choose ClusterImagePolicy, \
             ContainerRuntimeConfig, ImageContentSourcePolicy, ImageDigestMirrorSet, KubeletConfig, MachineConfig",
            "ConfigMap one, document 3: must be an object with apiVersion, kind, metadata and spec",
            "ConfigMap one, document 4, MachineConfig 50-motd: spec.config.storage.files[0].path: must be an absolute \
             path without . and .. and without a slash at its end",
        ]
    );
}

#[test]
fn single_mistakes_are_named() {
    let cases = [
        ("", "ConfigMap one: holds no document"),
        ("a: [", "ConfigMap one: is not YAML"),
        ("a: 1\na: 2\n", "ConfigMap one: is not YAML"),
        (
            "{kind: MachineConfig, apiVersion: v1}",
            "document 1: apiVersion: of a MachineConfig must be machineconfiguration.openshift.io/v1",
        ),
        (
            &KUBELET.replace("big-pods", "Big Pods"),
            "document 1: metadata.name: must be a name",
        ),
        (
            &KUBELET.replace("spec:\n", "spec: 1\nx:\n"),
            "document 1: spec: must be",
        ),
        (
            &format!("{KUBELET}---\n{KUBELET}"),
            "metadata.name: has the name of ConfigMap one, document 1",
        ),
    ];
    for (text, expected) in cases {
        let found = problems(text).join("\n");
        assert!(found.contains(expected), "{text}: {found}");
    }
}

#[test]
fn the_older_form_of_a_policy_becomes_the_newer_one() {
    let text = "{kind: ClusterImagePolicy, apiVersion: config.openshift.io/v1alpha1, metadata: {name: a}, spec: {}}";
    let documents = read(&[("one", text)]).unwrap();
    assert_eq!(documents[0].value["apiVersion"], "config.openshift.io/v1");
}

proptest! {
    #[test]
    fn no_text_makes_it_panic(text in "[ -~\n]{0,200}") {
        drop(read(&[("one", text)]));
    }
}
