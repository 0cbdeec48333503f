//! A revisioned, ordered, multi-version key-value store with watch, durable by a log of its own. It never parses what
//! it keeps, has no thread and no task, and knows nothing of Kubernetes.
//!
//! One [`Writer`] judges transactions in batches against the head, makes each batch durable with one synchronisation,
//! and publishes it. Any number of [`Store`] handles read [`Snapshot`]s, which never wait, and follow collections with
//! [`Watcher`]s, which never hold up the writer.
//!
//! ```
//! # use std::borrow::Cow;
//! use hyperplane_store::{Change, DecodeError, Expect, Key, Limits, Memory, Operation, Payload, Revision, Store};
//!
//! struct Note(String);
//!
//! impl Payload for Note {
//!     fn encode(&self) -> Cow<'_, [u8]> {
//!         self.0.as_bytes().into()
//!     }
//!     fn decode(_key: &Key, bytes: &[u8]) -> Result<Self, DecodeError> {
//!         String::from_utf8(bytes.to_vec()).map(Self).map_err(DecodeError::new)
//!     }
//!     fn weight(&self) -> usize {
//!         self.0.len()
//!     }
//! }
//!
//! # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
//! let (store, writer) = Store::open(Memory, Limits::default(), Vec::new()).unwrap();
//! tokio::spawn(writer.run());
//! let operation = Operation {
//!     key: Key::new("notes", "home", "shopping"),
//!     expect: Expect::Absent,
//!     change: Change::Put(Note("milk".to_owned())),
//! };
//! let events = store.commit(vec![operation]).await.unwrap();
//! assert_eq!(events[0].revision, Revision(1));
//! assert_eq!(store.snapshot().count("notes"), 1);
//! # });
//! ```

mod batch;
mod disk;
mod dump;
mod entry;
mod format;
mod fsck;
mod history;
mod key;
mod limits;
mod log;
mod names;
mod open;
mod ring;
mod rings;
mod snapshot;
mod state;
mod store;
mod watcher;
mod writer;

pub use disk::{Directory, DirectoryError, Disk, DiskFile, Fault, FaultyDisk, Memory};
pub use dump::{RestoreError, Restored, dump, restore};
pub use entry::{Change, DecodeError, Entry, Event, EventKind, Expect, Observer, Operation, Payload};
pub use format::FormatError;
pub use fsck::{Problem, Report, fsck};
pub use history::AtError;
pub use key::{Key, Revision};
pub use limits::Limits;
pub use log::{LogError, ReplayError};
pub use open::OpenError;
pub use snapshot::Snapshot;
pub use store::{CommitError, Store};
pub use watcher::{Lagged, TooOld, Watcher};
pub use writer::{Writer, WriterError};
