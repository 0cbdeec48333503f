//! What people may do, as roles to bind: who runs the service, who asks for clusters, and who administers one of them.
//!
//! Rules cannot name what does not exist yet, nor part of a name. A consumer therefore reads Secrets only by name, without
//! being able to list them, and the kubeconfig of one cluster is granted by a Role for that cluster. What is bound in a
//! namespace reaches nothing outside of namespaces, so reading releases is a role of its own.

use hyperplane_api::constants::groups;
use hyperplane_component_driver::access::{READ, rule};
use k8s_openapi::api::rbac::v1::PolicyRule;
use serde_json::{Value, json};

use crate::{
    definitions::{Origin, definitions, origin},
    labels,
    options::{Kinds, Options},
    rules::united,
};

/// The role of those who read releases, which belong to no namespace.
pub const RELEASE_READER: &str = "hyperplane-release-reader";

/// The label by which the role `view` of Kubernetes, and with it `edit` and `admin`, takes in a role.
const AGGREGATE_TO_VIEW: &str = "rbac.authorization.k8s.io/aggregate-to-view";
/// The verbs of people who make, change and remove.
const WRITE: &[&str] = &["create", "delete", "get", "list", "patch", "update", "watch"];
/// What `hyperplane status`, `explain` and `dump` read beside our own kinds, by group: the control planes and the operators
/// as they run, and what holds them up. Secrets are not among it: whoever lists them has every hosted cluster.
const OBSERVED: &[(&str, &[&str])] = &[
    (
        "",
        &[
            "configmaps",
            "endpoints",
            "events",
            "limitranges",
            "namespaces",
            "nodes",
            "persistentvolumeclaims",
            "persistentvolumes",
            "pods",
            "resourcequotas",
            "serviceaccounts",
            "services",
        ],
    ),
    ("apiextensions.k8s.io", &["customresourcedefinitions"]),
    (
        "apps",
        &[
            "controllerrevisions",
            "daemonsets",
            "deployments",
            "replicasets",
            "statefulsets",
        ],
    ),
    ("batch", &["cronjobs", "jobs"]),
    ("coordination.k8s.io", &["leases"]),
    (groups::DISCOVERY, &["endpointslices"]),
    ("networking.k8s.io", &["ingresses", "networkpolicies"]),
    ("policy", &["poddisruptionbudgets"]),
    (
        groups::RBAC,
        &["clusterrolebindings", "clusterroles", "rolebindings", "roles"],
    ),
    ("scheduling.k8s.io", &["priorityclasses"]),
    ("storage.k8s.io", &["storageclasses"]),
];
/// The annotation that says what a role is for.
const DESCRIPTION: &str = "kubernetes.io/description";

/// The roles of people, which nobody has until they are bound.
pub fn personas(options: &Options) -> Vec<Value> {
    let of = |name: &str, description: &str, rules| cluster_role(name, description, &united(rules));
    let mut viewer = of(
        "hyperplane-viewer",
        "Reads hosted clusters and all that belongs to them; part of the role view.",
        on_own(options, READ),
    );
    viewer["metadata"]["labels"][AGGREGATE_TO_VIEW] = "true".into();
    vec![
        of(
            "hyperplane-service-provider",
            "Runs the service: does everything with every kind of hosted clusters, in all namespaces, and reads how \
             control planes and operators run. Installing needs an administrator of the management cluster.",
            service_provider(options),
        ),
        of(
            "hyperplane-consumer",
            "Asks for clusters: makes, changes and deletes HostedClusters and NodePools of a namespace. To be bound there.",
            consumer(),
        ),
        of(
            RELEASE_READER,
            "Reads releases: what clusters can be made from. To be bound to all namespaces, for those who have another \
             role in one.",
            vec![rule(groups::HYPERPLANE, &["distributionreleases"], READ)],
        ),
        of(
            "hyperplane-instance-admin",
            "Administers a cluster: reads its state. To be bound in its namespace; hyperplane install instance-admin \
             adds the right to its kubeconfig.",
            instance(),
        ),
        viewer,
    ]
}

