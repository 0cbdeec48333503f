//! What the current revision renders, as files. A control plane keeps its revision until it is upgraded, so these files
//! change only for a revision that no released program has had; `cargo xtask bless` writes them.

use std::{env, fmt::Write as _, fs, path::PathBuf};

use hyperplane_components::{RENDER_REVISION, Rendered, manager_catalogue, published_services};
use hyperplane_planner::release::Release;
use serde::Serialize;
use serde_json::{Value, json};

use crate::support::{self, World, extended_release, published, release};

/// One file: a name, and what is different in its control plane.
fn cases() -> Vec<(String, Value, Release)> {
    let platforms = [
        ("none", json!({"spec": {"platform": {"type": "None"}}})),
        (
            "kubevirt",
            json!({"spec": {"platform": {"type": "KubeVirt", "kubevirt": {}}}}),
        ),
        (
            "agent",
            json!({"spec": {
                "platform": {"type": "None"},
                "services": [
                    published("APIServer", &json!({"type": "NodePort", "nodePort": {"address": "203.0.113.7"}})),
                    published("OAuthServer", &json!({"type": "NodePort", "nodePort": {"address": "203.0.113.7"}})),
                    published("Konnectivity", &json!({"type": "NodePort", "nodePort": {"address": "203.0.113.7"}})),
                    published("Ignition", &json!({"type": "NodePort", "nodePort": {"address": "203.0.113.7"}})),
                ],
            }}),
        ),
    ];
    let policies = [
        ("highly-available", "HighlyAvailable"),
        ("single-replica", "SingleReplica"),
    ];
    let mut cases = Vec::new();
    for (platform, change) in &platforms {
        for (word, policy) in policies {
            for minor in ["1.35", "1.36"] {
                let mut change = change.clone();
                let release = release(minor);
                support::merge(
                    &mut change,
                    &json!({"spec": {
                        "controllerAvailabilityPolicy": policy,
                        "releaseImage": release.image,
                    }}),
                );
                cases.push((format!("{platform}-{word}-{minor}"), change, release.clone()));
            }
        }
    }
    // Everything that plain Kubernetes does not carry, with operators of its own.
    let dedicated = json!({
        "metadata": {"annotations": {"hyperplane.dev/tenant-operators": "dedicated"}},
        "spec": {"platform": {"type": "KubeVirt", "kubevirt": {}}},
    });
    cases.push(("kubevirt-dedicated-extended".to_owned(), dedicated, extended_release()));
    cases
}

/// What the manager renders of a platform that control planes themselves do not name.
fn cases_of_manager() -> Vec<(String, Value, Release)> {
    let agents = json!({"spec": {"platform": {"type": "Agent", "agent": {"agentNamespace": "agents"}}}});
    vec![("agent-manager-extended".to_owned(), agents, extended_release())]
}

/// Every file with its text.
fn files() -> Vec<(String, String)> {
    let of_manager: Vec<&str> = manager_catalogue().iter().map(|component| component.name).collect();
    let whole = cases().into_iter().map(|(name, change, release)| {
        let world = World::new(&change, &release);
        (name, services(&world) + &components(&world.all_rendered()))
    });
    let managed = cases_of_manager().into_iter().map(|(name, change, release)| {
        let mut rendered = World::new(&change, &release).all_rendered();
        rendered.retain(|(name, _)| of_manager.contains(name));
        (name, components(&rendered))
    });
    whole.chain(managed).collect()
}

#[test]
fn the_revision_renders_as_recorded() {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join(format!("tests/golden/revision-{RENDER_REVISION}"));
    #[allow(
        clippy::disallowed_methods,
        reason = "the switch that writes golden files is a variable, as in every crate"
    )]
    let is_blessed = env::var_os("HYPERPLANE_BLESS").is_some();
    let mut wrong = Vec::new();
    for (name, text) in files() {
        let path = folder.join(format!("{name}.yaml"));
        if is_blessed {
            fs::write(&path, text).expect("the golden file can be written");
        } else if fs::read_to_string(&path).ok().as_deref() != Some(text.as_str()) {
            wrong.push(name);
        }
    }
    assert!(
        wrong.is_empty(),
        "{wrong:?} are rendered otherwise than recorded: control planes would restart. Give the change a revision of its \
         own, or, before the first release, `cargo xtask bless` and read the difference"
    );
}

#[test]
fn rendering_is_deterministic() {
    assert_eq!(files(), files());
}

fn services(world: &World) -> String {
    let mut text = String::new();
    for service in published_services(&world.control_plane, &world.management) {
        document(&mut text, &service);
    }
    text
}

fn components(all: &[(&str, Rendered)]) -> String {
    let mut text = String::new();
    for (name, rendered) in all {
        writeln!(text, "# {name}").expect("memory can be written to");
        for manifest in &rendered.manifests {
            document(&mut text, manifest);
        }
        document(&mut text, &rendered.workload);
        for one in &rendered.unwanted {
            writeln!(text, "# unwanted: {} {}", one.kind, one.name).expect("memory can be written to");
        }
    }
    text
}

fn document(text: &mut String, object: &impl Serialize) {
    text.push_str("---\n");
    text.push_str(&serde_saphyr::to_string(object).expect("an object can be written"));
}
