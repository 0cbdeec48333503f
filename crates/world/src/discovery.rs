//! What a management cluster tells of itself.

use std::collections::{BTreeMap, BTreeSet};

use hyperplane_api::{
    infrastructure::{
        agent_cluster::AgentCluster,
        agent_machine::{AgentMachine, AgentMachineTemplate},
        kubevirt_cluster::KubevirtCluster,
        kubevirt_machine::{KubevirtMachine, KubevirtMachineTemplate},
    },
    unused,
};
use hyperplane_component_driver::Facts;
use hyperplane_hosted_cluster::{ManagementNetworks, ServedKinds};
use hyperplane_machines::InfrastructureKind;
use hyperplane_node_pool::ServedTemplates;
use hyperplane_objects::Kind;
use hyperplane_planner::version::{Scheme, Version};
use hyperplane_runtime::{Api, Failure};
use k8s_openapi::api::{apps::v1::Deployment, networking::v1::ServiceCIDR};
use kube::{
    Client,
    api::DynamicObject,
    core::{ApiResource, GroupVersionKind},
};

use crate::operators::Roles;

/// The group whose presence says that monitors can be written.
pub(crate) const MONITORING: &str = "monitoring.coreos.com";
/// The group whose presence says that pods are given their users.
const OPENSHIFT_SECURITY: &str = "security.openshift.io";
/// The group whose presence says that the cluster has a router of its own.
const OPENSHIFT_ROUTES: &str = "route.openshift.io";
/// The group of the object that says where an OpenShift cluster runs.
const OPENSHIFT_CONFIGURATION: &str = "config.openshift.io";
/// Where Cluster API installs its own manager (cluster-api, config/manager): namespace and name.
const CLUSTER_API_MANAGER: (&str, &str) = ("capi-system", "capi-controller-manager");

/// What only those must know who make control planes.
#[derive(Clone, Debug, Default)]
pub struct Surroundings {
    /// Whether it is an OpenShift cluster, which gives pods their users.
    pub is_openshift: bool,
    /// Which kinds it has that not every cluster has.
    pub served: ServedKinds,
    /// The definitions that it has of kinds that nothing acts on, by their names.
    pub without_effect: BTreeSet<String>,
    /// Which kinds of machine templates it has.
    pub templates: ServedTemplates,
    /// Which kinds of infrastructure machines it has.
    pub machines: Vec<InfrastructureKind>,
    /// Whether a manager of Cluster API for all namespaces is installed on it.
    pub has_cluster_api: bool,
    /// Its networks.
    pub networks: ManagementNetworks,
    /// The platform that it runs on, where it says so.
    pub platform: Option<String>,
    /// Whether the operators of a control plane run in its namespace where its cluster does not say.
    pub dedicates_operators: bool,
}

/// What components must know of the cluster, with the image of this program.
pub async fn discover(client: &Client, image: &str) -> Result<Facts, Failure> {
    let version = client.apiserver_version().await?;
    let kubernetes = Version::parse(Scheme::Kubernetes, &version.git_version).map_err(Failure::fatal)?;
    Ok(Facts {
        kubernetes,
        image: image.to_owned(),
        ingress_domain: None,
        has_monitors: groups(client).await?.contains_key(MONITORING),
        runs_machines: false,
    })
}

/// What those who make control planes must know besides.
pub async fn surroundings(client: &Client) -> Result<Surroundings, Failure> {
    let groups = groups(client).await?;
    let router = BTreeMap::from([("network.openshift.io/policy-group".to_owned(), "ingress".to_owned())]);
    Ok(Surroundings {
        is_openshift: groups.contains_key(OPENSHIFT_SECURITY),
        served: ServedKinds {
            kubevirt: serves::<KubevirtCluster>(client, &groups).await?,
            agent: serves::<AgentCluster>(client, &groups).await?,
            service_cidr: serves::<ServiceCIDR>(client, &groups).await?,
        },
        without_effect: without_effect(client, &groups).await?,
        templates: ServedTemplates {
            kubevirt: serves::<KubevirtMachineTemplate>(client, &groups).await?,
            agent: serves::<AgentMachineTemplate>(client, &groups).await?,
        },
        machines: machines(client, &groups).await?,
        has_cluster_api: has_cluster_api(client).await?,
        networks: ManagementNetworks {
            ingress: groups.contains_key(OPENSHIFT_ROUTES).then_some(router),
            ..ManagementNetworks::default()
        },
        platform: if groups.contains_key(OPENSHIFT_CONFIGURATION) {
            platform(client).await?
        } else {
            None
        },
        dedicates_operators: false,
    })
}

