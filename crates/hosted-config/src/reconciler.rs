//! One run: look at the control plane, look into the hosted cluster, write what differs, report.

use std::{collections::BTreeSet, future::Future, sync::Arc, time::Duration};

use hyperplane_api::{
    cluster_api::machine::Machine,
    constants::{
        conditions::hosted_control_plane as types,
        labels,
        objects::{bundles, certificates, keys, kubeconfigs, roles},
    },
    hyperplane::distribution_release::DistributionRelease,
    hypershift::hosted_control_plane::HostedControlPlane,
};
use hyperplane_component_driver::{deleted_for, is_cleanup_over, rests, tenant, wants_cleanup};
use hyperplane_components::observe;
use hyperplane_planner::release::{Release, Shelf};
use hyperplane_runtime::{
    Context, EventType, Failure, Fence, Manifest, Next, Reconciler, Remote, Store, conditions::holds,
};
use k8s_openapi::{
    ByteString,
    api::core::v1::{ConfigMap, Secret, Service},
};
use kube::ResourceExt as _;

use crate::{
    HostedConfigSettings,
    ending::{self, Removal},
    hosted, new_nodes,
    objects::{self, Wanted},
    requeue::requeue_after,
    status::{self, Visit},
    version,
};

/// How soon a hosted cluster that goes away is looked into again.
const REMOVAL_POLL_INTERVAL: Duration = Duration::from_secs(15);
/// How long one look may take. A connection whose other end is gone says nothing, and the run has a deadline of its own.
const PATIENCE: Duration = Duration::from_secs(90);

/// The reconciler of what is inside of hosted clusters.
pub(crate) struct HostedConfig {
    pub(crate) secrets: Store<Secret>,
    pub(crate) config_maps: Store<ConfigMap>,
    pub(crate) services: Store<Service>,
    pub(crate) releases: Store<DistributionRelease>,
    pub(crate) machines: Store<Machine>,
    pub(crate) shelf: Shelf,
    pub(crate) fence: Fence,
    pub(crate) settings: HostedConfigSettings,
}

impl Reconciler for HostedConfig {
    type Object = HostedControlPlane;

    /// Whoever runs the components guards the end of a control plane, and waits for what is reported from here.
    const SEES_DELETION: bool = true;

    async fn reconcile(&self, context: &Context, control_plane: Arc<HostedControlPlane>) -> Result<Next, Failure> {
        if !self.settings.serves(&control_plane) {
            return Ok(Next::OnChange);
        }
        let namespace = control_plane.namespace().unwrap_or_default();
        let context = tenant(context, &self.settings.scope, &namespace, roles::CONFIG_OPERATOR)?;
        if let Some(elapsed) = deleted_for(&control_plane, context.now()) {
            return self.end(&context, &control_plane, elapsed).await;
        }
        match rests(&control_plane, context.now()) {
            Some(next) => Ok(next),
            None if answers(&control_plane) => self.run(&context, &control_plane).await,
            None => Ok(Next::OnChange),
        }
    }
}

impl HostedConfig {
    async fn run(&self, context: &Context, control_plane: &HostedControlPlane) -> Result<Next, Failure> {
        let all = self.releases.all();
        let objects = || all.iter().map(AsRef::as_ref);
        let image = &control_plane.spec.release_image;
        let release = self.shelf.resolve(image, objects()).map_err(Failure::retry)?;
        let release = release.release.as_ref();
        let visit = self
            .in_time(control_plane, self.visit(context, control_plane, release))
            .await;
        let now = context.now();
        let visit = match visit {
            Ok(visit) => visit,
            Err(failure) => {
                let status = status::failed(control_plane, &failure, now);
                context.carry_status(control_plane, &status).await?;
                return Err(failure);
            }
        };
        let updates = version::updates(release, &self.shelf.releases(objects()));
        let status = status::looked(control_plane, release, &visit, updates, now);
        context.apply_status(control_plane, &status).await?;
        Ok(Next::After(requeue_after(control_plane, &visit, now)))
    }

    /// Removes what the hosted cluster made outside of itself, where that is asked for, and tells how far it has come.
    async fn end(
        &self,
        context: &Context,
        control_plane: &HostedControlPlane,
        elapsed: Duration,
    ) -> Result<Next, Failure> {
        if !wants_cleanup(control_plane) || is_cleanup_over(control_plane) {
            return Ok(Next::OnChange);
        }
        let removal = if answers(control_plane) {
            let namespace = control_plane.namespace().unwrap_or_default();
            let remaining = async { hosted::remove_cloud_resources(&self.remote(context, &namespace).await?).await };
            match self.in_time(control_plane, remaining).await {
                Ok(remaining) => Removal::Remaining(remaining),
                Err(failure) => Removal::Failed(failure.report()),
            }
        } else {
            Removal::Impossible
        };
        let now = context.now();
        let status = status::ending(control_plane, ending::observe(&removal, elapsed), now);
        context.carry_status(control_plane, &status).await?;
        Ok(Next::After(REMOVAL_POLL_INTERVAL))
    }

