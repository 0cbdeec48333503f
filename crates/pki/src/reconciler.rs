//! The driver: reads, plans, writes, reports, and says when to look again.

use std::{sync::Arc, time::Duration};

use hyperplane_api::{
    constants::{annotations::DISABLE_PKI_RECONCILIATION, objects::roles},
    hypershift::hosted_control_plane::HostedControlPlane,
};
use hyperplane_component_driver::{rests, serves, tenant};
use hyperplane_components::observe;
use hyperplane_pki_issue::{Plan, plan};
use hyperplane_runtime::{Context, Failure, Next, Reconciler};
use jiff::Timestamp;
use k8s_openapi::api::core::v1::Service;
use kube::ResourceExt as _;

use crate::{
    PkiSettings,
    apply::apply,
    build::build,
    dereference::{Stores, live},
    status::report,
};

/// How often a control plane is looked at without a reason: every change is watched, and every deadline is known.
pub(crate) const RESYNC: Duration = Duration::from_hours(24);

/// Keeps certificates issued and fresh.
pub(crate) struct Pki {
    pub(crate) stores: Stores,
    pub(crate) settings: PkiSettings,
}

impl Reconciler for Pki {
    type Object = HostedControlPlane;

    async fn reconcile(&self, context: &Context, control_plane: Arc<HostedControlPlane>) -> Result<Next, Failure> {
        let PkiSettings { scope, facts } = &self.settings;
        if !serves(scope, &control_plane) || DISABLE_PKI_RECONCILIATION.of(control_plane.as_ref()).is_some() {
            return Ok(Next::OnChange);
        }
        let now = context.now();
        if let Some(next) = rests(&control_plane, now) {
            return Ok(next);
        }
        let namespace = control_plane.namespace().unwrap_or_default();
        let context = tenant(context, scope, &namespace, roles::PKI_OPERATOR)?;
        let services = self.stores.services(&namespace);
        let services: Vec<&Service> = services.iter().map(AsRef::as_ref).collect();
        let infrastructure = observe(&control_plane, &facts.management(&control_plane), &services);
        let built = build(&control_plane, &infrastructure);
        let mut planned = plan(&built.wanted, &self.stores.existing(&namespace), now);
        if has_work(&planned) {
            let existing = live(&context, &namespace).await?;
            planned = plan(&built.wanted, &existing, now);
            apply(&context, &planned, &built.wanted, &existing, now).await?;
        }
        report(&context, &control_plane, &planned, &built.mistakes).await?;
        Ok(after(now, planned.next_look))
    }
}

fn has_work(plan: &Plan) -> bool {
    !plan.issue.is_empty() || !plan.unwanted.is_empty()
}

fn after(now: Timestamp, time: Timestamp) -> Next {
    let wait = Duration::try_from(time.duration_since(now)).unwrap_or_default();
    if wait > RESYNC {
        Next::OnChange
    } else {
        Next::After(wait)
    }
}
