//! What can be asked of a resource, one file per verb. The same for every kind.

pub(crate) mod create;
pub(crate) mod delete;
mod get;
pub(crate) mod list;
pub(crate) mod modify;
pub(crate) mod patch;
pub(crate) mod strategic;
pub(crate) mod update;
pub(crate) mod watch;
