//! The components of a hosted control plane as data, and the rendering of them: pure functions from a spec, a release and
//! what is observed to manifests, decisions and reports. Who applies them is not known here.
//!
//! ```text
//!  Component (data) ─┐
//!  Inputs ───────────┼─► decide ─► Decision: Absent | Waiting | Apply(Rendered)
//!  Observed ─────────┘                                 │ (somebody applies it)
//!                                                      ▼
//!                              live workload ─► report ─► ComponentReport
//! ```

mod assets;
mod catalogue;
mod component;
mod configuration;
mod decide;
mod defaults;
mod dependencies;
mod flags;
mod hash;
mod history;
mod images;
mod infrastructure;
mod inputs;
mod label;
mod manifest;
mod monitors;
mod mounts;
mod object_names;
mod quantity;
mod recovery;
mod render;
mod replicas;
mod report;
mod sidecars;
mod volumes;
mod warnings;

#[cfg(test)]
extern crate self as hyperplane_components;

#[cfg(test)]
#[path = "../tests/support/mod.rs"]
mod support;

pub use self::{
    catalogue::{
        SUBCOMMANDS, catalogue, granted_rules, hosted_service_accounts, manager_catalogue, subcommands, subcommands_of,
    },
    component::{Asset, Component, HostedServiceAccount, Sidecar, Traits, WorkloadKind},
    configuration::encryption::encryption_up_to_date,
    decide::{Decision, Observed, Rendered, decide},
    defaults::request_override,
    history::control_plane_version,
    images::{hosted_image, missing_images, release_image},
    infrastructure::{Endpoint, Infrastructure, api_server_hostname, observe, published_services},
    inputs::{Inputs, Management, Objects, RENDER_REVISION, has_dedicated_operators},
    manifest::{Manifest, ObjectKind, ObjectName, Workload},
    monitors::{
        MonitorEndpoint, MonitorKey, MonitorSource, MonitorTls, PodMonitor, PodMonitorSpec, ServiceMonitor,
        ServiceMonitorSpec,
    },
    object_names::object_names,
    recovery::{ETCD_RECOVERY, FailingMember, etcd_recovery, etcd_recovery_over, recovered_member},
    report::{ComponentReport, Judgement, report},
    warnings::{Subject, Warning, warnings},
};
