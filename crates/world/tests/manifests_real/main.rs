//! Whether a real API server takes everything that we render, under strict validation and without a warning. Nothing is
//! stored: each object is applied as a dry run.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails where it stands")]

#[path = "../both/mod.rs"]
mod both;
#[path = "../../../components/tests/support/mod.rs"]
mod components;
mod dry_run;
mod operators;

use std::collections::BTreeSet;

use components::{World, choices, extended_release, release, samples};
use hyperplane_testbed::ControlPlane;
use hyperplane_world::{MachineManager, set_up};
use serde_json::{Value, json};

use crate::dry_run::DryRun;

/// The platforms that a cluster may be on.
const PLATFORMS: &[&str] = &["KubeVirt", "Agent", "None"];
/// How many pods a component may have.
const POLICIES: &[&str] = &["SingleReplica", "HighlyAvailable"];
/// The minors whose newest release is tried.
const MINORS: &[&str] = &["1.35", "1.36"];

#[tokio::test]
#[ignore = "needs a real control plane: cargo xtask test"]
async fn components_pass_strict_validation() {
    let control_plane = ControlPlane::shared().await.unwrap();
    let client = control_plane.client().unwrap();
    set_up(&client, MachineManager::Hyperplane).await.unwrap();
    let mut dry_run = DryRun::new(client);
    let mut bodies = BTreeSet::new();
    for mut world in worlds() {
        // The kinds of monitors are not ours, and without their definitions a server has nothing to judge them by.
        world.management.has_monitors = false;
        for (_, rendered) in world.all_rendered() {
            bodies.insert(text(&rendered.workload));
            bodies.extend(rendered.manifests.iter().map(text));
        }
    }
    for body in bodies {
        dry_run.apply(&serde_json::from_str(&body).unwrap()).await;
    }
    dry_run.assert_all_taken(&[
        "Deployment",
        "StatefulSet",
        "ConfigMap",
        "Service",
        "PodDisruptionBudget",
        "Role",
    ]);
}

#[test]
#[ignore = "needs a real control plane: cargo xtask test"]
fn what_operators_write_passes_strict_validation() {
    let mut bodies = BTreeSet::new();
    for platform in PLATFORMS {
        for policy in POLICIES {
            for minor in MINORS {
                bodies.extend(operators::written(platform, policy, release(minor)));
            }
        }
    }
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    runtime.block_on(async {
        let control_plane = ControlPlane::shared().await.unwrap();
        let client = control_plane.client().unwrap();
        set_up(&client, MachineManager::Hyperplane).await.unwrap();
        let mut dry_run = DryRun::new(client);
        for body in bodies {
            dry_run.apply(&serde_json::from_str(&body).unwrap()).await;
        }
        dry_run.assert_all_taken(&[
            "Namespace",
            "HostedControlPlane",
            "NetworkPolicy",
            "Cluster",
            "KubevirtCluster",
            "AgentCluster",
            "Secret",
            "RoleBinding",
            "Deployment",
            "StatefulSet",
        ]);
    });
}

/// Every platform, policy and release, and every choice that a control plane may make.
fn worlds() -> Vec<World> {
    let mut worlds = choices::every_world();
    for platform in PLATFORMS {
        for policy in POLICIES {
            let change = json!({"spec": {"controllerAvailabilityPolicy": policy, "platform": of(platform)}});
            worlds.extend(MINORS.iter().map(|minor| World::new(&change, release(minor))));
            worlds.push(World::new(&change, &extended_release()));
        }
    }
    worlds
}

/// The platform of a cluster by its name.
fn of(platform: &str) -> Value {
    match platform {
        "KubeVirt" => json!({"type": platform, "kubevirt": {}}),
        "Agent" => json!({"type": platform, "agent": {"agentNamespace": "hosts"}}),
        _ => json!({"type": platform}),
    }
}

fn text(object: &impl serde::Serialize) -> String {
    serde_json::to_string(object).unwrap()
}
