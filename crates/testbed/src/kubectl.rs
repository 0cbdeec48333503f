//! The real kubectl as a child process. It knows how to run it with input and a deadline, not what it is asked.

use std::{
    io::ErrorKind,
    path::Path,
    process::{ExitStatus, Stdio},
    time::Duration,
};

use tokio::{
    io::AsyncWriteExt,
    process::{ChildStdin, Command},
    time::timeout,
};

use crate::error::Error;

/// How long one command may take. `kubectl wait` has shorter timeouts of its own.
const LIMIT: Duration = Duration::from_mins(2);

/// What kubectl answered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    /// How it ended.
    pub status: ExitStatus,
    /// What it printed.
    pub stdout: String,
    /// What it complained about; warnings of the API server are here.
    pub stderr: String,
}

/// Runs kubectl as the user of a kubeconfig; its discovery cache goes next to that file.
pub(crate) async fn run(program: &Path, kubeconfig: &Path, arguments: &[&str], input: &str) -> Result<Answer, Error> {
    let step = || Error::at(format!("running kubectl {}", arguments.join(" ")));
    let mut child = Command::new(program)
        .args(arguments)
        .env("KUBECONFIG", kubeconfig)
        .env("KUBECACHEDIR", kubeconfig.with_extension("cache"))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .kill_on_drop(true)
        .spawn()
        .map_err(step())?;
    let pipe = child.stdin.take();
    let finished = async { tokio::join!(write(pipe, input), child.wait_with_output()) };
    let (written, output) = timeout(LIMIT, finished).await.map_err(|_| Error::Slow {
        arguments: arguments.join(" "),
        limit: LIMIT,
    })?;
    written.map_err(step())?;
    let output = output.map_err(step())?;
    Ok(Answer {
        status: output.status,
        stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
        stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
    })
}

/// Writes all input and closes the pipe. A kubectl that ends without reading says why in its answer.
async fn write(pipe: Option<ChildStdin>, input: &str) -> std::io::Result<()> {
    let Some(mut pipe) = pipe else { return Ok(()) };
    match pipe.write_all(input.as_bytes()).await {
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
        written => written,
    }
}
