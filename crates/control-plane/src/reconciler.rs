//! One run: look, publish, drive the components, report. Decisions are made elsewhere.

use std::{sync::Arc, time::Duration};

use hyperplane_api::{
    constants::{annotations, conditions::hosted_control_plane as types, finalizers, objects::roles, reasons},
    hyperplane::distribution_release::DistributionRelease,
    hypershift::{
        hosted_control_plane::{HostedControlPlane, HostedControlPlaneStatus},
        paused::Pause,
    },
};
use hyperplane_component_driver::{Driver, Outcome, revision, serves, tenant};
use hyperplane_components::{
    Component, Infrastructure, Inputs, Management, Objects, catalogue, control_plane_version, missing_images, observe,
};
use hyperplane_runtime::{Context, Failure, Next, Reconciler, Store};
use kube::ResourceExt as _;

use crate::{
    ControlPlaneSettings,
    conditions::Seen,
    health,
    read::{self, Releases},
    status, write,
};

/// How often a control plane that serves is asked whether it still does: nothing else would tell.
const LOOK_AGAIN: Duration = Duration::from_mins(1);
/// How often one that does not serve yet is asked.
const LOOK_AGAIN_SOON: Duration = Duration::from_secs(15);
/// How long deletion waits for the hosted cluster to clean up behind itself.
const CLEANUP_PATIENCE: Duration = Duration::from_mins(10);

/// The reconciler of HostedControlPlanes.
pub(crate) struct ControlPlanes {
    pub(crate) driver: Driver,
    pub(crate) releases: Store<DistributionRelease>,
    pub(crate) settings: ControlPlaneSettings,
}

/// What one run found before it wrote anything.
struct Findings {
    management: Management,
    objects: Objects,
    infrastructure: Infrastructure,
}

impl Reconciler for ControlPlanes {
    type Object = HostedControlPlane;

    const FINALIZER: Option<&'static str> = Some(finalizers::HYPERSHIFT.as_str());

    async fn reconcile(&self, context: &Context, control_plane: Arc<HostedControlPlane>) -> Result<Next, Failure> {
        if !self.is_ours(&control_plane) {
            return Ok(Next::OnChange);
        }
        match read::paused(&control_plane, context.now()) {
            Some(Pause::Until(end)) => return Ok(Next::After(until(context, end))),
            Some(_) => return Ok(Next::OnChange),
            None => {}
        }
        let namespace = control_plane.namespace().unwrap_or_default();
        let context = tenant(context, &self.settings.scope, &namespace, roles::CONTROL_PLANE_OPERATOR)?;
        let releases = read::releases(&control_plane, &self.releases);
        match releases {
            Ok(releases) => self.run(&context, &control_plane, &releases).await,
            Err(error) => self.explain(&context, &control_plane, error.to_string()).await,
        }
    }

    async fn cleanup(&self, context: &Context, control_plane: Arc<HostedControlPlane>) -> Result<(), Failure> {
        // Everything in the namespace goes with its owner; only what the hosted cluster made elsewhere needs time.
        let annotations = control_plane.annotations();
        let is_asked = annotations
            .get(annotations::CLEANUP_CLOUD_RESOURCES.as_str())
            .is_some_and(|value| value == "true");
        let deleted = control_plane.metadata.deletion_timestamp.as_ref();
        let elapsed = deleted.map(|time| context.now().duration_since(time.0).unsigned_abs());
        let is_late = elapsed.is_none_or(|elapsed| elapsed >= CLEANUP_PATIENCE);
        if !is_asked || is_late || is_clean(&control_plane) {
            return Ok(());
        }
        Err(Failure::wait(
            "the hosted cluster to remove what it made outside of itself",
        ))
    }
}

impl ControlPlanes {
    /// Whether this process serves the control plane, and works on the release that it asks for.
    fn is_ours(&self, control_plane: &HostedControlPlane) -> bool {
        let only = self.settings.only_release.as_deref();
        serves(&self.settings.scope, control_plane)
            && only.is_none_or(|only| only == read::control_plane_image(control_plane))
    }

    async fn run(
        &self,
        context: &Context,
        control_plane: &HostedControlPlane,
        releases: &Releases,
    ) -> Result<Next, Failure> {
        let management = self.settings.facts.management(control_plane);
        write::services(context, control_plane, &management).await?;
        write::default_account(context, control_plane).await?;
        let found = self.look(control_plane, management);
        let inputs = Inputs {
            control_plane,
            release: &releases.control_plane,
            cluster_release: &releases.cluster,
            infrastructure: &found.infrastructure,
            management: &found.management,
            objects: &found.objects,
            revision: revision(control_plane),
        };
        let missing = missing_images(&inputs);
        let outcomes = if missing.is_empty() && found.infrastructure.missing.is_empty() {
            let components: Vec<&Component> = catalogue().iter().collect();
            self.driver.drive(context, &components, &inputs).await
        } else {
            Vec::new()
        };
        self.report(context, &inputs, &missing, &outcomes).await?;
        match outcomes.into_iter().find_map(|outcome| outcome.failure) {
            Some(failure) => Err(failure),
            None => Ok(next(control_plane)),
        }
    }

