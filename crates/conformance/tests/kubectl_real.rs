//! The transcripts of kubectl on a real kube-apiserver and on the embedded one: the real program prints what they say.
//! HYPERPLANE_CASES names the transcripts by a part of their id.

use std::{env, path::Path};

use anyhow::{Result, ensure};
use futures::{StreamExt as _, stream};
use hyperplane_conformance::{
    suite::Suite,
    target::Remote,
    transcript::{Error, Kubectl, Transcript, Transcripts},
};
use hyperplane_testbed::{
    ControlPlane,
    assets::{Assets, Program},
};

use crate::embedded::Embedded;

/// How many transcripts are played at once: each command is a process that computes, on a machine with few cores.
const CONCURRENCY: usize = 4;

#[tokio::test]
#[ignore = "needs a real control plane: cargo xtask test"]
async fn kubectl_prints_what_the_transcripts_say() -> Result<()> {
    let control_plane = ControlPlane::shared().await?;
    play_all(&control_plane.kubeconfig_path(), control_plane.directory()).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs the real kubectl: cargo xtask test"]
async fn kubectl_prints_the_same_of_the_embedded_server() -> Result<()> {
    let directory = tempfile::tempdir()?;
    let kubeconfig = Embedded::start().await?.listen(directory.path()).await?;
    play_all(&kubeconfig, directory.path()).await
}

/// Plays all transcripts on the server of a kubeconfig.
async fn play_all(kubeconfig: &Path, scratch: &Path) -> Result<()> {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR"));
    let target = Remote::of_kubeconfig(kubeconfig).await?;
    let prepared = Suite::read(directory)?.prepare(&target).await;
    ensure!(prepared.failures.is_empty(), "{prepared}");
    let kubectl = Kubectl {
        program: Assets::locate()?.path(Program::Kubectl)?,
        kubeconfig: kubeconfig.to_owned(),
        cache: scratch.join("kubectl-cache"),
    };
    let transcripts = Transcripts::read(&directory.join("kubectl"))?;
    let chosen = env::var("HYPERPLANE_CASES").unwrap_or_default();
    let all = transcripts.files.values().flatten();
    let wanted: Vec<_> = all.filter(|it| it.id.contains(&chosen)).collect();
    ensure!(!wanted.is_empty(), "no transcript was played");
    let failures: Vec<String> = stream::iter(wanted)
        .map(|transcript| play(&kubectl, &transcripts, transcript))
        .buffer_unordered(CONCURRENCY)
        .filter_map(async |played| played.transpose())
        .collect::<Vec<_>>()
        .await
        .into_iter()
        .collect::<Result<_, _>>()?;
    ensure!(
        failures.is_empty(),
        "{} transcripts fail:\n{}",
        failures.len(),
        failures.join("\n")
    );
    Ok(())
}

/// What went wrong in a transcript, for people to read.
async fn play(kubectl: &Kubectl, transcripts: &Transcripts, transcript: &Transcript) -> Result<Option<String>, Error> {
    let failures = kubectl.play(transcripts, transcript).await?;
    let lines = failures
        .iter()
        .map(|it| format!("  {}\n    - {}\n", it.step, it.reasons.join("\n    - ")));
    Ok((!failures.is_empty()).then(|| format!("{}\n{}", transcript.id, lines.collect::<String>())))
}
