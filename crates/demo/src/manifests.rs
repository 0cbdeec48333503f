//! What the story asks for, as objects and as the text that people would apply. Pure.

use serde_json::{Value, json};

use crate::plan::{Plan, PoolPlan, Version};

/// On everything that a story makes: only what has it is ever removed by one.
pub(crate) const MARK: &str = "hyperplane.dev/demo";
/// Its value.
pub(crate) const MARKED: &str = "true";

/// The Secret with credentials for registries, which a cluster has to name.
const PULL_SECRET: &str = "demo-pull-secret";
/// The namespaced part of paths and manifests of clusters and pools.
const GROUP: &str = "hypershift.openshift.io/v1beta1";

/// Everything that is asked for in the beginning, in the order in which it is asked for, as YAML.
pub fn manifests(plan: &Plan) -> String {
    let texts: Vec<String> = all(plan).iter().map(yaml).collect();
    texts.join("---\n")
}

fn yaml(object: &Value) -> String {
    serde_saphyr::to_string(object).expect("objects with texts as keys can be written")
}

/// Everything that is asked for in the beginning.
pub(crate) fn all(plan: &Plan) -> Vec<Value> {
    vec![
        namespace(&plan.namespace),
        pull_secret(&plan.namespace),
        hosted_cluster(plan),
        surging(node_pool(plan, &plan.web), plan.web.replicas),
        node_pool(plan, &plan.batch),
    ]
}

/// A pool that makes so many new nodes before it takes old ones away: a roll takes as long as one node does.
fn surging(mut pool: Value, surge: usize) -> Value {
    pool["spec"]["management"]["replace"] = json!({
        "strategy": "RollingUpdate",
        "rollingUpdate": {"maxSurge": surge, "maxUnavailable": 0},
    });
    pool
}

/// A namespace of users. It is not marked: others may use it, too.
pub(crate) fn namespace(name: &str) -> Value {
    json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}})
}

/// Credentials for no registry at all.
pub(crate) fn pull_secret(namespace: &str) -> Value {
    json!({
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": {"name": PULL_SECRET, "namespace": namespace},
        "type": "kubernetes.io/dockerconfigjson",
        "data": {".dockerconfigjson": "eyJhdXRocyI6e319"},
    })
}

/// A cluster whose API server is reached by a load balancer.
pub(crate) fn hosted_cluster(plan: &Plan) -> Value {
    let published =
        |service: &str, type_: &str| json!({"service": service, "servicePublishingStrategy": {"type": type_}});
    json!({
        "apiVersion": GROUP,
        "kind": "HostedCluster",
        "metadata": {"name": plan.cluster, "namespace": plan.namespace, "labels": {MARK: MARKED}},
        "spec": {
            "release": {"image": plan.versions.from.image},
            "pullSecret": {"name": PULL_SECRET},
            "platform": {"type": "KubeVirt", "kubevirt": {}},
            "networking": {"networkType": "Other"},
            "controllerAvailabilityPolicy": plan.availability,
            "services": [
                published("APIServer", "LoadBalancer"),
                published("OAuthServer", "Route"),
                published("Konnectivity", "Route"),
                published("Ignition", "Route"),
            ],
        },
    })
}

/// A pool of virtual machines.
pub(crate) fn node_pool(plan: &Plan, pool: &PoolPlan) -> Value {
    json!({
        "apiVersion": GROUP,
        "kind": "NodePool",
        "metadata": {"name": pool.name, "namespace": plan.namespace, "labels": {MARK: MARKED}},
        "spec": {
            "clusterName": plan.cluster,
            "release": {"image": plan.versions.from.image},
            "replicas": pool.replicas,
            "management": {"upgradeType": "Replace"},
            "platform": {"type": "KubeVirt", "kubevirt": {"rootVolume": {}}},
        },
    })
}

/// What moves a cluster or a pool to a release.
pub(crate) fn to_release(version: &Version) -> Value {
    json!({"spec": {"release": {"image": version.image}}})
}

#[cfg(test)]
mod tests {
    use hyperplane_api::hypershift::{hosted_cluster::HostedCluster, node_pool::NodePool};

    use super::*;

    #[test]
    fn the_objects_are_of_their_kinds() {
        let plan = Plan::new("demo").unwrap();
        let cluster: HostedCluster = hyperplane_objects::read(hosted_cluster(&plan)).unwrap();
        assert_eq!(cluster.spec.release.image.as_str(), plan.versions.from.image);
        let pools = all(&plan).split_off(3);
        assert_eq!(pools.len(), 2);
        for pool in pools {
            let object: NodePool = hyperplane_objects::read(&pool).unwrap();
            assert_eq!(object.spec.cluster_name.as_str(), "demo");
        }
    }

    /// People are told to apply this file; it has to be what the story asks for.
    #[test]
    fn the_example_is_what_the_story_asks_for() {
        let text = include_str!("../../../docs/examples/demo.yaml");
        let (_, text) = text.split_once('\n').unwrap();
        assert_eq!(
            text,
            manifests(&Plan::new("demo").unwrap()),
            "write what is on the right into docs/examples/demo.yaml"
        );
    }
}
