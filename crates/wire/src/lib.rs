//! What travels between a client and the API server, as functions from values to values: how a request is read and
//! negotiated, how bodies are decoded and patched, and how objects, lists, tables, discovery, OpenAPI and errors are
//! written. Knows no store, no connection and no clock; which rules hold for a kind it learns from the kind's
//! [`Resource`](hyperplane_kinds::Resource).

mod accept;
pub mod continue_token;
pub mod decode;
pub mod delete_options;
pub mod discovery;
mod document_order;
pub mod encode;
mod failures;
mod field_selector;
mod group;
mod json_patch;
mod json_value;
mod label_parser;
pub mod negotiate;
pub mod openapi;
pub mod options;
pub mod patch;
mod query;
mod reason;
pub mod request;
#[cfg(test)]
mod samples;
pub mod selector;
pub mod status;
pub mod table;
pub mod version;
mod yaml_text;
mod yaml_value;

pub use group::{GroupKind, GroupResource, Origin};
pub use query::Query;
pub use status::{Failure, Reason};
