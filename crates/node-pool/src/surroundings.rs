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

/// Everything that is needed, or the first thing that is missing.
pub(crate) fn of(seen: &Seen) -> Result<Surroundings<'_>, Missing> {
    let cluster = seen.cluster.as_deref();
    let cluster = cluster.ok_or_else(|| Missing::new("the cluster of the pool to be created"))?;
    if cluster.metadata.deletion_timestamp.is_some() {
        return Err(Missing::new("the deletion of the cluster, which takes the pool along"));
    }
    let infra_id = cluster.spec.infra_id.as_ref().map(InfraId::as_str);
    let infra_id = infra_id.ok_or_else(|| Missing::new("the cluster to get the name of its infrastructure"))?;
    let control_plane = seen.control_plane.as_deref();
    let control_plane = control_plane.ok_or_else(|| Missing::new("the control plane of the cluster to be made"))?;
    let status = cluster.status.as_ref();
    let endpoint = status.and_then(|status| status.ignition_endpoint.as_deref());
    let ignition_endpoint = endpoint.filter(|endpoint| !endpoint.is_empty()).ok_or_else(|| {
        Missing::of_ignition(
            reasons::IGNITION_ENDPOINT_MISSING,
            "the cluster to publish the address of its ignition server",
        )
    })?;
    let ignition_authority = authority(seen).ok_or_else(|| {
        Missing::of_ignition(
            reasons::IGNITION_CA_CERT_MISSING,
            "the certificate of who signs for the ignition server",
        )
    })?;
    if status.is_none_or(|status| status.kubeconfig.is_none()) {
        return Err(Missing::new("the kubeconfig of the cluster to be published"));
    }
    if status.is_none_or(|status| status.control_plane_endpoint.is_none()) {
        return Err(Missing::new("the cluster to publish the address of its API server"));
    }
    Ok(Surroundings {
        cluster,
        infra_id,
        namespace: &seen.namespace,
        ignition_endpoint,
        ignition_authority,
        hashes: hashes(seen, control_plane)?,
    })
}

fn authority(seen: &Seen) -> Option<&str> {
    let bundle = seen.ignition_authority.as_ref()?.data.as_ref()?;
    let text = bundle.get(keys::CA_CERTIFICATE).map(String::as_str);
    text.filter(|text| !text.is_empty())
}

fn hashes(seen: &Seen, control_plane: &HostedControlPlane) -> Result<Hashes, Missing> {
    let pull_secret = seen.pull_secret.as_ref().and_then(|secret| secret.data.as_ref());
    let pull_secret = pull_secret.and_then(|data| data.get(keys::PULL_SECRET));
    let pull_secret = pull_secret.ok_or_else(|| Missing::new("the copy of the pull secret of the cluster"))?;
    let trust_bundle = if control_plane.spec.additional_trust_bundle.is_some() {
        let data = seen.trust_bundle.as_ref().and_then(|bundle| bundle.data.as_ref());
        let text = data.and_then(|data| data.get(keys::USER_CA_BUNDLE));
        Some(text.ok_or_else(|| Missing::new("the copy of the trust bundle of the cluster"))?)
    } else {
        None
    };
    let configuration = control_plane.spec.configuration.as_ref().map(|configuration| {
        serde_json::to_vec(configuration)
            .expect("a configuration has text keys only, and writing to memory does not fail")
    });
    Ok(Hashes {
        pull_secret: names::digest(&pull_secret.0),
        trust_bundle: trust_bundle
            .map(|text| names::digest(text.as_bytes()))
            .unwrap_or_default(),
        configuration: configuration.map(|text| names::digest(&text)).unwrap_or_default(),
    })
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
        let rows: [(Change, &str, Option<Reason>); 6] = [
            (|seen| seen.cluster = None, "cluster of the pool", None),
            (|seen| seen.control_plane = None, "control plane", None),
            (|seen| seen.pull_secret = None, "pull secret", None),
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
            assert!(missing.what.contains(what), "{missing:?}");
            assert_eq!(missing.ignition, ignition, "{what}");
        }
    }
}
