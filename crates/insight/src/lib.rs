//! What is the matter with a hosted cluster or a node pool: its picture on one screen, and why it waits.
//!
//! ```text
//!  objects that were read ─┐            ┌─► status  ─► ClusterStatus, ClusterRow ─┐
//!  lists that could not be ├─► Scene ───┤                                         ├─► render ─► text in 80 columns
//!  now                    ─┘            └─► explain ─► Explanation: links, causes ┘
//! ```
//!
//! Everything here is a function from values to values: no I/O, no clock. Objects are looked at as they came: a field that
//! is missing or of another type is told as unknown, and never as good.

mod age;
mod cause;
mod expectation;
mod explain;
mod kind;
mod object;
pub mod render;
mod rule;
mod scene;
mod status;
mod walk;

pub use self::{
    cause::{Cause, Weight},
    explain::{Explanation, Link, Looked, Outcome, UnusedFields, UnusedObject, explain_cluster, explain_pool},
    kind::{Kind, Served},
    object::{Object, Reference},
    rule::{RULES, Rule},
    scene::{Place, Scene, Unread},
    status::{
        ClusterRow, ClusterStatus, ComponentRow, ConditionRow, Nodes, PoolRow, Progress, State, VersionCount, Versions,
        cluster_rows, cluster_status,
    },
};
