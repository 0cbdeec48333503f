//! The documents of which the configuration of a pool's nodes consists: those that every node of the cluster gets, the
//! mirrors of the cluster, and those of the pool. Reading them is the renderer's business.

use hyperplane_api::hypershift::hosted_cluster::HostedCluster;
use hyperplane_ignition_render::{
    Problem, canonical,
    document::{self, Document},
    user::UserConfig,
};
use hyperplane_rollout::ConfigDocument;
use serde_json::json;

/// Where mirrors of a cluster come from, in problems.
const MIRRORS: &str = "spec.imageContentSources of the cluster";
/// The name of the document with the mirrors of a cluster.
const MIRRORS_NAME: &str = "hosted-cluster";

/// All documents, by where they come from, each in the order of kinds and names.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Documents {
    pub(crate) core: Vec<ConfigDocument>,
    pub(crate) image_sources: Vec<ConfigDocument>,
    pub(crate) config: Vec<ConfigDocument>,
    /// All of them in one text.
    pub(crate) text: String,
}

/// Reads everything, or says everything that is wrong.
pub(crate) fn read(
    core: &[(String, String)],
    cluster: &HostedCluster,
    config: &[(String, String)],
) -> Result<Documents, Vec<String>> {
    let core = core
        .iter()
        .map(|(name, text)| (format!("{name} of the control plane"), text.clone()));
    let core: Vec<(String, String)> = core.collect();
    let mirrors = mirrors(cluster).map(|text| (MIRRORS.to_owned(), text));
    let sources: Vec<(String, String)> = core
        .iter()
        .cloned()
        .chain(mirrors)
        .chain(config.iter().cloned())
        .collect();
    let all = document::read(&sources).map_err(|problems| texts(&problems))?;
    // The ignition server would refuse it, when the first machine asks.
    UserConfig::of(&all).map_err(|problems| texts(&problems))?;
    let mut documents = Documents {
        text: document::write(&all),
        ..Documents::default()
    };
    for document in &all {
        let is_core = core.iter().any(|(name, _)| *name == document.source);
        let list = match document.source.as_str() {
            MIRRORS => &mut documents.image_sources,
            _ if is_core => &mut documents.core,
            _ => &mut documents.config,
        };
        list.push(told(document));
    }
    Ok(documents)
}

fn texts(problems: &[Problem]) -> Vec<String> {
    problems.iter().map(ToString::to_string).collect()
}

fn told(document: &Document) -> ConfigDocument {
    ConfigDocument {
        title: document.title(),
        text: document.text.clone(),
    }
}

/// The mirrors of a cluster as a document; none where it has none.
fn mirrors(cluster: &HostedCluster) -> Option<String> {
    let sources = &cluster.spec.image_content_sources;
    if sources.is_empty() {
        return None;
    }
    let mirrors: Vec<_> = sources
        .iter()
        .map(|source| json!({"source": source.source, "mirrors": source.mirrors}))
        .collect();
    Some(canonical::text(&json!({
        "apiVersion": "config.openshift.io/v1",
        "kind": "ImageDigestMirrorSet",
        "metadata": {"name": MIRRORS_NAME},
        "spec": {"imageDigestMirrors": mirrors},
    })))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing;

    const KUBELET: &str = "apiVersion: machineconfiguration.openshift.io/v1\nkind: KubeletConfig\nmetadata:\n  name: \
                           big-pods\nspec:\n  kubeletConfig:\n    maxPods: 500\n";

    fn pair(name: &str, text: &str) -> (String, String) {
        (name.to_owned(), text.to_owned())
    }

    #[test]
    fn documents_are_told_apart_by_where_they_come_from() {
        let cluster = testing::cluster(&json!({"spec": {"imageContentSources": [
            {"source": "quay.io", "mirrors": ["mirror.example.com"]}]}}));
        let other = KUBELET.replace("big-pods", "small-pods");
        let core = [pair("core", &other)];
        let documents = read(&core, &cluster, &[pair("mine", KUBELET)]).unwrap();
        let titles = |list: &[ConfigDocument]| list.iter().map(|one| one.title.clone()).collect::<Vec<_>>();
        assert_eq!(titles(&documents.core), ["KubeletConfig/small-pods"]);
        assert_eq!(
            titles(&documents.image_sources),
            ["ImageDigestMirrorSet/hosted-cluster"]
        );
        assert_eq!(titles(&documents.config), ["KubeletConfig/big-pods"]);
        assert!(documents.text.contains("maxPods"));
    }

    #[test]
    fn all_that_is_wrong_is_said() {
        let cluster = testing::cluster(&json!({}));
        let bad = [pair("one", "kind: Pod\napiVersion: v1\n"), pair("two", "{")];
        let problems = read(&[], &cluster, &bad).unwrap_err();
        assert!(problems.iter().any(|problem| problem.contains("one")), "{problems:?}");
        assert!(problems.iter().any(|problem| problem.contains("two")), "{problems:?}");
    }

    #[test]
    fn what_the_ignition_server_would_refuse_is_refused_here() {
        let cluster = testing::cluster(&json!({}));
        let machine = |spec: &str| {
            format!(
                "apiVersion: machineconfiguration.openshift.io/v1\nkind: MachineConfig\nmetadata: {{name: mine}}\nspec: {spec}\n"
            )
        };
        let rows = [
            (machine("{fips: true}"), "spec.fips"),
            (machine("{kernelArguments: quiet}"), "spec.kernelArguments"),
            (
                KUBELET.replace("maxPods: 500", "clusterDomain: example.com"),
                "clusterDomain",
            ),
        ];
        for (text, expected) in rows {
            let problems = read(&[], &cluster, &[pair("mine", &text)]).unwrap_err();
            assert!(
                problems.iter().any(|problem| problem.contains(expected)),
                "{problems:?}"
            );
            // What every node is told is judged in the same way.
            assert!(read(&[pair("core", &text)], &cluster, &[]).is_err(), "{text}");
        }
        assert!(read(&[], &cluster, &[pair("mine", &machine("{kernelArguments: [quiet]}"))]).is_ok());
    }
}
