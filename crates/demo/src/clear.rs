//! What an earlier run left, whole or in pieces: it goes, and the story begins anew. A story that was killed may have left
//! anything, and where it would go on from could not be told from claims that were judged then. Nothing goes that no story
//! made.

use hyperplane_api::hypershift::{hosted_cluster::HostedCluster, node_pool::NodePool};
use hyperplane_runtime::Api;
use k8s_openapi::api::core::v1::Namespace;
use kube::{Client, ResourceExt as _, api::ListParams};

use crate::{
    act::delete,
    manifests::{MARK, MARKED},
    plan::Plan,
};

/// What is there of the cluster of a story.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Left {
    /// The cluster, and whether a story made it.
    cluster: Option<bool>,
    /// Its pools, and those that have a name which the story needs, with the cluster that each is of.
    pools: Vec<(String, String)>,
    /// The namespace of its control plane, and whether it is on its way out.
    namespace: Option<bool>,
}

impl Left {
    /// Looks at what is there.
    pub(crate) async fn find(client: &Client, plan: &Plan) -> Result<Self, kube::Error> {
        let namespaces: Api<Namespace> = Api::all(client.clone());
        let cluster = clusters(client, plan).get_opt(&plan.cluster).await?;
        let is_marked = |cluster: &HostedCluster| cluster.labels().get(MARK).is_some_and(|value| value == MARKED);
        let pools = pools(client, plan).list(&ListParams::default()).await?;
        let pools = pools.into_iter().filter(|pool| {
            let has_name = plan.pools().iter().any(|planned| planned.name == pool.name_any());
            has_name || pool.spec.cluster_name.as_str() == plan.cluster
        });
        let namespace = namespaces.get_opt(&plan.control_plane_namespace()).await?;
        Ok(Self {
            cluster: cluster.as_ref().map(is_marked),
            pools: pools
                .map(|pool| (pool.name_any(), pool.spec.cluster_name.as_str().to_owned()))
                .collect(),
            namespace: namespace.map(|namespace| namespace.metadata.deletion_timestamp.is_some()),
        })
    }

    /// Whether nothing is there.
    pub(crate) fn is_nothing(&self) -> bool {
        *self == Self::default()
    }

    /// Why a story must not touch it, and what to do.
    pub(crate) fn objection(&self, plan: &Plan) -> Option<String> {
        let (namespace, cluster) = (&plan.namespace, &plan.cluster);
        if self.cluster == Some(false) {
            return Some(format!(
                "HostedCluster {namespace}/{cluster} is there, and no demo made it (label {MARK}): give another name"
            ));
        }
        if let Some((pool, other)) = self.pools.iter().find(|(_, of)| of != cluster) {
            return Some(format!(
                "NodePool {namespace}/{pool} is there, of cluster {other}: give another name"
            ));
        }
        let is_strange = self.cluster.is_none() && self.namespace == Some(false);
        is_strange.then(|| {
            format!(
                "namespace {} is there without its cluster: remove it, or give another name",
                plan.control_plane_namespace()
            )
        })
    }

    /// What is still there, in words.
    pub(crate) fn remaining(&self, plan: &Plan) -> Vec<String> {
        let cluster = self.cluster.map(|_| format!("HostedCluster {}", plan.cluster));
        let pools = self.pools.iter().map(|(name, _)| format!("NodePool {name}"));
        let namespace = self
            .namespace
            .map(|_| format!("namespace {}", plan.control_plane_namespace()));
        let all = cluster.into_iter().chain(pools).chain(namespace);
        all.map(|what| format!("the end of {what}")).collect()
    }

    /// Asks that it goes. A cluster takes everything else with it.
    pub(crate) async fn remove(&self, client: &Client, plan: &Plan) -> Result<(), kube::Error> {
        if self.cluster.is_some() {
            return delete(&clusters(client, plan), &plan.cluster).await;
        }
        for (name, _) in &self.pools {
            delete(&pools(client, plan), name).await?;
        }
        Ok(())
    }
}

fn clusters(client: &Client, plan: &Plan) -> Api<HostedCluster> {
    Api::namespaced(client.clone(), &plan.namespace)
}

fn pools(client: &Client, plan: &Plan) -> Api<NodePool> {
    Api::namespaced(client.clone(), &plan.namespace)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_a_story_made_is_touched() {
        let plan = Plan::new("demo").unwrap();
        let pools = |of: &str| vec![("demo-web".to_owned(), of.to_owned())];
        let left = |cluster, pools, namespace| Left {
            cluster,
            pools,
            namespace,
        };
        let cases = [
            (left(None, Vec::new(), None), None),
            (left(Some(true), pools("demo"), Some(false)), None),
            (left(None, pools("demo"), Some(true)), None),
            (left(Some(false), Vec::new(), Some(false)), Some("no demo made it")),
            (left(None, pools("blue"), None), Some("of cluster blue")),
            (left(None, Vec::new(), Some(false)), Some("without its cluster")),
        ];
        for (left, expected) in cases {
            let found = left.objection(&plan);
            let matches = match (&found, expected) {
                (Some(found), Some(expected)) => found.contains(expected),
                (found, expected) => found.is_none() && expected.is_none(),
            };
            assert!(matches, "{left:?}: {found:?}");
        }
        assert!(left(None, Vec::new(), None).is_nothing());
        assert_eq!(left(Some(true), pools("demo"), Some(true)).remaining(&plan).len(), 3);
    }
}
