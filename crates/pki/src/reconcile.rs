//! The driver: reads, plans, writes, reports, and says when to look again.

use std::{sync::Arc, time::Duration};

use hyperplane_api::{
    constants::{
        annotations::{CONTROL_PLANE_OPERATOR_IMAGE, DISABLE_PKI_RECONCILIATION},
        objects::roles,
        ours::TENANT_OPERATORS,
    },
    hypershift::{
        hosted_control_plane::HostedControlPlane,
        paused::{Pause, pause},
    },
};
use hyperplane_components::observe;
use hyperplane_pki_issue::{Plan, plan};
use hyperplane_runtime::{Context, Failure, Identity, Next, Reconciler};
use jiff::Timestamp;
use k8s_openapi::api::core::v1::Service;
use kube::ResourceExt as _;

use crate::{
    PkiSettings, Scope,
    apply::apply,
    build::{annotation, build},
    dereference::{Stores, live},
    status::report,
};

/// How often a control plane is looked at without a reason: every change is watched, and every deadline is known.
pub(crate) const RESYNC: Duration = Duration::from_hours(24);
/// The value of the annotation of control planes that have operators of their own.
const DEDICATED: &str = "dedicated";

/// Keeps certificates issued and fresh.
pub(crate) struct Pki {
    pub(crate) stores: Stores,
    pub(crate) settings: PkiSettings,
}

impl Reconciler for Pki {
    type Object = HostedControlPlane;

    async fn reconcile(&self, context: &Context, control_plane: Arc<HostedControlPlane>) -> Result<Next, Failure> {
        if !self.is_served(&control_plane) || annotation(&control_plane, DISABLE_PKI_RECONCILIATION).is_some() {
            return Ok(Next::OnChange);
        }
        let now = context.now();
        match paused(&control_plane)? {
            Pause::Forever => return Ok(Next::OnChange),
            Pause::Until(end) if now < end => return Ok(after(now, end)),
            Pause::Until(_) | Pause::No => {}
        }
        let namespace = control_plane.namespace().unwrap_or_default();
        let context = self.as_tenant(context, &namespace)?;
        let services = self.stores.services(&namespace);
        let services: Vec<&Service> = services.iter().map(AsRef::as_ref).collect();
        let infrastructure = observe(&control_plane, &self.settings.management, &services);
        let built = build(&control_plane, &infrastructure);
        let mut planned = plan(&built.wanted, &self.stores.existing(&namespace), now);
        if has_work(&planned) {
            let existing = live(&context, &namespace).await?;
            planned = plan(&built.wanted, &existing, now);
            apply(&context, &planned, &built.wanted, &existing, now).await?;
        }
        for what in &planned.waiting {
            tracing::debug!(%namespace, %what, "Waiting.");
        }
        report(&context, &control_plane, &planned.problems, &built.mistakes).await?;
        Ok(after(now, planned.next_look))
    }
}

impl Pki {
    /// Whether this process serves the control plane. An operator image of its own means operators of its own.
    fn is_served(&self, control_plane: &HostedControlPlane) -> bool {
        let is_dedicated = annotation(control_plane, TENANT_OPERATORS) == Some(DEDICATED)
            || annotation(control_plane, CONTROL_PLANE_OPERATOR_IMAGE).is_some_and(|image| !image.is_empty());
        matches!(self.settings.scope, Scope::Dedicated(_)) || !is_dedicated
    }

    fn as_tenant(&self, context: &Context, namespace: &str) -> Result<Context, Failure> {
        match self.settings.scope {
            Scope::Shared => {
                let identity = Identity::new(namespace, roles::PKI_OPERATOR).map_err(Failure::fatal)?;
                Ok(context.acting_as(identity))
            }
            Scope::Dedicated(_) => Ok(context.clone()),
        }
    }
}

fn has_work(plan: &Plan) -> bool {
    !plan.issue.is_empty() || !plan.unwanted.is_empty()
}

fn paused(control_plane: &HostedControlPlane) -> Result<Pause, Failure> {
    let Some(text) = control_plane
        .spec
        .paused_until
        .as_deref()
        .filter(|text| !text.is_empty())
    else {
        return Ok(Pause::No);
    };
    pause(text).map_err(|_| {
        let rule = "must be true, false, or a time in RFC 3339";
        Failure::user(
            "spec.pausedUntil",
            rule,
            "write a time such as 2030-01-31T08:00:00Z; nothing is issued until then",
        )
    })
}

fn after(now: Timestamp, time: Timestamp) -> Next {
    let wait = Duration::try_from(time.duration_since(now)).unwrap_or_default();
    if wait > RESYNC {
        Next::OnChange
    } else {
        Next::After(wait)
    }
}