    /// A look that ends. After one that went wrong the next begins with a connection of its own.
    async fn in_time<T>(
        &self,
        control_plane: &HostedControlPlane,
        look: impl Future<Output = Result<T, Failure>> + Send,
    ) -> Result<T, Failure> {
        let silent = || {
            format!(
                "the hosted API server did not answer within {} seconds",
                PATIENCE.as_secs()
            )
        };
        let looked = tokio::time::timeout(PATIENCE, look).await;
        let looked = looked.unwrap_or_else(|_| Err(Failure::retry(silent())));
        if looked.is_err()
            && let Some(kubeconfig) = kubeconfig(&self.secrets, &control_plane.namespace().unwrap_or_default())
        {
            self.settings.reach.forget(&kubeconfig.0);
        }
        looked
    }

    async fn visit(
        &self,
        context: &Context,
        control_plane: &HostedControlPlane,
        release: &Release,
    ) -> Result<Visit, Failure> {
        let namespace = control_plane.namespace().unwrap_or_default();
        let remote = self.remote(context, &namespace).await?;
        let held_up = self.bring_in_line(control_plane, release, &remote).await?;
        for name in hosted::remove_webhooks(&remote, &namespace, &self.closed_services(&namespace)).await? {
            let message = format!("Removed webhook configuration {name}: it would call the management cluster");
            context.event(EventType::Warning, "WebhookRemoved", message);
        }
        let rollouts = hosted::rollouts(&remote).await?;
        let has_machines = !self.machines.namespace(&namespace).all().is_empty();
        let nodes = hosted::nodes(&remote, &rollouts, has_machines, context.now()).await?;
        let machine_of = |node: &str| new_nodes::machine_of(&self.machines, &namespace, node);
        let (manager, now) = (context.field_manager(), context.now());
        new_nodes::catch_up(&remote, manager, machine_of, &nodes.unmarked, now).await;
        Ok(Visit {
            held_up,
            rollouts,
            nodes,
        })
    }

    /// Services of the control plane that webhooks of the hosted cluster must not call.
    fn closed_services(&self, namespace: &str) -> BTreeSet<String> {
        let services = self.services.namespace(namespace).all();
        let allow = labels::ALLOW_GUEST_WEBHOOKS.as_str();
        let closed = services.iter().filter(|service| !service.labels().contains_key(allow));
        closed.map(|service| service.name_any()).collect()
    }

    async fn remote(&self, context: &Context, namespace: &str) -> Result<Remote, Failure> {
        let waits = || Failure::wait(format!("Secret {}", kubeconfigs::CONFIG_OPERATOR));
        let kubeconfig = kubeconfig(&self.secrets, namespace).ok_or_else(waits)?;
        let client = self.settings.reach.client(&kubeconfig.0).await?;
        Ok(Remote::new(&client, context.field_manager(), &self.fence))
    }

    /// Writes what differs, unless the API server is still older than what would be written: then it says so.
    async fn bring_in_line(
        &self,
        control_plane: &HostedControlPlane,
        release: &Release,
        remote: &Remote,
    ) -> Result<Option<String>, Failure> {
        let serving = hosted::version(remote).await?;
        if serving.generation() < release.kubernetes.generation() {
            return Ok(Some(format!("the API server still has {}", serving.as_str())));
        }
        let namespace = control_plane.namespace().unwrap_or_default();
        for manifest in self.manifests(control_plane, release, &namespace)? {
            if remote.apply(&manifest).await? {
                tracing::info!(%namespace, object = manifest.title(), "Wrote an object of a hosted cluster.");
            }
        }
        Ok(None)
    }

    /// Everything that belongs into the hosted cluster.
    fn manifests(
        &self,
        control_plane: &HostedControlPlane,
        release: &Release,
        namespace: &str,
    ) -> Result<Vec<Manifest>, Failure> {
        let secrets = self.secrets.namespace(namespace);
        let config_maps = self.config_maps.namespace(namespace);
        let management = self.settings.facts.management(control_plane);
        let services = self.services.namespace(namespace).all();
        let services: Vec<&Service> = services.iter().map(AsRef::as_ref).collect();
        let infrastructure = observe(control_plane, &management, &services);
        let needs = |what: &str| Failure::wait(what.to_owned());
        objects::all(&Wanted {
            control_plane,
            release,
            api_server: infrastructure
                .api_server
                .as_ref()
                .ok_or_else(|| needs("the address of the API server"))?,
            konnectivity: infrastructure
                .konnectivity
                .as_ref()
                .ok_or_else(|| needs("the address of konnectivity"))?,
            konnectivity_authority: config_maps
                .get(bundles::KONNECTIVITY)
                .as_deref()
                .ok_or_else(|| needs("ConfigMap konnectivity-ca-bundle"))?,
            konnectivity_agent: secrets
                .get(certificates::KONNECTIVITY_AGENT)
                .as_deref()
                .ok_or_else(|| needs("Secret konnectivity-agent"))?,
        })
    }
}

/// By what the hosted cluster of a namespace is reached, once that exists.
pub(crate) fn kubeconfig(secrets: &Store<Secret>, namespace: &str) -> Option<ByteString> {
    let secret = secrets.namespace(namespace).get(kubeconfigs::CONFIG_OPERATOR)?;
    secret.data.as_ref()?.get(keys::KUBECONFIG).cloned()
}

/// Whether there is an API server to talk to.
pub(crate) fn answers(control_plane: &HostedControlPlane) -> bool {
    let status = control_plane.status.as_ref();
    status.is_some_and(|status| holds(&status.conditions, types::KUBE_API_SERVER_AVAILABLE.as_str()))
}
