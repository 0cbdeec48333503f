//! Images as archives that need no registry: containerd, Podman, Docker and registries take them. It owns the format and
//! what an image may hold; which images a cluster needs is elsewhere.

mod archive;
pub mod cluster;
mod content;
mod hyperplane;
mod iptables;

pub use self::{
    archive::{LayerFormat, write},
    content::{Capability, Content, Entry, Image},
    hyperplane::{BINARY, Facts, NAME, hyperplane},
};
