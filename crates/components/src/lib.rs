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

mod catalogue;
mod component;
mod decide;
mod infrastructure;
mod inputs;
mod manifest;
mod report;

pub use self::{
    catalogue::{catalogue, manager_catalogue},
    component::{Asset, Component, HostedServiceAccount, Traits, WorkloadKind},
    decide::{Decision, Observed, Rendered, decide},
    infrastructure::{Endpoint, Infrastructure, observe, published_services},
    inputs::{Inputs, Management, Objects, RENDER_REVISION},
    manifest::{Manifest, ObjectName, Workload},
    report::{ComponentReport, Judgement, report},
};
