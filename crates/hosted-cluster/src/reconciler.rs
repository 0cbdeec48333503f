//! One run: look, complete, judge, make, report. Decisions are made elsewhere.

use hyperplane_api::hypershift::paused::{PauseState, PausedUntil};
use std::{
    sync::{Arc, Once},
    time::Duration,
};

use hyperplane_api::{
    constants::{finalizers, objects::keys},
    hypershift::hosted_cluster::HostedCluster,
};
use hyperplane_component_driver::Driver;
use hyperplane_components::{Infrastructure, observe};
use hyperplane_platforms::Infrastructure as PlatformInfrastructure;
use hyperplane_runtime::{Api, Context, Failure, Next, ObjectKey, Reconciler};
use jiff::Timestamp;
use k8s_openapi::{ByteString, api::core::v1::Secret};
use kube::{Resource as _, ResourceExt as _, api::PostParams};

use crate::{
    apply,
    build::{self, Blueprint},
    components, defaults, deletion,
    dereference::{Seen, dereference},
    elsewhere::Elsewhere,
    metadata, names, recovery,
    settings::HostedClusterSettings,
    status::{self, Report},
    stores::Stores,
    sweep,
    user_ids::UserIds,
    validate::{Case, ReleasePair, Verdict, validate},
};

/// How many bytes a key for Secrets in etcd has that is made for a user.
const ENCRYPTION_KEY_BYTES: usize = 32;

/// The reconciler of HostedClusters.
pub(crate) struct HostedClusters {
    pub(crate) driver: Driver,
    pub(crate) stores: Stores,
    pub(crate) settings: HostedClusterSettings,
    pub(crate) user_ids: UserIds,
    pub(crate) elsewhere: Elsewhere,
    /// Whether it was said that nothing is known of the networks of the management cluster.
    pub(crate) warned: Once,
}

impl Reconciler for HostedClusters {
    type Object = HostedCluster;

    const FINALIZER: Option<&'static str> = Some(finalizers::HYPERSHIFT.as_str());
    const SWEEPS: bool = true;

    async fn reconcile(&self, context: &Context, cluster: Arc<HostedCluster>) -> Result<Next, Failure> {
        let now = context.now();
        let pause = PauseState::of(cluster.spec.paused_until.as_ref().map(PausedUntil::as_str), now);
        let mut seen = dereference(context, &self.stores, &self.driver, &self.settings.networks, &cluster).await?;
        self.warn_once(&seen);
        if !pause.is_paused()
            && let Some(completion) = defaults::complete(&cluster, &seen, &self.settings)
        {
            self.complete(context, &cluster, &completion).await?;
            // The cluster is another one now, and its change brings the next run.
            return Ok(Next::OnChange);
        }
        let verdict = validate(&Case {
            cluster: &cluster,
            seen: &seen,
            settings: &self.settings,
            now,
        });
        let result = self.act(context, &cluster, &mut seen, &verdict, &pause).await;
        let visit = if verdict.allows() && !pause.is_paused() {
            let networks = &self.settings.networks;
            self.elsewhere.keep(context, &cluster, networks, &mut seen).await
        } else {
            None
        };
        self.report(context, &cluster, &seen, &verdict, &pause, result.as_ref().err(), now)
            .await?;
        let again = [visit, recovery::look_again(seen.etcd.as_ref())];
        end(result, &pause, again.into_iter().flatten().min())
    }

    async fn cleanup(&self, context: &Context, cluster: Arc<HostedCluster>) -> Result<(), Failure> {
        let mut remains = deletion::look(context, &self.stores, &cluster, self.settings.facts.runs_machines).await?;
        if deletion::is_without_machines(&remains.facts) {
            let site = remains.site.as_ref();
            remains.facts.unanswered = self.elsewhere.leave(context, &cluster, site).await;
        }
        let step = deletion::next(&remains.facts);
        let done = deletion::carry_out(context, &self.stores, &cluster, &remains, &step).await;
        let status = status::deleting(&cluster, remains.control_plane.as_deref(), &step, context.now());
        if let Some(status) = status {
            context.apply_status(cluster.as_ref(), &status).await?;
        }
        done?;
        if step.is_last() {
            self.user_ids.forget(&names::namespace_of(&cluster));
        }
        step.into_result()
    }

    async fn sweep(&self, context: &Context, key: &ObjectKey) -> Result<(), Failure> {
        sweep::sweep(context, &self.stores, key).await
    }
}

/// How a run ends. What is on another cluster announces nothing, and is visited again whatever else is waited for.
fn end(result: Result<(), Failure>, pause: &PauseState, visit: Option<Duration>) -> Result<Next, Failure> {
    match (result, visit) {
        (Err(Failure::Wait(what)), Some(after)) => Err(Failure::wait_until(what, after)),
        (Err(failure), _) => Err(failure),
        (Ok(()), visit) => Ok(next(pause, visit)),
    }
}

/// A pause with an end is looked at again then, another cluster or a member of etcd after a while; everything else
/// announces itself.
fn next(pause: &PauseState, visit: Option<Duration>) -> Next {
    let left = match pause {
        PauseState::Paused { left, .. } => *left,
        _ => None,
    };
    left.or(visit).map_or(Next::OnChange, Next::After)
}

