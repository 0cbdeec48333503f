//! Which kinds are ours to define on a management cluster. Kinds of Cluster API and of its providers belong to others: a
//! definition of ours is written where there is none, and kept up to date where it is ours; another one stays as it is.

use hyperplane_api::{constants::ours, crd, schema::FeatureSet};
use hyperplane_runtime::{Failure, ObjectKey, Remote, field_manager};
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::ResourceExt as _;
use serde_json::Value;
use thiserror::Error;

use crate::operators::MachineManager;

/// The group of Cluster API itself, without whose kinds there are no machines.
const CLUSTER_API: &str = "cluster.x-k8s.io";

/// Why machines of ours cannot be here.
#[derive(Debug, Error)]
#[error(
    "CustomResourceDefinition {name} was installed by somebody else and does not serve {version}: upgrade Cluster API to 1.11 \
     or later, remove the definition, or leave machines to Cluster API (--machines=cluster-api)"
)]
struct Unusable {
    name: String,
    version: String,
}

/// What is to be done about a definition.
#[derive(Debug, PartialEq, Eq)]
enum Verdict {
    /// It is written.
    Write,
    /// Another one is there that does.
    Leave,
    /// Another one is there that does not serve a version of ours.
    Lacks(String),
}

/// The definitions to write, as far as others have not brought their own.
pub(crate) async fn to_write(remote: &Remote, machines: MachineManager) -> Result<Vec<Value>, Failure> {
    let (mut definitions, shared): (Vec<Value>, Vec<Value>) = crd::definitions(FeatureSet::Default)
        .into_iter()
        .partition(|definition| definition["spec"]["group"] != CLUSTER_API);
    for mut definition in shared.into_iter().chain(crd::provider_definitions(FeatureSet::Default)) {
        definition["metadata"]["labels"][ours::MANAGED_BY.as_str()] = ours::MANAGED_BY_US.into();
        let key = key(&definition);
        let live = remote.get::<CustomResourceDefinition>(&key).await?;
        match judge(live.as_ref(), &definition) {
            Verdict::Write => definitions.push(definition),
            Verdict::Leave => tracing::info!(%key, "A kind that somebody else has defined is left as it is."),
            Verdict::Lacks(version) => lacking(&definition, version, machines)?,
        }
    }
    Ok(definitions)
}

/// Without its kinds there are no machines of ours; what a provider does not have is not used.
fn lacking(definition: &Value, version: String, machines: MachineManager) -> Result<(), Failure> {
    let name = key(definition).name;
    if definition["spec"]["group"] == CLUSTER_API && machines == MachineManager::Hyperplane {
        return Err(Failure::fatal(Unusable { name, version }));
    }
    tracing::warn!(
        name,
        version,
        "A kind that somebody else has defined is left as it is, without a version that is needed to use it."
    );
    Ok(())
}

fn judge(live: Option<&CustomResourceDefinition>, wanted: &Value) -> Verdict {
    let Some(live) = live.filter(|live| !is_ours(live)) else {
        return Verdict::Write;
    };
    let serves = |name: &str| {
        let mut versions = live.spec.versions.iter();
        versions.any(|version| version.served && version.name == name)
    };
    let wanted = wanted["spec"]["versions"].as_array().into_iter().flatten();
    let mut wanted = wanted.filter_map(|version| version["name"].as_str());
    wanted
        .find(|name| !serves(name))
        .map_or(Verdict::Leave, |name| Verdict::Lacks(name.to_owned()))
}

/// Those that were written before they carried the label are known by who wrote their fields.
fn is_ours(live: &CustomResourceDefinition) -> bool {
    let prefix = field_manager(ours::MANAGED_BY_US, "");
    let mut managers = live
        .managed_fields()
        .iter()
        .filter_map(|entry| entry.manager.as_deref());
    let label = live.labels().get(ours::MANAGED_BY.as_str());
    label.is_some_and(|value| value == ours::MANAGED_BY_US) || managers.any(|manager| manager.starts_with(&prefix))
}

/// Under which name a definition is found.
pub(crate) fn key(definition: &Value) -> ObjectKey {
    ObjectKey::cluster(definition["metadata"]["name"].as_str().unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn live(metadata: &Value, versions: &[(&str, bool)]) -> CustomResourceDefinition {
        let versions: Vec<Value> = versions
            .iter()
            .map(|(name, served)| json!({"name": name, "served": served, "storage": false}))
            .collect();
        serde_json::from_value(json!({"metadata": metadata, "spec": {
            "group": CLUSTER_API, "scope": "Namespaced", "names": {"kind": "Machine", "plural": "machines"},
            "versions": versions,
        }}))
        .unwrap()
    }

    fn wanted() -> Value {
        let all = crd::definitions(FeatureSet::Default).into_iter();
        let mut all = all.filter(|definition| definition["metadata"]["name"] == "machines.cluster.x-k8s.io");
        all.next().unwrap()
    }

    #[test]
    fn what_somebody_else_has_defined_stays() {
        let foreign =
            json!({"name": "machines.cluster.x-k8s.io", "labels": {"cluster.x-k8s.io/provider": "cluster-api"}});
        let labelled = json!({"labels": {"app.kubernetes.io/managed-by": "hyperplane"}});
        let written = json!({"managedFields": [{"manager": "hyperplane/setup", "operation": "Apply"}]});
        let similar = json!({"managedFields": [{"manager": "hyperplanes", "operation": "Apply"}]});
        let both: &[_] = &[("v1beta1", true), ("v1beta2", true)];
        assert_eq!(judge(None, &wanted()), Verdict::Write);
        for (metadata, versions, expected) in [
            (&labelled, &[("v1beta1", true)][..], Verdict::Write),
            (&written, both, Verdict::Write),
            (&foreign, both, Verdict::Leave),
            (&similar, both, Verdict::Leave),
            (&foreign, &[("v1beta1", true)], Verdict::Lacks("v1beta2".to_owned())),
            (
                &foreign,
                &[("v1beta1", true), ("v1beta2", false)],
                Verdict::Lacks("v1beta2".to_owned()),
            ),
        ] {
            let live = live(metadata, versions);
            assert_eq!(judge(Some(&live), &wanted()), expected, "{metadata} {versions:?}");
        }
    }

    #[test]
    fn machines_of_ours_need_the_kinds_of_cluster_api() {
        let lacks = |definition: &Value, machines| lacking(definition, "v1beta2".to_owned(), machines);
        let error = lacks(&wanted(), MachineManager::Hyperplane).unwrap_err().report();
        for words in ["machines.cluster.x-k8s.io", "v1beta2", "--machines=cluster-api"] {
            assert!(error.contains(words), "{error}");
        }
        assert!(lacks(&wanted(), MachineManager::ClusterApi).is_ok());
        let provided = crd::provider_definitions(FeatureSet::Default);
        assert!(lacks(&provided[0], MachineManager::Hyperplane).is_ok());
    }
}
