//! Drives components of a hosted control plane: decide, apply, look, report. Shared by the operators that run components;
//! what a component is, and what is decided about it, is the business of `components`.

pub mod access;
mod cleanup;
mod facts;
mod kinds;
mod outcome;
mod stores;
mod tenancy;
#[cfg(test)]
mod testing;
#[cfg(test)]
mod tests;

use futures::{FutureExt as _, future::BoxFuture};
use hyperplane_api::hypershift::control_plane_component::ControlPlaneComponent;
use hyperplane_components::{Component, Decision, Inputs, Observed, Rendered, Workload, decide, report};
use hyperplane_runtime::{Context, Failure};
use kube::Resource as _;

pub use self::{
    cleanup::{CLEANUP_PATIENCE, deleted_for, is_cleanup_over, wants_cleanup},
    facts::{Facts, revision},
    outcome::Outcome,
    stores::{Driver, Owners},
    tenancy::{rests, serves, tenant},
};
use self::{kinds::apply_manifest, outcome::object};

impl Driver {
    /// Brings all components in line with the inputs, one after the other, so that each sees what those before it
    /// reached. What goes wrong with one does not stop the others.
    ///
    /// Writes are made in the name of the context.
    pub fn drive<'a>(
        &'a self,
        context: &'a Context,
        components: &'a [&'a Component],
        inputs: &'a Inputs<'a>,
    ) -> BoxFuture<'a, Vec<Outcome>> {
        async move {
            let namespace = inputs.control_plane.meta().namespace.clone().unwrap_or_default();
            let mut observed = self.observe(&namespace);
            let mut outcomes = Vec::with_capacity(components.len());
            for component in components {
                let outcome = self.drive_one(context, component, inputs, &observed, &namespace).await;
                match &outcome.status {
                    Some(status) => observed.reports.insert(component.name.to_owned(), status.clone()),
                    None => observed.reports.remove(component.name),
                };
                outcomes.push(outcome);
            }
            outcomes
        }
        .boxed()
    }

    async fn drive_one(
        &self,
        context: &Context,
        component: &Component,
        inputs: &Inputs<'_>,
        observed: &Observed,
        namespace: &str,
    ) -> Outcome {
        let decision = decide(component, inputs, observed);
        let done = self.carry_out(context, inputs, &decision).await;
        if matches!(decision, Decision::Absent(_)) {
            let failure = match done {
                Ok(_) => self.remove_report(context, namespace, component.name).await.err(),
                Err(failure) => Some(failure),
            };
            return Outcome::absent(component.name, failure);
        }
        let (written, mut failure) = match done {
            Ok(written) => (written, None),
            Err(failure) => (None, Some(failure)),
        };
        let live = written.as_ref().or_else(|| observed.workloads.get(component.name));
        let before = observed.reports.get(component.name);
        let problem = failure.as_ref().map(Failure::report);
        let report = report(component, inputs, &decision, live, before, problem.as_deref());
        let status = outcome::status(&report, before, inputs.control_plane.metadata.generation, context.now());
        if let Err(error) = self.write_report(context, inputs, component.name, &status).await {
            failure.get_or_insert(error);
        }
        Outcome {
            name: component.name,
            report: Some(report),
            status: Some(status),
            failure,
        }
    }

    /// Does what was decided; gives back the workload as the server has it now, where it was written. Nothing is reported:
    /// not everything that is rendered is a component.
    pub fn carry_out<'a>(
        &'a self,
        context: &'a Context,
        inputs: &'a Inputs<'a>,
        decision: &'a Decision,
    ) -> BoxFuture<'a, Result<Option<Workload>, Failure>> {
        async move {
            let namespace = inputs.namespace();
            let owner = inputs.control_plane.metadata.uid.as_deref();
            match decision {
                Decision::Absent(unwanted) => {
                    self.remove(context, namespace, owner, unwanted).await?;
                    Ok(None)
                }
                Decision::Waiting(_) => Ok(None),
                Decision::Apply(rendered) => {
                    let Rendered {
                        manifests,
                        workload,
                        unwanted,
                    } = rendered.as_ref();
                    for manifest in manifests {
                        apply_manifest(context, manifest).await?;
                    }
                    self.remove(context, namespace, owner, unwanted).await?;
                    let name = workload.meta().name.as_deref().unwrap_or_default();
                    let job = self.job(namespace, name);
                    kinds::apply_workload(context, workload, job.as_deref()).await
                }
            }
        }
        .boxed()
    }

    async fn write_report(
        &self,
        context: &Context,
        inputs: &Inputs<'_>,
        name: &str,
        status: &hyperplane_api::hypershift::control_plane_component::ControlPlaneComponentStatus,
    ) -> Result<(), Failure> {
        let intent = object(inputs.control_plane, name);
        let namespace = intent.metadata.namespace.clone().unwrap_or_default();
        let live = match context.apply(&intent).await? {
            hyperplane_runtime::Applied::Written(live) => *live,
            hyperplane_runtime::Applied::Unchanged => match self.reports.namespace(namespace).get(name) {
                Some(live) => live.as_ref().clone(),
                // It was written a moment ago, and its event will bring us back here.
                None => return Ok(()),
            },
        };
        context.apply_status::<ControlPlaneComponent>(&live, status).await?;
        Ok(())
    }

    async fn remove_report(&self, context: &Context, namespace: &str, name: &str) -> Result<(), Failure> {
        match self.reports.namespace(namespace).get(name) {
            Some(report) => context.delete(report.as_ref()).await,
            None => Ok(()),
        }
    }
}
