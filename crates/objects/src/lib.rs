//! Objects as Rust types: how a kind is read from JSON and written as JSON. Does no I/O and knows no kind of ours.
//!
//! serde's derives are generic over the format, and every crate that reads a `Pod` from another format compiles the reader
//! of everything inside of it once more. So there is one format, [`serde_json::Value`], and one function per kind, in the
//! crate that owns the kind: Kubernetes' own are in [`kubernetes`](mod@kubernetes), ours in `hyperplane-api`. Whatever is
//! generic over kinds asks for [`Kind`] and not for serde's traits.

mod kind;
mod kubernetes;
mod names;
mod value;
mod yaml;

pub use kind::{Kind, read, write};
pub use names::KindNames;
pub use yaml::{YamlError, read_yaml, yaml_text, yaml_value, yaml_values};
