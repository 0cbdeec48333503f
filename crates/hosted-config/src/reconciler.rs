//! One run: look at the control plane, look into the hosted cluster, write what differs, report.

use std::{collections::BTreeSet, sync::Arc, time::Duration};

use hyperplane_api::{
    constants::{
        conditions::hosted_control_plane as types,
        objects::{bundles, certificates, keys, kubeconfigs, roles},
        reasons,
    },
    hyperplane::distribution_release::DistributionRelease,
    hypershift::{
        hosted_control_plane::HostedControlPlane,
        paused::pause,
        version_status::{ClusterVersionStatus, UpdateState},
    },
};
use hyperplane_component_driver::{serves, tenant};
use hyperplane_components::observe;
use hyperplane_planner::release::{Release, resolve};
use hyperplane_runtime::{
    Context, EventType, Failure, Fence, Next, Reconciler, Remote, Store,
    conditions::{Observation, holds, merge},
};
use k8s_openapi::api::core::v1::{ConfigMap, Secret, Service};
use kube::ResourceExt as _;
use serde_json::json;

use crate::{
    HostedConfigSettings, NAME, hosted,
    nodes::{self, Nodes},
    objects::{self, Wanted},
    version::{self, Progress},
};

/// How often a hosted cluster is looked into without a change on the management side. Nothing there is watched: what
/// somebody changed by hand is put back after this time at the latest.
const LOOK_AGAIN: Duration = Duration::from_mins(2);

/// The reconciler of what is inside of hosted clusters.
pub(crate) struct HostedConfig {
    pub(crate) secrets: Store<Secret>,
    pub(crate) config_maps: Store<ConfigMap>,
    pub(crate) services: Store<Service>,
    pub(crate) releases: Store<DistributionRelease>,
    pub(crate) fence: Fence,
    pub(crate) settings: HostedConfigSettings,
}

/// What one run found and did inside of the hosted cluster.
struct Visit {
    progress: Progress,
    nodes: Nodes,
}

impl Reconciler for HostedConfig {
    type Object = HostedControlPlane;

    async fn reconcile(&self, context: &Context, control_plane: Arc<HostedControlPlane>) -> Result<Next, Failure> {
        let text = control_plane.spec.paused_until.as_deref();
        let is_paused = text
            .and_then(|text| pause(text).ok())
            .is_some_and(|pause| pause.holds_at(context.now()));
        if is_paused || !serves(&self.settings.scope, &control_plane) || !answers(&control_plane) {
            return Ok(Next::OnChange);
        }
        let namespace = control_plane.namespace().unwrap_or_default();
        let context = tenant(context, &self.settings.scope, &namespace, roles::CONFIG_OPERATOR)?;
        let all = self.releases.all();
        let objects = || all.iter().map(AsRef::as_ref);
        let release = resolve(&control_plane.spec.release_image, objects()).map_err(Failure::retry)?;
        let outcome = self.visit(&context, &control_plane, &release.release).await;
        let updates = version::updates(&release.release, objects());
        self.report(&context, &control_plane, &release.release, &outcome, updates)
            .await?;
        outcome.map(|_| Next::After(LOOK_AGAIN))
    }
}

impl HostedConfig {
    async fn visit(
        &self,
        context: &Context,
        control_plane: &HostedControlPlane,
        release: &Release,
    ) -> Result<Visit, Failure> {
        let namespace = control_plane.namespace().unwrap_or_default();
        let remote = self.remote(&namespace).await?;
        let progress = self.bring_in_line(context, control_plane, release, &remote).await?;
        let services = self.services.namespace(&namespace).all();
        let services: BTreeSet<String> = services.iter().map(|service| service.name_any()).collect();
        for name in hosted::remove_webhooks(&remote, &namespace, &services).await? {
            let message = format!("Removed webhook configuration {name}: it would call the management cluster");
            context.event(EventType::Warning, "WebhookRemoved", message);
        }
        let nodes = hosted::nodes(&remote).await?;
        Ok(Visit { progress, nodes })
    }

    async fn remote(&self, namespace: &str) -> Result<Remote, Failure> {
        let secret = self.secrets.namespace(namespace).get(kubeconfigs::CONFIG_OPERATOR);
        let text = secret
            .as_ref()
            .and_then(|secret| secret.data.as_ref()?.get(keys::KUBECONFIG));
        let waits = || Failure::wait(format!("Secret {}", kubeconfigs::CONFIG_OPERATOR));
        let client = self.settings.reach.client(&text.ok_or_else(waits)?.0).await?;
        Ok(Remote::new(&client, format!("hyperplane/{NAME}"), &self.fence))
    }