    fn look(&self, control_plane: &HostedControlPlane, management: Management) -> Findings {
        let namespace = control_plane.namespace().unwrap_or_default();
        let services = self.driver.services(&namespace);
        let services: Vec<_> = services.iter().map(AsRef::as_ref).collect();
        Findings {
            infrastructure: observe(control_plane, &management, &services),
            objects: self.driver.objects(&namespace),
            management,
        }
    }

    async fn report(
        &self,
        context: &Context,
        inputs: &Inputs<'_>,
        missing: &[String],
        outcomes: &[Outcome],
    ) -> Result<(), Failure> {
        let control_plane = inputs.control_plane;
        let namespace = control_plane.namespace().unwrap_or_default();
        let observed = self.driver.observe(&namespace);
        let kubeconfig = health::kubeconfig(inputs.objects);
        let health = match kubeconfig {
            Some(kubeconfig) if observed.workloads.contains_key("kube-apiserver") => {
                Some(health::check(&self.settings.reach, kubeconfig).await)
            }
            _ => None,
        };
        let unavailable: Vec<String> = outcomes
            .iter()
            .filter(|outcome| outcome.report.as_ref().is_some_and(|report| !report.available.holds))
            .map(|outcome| outcome.name.to_owned())
            .collect();
        let seen = Seen {
            control_plane,
            mistakes: &[],
            release_problems: missing,
            infrastructure: inputs.infrastructure,
            workloads: &observed.workloads,
            has_kubeconfig: kubeconfig.is_some(),
            health,
            unavailable: &unavailable,
        };
        let mut reports = observed.reports.clone();
        reports.extend(
            outcomes
                .iter()
                .filter_map(|outcome| Some((outcome.name.to_owned(), outcome.status.clone()?))),
        );
        let before = control_plane
            .status
            .as_ref()
            .and_then(|status| status.control_plane_version.as_ref());
        let version = Some(control_plane_version(inputs, &reports, before, context.now()));
        let status = status::status(&seen, inputs.objects, version, context.now());
        self.write_status(context, control_plane, &status).await
    }

    /// Says that the release cannot be used; nothing else is touched.
    async fn explain(
        &self,
        context: &Context,
        control_plane: &HostedControlPlane,
        problem: String,
    ) -> Result<Next, Failure> {
        let found = self.look(control_plane, self.settings.facts.management(control_plane));
        let namespace = control_plane.namespace().unwrap_or_default();
        let observed = self.driver.observe(&namespace);
        let seen = Seen {
            control_plane,
            mistakes: &[],
            release_problems: &[problem],
            infrastructure: &found.infrastructure,
            workloads: &observed.workloads,
            has_kubeconfig: health::kubeconfig(&found.objects).is_some(),
            health: None,
            unavailable: &[],
        };
        let before = control_plane.status.as_ref();
        let version = before.and_then(|status| status.control_plane_version.clone());
        let status = status::status(&seen, &found.objects, version, context.now());
        self.write_status(context, control_plane, &status).await?;
        Ok(Next::OnChange)
    }

    async fn write_status(
        &self,
        context: &Context,
        control_plane: &HostedControlPlane,
        status: &HostedControlPlaneStatus,
    ) -> Result<(), Failure> {
        context.apply_status(control_plane, status).await.map(drop)
    }
}

fn next(control_plane: &HostedControlPlane) -> Next {
    let is_ready = control_plane.status.as_ref().is_some_and(|status| status.ready);
    Next::After(if is_ready { LOOK_AGAIN } else { LOOK_AGAIN_SOON })
}

/// Whether the hosted cluster has cleaned up, or nobody expects it to any more.
fn is_clean(control_plane: &HostedControlPlane) -> bool {
    let conditions = control_plane.status.iter().flat_map(|status| &status.conditions);
    let mut cleanup = conditions.filter(|condition| condition.type_ == types::CLOUD_RESOURCES_DESTROYED.as_str());
    cleanup.any(|condition| {
        condition.status == "True" || condition.reason == reasons::CLOUD_RESOURCES_CLEANUP_SKIPPED.as_str()
    })
}

fn until(context: &Context, end: jiff::Timestamp) -> Duration {
    end.duration_since(context.now()).unsigned_abs()
}
