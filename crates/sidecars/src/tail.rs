//! `tail`: copies a log to standard output as it grows, through rotation and truncation. The audit log of an API server
//! becomes the output of a container in this way.

use std::{
    io,
    os::unix::fs::MetadataExt as _,
    path::{Path, PathBuf},
    time::Duration,
};

use thiserror::Error;
use tokio::{
    fs::{self, File},
    io::{AsyncReadExt as _, AsyncSeekExt as _, AsyncWrite, AsyncWriteExt as _},
    time::sleep,
};
use tokio_util::sync::CancellationToken;

/// How often it is looked whether there is more.
const PERIOD: Duration = Duration::from_millis(500);

/// How much is read at once.
const CHUNK_BYTES: usize = 64 << 10;

/// Why it cannot go on.
#[derive(Debug, Error)]
pub enum TailError {
    /// The log cannot be read.
    #[error("{} cannot be read: look at the volume that is mounted there", path.display())]
    Read {
        /// The log.
        path: PathBuf,
        /// The system's answer.
        #[source]
        source: io::Error,
    },
    /// The output is closed.
    #[error("the output cannot be written")]
    Write(#[source] io::Error),
}

/// A file, whatever it is called.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Identity {
    device: u64,
    inode: u64,
}

/// What is at the path now, if anything is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Seen {
    identity: Identity,
    bytes: u64,
}

/// What to do at the end of the file that is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Next {
    /// Wait for more of it.
    Stay,
    /// Read it from its beginning: it was cut.
    Restart,
    /// Read the file that has taken its place.
    Switch,
}

/// What to do when a file was read up to a position before this was seen, and to its end after that.
fn next(reading: Identity, position: u64, seen: Option<Seen>) -> Next {
    match seen {
        Some(seen) if seen.identity != reading => Next::Switch,
        Some(seen) if seen.bytes < position => Next::Restart,
        // Between the old file and the new one there is none for a moment.
        Some(_) | None => Next::Stay,
    }
}

/// Copies until it is told to stop; what is there then is copied, too. A log that is not there yet is waited for.
pub async fn run(
    path: &Path,
    output: &mut (impl AsyncWrite + Unpin),
    stop: &CancellationToken,
) -> Result<(), TailError> {
    let mut follower: Option<Follower> = None;
    loop {
        // Before reading: what was written before the end was asked for is not left out.
        let is_over = stop.is_cancelled();
        let has_moved = copy(&mut follower, path, output).await?;
        if has_moved {
            continue;
        }
        if is_over {
            return Ok(());
        }
        tokio::select! {
            () = stop.cancelled() => {}
            () = sleep(PERIOD) => {}
        }
    }
}

/// Copies what is there, and says whether another file is to be read at once.
async fn copy(
    follower: &mut Option<Follower>,
    path: &Path,
    output: &mut (impl AsyncWrite + Unpin),
) -> Result<bool, TailError> {
    let unreadable = |source| TailError::Read {
        path: path.to_owned(),
        source,
    };
    let Some(open) = follower else {
        *follower = Follower::open(path).await.map_err(unreadable)?;
        return Ok(follower.is_some());
    };
    // What is at the path is looked at first: whoever rotates has written all of the old file by then. It grows while it
    // is read, so its length counts against what was read before.
    let position = open.position;
    let seen = look(path).await.map_err(unreadable)?;
    while let Some(chunk) = open.read().await.map_err(unreadable)? {
        output.write_all(chunk).await.map_err(TailError::Write)?;
    }
    output.flush().await.map_err(TailError::Write)?;
    match next(open.identity, position, seen) {
        Next::Stay => Ok(false),
        Next::Restart => open.restart().await.map(|()| true).map_err(unreadable),
        Next::Switch => {
            *follower = None;
            Ok(true)
        }
    }
}

/// A file that is being read.
struct Follower {
    file: File,
    identity: Identity,
    position: u64,
    buffer: Vec<u8>,
}

impl Follower {
    async fn open(path: &Path) -> io::Result<Option<Self>> {
        let file = match File::open(path).await {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            file => file?,
        };
        let identity = identity(&file.metadata().await?);
        Ok(Some(Self {
            file,
            identity,
            position: 0,
            buffer: vec![0; CHUNK_BYTES],
        }))
    }

    /// The next part, if there is one now.
    async fn read(&mut self) -> io::Result<Option<&[u8]>> {
        let count = self.file.read(&mut self.buffer).await?;
        self.position += u64::try_from(count).unwrap_or(u64::MAX);
        Ok((count > 0).then_some(&self.buffer[..count]))
    }

    async fn restart(&mut self) -> io::Result<()> {
        self.position = 0;
        self.file.rewind().await.map(drop)
    }
}

async fn look(path: &Path) -> io::Result<Option<Seen>> {
    match fs::metadata(path).await {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        metadata => metadata.map(|metadata| {
            Some(Seen {
                identity: identity(&metadata),
                bytes: metadata.len(),
            })
        }),
    }
}

fn identity(metadata: &std::fs::Metadata) -> Identity {
    Identity {
        device: metadata.dev(),
        inode: metadata.ino(),
    }
}

#[cfg(test)]
mod tests;