/// What those must know who run in these roles: operators of one control plane learn all of it from their control plane, and
/// controllers of machines need to know only who else is there.
pub async fn surroundings_for(client: &Client, roles: &Roles) -> Result<Surroundings, Failure> {
    match roles {
        Roles::All => surroundings(client).await,
        Roles::Machines => Ok(Surroundings {
            machines: machines(client, &groups(client).await?).await?,
            has_cluster_api: has_cluster_api(client).await?,
            ..Surroundings::default()
        }),
        Roles::ControlPlane { .. } | Roles::Pki { .. } | Roles::Config { .. } => Ok(Surroundings::default()),
    }
}

async fn machines(client: &Client, groups: &Groups) -> Result<Vec<InfrastructureKind>, Failure> {
    let mut kinds = Vec::new();
    if serves::<KubevirtMachine>(client, groups).await? {
        kinds.push(InfrastructureKind::Kubevirt);
    }
    if serves::<AgentMachine>(client, groups).await? {
        kinds.push(InfrastructureKind::Agent);
    }
    Ok(kinds)
}

async fn has_cluster_api(client: &Client) -> Result<bool, Failure> {
    let (namespace, name) = CLUSTER_API_MANAGER;
    let api: Api<Deployment> = Api::namespaced(client.clone(), namespace);
    Ok(api.get_metadata_opt(name).await?.is_some())
}

async fn serves<K: Kind>(client: &Client, groups: &Groups) -> Result<bool, Failure> {
    lists(client, groups, &K::group(&()), &K::version(&()), &K::plural(&())).await
}

async fn without_effect(client: &Client, groups: &Groups) -> Result<BTreeSet<String>, Failure> {
    let mut names = BTreeSet::new();
    for row in unused::KINDS {
        let kind = (row.definition)();
        if lists(client, groups, kind.group, kind.version, kind.plural).await? {
            names.insert(kind.name());
        }
    }
    Ok(names)
}

async fn lists(client: &Client, groups: &Groups, group: &str, version: &str, plural: &str) -> Result<bool, Failure> {
    let versions = groups.get(group);
    if !versions.is_some_and(|versions| versions.iter().any(|found| found == version)) {
        return Ok(false);
    }
    let list = client.list_api_group_resources(&format!("{group}/{version}")).await?;
    Ok(list.resources.iter().any(|resource| resource.name == plural))
}

/// API groups, with their versions.
type Groups = BTreeMap<String, Vec<String>>;

async fn groups(client: &Client) -> Result<Groups, Failure> {
    let list = client.list_api_groups().await?;
    let entry = |group: k8s_openapi::apimachinery::pkg::apis::meta::v1::APIGroup| {
        let versions = group.versions.into_iter().map(|version| version.version);
        (group.name, versions.collect())
    };
    Ok(list.groups.into_iter().map(entry).collect())
}

/// Where an OpenShift cluster says that it runs. One that has the group, and not the kind, is none.
async fn platform(client: &Client) -> Result<Option<String>, Failure> {
    let kind = GroupVersionKind::gvk(OPENSHIFT_CONFIGURATION, "v1", "Infrastructure");
    let resource = ApiResource::from_gvk_with_plural(&kind, "infrastructures");
    let api: kube::Api<DynamicObject> = kube::Api::all_with(client.clone(), &resource);
    let found = api.get_opt("cluster").await?;
    let platform = found.as_ref().and_then(|found| {
        let status = &found.data["status"];
        let type_ = status["platformStatus"]["type"].as_str();
        type_.or(status["platform"].as_str())
    });
    Ok(platform.filter(|name| !name.is_empty()).map(str::to_owned))
}

#[cfg(test)]
mod tests {
    use hyperplane_access::User;
    use hyperplane_apiserver::{Entropy, Server, Settings, Shared};
    use hyperplane_runtime::Clock;
    use hyperplane_store::Memory;
    use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
    use kube::api::PostParams;
    use serde_json::{Value, json};
    use tokio_util::sync::CancellationToken;

    use super::*;
    use hyperplane_install::MachineManager;

    use crate::setup::set_up;

    async fn server() -> Client {
        let clock = Clock::anchored("2027-01-15T08:00:00Z".parse().unwrap());
        let settings = Settings::new(clock, Entropy::seeded(1));
        let (server, writer, controllers) = Server::open(&Shared::new(), settings, Memory).unwrap();
        tokio::spawn(writer.run());
        tokio::spawn(controllers.run(CancellationToken::new()));
        server.bootstrap().await.unwrap();
        Client::new(server.in_process(User::admin()), "default")
    }