/// The right to one cluster: to read its state and the Secrets by which it is administered, all by their names, for
/// whoever the subjects are.
pub fn instance_admin(namespace: &str, cluster: &str, subjects: &[Value]) -> Vec<Value> {
    let metadata = json!({
        "name": format!("{cluster}-instance-admin"), "namespace": namespace, "labels": labels::common(),
    });
    let only = |names: Vec<String>, rule| PolicyRule {
        resource_names: Some(names),
        ..rule
    };
    let secrets = hyperplane_hosted_cluster::secrets_beside(cluster).to_vec();
    let rules = vec![
        only(secrets, rule("", &["secrets"], &["get"])),
        only(
            vec![cluster.to_owned()],
            rule(groups::HYPERSHIFT, &["hostedclusters"], &["get", "watch"]),
        ),
    ];
    let rbac = format!("{}/v1", groups::RBAC);
    let reference = json!({"apiGroup": groups::RBAC, "kind": "Role", "name": metadata["name"]});
    vec![
        json!({"apiVersion": rbac, "kind": "Role", "metadata": metadata, "rules": rules}),
        json!({
            "apiVersion": rbac, "kind": "RoleBinding", "metadata": metadata, "roleRef": reference, "subjects": subjects,
        }),
    ]
}

fn cluster_role(name: &str, description: &str, rules: &[PolicyRule]) -> Value {
    json!({
        "apiVersion": format!("{}/v1", groups::RBAC), "kind": "ClusterRole",
        "metadata": {"name": name, "labels": labels::common(), "annotations": {DESCRIPTION: description}},
        "rules": rules,
    })
}

fn service_provider(options: &Options) -> Vec<PolicyRule> {
    let mut rules = on_own(options, WRITE);
    rules.push(rule(
        groups::HYPERSHIFT,
        &["nodepools/scale"],
        &["get", "patch", "update"],
    ));
    for (group, plural) in kinds(options, |origin| origin != Origin::Own) {
        rules.push(rule(&group, &[&plural], READ));
    }
    rules.extend(OBSERVED.iter().map(|(group, plurals)| rule(group, plurals, READ)));
    rules.push(rule("", &["pods/log"], &["get"]));
    rules
}

fn consumer() -> Vec<PolicyRule> {
    vec![
        rule(groups::HYPERSHIFT, &["hostedclusters", "nodepools"], WRITE),
        rule(groups::HYPERSHIFT, &["nodepools/scale"], &["get", "patch", "update"]),
        // Pull secrets and keys that clusters refer to are brought along, as are the configurations of machines.
        rule("", &["secrets"], &["create", "delete", "get", "patch", "update"]),
        rule("", &["configmaps"], WRITE),
        rule("", &["events"], READ),
    ]
}

fn instance() -> Vec<PolicyRule> {
    vec![
        rule(groups::HYPERSHIFT, &["hostedclusters", "nodepools"], READ),
        rule("", &["events"], READ),
    ]
}

/// The same verbs on every kind of ours.
fn on_own(options: &Options, verbs: &[&str]) -> Vec<PolicyRule> {
    let own = kinds(options, |origin| origin == Origin::Own);
    own.iter()
        .map(|(group, plural)| rule(group, &[plural], verbs))
        .collect()
}

/// Group and plural of every kind of some origin, whoever defines it.
fn kinds(options: &Options, is_wanted: impl Fn(Origin) -> bool) -> Vec<(String, String)> {
    let all = Options {
        kinds: Kinds::All,
        ..options.clone()
    };
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let all = definitions(&all).into_iter();
    all.filter(|definition| is_wanted(origin(definition)))
        .map(|definition| {
            let spec = &definition["spec"];
            (text(&spec["group"]), text(&spec["names"]["plural"]))
        })
        .collect()
}
