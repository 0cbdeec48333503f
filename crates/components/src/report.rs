//! How far one component has come, told from its live workload.

use hyperplane_api::hypershift::control_plane_component::ControlPlaneComponentStatus;

use crate::{component::Component, decide::Decision, inputs::Inputs, manifest::{ObjectName, Workload}};

/// The state of one aspect. The time of its last transition is added by whoever stores it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Judgement {
    /// Whether it holds.
    pub holds: bool,
    /// Why, in one word.
    pub reason: &'static str,
    /// Why, in a sentence.
    pub message: String,
}

/// How far a component has come.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ComponentReport {
    /// Whether it serves.
    pub available: Judgement,
    /// Whether every replica runs what is asked for.
    pub rollout_complete: Judgement,
    /// The version that runs everywhere.
    pub version: Option<String>,
    /// Everything that was written for it.
    pub resources: Vec<ObjectName>,
}

/// The report on a component, after its decision was carried out.
///
/// `live` is the workload as the server has it after that, `before` the last report, and `error` what went wrong while
/// the decision was carried out.
pub fn report(
    component: &Component,
    inputs: &Inputs<'_>,
    decision: &Decision,
    live: Option<&Workload>,
    before: Option<&ControlPlaneComponentStatus>,
    error: Option<&str>,
) -> ComponentReport {
    let _ = (component, inputs, decision, live, before, error);
    todo!()
}
