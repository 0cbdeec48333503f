//! Where audit lines go: a file that only its owner may read, or standard output.

use std::{
    fs::OpenOptions,
    io::{self, Write},
    os::unix::fs::OpenOptionsExt as _,
    path::Path,
    sync::{Arc, Mutex, PoisonError},
};

use hyperplane_apiserver::AuditSink;

use crate::failing::wrong_use;

/// The sink for a path; - is standard output.
pub(super) fn sink(path: &Path) -> anyhow::Result<AuditSink> {
    if path == Path::new("-") {
        return Ok(lines(io::stdout()));
    }
    let file = OpenOptions::new().create(true).append(true).mode(0o600).open(path);
    let file = file.map_err(|error| {
        let what = format!("{} cannot be written", path.display());
        wrong_use(what, error.to_string(), "choose another --audit-log")
    })?;
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
