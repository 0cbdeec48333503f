//! Removing what a hosted cluster made outside of itself: load balancers and volumes, by deleting what stands for them.
//! Whoever made them removes them; here is looked until they have.

use hyperplane_objects::Kind;
use hyperplane_runtime::{Api, Failure, Remote};
use k8s_openapi::{
    NamespaceResourceScope,
    api::core::v1::{PersistentVolume, PersistentVolumeClaim, Pod, Service},
};
use kube::{
    Client, Resource, ResourceExt as _,
    api::{DeleteParams, ListParams},
};

use crate::{
    ending::{is_balanced, is_made_for_a_claim, uses_any},
    objects,
};

/// Asks for the removal of everything, and names what is still there.
pub(crate) async fn remove_cloud_resources(remote: &Remote) -> Result<Vec<String>, Failure> {
    for manifest in objects::ending()? {
        remote.apply(&manifest).await?;
    }
    let client = remote.client();
    let services = list::<Service>(client).await?;
    let services: Vec<Service> = services.into_iter().filter(is_balanced).collect();
    let claims = list::<PersistentVolumeClaim>(client).await?;
    delete_all(client, &services).await?;
    delete_all(client, &claims).await?;
    if !claims.is_empty() {
        let pods = list::<Pod>(client).await?;
        let pods: Vec<Pod> = pods.into_iter().filter(|pod| uses_any(pod, &claims)).collect();
        delete_all(client, &pods).await?;
    }
    let volumes = list::<PersistentVolume>(client).await?;
    let volumes = volumes.into_iter().filter(is_made_for_a_claim);
    // What was there a moment ago may be gone with its deletion: that is seen at the next look.
    let mut remaining: Vec<String> = services.iter().map(title).collect();
    remaining.extend(claims.iter().map(title));
    remaining.extend(volumes.map(|volume| title(&volume)));
    Ok(remaining)
}

async fn list<K: Kind>(client: &Client) -> Result<Vec<K>, Failure> {
    let api = Api::<K>::all(client.clone());
    Ok(api.list(&ListParams::default()).await?.items)
}

/// Deletes those that are not on their way yet.
async fn delete_all<K>(client: &Client, objects: &[K]) -> Result<(), Failure>
where
    K: Kind + Resource<Scope = NamespaceResourceScope>,
{
    for object in objects
        .iter()
        .filter(|object| object.meta().deletion_timestamp.is_none())
    {
        let api = Api::<K>::namespaced(client.clone(), &object.namespace().unwrap_or_default());
        match api.delete(&object.name_any(), &DeleteParams::default()).await {
            Ok(()) => {}
            Err(kube::Error::Api(status)) if status.is_not_found() => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(())
}

fn title<K: Resource<DynamicType = ()>>(object: &K) -> String {
    let namespace = object.namespace().map(|namespace| format!("{namespace}/"));
    format!(
        "{} {}{}",
        K::kind(&()),
        namespace.unwrap_or_default(),
        object.name_any()
    )
}
