//! One run: look, publish, drive the components, report. Decisions are made elsewhere.

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use hyperplane_api::{
    constants::{
        finalizers,
        objects::{components, roles},
    },
    hyperplane::distribution_release::DistributionRelease,
    hypershift::{control_plane_component::ControlPlaneComponentStatus, hosted_control_plane::HostedControlPlane},
};
use hyperplane_component_driver::{
    CLEANUP_PATIENCE, Driver, Outcome, deleted_for, is_cleanup_over, rests, revision, serves, tenant, wants_cleanup,
};
use hyperplane_components::{
    Component, Infrastructure, Inputs, Management, Objects, Observed, RENDER_REVISION, Warning, catalogue,
    control_plane_version, encryption_up_to_date, missing_images, observe, warnings,
};
use hyperplane_planner::release::Shelf;
use hyperplane_runtime::{Context, EventType, Failure, Next, Reconciler, Store};
use kube::ResourceExt as _;

use crate::{
    ControlPlaneSettings, apply, balancers,
    conditions::{Seen, is_new_warning, unavailable},
    dereference::{self, Releases},
    health, status,
};

/// How often a control plane that serves is asked whether it still does: nothing else would tell.
const LOOK_AGAIN: Duration = Duration::from_mins(1);
/// How often one that does not serve yet is asked.
const LOOK_AGAIN_SOON: Duration = Duration::from_secs(15);
/// How long it is waited for the word that time is up, before the control plane goes without it.
const LAST_WORD: Duration = Duration::from_mins(1);

/// The reconciler of HostedControlPlanes.
pub(crate) struct ControlPlanes {
    pub(crate) driver: Driver,
    pub(crate) releases: Store<DistributionRelease>,
    pub(crate) shelf: Shelf,
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
        if let Some(next) = rests(&control_plane, context.now()) {
            return Ok(next);
        }
        let namespace = control_plane.namespace().unwrap_or_default();
        let context = tenant(context, &self.settings.scope, &namespace, roles::CONTROL_PLANE_OPERATOR)?;
        let releases = dereference::releases(&control_plane, &self.releases, &self.shelf);
        match releases {
            Ok(releases) => self.run(&context, &control_plane, &releases).await,
            Err(error) => self.explain(&context, &control_plane, error.to_string()).await,
        }
    }

    async fn cleanup(&self, context: &Context, control_plane: Arc<HostedControlPlane>) -> Result<(), Failure> {
        // Everything in the namespace goes with its owner; only what the hosted cluster made elsewhere needs time.
        let elapsed = deleted_for(&control_plane, context.now());
        let is_late = elapsed.is_none_or(|elapsed| elapsed >= CLEANUP_PATIENCE + LAST_WORD);
        if !wants_cleanup(&control_plane) || is_late || is_cleanup_over(&control_plane) {
            return Ok(());
        }
        let what = "the hosted cluster to remove what it made outside of itself";
        Err(Failure::wait_until(what, LOOK_AGAIN_SOON))
    }
}

impl ControlPlanes {
    /// Whether this process serves the control plane, and works on the release that it asks for.
    fn is_ours(&self, control_plane: &HostedControlPlane) -> bool {
        let only = self.settings.only_release.as_deref();
        serves(&self.settings.scope, control_plane)
            && only.is_none_or(|only| only == dereference::control_plane_image(control_plane))
    }

    async fn run(
        &self,
        context: &Context,
        control_plane: &HostedControlPlane,
        releases: &Releases,
    ) -> Result<Next, Failure> {
        let management = self.settings.facts.management(control_plane);
        apply::services(context, control_plane, &management).await?;
        apply::default_account(context, control_plane).await?;
        let found = self.look(control_plane, management);
        let inputs = Inputs {
            control_plane,
            release: &releases.control_plane,
            cluster_release: &releases.cluster,
            infrastructure: &found.infrastructure,
            management: &found.management,
            objects: &found.objects,
            revision: revision(control_plane),
            newest_revision: RENDER_REVISION,
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
        let reports = latest(&observed, outcomes);
        let warnings = warnings(inputs);
        let seen = Seen {
            warnings: &warnings,
            release_problems: missing,
            unavailable: &unavailable(&reports),
            encryption: encryption_up_to_date(inputs, observed.workloads.get(components::API_SERVER)),
            health: self.health(inputs.objects, &observed).await,
            troubles: &self.troubles(context, &namespace, inputs.infrastructure).await,
            ..Seen::new(
                control_plane,
                inputs.infrastructure,
                inputs.objects,
                &observed.workloads,
            )
        };
        warn(context, control_plane, &warnings);
        let before = control_plane.status.as_ref();
        let before = before.and_then(|status| status.control_plane_version.as_ref());
        let version = control_plane_version(inputs, &reports, before, context.now());
        let status = status::status(&seen, inputs.objects, Some(version), context.now());
        context.apply_status(control_plane, &status).await.map(drop)
    }

    /// What the published endpoint answers, as soon as there is somebody to answer.
    async fn health(&self, objects: &Objects, observed: &Observed) -> Option<Result<(), String>> {
        let kubeconfig = health::kubeconfig(objects)?;
        if !observed.workloads.contains_key(components::API_SERVER) {
            return None;
        }
        Some(health::check(&self.settings.reach, kubeconfig).await)
    }

    /// What those who make load balancers say, while an address is missing. They say it in events only; one that cannot
    /// be read takes nothing from what is known.
    async fn troubles(&self, context: &Context, namespace: &str, infrastructure: &Infrastructure) -> Vec<String> {
        if infrastructure.missing.is_empty() {
            return Vec::new();
        }
        let services = self.driver.services(namespace);
        let mut troubles = Vec::new();
        for name in balancers::without_address(services.iter().map(AsRef::as_ref)) {
            match dereference::events_of_service(context, namespace, &name).await {
                Ok(events) => troubles.extend(balancers::trouble(&name, &events)),
                Err(failure) => {
                    tracing::debug!(%namespace, service = name, error = %failure.report(), "Read no events.");
                }
            }
        }
        troubles
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
            release_problems: &[problem],
            ..Seen::new(
                control_plane,
                &found.infrastructure,
                &found.objects,
                &observed.workloads,
            )
        };
        let before = control_plane.status.as_ref();
        let version = before.and_then(|status| status.control_plane_version.clone());
        let status = status::status(&seen, &found.objects, version, context.now());
        context.carry_status(control_plane, &status).await?;
        Ok(Next::OnChange)
    }
}

/// What every component reports, those of the manager too: as stored, and as this run left it.
fn latest(observed: &Observed, outcomes: &[Outcome]) -> BTreeMap<String, ControlPlaneComponentStatus> {
    let mut reports = observed.reports.clone();
    for outcome in outcomes {
        match &outcome.status {
            Some(status) => reports.insert(outcome.name.to_owned(), status.clone()),
            None => reports.remove(outcome.name),
        };
    }
    reports
}

/// Says once what is not carried out as it was asked for.
fn warn(context: &Context, control_plane: &HostedControlPlane, warnings: &[Warning]) {
    for warning in warnings.iter().filter(|warning| is_new_warning(control_plane, warning)) {
        context.event(EventType::Warning, "NotAsAskedFor", warning.to_string());
    }
}

fn next(control_plane: &HostedControlPlane) -> Next {
    let is_ready = control_plane.status.as_ref().is_some_and(|status| status.ready);
    Next::After(if is_ready { LOOK_AGAIN } else { LOOK_AGAIN_SOON })
}
