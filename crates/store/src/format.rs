//! What a data directory says about itself: which format it has and which release wrote it. Owns the decision whether
//! this release may use it.

use std::io;

use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::{
    disk::Disk,
    log::is_blank_segment,
    names::{self, FORMAT, FORMAT_DRAFT, RESTORING},
};

/// The format that this release reads and writes. There is no older one yet; the one after will read this one too.
const CURRENT: u32 = 1;

/// The release that writes.
const PRODUCT: &str = env!("CARGO_PKG_VERSION");

/// Why a directory cannot be used as it is. Nothing in it was changed.
#[derive(Debug, Error)]
pub enum FormatError {
    /// A newer release wrote it.
    #[error(
        "the data has format {format}, written by release {product}; release {PRODUCT} reads format {CURRENT}: start \
         release {product} or a newer one"
    )]
    Newer {
        /// The format of the data.
        format: u32,
        /// The release that wrote it.
        product: String,
    },
    /// A release wrote it from which there is no way to this one.
    #[error(
        "the data has format {format}, written by release {product}, which release {PRODUCT} cannot read: dump it with \
         release {product} and restore the dump here"
    )]
    Older {
        /// The format of the data.
        format: u32,
        /// The release that wrote it.
        product: String,
    },
    /// The format file makes no sense.
    #[error("the file {FORMAT} is damaged: restore a dump into an empty directory")]
    Unreadable(#[source] serde_json::Error),
    /// There is data, but nothing says in which format.
    #[error("there is a log but the file {FORMAT} is gone: restore a dump into an empty directory")]
    Missing,
    /// A restore was interrupted.
    #[error("a restore into this directory was not finished: empty it and restore again")]
    Restoring,
    /// There is a store where an empty directory is needed.
    #[error("the directory already holds a store: restore into an empty one")]
    Occupied,
    /// The disk failed.
    #[error("{doing} {FORMAT}")]
    Io {
        /// What was done.
        doing: &'static str,
        /// What the system said.
        #[source]
        source: io::Error,
    },
}

/// What the format file holds.
#[derive(Debug, Deserialize, Serialize)]
struct Format {
    format: u32,
    product: String,
}

/// What there is on a disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Origin {
    /// Nothing yet.
    Fresh,
    /// A store that this release may open.
    Existing,
}

/// Decides what a disk holds, without changing it.
pub(crate) fn inspect(disk: &mut dyn Disk) -> Result<Origin, FormatError> {
    let names = disk.list().map_err(|source| failed("looking for", source))?;
    let has = |wanted: &str| names.iter().any(|name| name == wanted);
    if has(RESTORING) {
        return Err(FormatError::Restoring);
    }
    if has(FORMAT) {
        let bytes = disk.read(FORMAT).map_err(|source| failed("reading", source))?;
        return accept(&bytes).map(|()| Origin::Existing);
    }
    let segments: Vec<&String> = names
        .iter()
        .filter(|name| names::segment_number(name).is_some())
        .collect();
    for name in segments {
        // A first start that was interrupted leaves one segment with nothing in it.
        let bytes = disk.read(name).map_err(|source| failed("looking for", source))?;
        if *name != names::segment(1) || !is_blank_segment(&bytes) {
            return Err(FormatError::Missing);
        }
    }
    Ok(Origin::Fresh)
}

fn accept(bytes: &[u8]) -> Result<(), FormatError> {
    let Format { format, product } = serde_json::from_slice(bytes).map_err(FormatError::Unreadable)?;
    match format.cmp(&CURRENT) {
        std::cmp::Ordering::Less => Err(FormatError::Older { format, product }),
        std::cmp::Ordering::Equal => Ok(()),
        std::cmp::Ordering::Greater => Err(FormatError::Newer { format, product }),
    }
}

/// Says on the disk that this release writes it, in one step.
pub(crate) fn declare(disk: &mut dyn Disk) -> Result<(), FormatError> {
    write(disk).map_err(|source| failed("writing", source))
}

fn write(disk: &mut dyn Disk) -> io::Result<()> {
    let format = Format {
        format: CURRENT,
        product: PRODUCT.to_owned(),
    };
    let mut line = serde_json::to_vec(&format)?;
    line.push(b'\n');
    if disk.list()?.iter().any(|name| name == FORMAT) && disk.read(FORMAT)? == line {
        return Ok(());
    }
    let mut file = disk.create(FORMAT_DRAFT)?;
    file.append(&line)?;
    // Makes it durable, without the space that the file took in advance.
    disk.truncate(FORMAT_DRAFT, line.len() as u64)?;
    disk.rename(FORMAT_DRAFT, FORMAT)?;
    disk.sync_names()
}

fn failed(doing: &'static str, source: io::Error) -> FormatError {
    FormatError::Io { doing, source }
}
