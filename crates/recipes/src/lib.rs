//! What users ask for on the command line, as manifests. Flags are structures, a recipe is their meaning, and what comes out
//! are objects that an API server takes, or every reason why not at once. Who reads files, asks a cluster or writes
//! anything is not known here.
//!
//! ```text
//!  words ──clap──► ClusterFlags, PoolFlags ─┐
//!  files, releases, addresses ──► Given ────┴─► build ──► Manifests, or Problems
//!                                                 ▲
//!                       platform/*.rs: one file per platform
//! ```

mod access;
mod beside;
mod check;
mod cluster;
mod given;
mod judge;
mod manifest;
mod network;
mod nodes;
mod pairs;
mod placement;
mod plane;
mod platform;
mod pool;
mod publishing;
mod release;
mod skew;
pub mod ssh;

pub use self::{
    beside::{config_maps_beside, secrets_beside},
    cluster::{ClusterFlags, ClusterLine, ClusterRecipe, control_plane_namespace},
    given::{FileFlag, Given},
    judge::Problem,
    manifest::{Manifest, Manifests},
    platform::{ClusterCommand, PoolCommand},
    pool::{PoolFlags, PoolLine, PoolRecipe},
    publishing::node_address,
    release::ReleaseFlags,
};
