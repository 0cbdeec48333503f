//! The default policy against the digests of a real server's.

use std::fmt::Write as _;

use aws_lc_rs::digest;

use super::*;

const GOLDEN: &str = include_str!("golden.txt");

fn digest_of(entry: &BootstrapObject) -> String {
    let mut object = (*entry.object).clone();
    // The controller that fills these does not run in a bare API server.
    if object.get("aggregationRule").is_some() {
        object["rules"] = serde_json::json!([]);
    }
    let digest = digest::digest(&digest::SHA256, object.to_string().as_bytes());
    digest.as_ref().iter().fold(String::new(), |mut hex, byte| {
        write!(hex, "{byte:02x}").unwrap();
        hex
    })
}

#[test]
fn the_default_policy_equals_that_of_a_real_server() {
    let mut ours: Vec<String> = objects()
        .iter()
        .map(|entry| {
            let namespace = if entry.namespace.is_empty() {
                "-"
            } else {
                &entry.namespace
            };
            format!("{} {namespace} {} {}", entry.resource, entry.name, digest_of(entry))
        })
        .collect();
    let mut real: Vec<&str> = GOLDEN.lines().filter(|line| !line.starts_with('#')).collect();
    ours.sort();
    real.sort_unstable();
    assert_eq!(ours, real);
}

#[test]
fn the_aggregated_roles_hold_what_they_gather() {
    let rules = |name: &str| {
        of(objects(), "clusterroles")
            .find(|entry| entry.name == name)
            .map(|entry| Rule::of_role(&entry.object))
            .unwrap()
    };
    let (view, edit, admin) = (rules("view"), rules("edit"), rules("admin"));
    assert_eq!(view, rules("system:aggregate-to-view"));
    assert!(view.iter().all(|rule| edit.contains(rule)) && edit.iter().all(|rule| admin.contains(rule)));
    assert!(admin.len() > edit.len() && edit.len() > view.len());
}

#[test]
fn unchanged_objects_are_shared_and_changed_ones_are_not() {
    let view = of(objects(), "clusterroles")
        .find(|entry| entry.name == "view")
        .unwrap();
    let (first, second) = (shared_rules(&view.object).unwrap(), shared_rules(&view.object).unwrap());
    assert!(Arc::ptr_eq(&first, &second));
    let mut changed = (*view.object).clone();
    changed["rules"] = serde_json::json!([]);
    assert!(shared_rules(&changed).is_none());
    let binding = of(objects(), "clusterrolebindings").next().unwrap();
    assert!(shared_binding(&binding.object).is_some());
    let mut changed = (*binding.object).clone();
    changed["subjects"] = serde_json::json!([]);
    assert!(shared_binding(&changed).is_none());
}
