//! What a pool needs of its cluster before machines can be made. Whatever is missing comes by itself, and says so.

use hyperplane_api::{
    constants::{Reason, annotations, objects::keys, reasons},
    hypershift::{
        hosted_cluster::{HostedCluster, InfraId},
        node_pool::NodePool,
    },
};

use crate::{dereference::Seen, metadata::Owner};

/// What a pool needs of its cluster.
#[derive(Clone, Debug)]
pub(crate) struct Surroundings<'a> {
    pub(crate) cluster: &'a HostedCluster,
    /// The name of the cluster's infrastructure.
    pub(crate) infra_id: &'a str,
    /// The namespace of the control plane.
    pub(crate) namespace: &'a str,
    /// Where machines fetch their configuration: a host, with a port where it is not the usual one.
    pub(crate) ignition_endpoint: &'a str,
    /// Who signs for that, as PEM.
    pub(crate) ignition_authority: &'a str,
}

impl<'a> Surroundings<'a> {
    /// For whom everything of a pool is made.
    pub(crate) fn owner(&self, pool: &'a NodePool) -> Owner<'a> {
        Owner {
            pool,
            infra_id: self.infra_id,
            namespace: self.namespace,
            scope: annotations::SCOPE.of(self.cluster),
        }
    }
}

/// What is missing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Missing {
    /// What is waited for.
    pub(crate) what: String,
    /// How the condition of the ignition endpoint says it, where it is about that.
    pub(crate) ignition: Option<Reason>,
}

impl Missing {
    fn new(what: impl Into<String>) -> Self {
        Self {
            what: what.into(),
            ignition: None,
        }
    }

    fn of_ignition(reason: Reason, what: &str) -> Self {
        Self {
            what: what.to_owned(),
            ignition: Some(reason),
        }
    }
}

/// All that is missing in one text.
pub(crate) fn told(missing: &[Missing]) -> String {
    let all: Vec<&str> = missing.iter().map(|one| one.what.as_str()).collect();
    all.join("; ")
}

/// Everything that is needed, or everything that is missing.
pub(crate) fn of(seen: &Seen) -> Result<Surroundings<'_>, Vec<Missing>> {
    // Nothing else is worth telling of a cluster that is not there or goes.
    let cluster = cluster(seen).map_err(|missing| vec![missing])?;
    let missing: Vec<Missing> = of_cluster(cluster).into_iter().chain(beside(cluster, seen)).collect();
    let infra_id = cluster.spec.infra_id.as_ref().map(InfraId::as_str);
    match (infra_id, endpoint(cluster), authority(seen), missing.as_slice()) {
        (Some(infra_id), Some(ignition_endpoint), Some(ignition_authority), []) => Ok(Surroundings {
            cluster,
            infra_id,
            namespace: &seen.namespace,
            ignition_endpoint,
            ignition_authority,
        }),
        _ => Err(missing),
    }
}

/// What a cluster does not say yet.
fn of_cluster(cluster: &HostedCluster) -> Vec<Missing> {
    let status = cluster.status.as_ref();
    let all = [
        (
            cluster.spec.infra_id.is_some(),
            Missing::new("the cluster to get the name of its infrastructure"),
        ),
        (
            endpoint(cluster).is_some(),
            Missing::of_ignition(
                reasons::IGNITION_ENDPOINT_MISSING,
                "the cluster to publish the address of its ignition server",
            ),
        ),
        (
            status.is_some_and(|status| status.kubeconfig.is_some()),
            Missing::new("the kubeconfig of the cluster to be published"),
        ),
        (
            status.is_some_and(|status| status.control_plane_endpoint.is_some()),
            Missing::new("the cluster to publish the address of its API server"),
        ),
    ];
    lacking(all)
}

/// What is not there in the namespace of the control plane, which is looked at once that is known to be the cluster's.
fn beside(cluster: &HostedCluster, seen: &Seen) -> Vec<Missing> {
    let Some(control_plane) = &seen.control_plane else {
        return vec![Missing::new("the control plane of the cluster to be made")];
    };
    let all = [
        (
            authority(seen).is_some(),
            Missing::of_ignition(
                reasons::IGNITION_CA_CERT_MISSING,
                "the certificate of who signs for the ignition server",
            ),
        ),
        (
            has_pull_secret(seen),
            Missing::new("the copy of the pull secret of the cluster"),
        ),
        (
            ssh_keys(cluster, seen).is_some(),
            Missing::new("the copy of the SSH key of the cluster"),
        ),
        (
            control_plane.spec.additional_trust_bundle.is_none() || has_trust_bundle(seen),
            Missing::new("the copy of the trust bundle of the cluster"),
        ),
    ];
    lacking(all)
}