    /// A kind of OpenShift, with whatever content.
    async fn define(client: &Client, group: &str, kind: &str) {
        let plural = format!("{}s", kind.to_lowercase());
        let schema = json!({"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": true}});
        let definition: Value = json!({
            "metadata": {"name": format!("{plural}.{group}")},
            "spec": {"group": group, "scope": "Cluster", "names": {"kind": kind, "plural": plural},
                "versions": [{"name": "v1", "served": true, "storage": true, "schema": schema}]},
        });
        let definition: CustomResourceDefinition = hyperplane_objects::read(&definition).unwrap();
        let api: Api<CustomResourceDefinition> = Api::all(client.clone());
        api.create(&PostParams::default(), &definition).await.unwrap();
        tokio::time::sleep(std::time::Duration::from_secs(10)).await;
    }

    #[tokio::test(start_paused = true)]
    async fn kinds_of_providers_count_where_they_are_served() {
        let client = server().await;
        let before = surroundings(&client).await.unwrap();
        let bare = ServedKinds {
            service_cidr: true,
            ..ServedKinds::default()
        };
        assert_eq!(before.served, bare);
        assert!(before.without_effect.is_empty());
        assert!(before.machines.is_empty() && before.templates == ServedTemplates::default());
        set_up(&client, MachineManager::Hyperplane).await.unwrap();
        let after = surroundings(&client).await.unwrap();
        assert_eq!(after.served, ServedKinds::ALL);
        assert_eq!(after.templates, ServedTemplates::ALL);
        assert_eq!(after.machines, InfrastructureKind::ALL);
        let has = |name: &str| after.without_effect.contains(name);
        assert!(has(
            "certificaterevocationrequests.certificates.hypershift.openshift.io"
        ));
        assert!(!has("hcpetcdbackups.hypershift.openshift.io"), "its gate is closed");
        assert!(!after.has_cluster_api);
        assert!(!after.is_openshift && after.platform.is_none() && after.networks.ingress.is_none());
    }

    /// Machines as somebody else has defined them, with whatever content.
    async fn define_machines(client: &Client, version: &str) -> CustomResourceDefinition {
        let schema = json!({"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": true}});
        let definition: Value = json!({
            "metadata": {"name": "machines.cluster.x-k8s.io"},
            "spec": {"group": "cluster.x-k8s.io", "scope": "Namespaced", "names": {"kind": "Machine", "plural": "machines"},
                "versions": [{"name": version, "served": true, "storage": true, "schema": schema}]},
        });
        let definition: CustomResourceDefinition = hyperplane_objects::read(&definition).unwrap();
        let api: Api<CustomResourceDefinition> = Api::all(client.clone());
        api.create(&PostParams::default(), &definition).await.unwrap()
    }

    #[tokio::test(start_paused = true)]
    async fn a_kind_that_somebody_else_has_defined_is_left_as_it_is() {
        let client = server().await;
        let before = define_machines(&client, "v1beta2").await;
        set_up(&client, MachineManager::Hyperplane).await.unwrap();
        let api: Api<CustomResourceDefinition> = Api::all(client.clone());
        assert_eq!(api.get("machines.cluster.x-k8s.io").await.unwrap().spec, before.spec);
        let ours = api.get("machinesets.cluster.x-k8s.io").await.unwrap();
        assert_eq!(
            ours.metadata.labels.unwrap()["app.kubernetes.io/managed-by"],
            "hyperplane"
        );
    }

    #[tokio::test(start_paused = true)]
    async fn machines_that_are_ours_need_a_kind_that_can_be_used() {
        let client = server().await;
        define_machines(&client, "v1beta1").await;
        let failure = set_up(&client, MachineManager::Hyperplane).await.unwrap_err().report();
        assert!(
            failure.contains("machines.cluster.x-k8s.io") && failure.contains("v1beta2"),
            "{failure}"
        );
        set_up(&client, MachineManager::ClusterApi).await.unwrap();
    }

    #[tokio::test(start_paused = true)]
    async fn an_openshift_cluster_says_where_it_runs_and_has_a_router() {
        let client = server().await;
        for (group, kind) in [
            (OPENSHIFT_CONFIGURATION, "Infrastructure"),
            (OPENSHIFT_ROUTES, "Route"),
            (OPENSHIFT_SECURITY, "SecurityContextConstraint"),
        ] {
            define(&client, group, kind).await;
        }
        assert_eq!(
            surroundings(&client).await.unwrap().platform,
            None,
            "it says nothing yet"
        );
        let resource = ApiResource::from_gvk_with_plural(
            &GroupVersionKind::gvk(OPENSHIFT_CONFIGURATION, "v1", "Infrastructure"),
            "infrastructures",
        );
        let object =
            DynamicObject::new("cluster", &resource).data(json!({"status": {"platformStatus": {"type": "AWS"}}}));
        let api: kube::Api<DynamicObject> = kube::Api::all_with(client.clone(), &resource);
        api.create(&PostParams::default(), &object).await.unwrap();
        let found = surroundings(&client).await.unwrap();
        assert!(found.is_openshift);
        assert_eq!(found.platform.as_deref(), Some("AWS"));
        let labels = found.networks.ingress.unwrap();
        assert_eq!(labels["network.openshift.io/policy-group"], "ingress");
    }
}
