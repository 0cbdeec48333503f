//! The care of data that no server has open: check, dump, restore.

use std::io::{BufRead, BufWriter, Write};

use anyhow::bail;
use hyperplane_apiserver::Object;
use hyperplane_runtime::Disposition;
use hyperplane_store::{Limits, Problem, Report, RestoreError, Store};
use serde_json::json;

use super::{
    arguments::{Fsck, Output, Place},
    data::{self, Data},
};
use crate::failing::in_order;

/// Checks the store, and fails if it is not sound.
pub(super) fn fsck(arguments: &Fsck, output: &mut impl Write) -> anyhow::Result<()> {
    let mut disk = Data::at(&arguments.place.data_dir).take_existing()?;
    let report = hyperplane_store::fsck(&mut disk);
    match arguments.output {
        Output::Text => writeln!(output, "{report}")?,
        Output::Json => writeln!(output, "{}", as_json(&report))?,
    }
    if !report.is_clean() {
        bail!("the data is damaged: restore it from a dump, or from a copy of the directory");
    }
    Ok(())
}

fn as_json(report: &Report) -> serde_json::Value {
    json!({
        "revision": report.revision.0,
        "oldestRevision": report.oldest.0,
        "entries": report.entries,
        "segments": report.segments,
        "frames": report.frames,
        "bytes": report.bytes,
        "tornBytes": report.torn_bytes,
        "isClean": report.is_clean(),
        "problem": report.problem.as_ref().map(explain),
    })
}

/// A problem and its causes, in one line.
fn explain(problem: &Problem) -> String {
    let causes: Vec<String> = anyhow::Chain::new(problem).map(ToString::to_string).collect();
    causes.join(": ")
}

/// Prints every object.
pub(super) fn dump(place: &Place, output: &mut impl Write) -> anyhow::Result<()> {
    let disk = Data::at(&place.data_dir).take_existing()?;
    let (store, _writer) =
        Store::<Object>::open(disk, Limits::default(), Vec::new()).map_err(|error| data::unusable(&error))?;
    hyperplane_store::dump(&store.snapshot(), BufWriter::new(output))?;
    Ok(())
}

/// Makes a store from a dump, and says so beside the dump's own way.
pub(super) fn restore(place: &Place, input: impl BufRead, log: &mut impl Write) -> anyhow::Result<()> {
    let data = Data::at(&place.data_dir);
    data.refuse_foreign()?;
    let disk = data.take()?;
    let restored = hyperplane_store::restore(disk, input).map_err(|error| {
        let what = format!("nothing can be restored into {}", place.data_dir.display());
        in_order(of_restore(&error), what, &error, "look at the dump and at the disk")
    })?;
    writeln!(
        log,
        "Restored {} objects at revision {}.",
        restored.entries, restored.revision
    )?;
    Ok(())
}

/// Whether another dump or another directory is what helps.
const fn of_restore(error: &RestoreError) -> Disposition {
    match error {
        RestoreError::Format(format) => data::of_format(format),
        RestoreError::Line { .. } | RestoreError::Content { .. } | RestoreError::CutOff => Disposition::User,
        RestoreError::Read { .. } | RestoreError::Mark(_) | RestoreError::Log(_) => Disposition::Fatal,
    }
}
