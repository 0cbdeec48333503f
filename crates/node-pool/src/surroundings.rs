//! What a pool needs of its cluster before machines can be made. Whatever is missing comes by itself, and says so.

use hyperplane_api::{
    constants::{Reason, annotations, objects::keys, reasons},
    hypershift::{
        hosted_cluster::{HostedCluster, InfraId},
        hosted_control_plane::HostedControlPlane,
        node_pool::NodePool,
    },
};

use crate::{dereference::Seen, metadata::Owner, names};

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
    /// What the configuration of nodes is made with, hashed.
    pub(crate) hashes: Hashes,
}

/// Hashes of what the configuration of nodes is made with, by which the ignition server sees that it has the same.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Hashes {
    pub(crate) pull_secret: String,
    pub(crate) trust_bundle: String,
    pub(crate) configuration: String,
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
    let status = cluster.status.as_ref();
    let mut missing = Vec::new();
    let mut need = |is_there: bool, what: Missing| {
        if !is_there {
            missing.push(what);
        }
    };
    let infra_id = cluster.spec.infra_id.as_ref().map(InfraId::as_str);
    need(
        infra_id.is_some(),
        Missing::new("the cluster to get the name of its infrastructure"),
    );
    let endpoint = status.and_then(|status| status.ignition_endpoint.as_deref());
    let endpoint = endpoint.filter(|endpoint| !endpoint.is_empty());
    need(
        endpoint.is_some(),
        Missing::of_ignition(
            reasons::IGNITION_ENDPOINT_MISSING,
            "the cluster to publish the address of its ignition server",
        ),
    );
    need(
        status.is_some_and(|status| status.kubeconfig.is_some()),
        Missing::new("the kubeconfig of the cluster to be published"),
    );
    need(
        status.is_some_and(|status| status.control_plane_endpoint.is_some()),
        Missing::new("the cluster to publish the address of its API server"),
    );
    let control_plane = seen.control_plane.as_deref();
    // What is in the namespace of a control plane is not looked at before that is known to be the cluster's.
    let Some(control_plane) = control_plane else {
        missing.push(Missing::new("the control plane of the cluster to be made"));
        return Err(missing);
    };
    let authority = authority(seen);
    need(
        authority.is_some(),
        Missing::of_ignition(
            reasons::IGNITION_CA_CERT_MISSING,
            "the certificate of who signs for the ignition server",
        ),
    );
    need(
        ssh_keys(cluster, seen).is_some(),
        Missing::new("the copy of the SSH key of the cluster"),
    );
    let hashes = hashes(seen, control_plane, &mut missing);
    match (infra_id, endpoint, authority, missing.as_slice()) {
        (Some(infra_id), Some(ignition_endpoint), Some(ignition_authority), []) => Ok(Surroundings {
            cluster,
            infra_id,
            namespace: &seen.namespace,
            ignition_endpoint,
            ignition_authority,
            hashes,
        }),
        _ => Err(missing),
    }
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

/// The hashes of what is there.
fn hashes(seen: &Seen, control_plane: &HostedControlPlane, missing: &mut Vec<Missing>) -> Hashes {
    let pull_secret = seen.pull_secret.as_ref().and_then(|secret| secret.data.as_ref());
    let pull_secret = pull_secret.and_then(|data| data.get(keys::PULL_SECRET));
    if pull_secret.is_none() {
        missing.push(Missing::new("the copy of the pull secret of the cluster"));
    }
    let trust_bundle = seen.trust_bundle.as_ref().and_then(|bundle| bundle.data.as_ref());
    let trust_bundle = trust_bundle.and_then(|data| data.get(keys::USER_CA_BUNDLE));
    let wants_bundle = control_plane.spec.additional_trust_bundle.is_some();
    if wants_bundle && trust_bundle.is_none() {
        missing.push(Missing::new("the copy of the trust bundle of the cluster"));
    }
    let configuration = control_plane.spec.configuration.as_ref().map(|configuration| {
        serde_json::to_vec(configuration)
            .expect("a configuration has text keys only, and writing to memory does not fail")
    });
    Hashes {
        pull_secret: pull_secret.map(|secret| names::digest(&secret.0)).unwrap_or_default(),
        trust_bundle: trust_bundle
            .filter(|_| wants_bundle)
            .map(|text| names::digest(text.as_bytes()))
            .unwrap_or_default(),
        configuration: configuration.map(|text| names::digest(&text)).unwrap_or_default(),
    }
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
        control_plane.spec.additional_trust_bundle = serde_json::from_value(json!({"name": "trust"})).unwrap();
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