fn lacking<const COUNT: usize>(all: [(bool, Missing); COUNT]) -> Vec<Missing> {
    let lacking = all.into_iter().filter(|(is_there, _)| !is_there);
    lacking.map(|(_, missing)| missing).collect()
}

fn endpoint(cluster: &HostedCluster) -> Option<&str> {
    let endpoint = cluster.status.as_ref()?.ignition_endpoint.as_deref();
    endpoint.filter(|endpoint| !endpoint.is_empty())
}

/// The public keys of who may log in, empty where the cluster names none; none as long as their copy is not there.
pub(crate) fn ssh_keys<'a>(cluster: &HostedCluster, seen: &'a Seen) -> Option<&'a str> {
    let name = cluster.spec.ssh_key.as_ref().map_or("", |key| key.name.as_str());
    if name.is_empty() {
        return Some("");
    }
    let data = seen.ssh_keys.as_ref()?.data.as_ref()?;
    // What is no text is refused by who makes the configuration of nodes, and told there.
    Some(std::str::from_utf8(&data.get(keys::SSH_KEY)?.0).unwrap_or_default())
}

fn cluster(seen: &Seen) -> Result<&HostedCluster, Missing> {
    let cluster = seen.cluster.as_deref();
    let cluster = cluster.ok_or_else(|| Missing::new("the cluster of the pool to be created"))?;
    if cluster.metadata.deletion_timestamp.is_some() {
        return Err(Missing::new("the deletion of the cluster, which takes the pool along"));
    }
    Ok(cluster)
}

fn authority(seen: &Seen) -> Option<&str> {
    let bundle = seen.ignition_authority.as_ref()?.data.as_ref()?;
    let text = bundle.get(keys::CA_CERTIFICATE).map(String::as_str);
    text.filter(|text| !text.is_empty())
}

fn has_pull_secret(seen: &Seen) -> bool {
    let data = seen.pull_secret.as_ref().and_then(|secret| secret.data.as_ref());
    data.is_some_and(|data| data.contains_key(keys::PULL_SECRET))
}

fn has_trust_bundle(seen: &Seen) -> bool {
    let data = seen.trust_bundle.as_ref().and_then(|bundle| bundle.data.as_ref());
    data.is_some_and(|data| data.contains_key(keys::USER_CA_BUNDLE))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::testing;

    /// What is taken away.
    type Change = fn(&mut Seen);

    #[test]
    fn whatever_is_missing_is_said() {
        let complete = testing::seen(&testing::cluster(&json!({})));
        assert!(of(&complete).is_ok());
        let rows: [(Change, &str, Option<Reason>); 7] = [
            (|seen| seen.cluster = None, "cluster of the pool", None),
            (|seen| seen.control_plane = None, "control plane", None),
            (|seen| seen.pull_secret = None, "pull secret", None),
            (|seen| seen.ssh_keys = None, "SSH key", None),
            (
                |seen| seen.ignition_authority = None,
                "signs for the ignition server",
                Some(reasons::IGNITION_CA_CERT_MISSING),
            ),
            (
                |seen| seen.cluster = Some(testing::cluster(&json!({"status": {"ignitionEndpoint": ""}})).into()),
                "address of its ignition server",
                Some(reasons::IGNITION_ENDPOINT_MISSING),
            ),
            (
                |seen| seen.cluster = Some(testing::cluster(&json!({"status": {"kubeconfig": null}})).into()),
                "kubeconfig",
                None,
            ),
        ];
        for (change, what, ignition) in rows {
            let mut seen = complete.clone();
            change(&mut seen);
            let missing = of(&seen).unwrap_err();
            assert_eq!(missing.len(), 1, "{missing:?}");
            assert!(missing[0].what.contains(what), "{missing:?}");
            assert_eq!(missing[0].ignition, ignition, "{what}");
        }
    }

    #[test]
    fn all_that_is_missing_is_said_at_once() {
        let nothing = json!({"ignitionEndpoint": "", "kubeconfig": null, "controlPlaneEndpoint": null});
        let mut seen = testing::seen(&testing::cluster(
            &json!({"spec": {"infraID": null}, "status": nothing}),
        ));
        let mut control_plane = seen.control_plane.as_deref().unwrap().clone();
        control_plane.spec.additional_trust_bundle = hyperplane_objects::read(json!({"name": "trust"})).unwrap();
        seen.control_plane = Some(control_plane.into());
        seen.pull_secret = None;
        seen.ignition_authority = None;
        let missing = told(&of(&seen).unwrap_err());
        for what in [
            "infrastructure",
            "address of its ignition server",
            "signs for the ignition server",
            "kubeconfig",
            "address of its API server",
            "pull secret",
            "trust bundle",
        ] {
            assert!(missing.contains(what), "{what} is not in {missing}");
        }
    }
}
