//! Components that the manager runs in the namespace of a control plane, and the finalizer that keeps those of Cluster API
//! alive until their machines are gone.

use std::sync::Arc;

use hyperplane_api::{
    constants::{Annotation, annotations, finalizers, objects::components},
    hypershift::{hosted_cluster::HostedCluster, hosted_control_plane::HostedControlPlane},
};
use hyperplane_component_driver::{Driver, Facts, revision};
use hyperplane_components::{
    Component, Decision, Infrastructure, Inputs, Management, etcd_recovery, etcd_recovery_over, manager_catalogue,
};
use hyperplane_platforms::Platform;
use hyperplane_runtime::{Context, Failure};
use k8s_openapi::api::apps::v1::Deployment;
use kube::{
    Api, ResourceExt as _,
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

/// Whether a manager of Cluster API runs for a cluster: its release carries one, and the platform has a provider.
pub(crate) fn runs_cluster_api(cluster: &HostedCluster, pair: &ReleasePair, platform: &dyn Platform) -> bool {
    let Some(provider) = platform.provider() else {
        return false;
    };
    let has = |component: &str, image_override: Annotation| {
        let image = pair
            .control_plane
            .components
            .get(component)
            .and_then(|found| found.image.as_ref());
        image.is_some() || image_override.of(cluster).is_some()
    };
    !annotations::DISABLE_MACHINE_MANAGEMENT.is_true(cluster)
        && has(components::CLUSTER_API, annotations::CAPI_MANAGER_IMAGE)
        && has(provider.component, provider.image_override)
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

/// Holds the Deployments of Cluster API.
pub(crate) async fn hold(context: &Context, stores: &Stores, namespace: &str) -> Result<(), Failure> {
    change_finalizers(context, stores, namespace, true).await
}

/// Lets the Deployments of Cluster API go.
pub(crate) async fn release(context: &Context, stores: &Stores, namespace: &str) -> Result<(), Failure> {
    change_finalizers(context, stores, namespace, false).await
}

async fn change_finalizers(
    context: &Context,
    stores: &Stores,
    namespace: &str,
    is_wanted: bool,
) -> Result<(), Failure> {
    for name in KEPT {
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
