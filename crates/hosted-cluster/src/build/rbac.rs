//! Who may do what: the operators of a control plane in its namespace, Cluster API where it runs, and the manager itself.
//! Operators write under these accounts in whichever process they run.

mod rules;

use hyperplane_api::constants::{
    groups, labels,
    objects::{components, roles},
};
use hyperplane_component_driver::access;
use hyperplane_platforms::{Facts, Place};
use k8s_openapi::{
    api::{
        core::v1::ServiceAccount,
        rbac::v1::{ClusterRole, ClusterRoleBinding, PolicyRule, Role, RoleBinding, RoleRef, Subject},
    },
    apimachinery::pkg::apis::meta::v1::ObjectMeta,
};

pub use self::rules::manager_rules;
use super::Blueprint;
use crate::metadata;

/// Everything about access.
#[derive(Default)]
pub(super) struct Access {
    pub(super) service_accounts: Vec<ServiceAccount>,
    pub(super) roles: Vec<Role>,
    pub(super) role_bindings: Vec<RoleBinding>,
    pub(super) cluster_roles: Vec<ClusterRole>,
    pub(super) cluster_role_bindings: Vec<ClusterRoleBinding>,
}

pub(super) fn build(blueprint: &Blueprint<'_>) -> Access {
    let mut granted = Access::default();
    granted.operator(
        blueprint,
        roles::CONTROL_PLANE_OPERATOR,
        access::control_plane_operator_rules(),
    );
    granted.operator(blueprint, roles::PKI_OPERATOR, access::pki_operator_rules());
    granted.operator(blueprint, roles::CONFIG_OPERATOR, access::config_operator_rules());
    if blueprint.has_dedicated_operators() {
        for role in [roles::CONTROL_PLANE_OPERATOR, roles::CONFIG_OPERATOR] {
            granted.everywhere(blueprint, role, rules::dedicated_operator_everywhere());
        }
    }
    granted.everywhere(
        blueprint,
        components::IGNITION_SERVER,
        rules::ignition_server_everywhere(),
    );
    if blueprint.of_cluster_api.contains(&components::CLUSTER_API) {
        granted.everywhere(blueprint, components::CLUSTER_API, rules::cluster_api_everywhere());
    }
    if blueprint.of_cluster_api.contains(&components::CLUSTER_API_PROVIDER) {
        granted.provider(blueprint);
    }
    granted
}

impl Access {
    /// The account of an operator, and what it may do in the namespace of the control plane.
    fn operator(&mut self, blueprint: &Blueprint<'_>, name: &str, rules: Vec<PolicyRule>) {
        self.service_accounts.push(ServiceAccount {
            metadata: blueprint.metadata(name),
            image_pull_secrets: Some(vec![k8s_openapi::api::core::v1::LocalObjectReference {
                name: hyperplane_api::constants::objects::copies::PULL_SECRET.to_owned(),
            }]),
            ..ServiceAccount::default()
        });
        self.grant(blueprint.metadata(name), rules, account(blueprint, name));
    }

    /// A Role and its binding, of one name.
    fn grant(&mut self, metadata: ObjectMeta, rules: Vec<PolicyRule>, subject: Subject) {
        let name = metadata.name.clone().unwrap_or_default();
        self.roles.push(Role {
            metadata: metadata.clone(),
            rules: Some(rules),
        });
        self.role_bindings.push(RoleBinding {
            metadata,
            role_ref: reference("Role", &name),
            subjects: Some(vec![subject]),
        });
    }

    /// What an account may do outside of its namespace. The name tells the control plane, so that each has its own.
    fn everywhere(&mut self, blueprint: &Blueprint<'_>, account_name: &str, rules: Vec<PolicyRule>) {
        let name = format!("hypershift-{account_name}-{}", blueprint.namespace);
        self.cluster_roles.push(ClusterRole {
            metadata: metadata::outside(blueprint.cluster, &name),
            rules: Some(rules),
            ..ClusterRole::default()
        });
        self.cluster_role_bindings.push(ClusterRoleBinding {
            metadata: metadata::outside(blueprint.cluster, &name),
            role_ref: reference("ClusterRole", &name),
            subjects: Some(vec![account(blueprint, account_name)]),
        });
    }

    /// What the provider of the platform may do besides what every provider may.
    fn provider(&mut self, blueprint: &Blueprint<'_>) {
        let facts = Facts {
            cluster: blueprint.cluster,
            infra_id: blueprint.infra_id,
            namespace: blueprint.namespace,
            endpoint: None,
            ignition_endpoint: None,
        };
        for grant in blueprint.platform.provider_rules(&facts) {
            let metadata = match grant.place {
                Place::ControlPlane => blueprint.metadata("capi-provider-platform"),
                Place::Namespace(namespace) => elsewhere(blueprint, &namespace),
            };
            self.grant(
                metadata,
                grant.rules,
                account(blueprint, components::CLUSTER_API_PROVIDER),
            );
        }
    }
}

/// Metadata of a grant in a namespace of the user, in which several clusters may have one.
fn elsewhere(blueprint: &Blueprint<'_>, namespace: &str) -> ObjectMeta {
    let name = format!("{}-{}", components::CLUSTER_API_PROVIDER, blueprint.namespace);
    let mut metadata = metadata::in_namespace(blueprint.cluster, namespace, &name);
    let labels = metadata.labels.get_or_insert_default();
    labels.insert(
        labels::CAPI_PROVIDER_AGENT_RBAC.as_str().to_owned(),
        blueprint.namespace.to_owned(),
    );
    metadata
}

fn account(blueprint: &Blueprint<'_>, name: &str) -> Subject {
    Subject {
        kind: "ServiceAccount".to_owned(),
        name: name.to_owned(),
        namespace: Some(blueprint.namespace.to_owned()),
        api_group: None,
    }
}

fn reference(kind: &str, name: &str) -> RoleRef {
    RoleRef {
        api_group: Some(groups::RBAC.to_owned()),
        kind: kind.to_owned(),
        name: name.to_owned(),
    }
}
