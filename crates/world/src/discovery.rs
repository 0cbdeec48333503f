//! What a management cluster tells of itself.

use hyperplane_component_driver::Facts;
use hyperplane_hosted_cluster::ManagementNetworks;
use hyperplane_planner::version::{Scheme, Version};
use hyperplane_runtime::Failure;
use k8s_openapi::api::discovery::v1::EndpointSlice;
use kube::{Api, Client, api::ListParams};

/// The group whose presence says that monitors can be written.
const MONITORING: &str = "monitoring.coreos.com";
/// The group whose presence says that pods are given their users.
const OPENSHIFT_SECURITY: &str = "security.openshift.io";
/// Selects where the API server of the cluster is.
const API_SERVER: &str = "kubernetes.io/service-name=kubernetes";

/// What only those must know who make control planes.
#[derive(Clone, Debug, Default)]
pub struct Surroundings {
    /// Whether it is an OpenShift cluster, which gives pods their users.
    pub is_openshift: bool,
    /// Its networks.
    pub networks: ManagementNetworks,
}

/// What components must know of the cluster, with the image of this program.
pub async fn discover(client: &Client, image: &str) -> Result<Facts, Failure> {
    let version = client.apiserver_version().await?;
    let kubernetes = Version::parse(Scheme::Kubernetes, &version.git_version).map_err(Failure::fatal)?;
    Ok(Facts {
        kubernetes,
        image: image.to_owned(),
        ingress_domain: None,
        has_monitors: serves(client, MONITORING).await?,
    })
}

/// What those who make control planes must know besides.
pub async fn surroundings(client: &Client) -> Result<Surroundings, Failure> {
    let slices: Api<EndpointSlice> = Api::namespaced(client.clone(), "default");
    let slices = slices.list(&ListParams::default().labels(API_SERVER)).await?;
    let endpoints = slices
        .items
        .into_iter()
        .flat_map(|slice| slice.endpoints.into_iter().flatten());
    let mut api_server: Vec<String> = endpoints.flat_map(|endpoint| endpoint.addresses).collect();
    api_server.sort();
    api_server.dedup();
    Ok(Surroundings {
        is_openshift: serves(client, OPENSHIFT_SECURITY).await?,
        networks: ManagementNetworks {
            api_server,
            ..ManagementNetworks::default()
        },
    })
}

async fn serves(client: &Client, group: &str) -> Result<bool, Failure> {
    let groups = client.list_api_groups().await?.groups;
    Ok(groups.iter().any(|found| found.name == group))
}
