//! `hyperplane crds` as a user runs it, without a server.

use std::process::{Command, Output};

fn hyperplane(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_hyperplane"))
        .args(arguments)
        .output()
        .unwrap()
}

fn text(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).unwrap()
}

#[test]
fn the_same_text_every_time() {
    let first = hyperplane(&["crds"]);
    assert!(first.status.success());
    assert_eq!(first.stdout, hyperplane(&["crds"]).stdout);
}

#[test]
fn yaml_and_json_say_the_same() {
    let yaml = hyperplane(&["crds", "--feature-set", "CustomNoUpgrade"]);
    let documents: Vec<serde_json::Value> = serde_saphyr::from_multiple(text(&yaml.stdout)).unwrap();
    let json = hyperplane(&["crds", "--feature-set", "CustomNoUpgrade", "-o", "json"]);
    let list: serde_json::Value = serde_json::from_slice(&json.stdout).unwrap();
    assert_eq!(list["items"].as_array(), Some(&documents));
}

#[test]
fn a_larger_feature_set_has_more_kinds() {
    let count = |set: &str| {
        let printed = hyperplane(&["crds", "--feature-set", set]);
        text(&printed.stdout)
            .matches("\nkind: CustomResourceDefinition")
            .count()
    };
    assert_eq!(count("Default"), 18);
    assert_eq!(count("TechPreviewNoUpgrade"), 20);
    assert_eq!(count("CustomNoUpgrade"), 20);
}

#[test]
fn a_wrong_feature_set_is_refused_with_the_right_ones() {
    let refused = hyperplane(&["crds", "--feature-set", "everything"]);
    assert_eq!(refused.status.code(), Some(2));
    let error = text(&refused.stderr);
    assert!(
        error.contains("use Default, TechPreviewNoUpgrade or CustomNoUpgrade"),
        "{error}"
    );
    assert!(refused.stdout.is_empty());
}

#[test]
fn help_fits_in_eighty_columns() {
    for arguments in [&["--help"][..], &["crds", "--help"], &["crds", "-h"]] {
        let help = hyperplane(arguments);
        assert!(help.status.success());
        for line in text(&help.stdout).lines() {
            assert!(line.chars().count() <= 80, "{arguments:?}: {line}");
        }
    }
}

#[test]
fn a_reader_that_has_seen_enough_is_no_failure() {
    let script = format!(
        "{} crds | head -n 1; echo ${{PIPESTATUS[0]}}",
        env!("CARGO_BIN_EXE_hyperplane")
    );
    let output = Command::new("bash").args(["-c", &script]).output().unwrap();
    assert_eq!(text(&output.stdout), "---\n0\n");
    assert!(output.stderr.is_empty(), "{}", text(&output.stderr));
}
