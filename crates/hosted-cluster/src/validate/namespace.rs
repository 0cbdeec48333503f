//! The namespace of a control plane is claimed, never guessed: it is used only if it was made for this very cluster.

use hyperplane_api::constants::annotations;
use hyperplane_platforms::{Problem, Rule};
use kube::ResourceExt as _;

use super::Case;
use crate::{metadata, names};

const LENGTH: Rule = Rule {
    name: "namespace-length",
    asks: "namespace and name of a cluster, with a dash between them, must fit into the name of a namespace",
};
const CLAIM: Rule = Rule {
    name: "namespace-claim",
    asks: "the namespace of the control plane must have been made for this cluster",
};
const KUBECONFIG_NAME: Rule = Rule {
    name: "kubeconfig-name",
    asks: "the names of the Secrets for kubeconfigs must not be taken by others",
};

const INFRA_ID: Rule = Rule {
    name: "infra-id-claim",
    asks: "no two clusters may have the same infraID",
};

pub(super) const RULES: &[Rule] = &[LENGTH, CLAIM, KUBECONFIG_NAME, INFRA_ID];

pub(super) fn judge(case: &Case<'_>, problems: &mut Vec<Problem>) {
    problems.extend(length(case));
    problems.extend(claim(case));
    problems.extend(case.seen.infra_id_holder.as_ref().map(|holder| {
        Problem::new(
            &INFRA_ID,
            "spec.infraID",
            format!(
                "HostedCluster {holder} has it already, and each would take the other's infrastructure for its own"
            ),
            "make this cluster anew with another infraID, or delete the other one",
        )
    }));
    problems.extend(case.seen.taken_names.iter().map(|name| {
        Problem::new(
            &KUBECONFIG_NAME,
            "metadata.name",
            format!("Secret {name} exists in the namespace of the cluster and is not ours"),
            "rename or remove that Secret",
        )
    }));
}

fn length(case: &Case<'_>) -> Option<Problem> {
    let namespace = names::namespace_of(case.cluster);
    (namespace.len() > names::LONGEST_NAMESPACE).then(|| {
        Problem::new(
            &LENGTH,
            "metadata.name",
            format!(
                "the namespace of the control plane would be {namespace}, which has {} characters and not at most {}",
                namespace.len(),
                names::LONGEST_NAMESPACE
            ),
            "use a shorter name, or a namespace with a shorter one",
        )
    })
}

fn claim(case: &Case<'_>) -> Option<Problem> {
    let namespace = case.seen.namespace.as_ref()?;
    if metadata::is_claimed(namespace, case.cluster) {
        return None;
    }
    let owner = match annotations::CLUSTER.of(namespace.as_ref()) {
        Some(other) => format!("it was made for {other}"),
        None => "it was not made by this manager".to_owned(),
    };
    Some(Problem::new(
        &CLAIM,
        "metadata.name",
        format!("namespace {} is taken: {owner}", namespace.name_any()),
        "use another name, or another namespace for the cluster",
    ))
}
