//! An embedded, durable, Kubernetes-compatible API server as a tower service.
//!
//! [`Server`] answers requests; it needs no socket. Kinds are data: one path serves built-in and custom resources alike,
//! and there is no handler per kind. Nothing is global: thousands of servers live in one process and share what is the
//! same for all of them ([`Shared`]). Nothing is spawned: the writer of the store and the [`Controllers`] are futures
//! for the caller to drive, on real or on virtual time.

mod admission;
mod allocation;
mod audit;
mod body;
mod bootstrap;
mod call;
mod controllers;
mod core;
mod documents;
mod front;
mod identity;
mod label_selector;
mod limits;
mod metadata;
mod metadata_rules;
mod metrics;
mod object;
mod ownership;
mod paths;
pub mod pki;
mod policy_observer;
mod raw;
mod reading;
mod registry;
mod render;
mod resources;
mod selection;
pub mod serve;
mod server;
mod service;
mod slots;
mod strategy;
mod subresources;
mod verbs;

pub use hyperplane_seams::Entropy;

pub use self::{
    allocation::{RangeError, ServiceRange},
    audit::AuditSink,
    body::Body,
    identity::PeerCertificates,
    limits::Limits,
    object::Object,
    server::{Controllers, FrontSettings, Settings, Shared},
    service::{InProcess, Server},
    subresources::log::{LogFailure, LogRequest, Logs},
};
