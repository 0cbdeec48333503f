//! What the current revision renders, as files. A control plane keeps its revision until it is upgraded, so these files
//! change only for a revision that no released program has had; `HYPERPLANE_BLESS=1` writes them.

mod support;

use std::{env, fmt::Write as _, fs, path::PathBuf};

use hyperplane_components::{RENDER_REVISION, Rendered, published_services};
use hyperplane_planner::release::Release;
use serde::Serialize;
use serde_json::{Value, json};
use support::{World, extended_release, published, release};

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

#[test]
fn the_revision_renders_as_recorded() {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join(format!("tests/golden/revision-{RENDER_REVISION}"));
    #[allow(
        clippy::disallowed_methods,
        reason = "the switch that writes golden files is a variable, as in every crate"
    )]
    let is_blessed = env::var_os("HYPERPLANE_BLESS").is_some();
    let mut wrong = Vec::new();
    for (name, change, release) in cases() {
        let text = text(&World::new(&change, &release));
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
         own, or, before the first release, run with HYPERPLANE_BLESS=1 and read the difference"
    );
}

#[test]
fn rendering_is_deterministic() {
    for (name, change, release) in cases() {
        let world = World::new(&change, &release);
        assert_eq!(text(&world), text(&world), "{name}");
    }
}

fn text(world: &World) -> String {
    let mut text = String::new();
    for service in published_services(&world.control_plane, &world.management) {
        document(&mut text, &service);
    }
    for (
        name,
        Rendered {
            manifests,
            workload,
            unwanted,
        },
    ) in world.all_rendered()
    {
        writeln!(text, "# {name}").expect("memory can be written to");
        for manifest in &manifests {
            document(&mut text, manifest);
        }
        document(&mut text, &workload);
        for one in unwanted {
            writeln!(text, "# unwanted: {} {}", one.kind, one.name).expect("memory can be written to");
        }
    }
    text
}

fn document(text: &mut String, object: &impl Serialize) {
    text.push_str("---\n");
    text.push_str(&serde_saphyr::to_string(object).expect("an object can be written"));
}
