//! Everything of which a change rolls the nodes of a pool, gathered from the pool, its cluster and its release. What is not
//! here and not in the machine template rolls nothing.

use hyperplane_api::hypershift::{
    hosted_cluster::HostedCluster,
    node_pool::{NodePool, OsImageStreamName},
};
use hyperplane_ignition_render::canonical;
use hyperplane_planner::{release::Release, version::Scheme};
use hyperplane_rollout::RolloutInputs;
use serde::Serialize;

use crate::documents::Documents;

/// The minor of OpenShift, counted through the majors, from which nodes follow the TLS profile of the API server: 5.0, or
/// 4.23.
const TLS_PROFILE_FROM: u64 = 23;
/// The minor of OpenShift from which nodes start from RHEL 10 unless told otherwise: 5.0.
const RHEL_10_FROM: u64 = 23;

/// From what inputs are gathered.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Gathered<'a> {
    pub(crate) cluster: &'a HostedCluster,
    pub(crate) pool: &'a NodePool,
    pub(crate) release: &'a Release,
    pub(crate) documents: &'a Documents,
    pub(crate) api_endpoint: &'a str,
    /// Who may log in, where the cluster says.
    pub(crate) ssh_keys: &'a str,
}

/// The inputs under a revision of our rendering.
pub(crate) fn inputs(gathered: &Gathered<'_>, render_revision: u32) -> RolloutInputs {
    let spec = &gathered.cluster.spec;
    let configuration = spec.configuration.as_deref();
    RolloutInputs {
        render_revision,
        release_version: gathered.release.version.number().to_owned(),
        core_ignition: gathered.documents.core.clone(),
        config: gathered.documents.config.clone(),
        image_sources: gathered.documents.image_sources.clone(),
        pull_secret: spec.pull_secret.name.clone(),
        trust_bundle: spec
            .additional_trust_bundle
            .as_ref()
            .map(|bundle| bundle.name.clone())
            .unwrap_or_default(),
        ssh_keys: gathered.ssh_keys.trim().to_owned(),
        proxy: spelled(configuration.and_then(|all| all.proxy.as_ref())),
        image: spelled(configuration.and_then(|all| all.image.as_ref())),
        tls_profile: tls_profile(gathered.cluster, gathered.release),
        api_endpoint: gathered.api_endpoint.to_owned(),
        os_stream: os_stream(gathered.pool, gathered.release),
    }
}

fn tls_profile(cluster: &HostedCluster, release: &Release) -> String {
    let version = &release.version;
    if version.scheme() == Scheme::OpenShift && version.generation() < TLS_PROFILE_FROM {
        return String::new();
    }
    let configuration = cluster.spec.configuration.as_deref();
    let server = configuration.and_then(|configuration| configuration.api_server.as_ref());
    spelled(server.and_then(|server| server.tls_security_profile.as_ref()))
}

/// A part of the configuration of a cluster, in its one spelling; empty where it is not set.
fn spelled(part: Option<&impl Serialize>) -> String {
    let value = serde_json::to_value(part).expect("a configuration has only text keys and finite numbers");
    if value.is_null() {
        String::new()
    } else {
        canonical::text(&value)
    }
}

/// The stream of operating system images; empty where it is that of the release, so that saying so rolls nothing.
pub(crate) fn os_stream(pool: &NodePool, release: &Release) -> String {
    let Some(stream) = &pool.spec.os_image_stream else {
        return String::new();
    };
    let version = &release.version;
    let usual = match version.scheme() {
        Scheme::OpenShift if version.generation() >= RHEL_10_FROM => Some(OsImageStreamName::Rhel10),
        Scheme::OpenShift => Some(OsImageStreamName::Rhel9),
        _ => None,
    };
    if usual.as_ref() == Some(&stream.name) {
        String::new()
    } else {
        stream.name.as_str().to_owned()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::testing;

    fn gathered(cluster: &Value, pool: &Value) -> RolloutInputs {
        let (cluster, pool) = (testing::cluster(cluster), testing::pool(pool));
        let release = testing::release();
        inputs(
            &Gathered {
                cluster: &cluster,
                pool: &pool,
                release: &release,
                documents: &Documents::default(),
                api_endpoint: "api.example.com:443",
                ssh_keys: "",
            },
            1,
        )
    }

    #[test]
    fn what_must_roll_nodes_changes_the_hash_and_nothing_else_does() {
        let usual = gathered(&json!({}), &json!({})).rollout_hash();
        let rolling = [
            json!({"spec": {"pullSecret": {"name": "other"}}}),
            json!({"spec": {"additionalTrustBundle": {"name": "bundle"}}}),
            json!({"spec": {"configuration": {"proxy": {"httpProxy": "http://proxy.example.com"}}}}),
            json!({"spec": {"configuration": {"image": {"registrySources": {}}}}}),
            json!({"spec": {"configuration": {"apiServer": {"tlsSecurityProfile": {"type": "Modern"}}}}}),
        ];
        for change in rolling {
            assert_ne!(gathered(&change, &json!({})).rollout_hash(), usual, "{change}");
        }
        let staying = [
            json!({"spec": {"replicas": 9}}),
            json!({"spec": {"nodeLabels": {"a": "b"}}}),
            json!({"spec": {"taints": [{"key": "a", "effect": "NoSchedule"}]}}),
            json!({"spec": {"nodeDrainTimeout": "10m", "nodeVolumeDetachTimeout": "5m"}}),
            json!({"spec": {"management": {"autoRepair": true}}}),
            json!({"spec": {"pausedUntil": "true"}}),
        ];
        for change in staying {
            assert_eq!(gathered(&json!({}), &change).rollout_hash(), usual, "{change}");
        }
        let configuration = json!({"spec": {"configuration": {"scheduler": {"profile": "x"}, "proxy": null}}});
        assert_eq!(gathered(&configuration, &json!({})).rollout_hash(), usual);
    }

    #[test]
    fn the_hash_of_the_configuration_leaves_the_version_out() {
        let before = gathered(&json!({}), &json!({}));
        let mut after = before.clone();
        after.release_version = "1.37.0".to_owned();
        assert_eq!(before.config_hash(), after.config_hash());
        assert_ne!(before.rollout_hash(), after.rollout_hash());
        let proxy = json!({"spec": {"configuration": {"proxy": {"httpProxy": "http://proxy.example.com"}}}});
        assert_ne!(gathered(&proxy, &json!({})).config_hash(), before.config_hash());
    }
}
