//! Which kinds are ours to define on a management cluster. A definition of ours is written where there is none, and kept up
//! to date where it is ours; one that somebody else has written stays as it is, whichever kind it is of.

use hyperplane_api::constants::ours;
use hyperplane_install::{MachineManager, Options, Origin, definitions, origin};
use hyperplane_runtime::{Failure, ObjectKey, Remote, field_manager};
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::ResourceExt as _;
use serde_json::Value;
use thiserror::Error;

/// Why operators of ours cannot be here.
#[derive(Debug, Error)]
enum Unusable {
    /// Nothing works without a kind of ours.
    #[error(
        "CustomResourceDefinition {name} was installed by somebody else and does not serve {version}: upgrade whoever \
         installed it, or remove the definition"
    )]
    Own { name: String, version: String },
    /// Machines of ours cannot be made.
    #[error(
        "CustomResourceDefinition {name} was installed by somebody else and does not serve {version}: upgrade Cluster API \
         to 1.11 or later, remove the definition, or leave machines to Cluster API (--machines=cluster-api)"
    )]
    ClusterApi { name: String, version: String },
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

/// The definitions that were asked for, as far as they are ours to write, and those that others have brought.
#[derive(Default)]
pub(crate) struct Judged {
    /// They are to be written.
    pub(crate) ours: Vec<Value>,
    /// They stay as they are.
    pub(crate) foreign: Vec<Value>,
}

/// Judges every definition that the options ask for before any is written.
pub(crate) async fn judged(remote: &Remote, options: &Options) -> Result<Judged, Failure> {
    let mut judged = Judged::default();
    for definition in definitions(options) {
        let live = remote.get::<CustomResourceDefinition>(&key(&definition)).await?;
        match judge(live.as_ref(), &definition) {
            Verdict::Write => {
                judged.ours.push(definition);
                continue;
            }
            Verdict::Leave => {
                tracing::info!(key = %key(&definition), "A kind that somebody else has defined is left as it is.");
            }
            Verdict::Lacks(version) => lacking(&definition, version, options.machines)?,
        }
        judged.foreign.push(definition);
    }
    Ok(judged)
}

/// Without kinds of ours there is nothing, and without those of Cluster API there are no machines of ours; what a provider
/// does not have is not used.
fn lacking(definition: &Value, version: String, machines: MachineManager) -> Result<(), Failure> {
    let name = key(definition).name;
    match origin(definition) {
        Origin::Own => return Err(Failure::fatal(Unusable::Own { name, version })),
        Origin::ClusterApi if machines.is_ours() => {
            return Err(Failure::fatal(Unusable::ClusterApi { name, version }));
        }
        Origin::ClusterApi | Origin::Provider => {}
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
pub(crate) fn is_ours(live: &CustomResourceDefinition) -> bool {
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
    use hyperplane_api::constants::groups;
    use serde_json::json;

    use super::*;

    fn live(metadata: &Value, versions: &[(&str, bool)]) -> CustomResourceDefinition {
        let versions: Vec<Value> = versions
            .iter()
            .map(|(name, served)| json!({"name": name, "served": served, "storage": false}))
            .collect();
        hyperplane_objects::read(json!({"metadata": metadata, "spec": {
            "group": groups::CLUSTER_API, "scope": "Namespaced", "names": {"kind": "Machine", "plural": "machines"},
            "versions": versions,
        }}))
        .unwrap()
    }

    fn wanted(name: &str) -> Value {
        let all = definitions(&Options::default()).into_iter();
        let mut all = all.filter(|definition| definition["metadata"]["name"] == name);
        all.next().unwrap()
    }

    fn machines() -> Value {
        wanted("machines.cluster.x-k8s.io")
    }

    #[test]
    fn what_somebody_else_has_defined_stays() {
        let foreign =
            json!({"name": "machines.cluster.x-k8s.io", "labels": {"cluster.x-k8s.io/provider": "cluster-api"}});
        let labelled = json!({"labels": {"app.kubernetes.io/managed-by": "hyperplane"}});
        let written = json!({"managedFields": [{"manager": "hyperplane/setup", "operation": "Apply"}]});
        let similar = json!({"managedFields": [{"manager": "hyperplanes", "operation": "Apply"}]});
        let both: &[_] = &[("v1beta1", true), ("v1beta2", true)];
        assert_eq!(judge(None, &machines()), Verdict::Write);
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
            assert_eq!(judge(Some(&live), &machines()), expected, "{metadata} {versions:?}");
        }
    }

    #[test]
    fn what_cannot_be_used_is_fatal_where_it_is_needed() {
        let lacks = |definition: &Value, machines| lacking(definition, "v1beta2".to_owned(), machines);
        for manager in [MachineManager::Hyperplane, MachineManager::Separate] {
            let error = lacks(&machines(), manager).unwrap_err().report();
            for words in ["machines.cluster.x-k8s.io", "v1beta2", "--machines=cluster-api"] {
                assert!(error.contains(words), "{error}");
            }
        }
        assert!(lacks(&machines(), MachineManager::ClusterApi).is_ok());
        let provided = wanted("kubevirtmachines.infrastructure.cluster.x-k8s.io");
        assert!(lacks(&provided, MachineManager::Hyperplane).is_ok());
        let own = wanted("hostedclusters.hypershift.openshift.io");
        let error = lacks(&own, MachineManager::ClusterApi).unwrap_err().report();
        assert!(error.contains("remove the definition"), "{error}");
    }
}