    /// Writes what differs, unless the API server is still older than what would be written.
    async fn bring_in_line(
        &self,
        context: &Context,
        control_plane: &HostedControlPlane,
        release: &Release,
        remote: &Remote,
    ) -> Result<Progress, Failure> {
        let serving = hosted::version(remote).await?;
        if serving.generation() < release.kubernetes.generation() {
            let message = format!("the API server still has {}", serving.as_str());
            return Ok(Progress::Partial(message));
        }
        let namespace = control_plane.namespace().unwrap_or_default();
        let secrets = self.secrets.namespace(&namespace);
        let config_maps = self.config_maps.namespace(&namespace);
        let management = self.settings.facts.management(control_plane);
        let services = self.services.namespace(&namespace).all();
        let services: Vec<&Service> = services.iter().map(AsRef::as_ref).collect();
        let infrastructure = observe(control_plane, &management, &services);
        let needs = |what: &str| Failure::wait(what.to_owned());
        let manifests = objects::all(&Wanted {
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
        })?;
        for manifest in &manifests {
            if remote.apply(manifest).await? {
                tracing::info!(%namespace, object = manifest.title(), "Wrote an object of a hosted cluster.");
            }
        }
        let _ = context;
        Ok(control_plane_progress(control_plane))
    }

    async fn report(
        &self,
        context: &Context,
        control_plane: &HostedControlPlane,
        release: &Release,
        outcome: &Result<Visit, Failure>,
        updates: Vec<hyperplane_api::hypershift::version_status::VersionedRelease>,
    ) -> Result<(), Failure> {
        let now = context.now();
        let condition = types::CONFIG_OPERATOR_RECONCILIATION_SUCCEEDED.as_str();
        let status = control_plane.status.clone().unwrap_or_default();
        let (version, node_count, observed) = match outcome {
            Ok(visit) => {
                let version = version::version_status(control_plane, release, &visit.progress, updates, now);
                let mut observed = version::conditions(release, &version, &visit.progress);
                observed.extend(nodes::conditions(&visit.nodes, now));
                let message = "The hosted cluster has what it needs";
                observed.push(Observation::holds(condition, reasons::AS_EXPECTED.as_str(), message));
                (Some(version), Some(visit.nodes.count), observed)
            }
            Err(failure) => {
                let problem = failure.report();
                let mut observed = kept(&status.conditions);
                observed.retain(|kept| kept.type_ != types::CLUSTER_VERSION_FAILING.as_str());
                observed.push(version::failing(&problem));
                observed.push(Observation::fails(
                    condition,
                    reasons::RECONCILE_ERROR.as_str(),
                    problem,
                ));
                (status.version_status.clone(), status.node_count, observed)
            }
        };
        let generation = control_plane.metadata.generation;
        let status = json!({
            "conditions": merge(&status.conditions, observed, generation, now),
            "version": version.as_ref().map(|version: &ClusterVersionStatus| &version.desired.version),
            "versionStatus": version,
            "nodeCount": node_count,
        });
        context.apply_status(control_plane, &status).await.map(drop)
    }
}

/// Conditions that an earlier run found and this one could not look at again.
fn kept(conditions: &[k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition]) -> Vec<Observation> {
    let ours = [
        types::CLUSTER_VERSION_AVAILABLE,
        types::CLUSTER_VERSION_PROGRESSING,
        types::CLUSTER_VERSION_RELEASE_ACCEPTED,
        types::CLUSTER_VERSION_UPGRADEABLE,
        types::CLUSTER_VERSION_RETRIEVED_UPDATES,
        types::DATA_PLANE_CONNECTION_AVAILABLE,
        types::CONTROL_PLANE_CONNECTION_AVAILABLE,
    ];
    let is_ours = |type_: &str| ours.iter().any(|ours| ours.as_str() == type_);
    let found = conditions.iter().filter(|condition| is_ours(&condition.type_));
    found
        .map(|condition| Observation {
            type_: condition.type_.clone(),
            status: match condition.status.as_str() {
                "True" => Some(true),
                "False" => Some(false),
                _ => None,
            },
            reason: condition.reason.clone(),
            message: condition.message.clone(),
        })
        .collect()
}

/// Whether there is an API server to talk to.
fn answers(control_plane: &HostedControlPlane) -> bool {
    let status = control_plane.status.as_ref();
    status.is_some_and(|status| holds(&status.conditions, types::KUBE_API_SERVER_AVAILABLE.as_str()))
}

/// The cluster has its release once its control plane has it, too.
fn control_plane_progress(control_plane: &HostedControlPlane) -> Progress {
    let status = control_plane
        .status
        .as_ref()
        .and_then(|status| status.control_plane_version.as_ref());
    let newest = status.and_then(|version| version.history.first());
    match newest {
        Some(newest) if newest.state == UpdateState::Completed => Progress::Complete,
        _ => Progress::Partial("the control plane is being rolled out".to_owned()),
    }
}
