//! What `hyperplane up` does for people to see: the story as text with how each claim was checked, and a fleet with what it
//! cost. What the story claims is tested elsewhere; here it is what comes out of the program.

use std::process::{Command, Stdio};

use serde_json::Value;

/// As many columns as a terminal has.
const WIDTH: usize = 80;

/// What a run that ends by itself prints.
fn up(arguments: &[&str]) -> String {
    let output = Command::new(env!("CARGO_BIN_EXE_hyperplane"))
        .args(["up", "--ephemeral", "--listen", "127.0.0.1:0", "--speed", "20"])
        .args(arguments)
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let said = String::from_utf8(output.stdout).unwrap();
    assert!(
        output.status.success(),
        "{said}\n{}",
        String::from_utf8_lossy(&output.stderr)
    );
    said
}

#[test]
fn the_story_is_told_in_eighty_columns_without_colours() {
    let said = up(&["--demo", "--explain"]);
    for part in [
        "TIMELINE",
        "HOSTEDCLUSTER",
        "NODEPOOL",
        "hold, each read again from the API",
        "Every claim held.",
    ] {
        assert!(said.contains(part), "{part} is missing: {said}");
    }
    for claim in ["namespace-claimed", "never-ahead", "refusal-says-why", "at-rest"] {
        assert!(said.contains(claim), "{claim} is not explained: {said}");
    }
    assert!(!said.contains('\u{1b}'), "{said}");
    for line in said.lines() {
        assert!(line.chars().count() <= WIDTH, "{line}");
    }
}

#[test]
fn a_fleet_comes_and_says_what_it_cost() {
    let said = up(&["--clusters", "2", "--nodes", "1", "--exit", "-o", "json"]);
    let told: Value = serde_json::from_str(&said).unwrap();
    assert_eq!(told["numbers"]["done"], 2, "{told:#}");
    assert_eq!(told["numbers"]["nodes"], 2, "{told:#}");
    assert_eq!(told["answers"]["failed"], 0, "{told:#}");
    assert!(told["processorSeconds"].as_f64().unwrap() > 0.0, "{told:#}");
    assert!(told["peakResidentMib"].as_u64().unwrap() > 0, "{told:#}");
}
