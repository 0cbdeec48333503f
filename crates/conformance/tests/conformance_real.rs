//! The table of HTTP exchanges on a real kube-apiserver: every answer agrees with its case and with the recording.
//! With HYPERPLANE_BLESS=1 the recordings are written instead; HYPERPLANE_CASES names the cases by a part of their id.

use std::{env, path::Path};

use anyhow::{Result, ensure};
use hyperplane_conformance::{
    suite::{Judgement, Suite},
    table::Case,
    target::Remote,
};
use hyperplane_testbed::{ControlPlane, Options};

#[tokio::test]
#[ignore = "needs a real control plane: cargo xtask test"]
async fn the_real_server_answers_as_the_table_says() -> Result<()> {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR"));
    let suite = Suite::read(directory)?;
    let mut judgements = Vec::new();
    for controllers in [true, false] {
        judgements.extend(run(&suite, controllers).await?);
    }
    ensure!(!judgements.is_empty(), "no case was run");
    if env::var_os("HYPERPLANE_BLESS").is_some() {
        suite.record(directory, &judgements)?;
    } else {
        suite.compare_with_recording(&mut judgements);
    }
    report(&judgements)
}

/// Runs the cases that want, or do not want, the controllers beside them on a control plane of their own.
async fn run(suite: &Suite, controllers: bool) -> Result<Vec<Judgement>> {
    let chosen = env::var("HYPERPLANE_CASES").unwrap_or_default();
    let wanted = |case: &Case| case.controllers == controllers && case.id.contains(&chosen);
    if !suite.table.cases().any(wanted) {
        return Ok(Vec::new());
    }
    let options = Options {
        controller_manager: controllers,
        ..Options::default()
    };
    let control_plane = ControlPlane::start(options).await?;
    let target = Remote::of_kubeconfig(&control_plane.kubeconfig_path()).await?;
    let prepared = suite.prepare(&target).await;
    ensure!(prepared.failures.is_empty(), "{prepared}");
    Ok(suite.run(&target, wanted).await)
}

fn report(judgements: &[Judgement]) -> Result<()> {
    let failed: Vec<_> = judgements.iter().filter(|it| !it.failures.is_empty()).collect();
    let text: String = failed.iter().map(ToString::to_string).collect();
    println!("{} cases, {} failed", judgements.len(), failed.len());
    ensure!(failed.is_empty(), "{} cases fail:\n{text}", failed.len());
    Ok(())
}