impl HostedClusters {
    /// Without a network to close, tenants reach whatever the management cluster lets them.
    fn warn_once(&self, seen: &Seen) {
        if seen.closed_networks.is_empty() {
            self.warned.call_once(|| {
                tracing::warn!(
                    "Nothing is known of the networks of the management cluster: control planes are not kept from them. \
                     Name them with --management-network."
                );
            });
        }
    }

    /// Writes back what was chosen for a cluster.
    async fn complete(
        &self,
        context: &Context,
        cluster: &HostedCluster,
        completion: &defaults::Completion,
    ) -> Result<(), Failure> {
        if let Some(name) = &completion.encryption_secret {
            self.make_encryption_key(context, cluster, name).await?;
        }
        context.apply(&completion.intent).await.map(drop)
    }

    /// Created and never changed: a key that data is encrypted with must not be replaced, and two runs must not make two.
    async fn make_encryption_key(&self, context: &Context, cluster: &HostedCluster, name: &str) -> Result<(), Failure> {
        let namespace = cluster.namespace().unwrap_or_default();
        let api: Api<Secret> = Api::namespaced(context.client().clone(), &namespace);
        if api.get_metadata_opt(name).await?.is_some() {
            return Ok(());
        }
        let key: [u8; ENCRYPTION_KEY_BYTES] = self.settings.entropy.bytes();
        let mut metadata = metadata::in_namespace(cluster, &namespace, name);
        metadata.owner_references = cluster.owner_ref(&()).map(|owner| vec![owner]);
        let secret = Secret {
            metadata,
            type_: Some("Opaque".to_owned()),
            data: Some([(keys::ENCRYPTION_KEY.to_owned(), ByteString(key.into()))].into()),
            ..Secret::default()
        };
        match api.create(&PostParams::default(), &secret).await {
            Ok(_) => Ok(()),
            Err(kube::Error::Api(status)) if status.is_already_exists() => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    /// Does what the cluster allows: nothing but the pause where it is paused, nothing where something is wrong with it.
    async fn act(
        &self,
        context: &Context,
        cluster: &HostedCluster,
        seen: &mut Seen,
        verdict: &Verdict,
        pause: &PauseState,
    ) -> Result<(), Failure> {
        if let PauseState::Paused { text, .. } = pause {
            return apply::pause(context, seen, text).await;
        }
        match &verdict.releases {
            Some(pair) if verdict.allows() => self.make(context, cluster, seen, pair).await,
            _ => Ok(()),
        }
    }

    async fn make(
        &self,
        context: &Context,
        cluster: &HostedCluster,
        seen: &mut Seen,
        pair: &ReleasePair,
    ) -> Result<(), Failure> {
        let platform = hyperplane_platforms::of(&cluster.spec).map_err(Failure::fatal)?;
        let namespace = names::namespace_of(cluster);
        let user_id = if self.settings.assigns_user_ids {
            Some(self.user_ids.of(&self.stores, &namespace, seen.namespace.as_deref())?)
        } else {
            None
        };
        let infrastructure = self.infrastructure(seen);
        let of_cluster_api = components::of_cluster_api(cluster, pair, platform, &self.settings.facts);
        let desired = build::build(&Blueprint {
            cluster,
            infra_id: cluster.spec.infra_id.as_ref().map_or("", |id| id.as_str()),
            namespace: &namespace,
            seen,
            settings: &self.settings,
            platform,
            user_id,
            ignition_endpoint: status::ignition_endpoint(infrastructure.as_ref()).as_deref(),
            of_cluster_api,
        });
        seen.control_plane = apply::apply(context, &self.stores, cluster, seen, &desired).await?;
        self.run_components(context, cluster, seen, pair).await?;
        components::hold(context, &self.stores, &namespace, of_cluster_api).await?;
        match desired.infrastructure {
            PlatformInfrastructure::Waiting(what) => Err(Failure::wait(what)),
            PlatformInfrastructure::None | PlatformInfrastructure::Object(_) => Ok(()),
        }
    }

    async fn run_components(
        &self,
        context: &Context,
        cluster: &HostedCluster,
        seen: &Seen,
        pair: &ReleasePair,
    ) -> Result<(), Failure> {
        let (Some(control_plane), Some(infrastructure)) = (&seen.control_plane, self.infrastructure(seen)) else {
            return Err(Failure::wait("the control plane that was just written to show up"));
        };
        let facts = &self.settings.facts;
        let shown = Box::new(components::with_platform(control_plane, cluster));
        components::drive(context, &self.driver, facts, &shown, &infrastructure, seen, pair).await
    }

    /// Where the control plane is reached.
    fn infrastructure(&self, seen: &Seen) -> Option<Infrastructure> {
        let control_plane = seen.control_plane.as_ref()?;
        let services: Vec<_> = seen.services.iter().map(AsRef::as_ref).collect();
        let management = self.settings.facts.management(control_plane);
        Some(observe(control_plane, &management, &services))
    }

    #[allow(clippy::too_many_arguments, reason = "everything that a report is made from")]
    async fn report(
        &self,
        context: &Context,
        cluster: &HostedCluster,
        seen: &Seen,
        verdict: &Verdict,
        pause: &PauseState,
        failure: Option<&Failure>,
        now: Timestamp,
    ) -> Result<(), Failure> {
        let infrastructure = self.infrastructure(seen);
        let status = status::status(&Report {
            cluster,
            seen,
            verdict,
            pause,
            failure,
            infrastructure: infrastructure.as_ref(),
            now,
        });
        context.apply_status(cluster, &status).await.map(drop)
    }
}
