//! Conditions that are causes themselves: what an operator judged, which nothing below explains further. As tables.

use hyperplane_api::constants::{
    ConditionType,
    conditions::{hosted_cluster, hosted_control_plane, node_pool},
    ours,
};

use super::{Walk, kubectl};
use crate::{
    cause::Trouble,
    expectation::{Standing, standing},
    object::{Condition, Object},
    rule::{self, Rule},
};

/// What to do about a condition.
#[derive(Clone, Copy)]
enum Remedy {
    /// To correct the object.
    Correct,
    /// To do what these words say.
    Do(&'static str),
    /// To look at what the operator did.
    Look,
}

type Row = (ConditionType, &'static Rule, Remedy);

const RELEASE: &str = "Set spec.release.image to a release that the message allows, or add what it lacks.";
const CREDENTIALS: &str = "Make the Secret that the message names, with the keys that it asks for.";
const NETWORK: &str = "Install a network plugin in the hosted cluster, such as Cilium, Calico or Flannel.";
const APPROVE: &str = "Look at each request in the hosted cluster (kubectl get csr, kubectl describe csr), and approve those of \
                       hosts that you know: kubectl certificate approve.";
const REACH: &str = "Look at konnectivity-agent on the nodes, and at what filters between them and the control plane.";
const NAME: &str = "Let the name lead to the address of the API server, and let clients through.";

/// Conditions of a cluster.
static OF_CLUSTER: &[Row] = &[
    (
        hosted_cluster::VALID_CONFIGURATION,
        &rule::INVALID_CONFIGURATION,
        Remedy::Correct,
    ),
    (
        hosted_cluster::SUPPORTED_HOSTED_CLUSTER,
        &rule::INVALID_CONFIGURATION,
        Remedy::Correct,
    ),
    (
        hosted_cluster::VALID_RELEASE_IMAGE,
        &rule::INVALID_RELEASE,
        Remedy::Do(RELEASE),
    ),
    (
        hosted_cluster::PLATFORM_CREDENTIALS_FOUND,
        &rule::CREDENTIALS,
        Remedy::Do(CREDENTIALS),
    ),
    (
        hosted_cluster::VALID_PROXY_CONFIGURATION,
        &rule::INVALID_CONFIGURATION,
        Remedy::Correct,
    ),
    (
        hosted_cluster::UNMANAGED_ETCD_AVAILABLE,
        &rule::INVALID_CONFIGURATION,
        Remedy::Correct,
    ),
    (
        hosted_cluster::VALID_OIDC_CONFIGURATION,
        &rule::INVALID_CONFIGURATION,
        Remedy::Correct,
    ),
    (
        hosted_cluster::VALID_GCP_CREDENTIALS,
        &rule::CREDENTIALS,
        Remedy::Do(CREDENTIALS),
    ),
    (
        hosted_cluster::VALID_GCP_WORKLOAD_IDENTITY,
        &rule::INVALID_CONFIGURATION,
        Remedy::Correct,
    ),
    (
        hosted_cluster::VALID_KUBEVIRT_INFRA_NETWORK_POLICY_RBAC,
        &rule::CREDENTIALS,
        Remedy::Do("Give the credentials for the cluster with the machines the rights that the message names."),
    ),
    (hosted_cluster::ETCD_RECOVERY_ACTIVE, &rule::FAILED, Remedy::Look),
    (hosted_cluster::RECONCILIATION_SUCCEEDED, &rule::FAILED, Remedy::Look),
];

/// Conditions of a control plane.
static OF_CONTROL_PLANE: &[Row] = &[
    (
        hosted_control_plane::VALID_HOSTED_CONTROL_PLANE_CONFIGURATION,
        &rule::INVALID_CONFIGURATION,
        Remedy::Do("Correct what the message names in the HostedCluster."),
    ),
    (
        hosted_control_plane::VALID_RELEASE_INFO,
        &rule::INVALID_RELEASE,
        Remedy::Do(RELEASE),
    ),
    (
        hosted_control_plane::IGNITION_SERVER_VALID_RELEASE_INFO,
        &rule::INVALID_RELEASE,
        Remedy::Do(RELEASE),
    ),
    (
        hosted_control_plane::VALID_IDP_CONFIGURATION,
        &rule::INVALID_CONFIGURATION,
        Remedy::Do("Correct the identity providers in spec.configuration.oauth of the HostedCluster."),
    ),
    (
        hosted_control_plane::VALID_AWS_IDENTITY_PROVIDER,
        &rule::CREDENTIALS,
        Remedy::Look,
    ),
    (
        hosted_control_plane::VALID_AWS_KMS_CONFIG,
        &rule::CREDENTIALS,
        Remedy::Look,
    ),
    (
        hosted_control_plane::VALID_AZURE_KMS_CONFIG,
        &rule::CREDENTIALS,
        Remedy::Look,
    ),
    (
        hosted_control_plane::EXTERNAL_DNS_REACHABLE,
        &rule::UNREACHABLE,
        Remedy::Do(NAME),
    ),
    (
        ours::NETWORK_PLUGIN_AVAILABLE,
        &rule::NETWORK_PLUGIN,
        Remedy::Do(NETWORK),
    ),
    (
        ours::NODE_CERTIFICATES_APPROVED,
        &rule::CERTIFICATE,
        Remedy::Do(APPROVE),
    ),
    (
        hosted_control_plane::DATA_PLANE_CONNECTION_AVAILABLE,
        &rule::CONNECTION,
        Remedy::Do(REACH),
    ),
    (
        hosted_control_plane::CONTROL_PLANE_CONNECTION_AVAILABLE,
        &rule::CONNECTION,
        Remedy::Do(REACH),
    ),
    (
        hosted_control_plane::CONFIG_OPERATOR_RECONCILIATION_SUCCEEDED,
        &rule::FAILED,
        Remedy::Look,
    ),
    (
        hosted_control_plane::TARGET_CONFIG_CONTROLLER_DEGRADED,
        &rule::FAILED,
        Remedy::Look,
    ),
];

/// Conditions of a pool.
static OF_POOL: &[Row] = &[
    (
        node_pool::UPDATE_MANAGEMENT_ENABLED,
        &rule::INVALID_CONFIGURATION,
        Remedy::Correct,
    ),
    (
        node_pool::VALID_RELEASE_IMAGE,
        &rule::INVALID_RELEASE,
        Remedy::Do(RELEASE),
    ),
    (
        node_pool::VALID_ARCH_PLATFORM,
        &rule::INVALID_CONFIGURATION,
        Remedy::Correct,
    ),
    (
        node_pool::VALID_PLATFORM_CONFIG,
        &rule::INVALID_CONFIGURATION,
        Remedy::Correct,
    ),
    (
        node_pool::VALID_PLATFORM_IMAGE,
        &rule::INVALID_CONFIGURATION,
        Remedy::Correct,
    ),
    (
        node_pool::VALID_MACHINE_CONFIG,
        &rule::INVALID_CONFIGURATION,
        Remedy::Correct,
    ),
    (
        node_pool::VALID_MACHINE_TEMPLATE,
        &rule::INVALID_CONFIGURATION,
        Remedy::Correct,
    ),
    (
        node_pool::VALID_TUNING_CONFIG,
        &rule::INVALID_CONFIGURATION,
        Remedy::Correct,
    ),
    (
        node_pool::AUTOSCALING_ENABLED,
        &rule::INVALID_CONFIGURATION,
        Remedy::Correct,
    ),
    (
        node_pool::SUPPORTED_VERSION_SKEW,
        &rule::VERSION_SKEW,
        Remedy::Do("Do what the message ends with; scaling, repair and deletion go on meanwhile."),
    ),
    (node_pool::AWS_SECURITY_GROUP_AVAILABLE, &rule::INSTANCE, Remedy::Look),
    (
        node_pool::AWS_RESOURCE_TAG_CONFLICT,
        &rule::INVALID_CONFIGURATION,
        Remedy::Correct,
    ),
    (
        node_pool::CLUSTER_NETWORK_CIDR_CONFLICT,
        &rule::NETWORKS,
        Remedy::Correct,
    ),
];

/// What is judged of a cluster.
pub(super) fn of_cluster(walk: &Walk<'_>, cluster: &Object) -> Vec<Trouble> {
    judged(walk, cluster, OF_CLUSTER)
}

/// What is judged of a control plane, certificates of signers included.
pub(super) fn of_control_plane(walk: &Walk<'_>, control_plane: &Object) -> Vec<Trouble> {
    let mut found = judged(walk, control_plane, OF_CONTROL_PLANE);
    let rotations = control_plane
        .conditions()
        .filter(|condition| condition.type_.starts_with("CertRotation_") && standing(condition) == Standing::Bad);
    found.extend(rotations.map(|condition| trouble(control_plane, &condition, &rule::FAILED, Remedy::Look)));
    found
}

/// What is judged of a pool.
pub(super) fn of_pool(walk: &Walk<'_>, pool: &Object) -> Vec<Trouble> {
    let mut found = judged(walk, pool, OF_POOL);
    // That versions cannot be compared holds nodes as well.
    let skew = pool.condition(node_pool::SUPPORTED_VERSION_SKEW.as_str());
    let unknown = skew.filter(|skew| standing(skew) == Standing::Unknown && skew.message.contains("do not roll"));
    found.extend(unknown.map(|skew| trouble(pool, &skew, &rule::VERSION_SKEW, Remedy::Look)));
    found
}

/// What a table finds; what was told in other words is told once.
fn judged(walk: &Walk<'_>, object: &Object, table: &'static [Row]) -> Vec<Trouble> {
    let mut found: Vec<Trouble> = Vec::new();
    for (type_, rule, remedy) in table {
        let Some(condition) = object.condition(type_.as_str()) else {
            continue;
        };
        let is_told = |known: &Trouble| overlap(&known.what, condition.words());
        if standing(&condition) == Standing::Bad && !found.iter().any(is_told) && !walk.is_told(condition.words()) {
            found.push(trouble(object, &condition, rule, *remedy));
        }
    }
    found
}

fn overlap(one: &str, other: &str) -> bool {
    one.contains(other) || other.contains(one)
}

fn trouble(object: &Object, condition: &Condition<'_>, rule: &'static Rule, remedy: Remedy) -> Trouble {
    let remedy = match remedy {
        Remedy::Correct => format!("Correct what the message names: {}.", kubectl("edit", object)),
        Remedy::Do(words) => words.to_owned(),
        Remedy::Look => format!(
            "It is tried again by itself; if it stays, do what the message asks for, and look at {}.",
            kubectl("describe", object)
        ),
    };
    let condition_words = format!("{} is {} ({})", condition.type_, condition.status, condition.reason);
    Trouble::new(object.reference(), rule, condition.words(), remedy)
        .since(condition.since)
        .part(condition.type_)
        .fact("condition", Some(condition_words))
}
