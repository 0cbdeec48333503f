//! One cluster with one pool as a user asks for them: created, waited for, rolled, scaled to zero.

use std::time::Duration;

use anyhow::{Result, bail};
use hyperplane_api::{
    cluster_api::machine::Machine,
    hypershift::{
        hosted_cluster::HostedCluster,
        node_pool::{NodePool, status::NodePoolStatus},
    },
};
use hyperplane_hosted_cluster::control_plane_namespace;
use k8s_openapi::api::core::v1::{Namespace, Secret};
use kube::{
    Api, Client,
    api::{ListParams, Patch, PatchParams, PostParams},
};
use serde_json::{Value, json};
use tokio::time::{Instant, sleep};

/// The version that nodes begin with.
pub const OLD_VERSION: &str = "1.36.3";
/// The version of the control plane, which nodes roll to.
pub const NEW_VERSION: &str = "1.36.4";

/// The namespace of users' clusters.
const NAMESPACE: &str = "clusters";
const CLUSTER: &str = "blue";
const NAME: &str = "workers";
/// The longest that one machine is waited for, were it alone.
const PATIENCE_EACH: Duration = Duration::from_secs(10);
/// The longest that any number of machines is waited for besides.
const PATIENCE: Duration = Duration::from_mins(10);
/// How often is looked.
const GLANCE: Duration = Duration::from_millis(500);

/// A pool of so many machines.
pub struct Pool {
    client: Client,
    count: i32,
    patience: Duration,
}

impl Pool {
    /// A pool that is not there yet.
    pub fn new(client: &Client, count: usize) -> Result<Self> {
        let client = client.clone();
        let patience = PATIENCE + PATIENCE_EACH * u32::try_from(count)?;
        Ok(Self {
            client,
            count: i32::try_from(count)?,
            patience,
        })
    }

    /// Creates the cluster of the pool, and waits until machines could join it.
    pub async fn create_cluster(&self) -> Result<()> {
        let parameters = PostParams::default();
        let namespace: Namespace = hyperplane_objects::read(json!({"metadata": {"name": NAMESPACE}}))?;
        Api::all(self.client.clone()).create(&parameters, &namespace).await?;
        let pull_secret: Secret = hyperplane_objects::read(json!({
            "metadata": {"name": "pull-secret"},
            "stringData": {".dockerconfigjson": r#"{"auths": {}}"#},
            "type": "kubernetes.io/dockerconfigjson",
        }))?;
        let secrets: Api<Secret> = Api::namespaced(self.client.clone(), NAMESPACE);
        secrets.create(&parameters, &pull_secret).await?;
        let clusters: Api<HostedCluster> = Api::namespaced(self.client.clone(), NAMESPACE);
        let cluster: HostedCluster = hyperplane_objects::read(cluster())?;
        clusters.create(&parameters, &cluster).await?;
        self.until("the cluster to be available", async || {
            let status = clusters.get(CLUSTER).await?.status;
            let conditions = status.iter().flat_map(|status| &status.conditions);
            let mut available = conditions.filter(|condition| condition.type_ == "Available");
            Ok(available.any(|condition| condition.status == "True"))
        })
        .await
    }

    /// Creates the pool.
    pub async fn create(&self) -> Result<()> {
        let pool: NodePool = hyperplane_objects::read(self.manifest())?;
        self.pools().create(&PostParams::default(), &pool).await?;
        Ok(())
    }

    /// Asks for another version.
    pub async fn roll(&self) -> Result<()> {
        self.patch(&json!({"spec": {"release": {"image": image(NEW_VERSION)}}}))
            .await
    }

    /// Asks for no machines.
    pub async fn scale_to_zero(&self) -> Result<()> {
        self.patch(&json!({"spec": {"replicas": 0}})).await
    }

    /// Waits until all nodes are ready in a version, and there are no others.
    pub async fn until_ready(&self, version: &str) -> Result<()> {
        let pools = self.pools();
        self.until("all nodes to be ready", async || {
            let status = pools.get(NAME).await?.status;
            Ok(status.is_some_and(|status| self.are_ready(&status, version)))
        })
        .await
    }

    /// Waits until the last machine has gone.
    pub async fn until_empty(&self) -> Result<()> {
        let namespace = control_plane_namespace(NAMESPACE, CLUSTER);
        let machines: Api<Machine> = Api::namespaced(self.client.clone(), &namespace);
        let first = ListParams::default().limit(1);
        self.until("all machines to go", async || {
            Ok(machines.list(&first).await?.items.is_empty())
        })
        .await
    }

    fn are_ready(&self, status: &NodePoolStatus, version: &str) -> bool {
        let versions = status.nodes_info.iter().flat_map(|info| &info.node_versions);
        let (mut ready, mut others) = (0, 0);
        for one in versions {
            others += one.unready_node_count;
            if one.ocp_version.as_str() == version {
                ready += one.ready_node_count;
            } else {
                others += one.ready_node_count;
            }
        }
        ready == self.count && others == 0
    }

    async fn until(&self, what: &str, is_so: impl AsyncFn() -> Result<bool>) -> Result<()> {
        let began = Instant::now();
        while !is_so().await? {
            if began.elapsed() > self.patience {
                let status = self.pools().get_opt(NAME).await?.and_then(|pool| pool.status);
                bail!("waited in vain for {what}: {}", serde_json::to_string(&status)?);
            }
            sleep(GLANCE).await;
        }
        Ok(())
    }

    async fn patch(&self, change: &Value) -> Result<()> {
        let parameters = PatchParams::default();
        self.pools().patch(NAME, &parameters, &Patch::Merge(change)).await?;
        Ok(())
    }

    fn pools(&self) -> Api<NodePool> {
        Api::namespaced(self.client.clone(), NAMESPACE)
    }

    fn manifest(&self) -> Value {
        json!({
            "apiVersion": "hypershift.openshift.io/v1beta1",
            "kind": "NodePool",
            "metadata": {"name": NAME},
            "spec": {
                "clusterName": CLUSTER,
                "release": {"image": image(OLD_VERSION)},
                "replicas": self.count,
                "management": {
                    "upgradeType": "Replace",
                    "replace": {
                        "strategy": "RollingUpdate",
                        "rollingUpdate": {"maxSurge": "10%", "maxUnavailable": 0},
                    },
                },
                "platform": {"type": "KubeVirt", "kubevirt": {"rootVolume": {
                    "type": "Persistent",
                    "diskImage": {"containerDiskImage": "registry.example.com/os:1"},
                }}},
            },
        })
    }
}

fn image(version: &str) -> String {
    format!("hyperplane.dev/kubernetes:v{version}")
}

fn cluster() -> Value {
    let published =
        |service: &str, kind: &str| json!({"service": service, "servicePublishingStrategy": {"type": kind}});
    json!({
        "apiVersion": "hypershift.openshift.io/v1beta1",
        "kind": "HostedCluster",
        "metadata": {"name": CLUSTER},
        "spec": {
            "release": {"image": image(NEW_VERSION)},
            "pullSecret": {"name": "pull-secret"},
            "dns": {"baseDomain": "example.com"},
            "platform": {"type": "KubeVirt", "kubevirt": {}},
            "networking": {
                "networkType": "Other",
                "clusterNetwork": [{"cidr": "10.132.0.0/14"}],
                "serviceNetwork": [{"cidr": "172.31.0.0/16"}],
            },
            "controllerAvailabilityPolicy": "SingleReplica",
            "services": [
                published("APIServer", "LoadBalancer"),
                published("OAuthServer", "Route"),
                published("Konnectivity", "Route"),
                published("Ignition", "Route"),
            ],
        },
    })
}
