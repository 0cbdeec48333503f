//! What is read of the members of etcd. Nearly always the caches suffice; pods are asked for only while one is not ready.

use hyperplane_api::constants::objects::components;
use hyperplane_component_driver::Driver;
use hyperplane_components::ETCD_RECOVERY;
use hyperplane_runtime::{Api, Context, Failure};
use k8s_openapi::api::core::v1::{PersistentVolumeClaim, Pod};
use kube::{ResourceExt as _, api::ListParams};

use crate::recovery::{self, Etcd};

/// Looks at the members in the namespace of a control plane.
pub(super) async fn read(context: &Context, driver: &Driver, namespace: &str) -> Result<Etcd, Failure> {
    let mut etcd = Etcd {
        set: driver.stateful_set(namespace, components::ETCD),
        job: driver.job(namespace, ETCD_RECOVERY),
        ..Etcd::default()
    };
    let Some(set) = etcd.set.as_deref().filter(|set| recovery::lacks_one(set)) else {
        return Ok(etcd);
    };
    let pods: Api<Pod> = Api::namespaced(context.client().clone(), namespace);
    let selector = format!("app={}", components::ETCD);
    etcd.pods = pods.list(&ListParams::default().labels(&selector)).await?.items;
    if let Some(pod) = recovery::laggard(set, &etcd.pods) {
        let claims: Api<PersistentVolumeClaim> = Api::namespaced(context.client().clone(), namespace);
        etcd.claim = claims.get_opt(&recovery::claim_of(&pod.name_any())).await?;
    }
    Ok(etcd)
}
