//! Where audit lines go: a file that only its owner may read, or standard output.

use std::{
    fs::OpenOptions,
    io::{self, Write},
    os::unix::fs::OpenOptionsExt as _,
    path::Path,
    sync::{Arc, Mutex, PoisonError},
};

use anyhow::Context as _;
use hyperplane_apiserver::AuditSink;

/// The sink for a path; - is standard output.
pub(super) fn sink(path: &Path) -> anyhow::Result<AuditSink> {
    if path == Path::new("-") {
        return Ok(lines(io::stdout()));
    }
    let file = OpenOptions::new().create(true).append(true).mode(0o600).open(path);
    let file = file.with_context(|| format!("{} cannot be written: choose another --audit-log", path.display()))?;
    Ok(lines(file))
}

/// Writes each line at once: what was answered is in the log, also after the process was killed.
fn lines(output: impl Write + Send + 'static) -> AuditSink {
    let output = Mutex::new(output);
    Arc::new(move |line| {
        let mut output = output.lock().unwrap_or_else(PoisonError::into_inner);
        let written = output
            .write_all(format!("{line}\n").as_bytes())
            .and_then(|()| output.flush());
        if let Err(error) = written {
            tracing::error!(%error, "An audit line could not be written.");
        }
    })
}
