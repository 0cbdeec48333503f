//! What was made for a cluster alone: it is made its own before the cluster goes, so that it goes with it, whoever waits for
//! that. What cannot be looked at or changed is told, with how to remove it.

use hyperplane_api::{constants::labels, hypershift::hosted_cluster::HostedCluster};
use hyperplane_objects::Kind;
use hyperplane_recipes::{config_maps_beside, secrets_beside};
use hyperplane_runtime::Api;
use k8s_openapi::{
    NamespaceResourceScope,
    api::core::v1::{ConfigMap, Secret},
};
use kube::{
    Client, Resource, ResourceExt as _,
    api::{ListParams, Patch, PatchParams},
    core::{ObjectMeta, PartialObjectMeta},
};
use serde_json::{Value, json};

/// Makes all of it the cluster's own; what is to be told of what may stay behind.
pub(super) async fn adopt(client: &Client, cluster: &HostedCluster) -> anyhow::Result<Vec<String>> {
    let (namespace, name) = (cluster.namespace().unwrap_or_default(), cluster.name_any());
    let secrets: Api<Secret> = Api::namespaced(client.clone(), &namespace);
    let maps: Api<ConfigMap> = Api::namespaced(client.clone(), &namespace);
    let left = [
        ("secret", adopt_all(&secrets, cluster, &secrets_beside(&name)).await?),
        (
            "configmap",
            adopt_all(&maps, cluster, &config_maps_beside(&name)).await?,
        ),
    ];
    let left = left.iter().filter(|(_, names)| !names.is_empty());
    Ok(left.map(|(kind, names)| stays(kind, &namespace, names)).collect())
}

/// Makes objects of one kind the cluster's own. Gives the names of those of which nobody knows whether they are there, and
/// of those that are and cannot be changed.
async fn adopt_all<K>(objects: &Api<K>, cluster: &HostedCluster, known: &[String]) -> anyhow::Result<Vec<String>>
where
    K: Kind + Resource<Scope = NamespaceResourceScope>,
{
    let name = cluster.name_any();
    let (of_cluster, safe) = (labels::CLUSTER_NAME, labels::SAFE_TO_DELETE_WITH_CLUSTER);
    let selector = format!("{of_cluster}={name},{safe}=true");
    let (found, mut left) = match objects.list_metadata(&ListParams::default().labels(&selector)).await {
        Ok(found) => (found.items, Vec::new()),
        // Who may not list may still read by name: consumers of clusters do so with Secrets.
        Err(error) if is_forbidden(&error) => by_name(objects, &name, known).await?,
        Err(error) => return Err(error.into()),
    };
    let owner = cluster.owner_ref(&()).map(serde_json::to_value).transpose()?;
    let patch = json!({"metadata": {"ownerReferences": [owner.unwrap_or(Value::Null)]}});
    for object in found.iter().filter(|object| object.owner_references().is_empty()) {
        let name = object.name_any();
        let changed = objects
            .patch_metadata(&name, &PatchParams::default(), &Patch::Merge(&patch))
            .await;
        match changed {
            Ok(_) => {}
            Err(error) if is_forbidden(&error) => left.push(name),
            Err(error) => return Err(error.into()),
        }
    }
    Ok(left)
}

/// Objects that are there under names that are known, and names that cannot be looked at.
async fn by_name<K>(
    objects: &Api<K>,
    cluster: &str,
    known: &[String],
) -> anyhow::Result<(Vec<PartialObjectMeta<K>>, Vec<String>)>
where
    K: Kind + Resource<Scope = NamespaceResourceScope>,
{
    let (mut found, mut unseen) = (Vec::new(), Vec::new());
    for name in known {
        match objects.get_metadata_opt(name).await {
            Ok(object) => found.extend(object.filter(|object| is_beside(&object.metadata, cluster))),
            Err(error) if is_forbidden(&error) => unseen.push(name.clone()),
            Err(error) => return Err(error.into()),
        }
    }
    Ok((found, unseen))
}

/// Whether labels say that an object was made for this cluster alone. One of the same name may be somebody else's.
fn is_beside(metadata: &ObjectMeta, cluster: &str) -> bool {
    let says = |label: &str, value: &str| {
        let labels = metadata.labels.as_ref();
        labels
            .and_then(|labels| labels.get(label))
            .is_some_and(|found| found == value)
    };
    says(labels::CLUSTER_NAME.as_str(), cluster) && says(labels::SAFE_TO_DELETE_WITH_CLUSTER.as_str(), "true")
}

fn is_forbidden(error: &kube::Error) -> bool {
    matches!(error, kube::Error::Api(status) if status.code == 403)
}

/// What is told of objects that may stay behind.
fn stays(kind: &str, namespace: &str, names: &[String]) -> String {
    format!(
        "{kind} {} may stay behind, as you may not read or change it: when the cluster is gone, somebody who may has to \
         run kubectl delete {kind} -n {namespace} --ignore-not-found {}",
        names.join(", "),
        names.join(" "),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_was_made_for_this_cluster_alone_goes_with_it() {
        let labelled = |cluster: &str, safe: &str| -> ObjectMeta {
            hyperplane_objects::read(json!({"labels": {
                labels::CLUSTER_NAME.as_str(): cluster, labels::SAFE_TO_DELETE_WITH_CLUSTER.as_str(): safe}}))
            .unwrap()
        };
        assert!(is_beside(&labelled("blue", "true"), "blue"));
        assert!(!is_beside(&labelled("green", "true"), "blue"));
        assert!(!is_beside(&labelled("blue", "false"), "blue"));
        assert!(!is_beside(&ObjectMeta::default(), "blue"));
    }

    #[test]
    fn what_may_stay_is_named_with_how_to_remove_it() {
        let told = stays("secret", "team", &["a".to_owned(), "b".to_owned()]);
        assert!(told.starts_with("secret a, b may stay behind"), "{told}");
        assert!(
            told.contains("kubectl delete secret -n team --ignore-not-found a b"),
            "{told}"
        );
    }
}
