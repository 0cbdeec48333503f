//! Components that the manager runs in the namespace of a control plane, and the finalizer that keeps those of Cluster API
//! alive until their machines are gone.

use std::sync::Arc;

use hyperplane_api::{
    constants::{annotations, finalizers, objects::components},
    hypershift::{hosted_cluster::HostedCluster, hosted_control_plane::HostedControlPlane},
};
use hyperplane_component_driver::{Driver, Facts, revision};
use hyperplane_components::{
    Component, Decision, Infrastructure, Inputs, Management, RENDER_REVISION, etcd_recovery, etcd_recovery_over,
    manager_catalogue, release_image,
};
use hyperplane_platforms::Platform;
use hyperplane_runtime::{Api, Context, Failure};
use k8s_openapi::api::apps::v1::Deployment;
use kube::{
    ResourceExt as _,
    api::{Patch, PatchParams},
};
use serde_json::json;

use crate::{
    dereference::Seen,
    recovery::{self, Etcd, Recovery},
    stores::Stores,
    validate::ReleasePair,
};

/// Deployments whose pods must outlive the machines.
pub(crate) const KEPT: [&str; 2] = [components::CLUSTER_API, components::CLUSTER_API_PROVIDER];

/// Which of them run for a cluster. The provider does where the platform has one and the release carries it; the manager of
/// Cluster API does beside it, unless our own controllers do its work. A provider without either would be of no use.
pub(crate) fn of_cluster_api(
    cluster: &HostedCluster,
    pair: &ReleasePair,
    platform: &dyn Platform,
    facts: &Facts,
) -> &'static [&'static str] {
    let Some(provider) = platform.provider() else {
        return &[];
    };
    let platform = &cluster.spec.platform.type_;
    let has = |component: &str| release_image(component, &pair.control_plane, cluster, platform).is_some();
    if annotations::DISABLE_MACHINE_MANAGEMENT.is_true(cluster) || !has(provider.component) {
        return &[];
    }
    if facts.runs_machines {
        return &[components::CLUSTER_API_PROVIDER];
    }
    if has(components::CLUSTER_API) {
        return &KEPT;
    }
    &[]
}

/// The control plane with the platform of its cluster, which is what its machines have: one with agents is itself of none.
pub(crate) fn with_platform(control_plane: &HostedControlPlane, cluster: &HostedCluster) -> HostedControlPlane {
    let mut shown = control_plane.clone();
    shown.spec.platform.clone_from(&cluster.spec.platform);
    shown
}

/// Brings the components in line.
pub(crate) async fn drive(
    context: &Context,
    driver: &Driver,
    facts: &Facts,
    control_plane: &HostedControlPlane,
    infrastructure: &Infrastructure,
    seen: &Seen,
    pair: &ReleasePair,
) -> Result<(), Failure> {
    let management = facts.management(control_plane);
    let inputs = Inputs {
        control_plane,
        release: &pair.control_plane,
        cluster_release: &pair.cluster,
        infrastructure,
        management: &management,
        objects: &seen.objects,
        revision: revision(control_plane),
        newest_revision: RENDER_REVISION,
    };
    let components: Vec<&Component> = manager_catalogue().iter().collect();
    let outcomes = driver.drive(context, &components, &inputs).await;
    let failure = outcomes.into_iter().find_map(|outcome| outcome.failure);
    let recovered = match &seen.etcd {
        Some(etcd) => recover(context, driver, &facts.image, &inputs, etcd).await,
        None => Ok(()),
    };
    failure.map_or(recovered, Err)
}

/// Brings back a member of etcd that keeps failing. The image is that of this program, whatever the control plane is
/// rendered with: one that is older may not have the program.
async fn recover(
    context: &Context,
    driver: &Driver,
    image: &str,
    inputs: &Inputs<'_>,
    etcd: &Etcd,
) -> Result<(), Failure> {
    let management = Management {
        image: image.to_owned(),
        ..inputs.management.clone()
    };
    let inputs = Inputs {
        management: &management,
        ..*inputs
    };
    let decision = match recovery::decide(etcd) {
        Recovery::Start(member) => etcd_recovery(&inputs, &member),
        Recovery::Over => etcd_recovery_over(),
        _ => return Ok(()),
    };
    if let Decision::Waiting(reasons) = &decision {
        return Err(Failure::wait(reasons.join("; ")));
    }
    driver.carry_out(context, &inputs, &decision).await.map(drop)
}

/// Holds these Deployments of Cluster API, and lets the others of them go.
pub(crate) async fn hold(context: &Context, stores: &Stores, namespace: &str, held: &[&str]) -> Result<(), Failure> {
    for name in KEPT {
        let is_wanted = held.contains(&name);
        let Some(deployment) = stores.deployments.namespace(namespace).get(name) else {
            continue;
        };
        // One that is on its way already cannot be held any more.
        if is_wanted && deployment.metadata.deletion_timestamp.is_some() {
            continue;
        }
        change_finalizer(context, &deployment, namespace, is_wanted).await?;
    }
    Ok(())
}

/// The version in the patch makes it a compare-and-swap: no finalizer of others is lost.
async fn change_finalizer(
    context: &Context,
    deployment: &Arc<Deployment>,
    namespace: &str,
    is_wanted: bool,
) -> Result<(), Failure> {
    let finalizer = finalizers::COMPONENT.as_str();
    let mut all = deployment.finalizers().to_vec();
    if all.iter().any(|found| found == finalizer) == is_wanted {
        return Ok(());
    }
    all.retain(|found| found != finalizer);
    if is_wanted {
        all.push(finalizer.to_owned());
    }
    let patch = json!({"metadata": {"resourceVersion": deployment.resource_version(), "finalizers": all}});
    let api: Api<Deployment> = Api::namespaced(context.client().clone(), namespace);
    match api
        .patch(&deployment.name_any(), &PatchParams::default(), &Patch::Merge(patch))
        .await
    {
        Ok(_) => Ok(()),
        Err(kube::Error::Api(status)) if status.is_not_found() => Ok(()),
        Err(error) => Err(error.into()),
    }
}
