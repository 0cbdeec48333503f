//! `hyperplane crds | kubectl apply --server-side -f -` on a real API server, and what a user sees of it.

use std::process::Command;

use anyhow::{Context as _, Result, ensure};
use hyperplane_testbed::{Answer, ControlPlane, Options};

const FEATURE_SETS: &[&str] = &["Default", "TechPreviewNoUpgrade", "CustomNoUpgrade"];

/// Prints the definitions with the real binary.
fn definitions(feature_set: &str) -> Result<String> {
    let output = Command::new(env!("CARGO_BIN_EXE_hyperplane"))
        .args(["crds", "--feature-set", feature_set])
        .output()?;
    ensure!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    Ok(String::from_utf8(output.stdout)?)
}

async fn apply(control_plane: &ControlPlane, manifests: &str) -> Result<Answer> {
    Ok(control_plane
        .kubectl_with_input(&["apply", "--server-side", "-f", "-"], manifests)
        .await?)
}

async fn run(control_plane: &ControlPlane, arguments: &[&str]) -> Result<String> {
    let answer = control_plane.kubectl(arguments).await?;
    ensure!(
        answer.status.success(),
        "kubectl {}: {}",
        arguments.join(" "),
        answer.stderr
    );
    Ok(answer.stdout)
}

async fn wait_until_established(control_plane: &ControlPlane) -> Result<String> {
    run(
        control_plane,
        &["wait", "--for=condition=Established", "crd", "--all", "--timeout=60s"],
    )
    .await
}

#[tokio::test]
#[ignore = "needs a real control plane: cargo xtask test"]
async fn every_feature_set_is_established_without_a_warning() -> Result<()> {
    let control_plane = ControlPlane::start(Options::default()).await?;
    for feature_set in FEATURE_SETS {
        let manifests = definitions(feature_set)?;
        let applied = apply(&control_plane, &manifests).await?;
        assert!(applied.status.success(), "{feature_set}: {}", applied.stderr);
        assert_eq!(applied.stderr, "", "{feature_set}: kubectl or the server warns");
        let kinds = manifests.matches("\nkind: CustomResourceDefinition").count();
        assert_eq!(applied.stdout.lines().count(), kinds);
        let established = wait_until_established(&control_plane).await?;
        assert_eq!(
            established.matches("condition met").count(),
            kinds,
            "{feature_set}: {established}"
        );
    }
    Ok(())
}

#[tokio::test]
#[ignore = "needs a real control plane: cargo xtask test"]
async fn applying_twice_changes_nothing() -> Result<()> {
    let control_plane = ControlPlane::start(Options::default()).await?;
    let versions = ["get", "crd", "-o", "jsonpath={.items[*].metadata.generation}"];
    for _ in 0..2 {
        let applied = apply(&control_plane, &definitions("Default")?).await?;
        assert!(applied.status.success(), "{}", applied.stderr);
    }
    let generations = run(&control_plane, &versions).await?;
    assert!(
        generations.split(' ').all(|generation| generation == "1"),
        "{generations}"
    );
    Ok(())
}

/// A server with the default definitions, for one test.
async fn installed() -> Result<ControlPlane> {
    let control_plane = ControlPlane::start(Options::default()).await?;
    let applied = apply(&control_plane, &definitions("Default")?).await?;
    ensure!(applied.status.success(), "{}", applied.stderr);
    wait_until_established(&control_plane).await?;
    Ok(control_plane)
}

const OBJECTS: &str = include_str!("objects.yaml");

#[tokio::test]
#[ignore = "needs a real control plane: cargo xtask test"]
async fn kubectl_prints_the_columns() -> Result<()> {
    let control_plane = installed().await?;
    let applied = apply(&control_plane, OBJECTS).await?;
    assert!(applied.status.success(), "{}", applied.stderr);
    let expected: &[(&str, &[&str])] = &[
        (
            "hc",
            &[
                "NAME",
                "VERSION",
                "CP VERSION",
                "KUBECONFIG",
                "PROGRESS",
                "AVAILABLE",
                "PROGRESSING",
                "MESSAGE",
            ],
        ),
        (
            "np",
            &[
                "NAME",
                "CLUSTER",
                "DESIRED NODES",
                "CURRENT NODES",
                "AUTOSCALING",
                "AUTOREPAIR",
                "VERSION",
                "UPDATINGVERSION",
                "UPDATINGCONFIG",
                "MESSAGE",
            ],
        ),
        ("hcp", &["NAME", "AGE"]),
        ("cpc", &["NAME", "VERSION", "AVAILABLE", "ROLLOUTCOMPLETE", "MESSAGE"]),
    ];
    for (kind, columns) in expected {
        let table = run(&control_plane, &["get", kind]).await?;
        let heading = table.lines().next().context("a heading")?;
        let printed: Vec<&str> = heading
            .split("   ")
            .map(str::trim)
            .filter(|column| !column.is_empty())
            .collect();
        assert_eq!(printed, *columns, "kubectl get {kind}");
        assert!(table.contains("example"), "{table}");
    }
    let together = run(&control_plane, &["get", "hc,np,hcp,cpc"]).await?;
    assert_eq!(
        together.matches(".hypershift.openshift.io/example").count(),
        4,
        "{together}"
    );
    run(&control_plane, &["scale", "np/example", "--replicas=5"]).await?;
    let replicas = run(
        &control_plane,
        &["get", "np/example", "-o", "jsonpath={.spec.replicas}"],
    )
    .await?;
    assert_eq!(replicas, "5");
    Ok(())
}

/// Applies a manifest that must be refused and gives back what the server says, one cause a line.
async fn refusal(control_plane: &ControlPlane, manifest: &str) -> Result<String> {
    let answer = control_plane
        .kubectl_with_input(&["create", "-f", "-"], manifest)
        .await?;
    ensure!(!answer.status.success(), "accepted: {}", answer.stdout);
    Ok(answer.stderr)
}

#[tokio::test]
#[ignore = "needs a real control plane: cargo xtask test"]
async fn ten_mistakes_in_one_manifest_are_named_at_once() -> Result<()> {
    let control_plane = installed().await?;
    let cases = [
        (
            include_str!("ten_schema_mistakes.yaml"),
            &[
                "spec.release.image",
                "spec.platform.type",
                "spec.services[0].service",
                "spec.controllerAvailabilityPolicy",
                "spec.infraID",
                "spec.channel",
                "spec.networking.networkType",
                "spec.autoscaling.maxNodesTotal",
                "spec.pausedUntil",
                "spec.dns.baseDomain",
            ][..],
        ),
        (
            include_str!("ten_broken_rules.yaml"),
            &[
                "spec.release.image",
                "spec.controlPlaneRelease.image",
                "spec.networking",
                "spec.networking.clusterNetwork[0].cidr",
                "spec.services[0].servicePublishingStrategy",
                "spec.autoscaling",
                "spec.autoscaling.balancingIgnoredLabels",
                "spec.capabilities",
                "spec.issuerURL",
                "spec.updateService",
            ][..],
        ),
    ];
    for (manifest, fields) in cases {
        let said = refusal(&control_plane, manifest).await?;
        for field in fields {
            assert!(said.contains(&format!("{field}: ")), "{field} is not named in:\n{said}");
        }
    }
    Ok(())
}
