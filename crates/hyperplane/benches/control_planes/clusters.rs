//! Hosted clusters as users ask for them: created, waited for, touched.

use std::time::Duration;

use anyhow::{Result, bail};
use hyperplane_api::hypershift::{
    hosted_cluster::HostedCluster, hosted_cluster_status::HostedClusterStatus, version_status::UpdateState,
};
use k8s_openapi::api::core::v1::{Namespace, Secret};
use kube::{
    Api, Client,
    api::{ListParams, Patch, PatchParams, PostParams},
};
use serde_json::{Value, json};
use tokio::time::{Instant, sleep};

/// The namespace of users' clusters.
const NAMESPACE: &str = "clusters";
/// The longest that one cluster is waited for, were it alone.
const PATIENCE_EACH: Duration = Duration::from_mins(2);
/// The longest that any number of clusters is waited for besides.
const PATIENCE: Duration = Duration::from_mins(10);
/// How often is looked.
const GLANCE: Duration = Duration::from_millis(500);

/// So many clusters.
pub struct Clusters {
    client: Client,
    count: usize,
    policy: String,
}

impl Clusters {
    /// Clusters that are not there yet.
    pub fn new(client: &Client, count: usize, policy: &str) -> Self {
        Self {
            client: client.clone(),
            count,
            policy: policy.to_owned(),
        }
    }

    /// Creates them all at once.
    pub async fn create(&self) -> Result<()> {
        let parameters = PostParams::default();
        let namespace: Namespace = hyperplane_objects::read(json!({"metadata": {"name": NAMESPACE}}))?;
        Api::all(self.client.clone()).create(&parameters, &namespace).await?;
        let secret: Secret = hyperplane_objects::read(json!({
            "metadata": {"name": "pull-secret"},
            "stringData": {".dockerconfigjson": r#"{"auths": {}}"#},
            "type": "kubernetes.io/dockerconfigjson",
        }))?;
        let secrets: Api<Secret> = Api::namespaced(self.client.clone(), NAMESPACE);
        secrets.create(&parameters, &secret).await?;
        for number in 0..self.count {
            let cluster: HostedCluster = hyperplane_objects::read(self.manifest(number))?;
            self.api().create(&parameters, &cluster).await?;
        }
        Ok(())
    }

    /// Waits until all are available and complete.
    pub async fn until_complete(&self) -> Result<()> {
        let patience = PATIENCE + PATIENCE_EACH * u32::try_from(self.count)?;
        let began = Instant::now();
        loop {
            let all = self.api().list(&ListParams::default()).await?.items;
            let complete = all.iter().filter_map(|cluster| cluster.status.as_ref());
            let complete = complete.filter(|status| is_complete(status)).count();
            if complete == self.count {
                return Ok(());
            }
            if began.elapsed() > patience {
                bail!("only {complete} of {} clusters are complete", self.count);
            }
            sleep(GLANCE).await;
        }
    }

    /// Changes each in something that means nothing.
    pub async fn touch(&self) -> Result<()> {
        let patch = Patch::Merge(json!({"metadata": {"annotations": {"example.com/touched": "yes"}}}));
        for number in 0..self.count {
            self.api().patch(&name(number), &PatchParams::default(), &patch).await?;
        }
        Ok(())
    }

    fn api(&self) -> Api<HostedCluster> {
        Api::namespaced(self.client.clone(), NAMESPACE)
    }

    fn manifest(&self, number: usize) -> Value {
        let published =
            |service: &str, kind: &str| json!({"service": service, "servicePublishingStrategy": {"type": kind}});
        json!({
            "apiVersion": "hypershift.openshift.io/v1beta1",
            "kind": "HostedCluster",
            "metadata": {"name": name(number)},
            "spec": {
                "release": {"image": "hyperplane.dev/kubernetes:v1.36.4"},
                "pullSecret": {"name": "pull-secret"},
                "dns": {"baseDomain": "example.com"},
                "platform": {"type": "None"},
                "networking": {
                    "networkType": "Other",
                    "clusterNetwork": [{"cidr": "10.132.0.0/14"}],
                    "serviceNetwork": [{"cidr": "172.31.0.0/16"}],
                },
                "controllerAvailabilityPolicy": self.policy,
                "services": [
                    published("APIServer", "LoadBalancer"),
                    published("OAuthServer", "Route"),
                    published("Konnectivity", "Route"),
                    published("Ignition", "Route"),
                ],
            },
        })
    }
}

fn name(number: usize) -> String {
    format!("c{number:03}")
}

fn is_complete(status: &HostedClusterStatus) -> bool {
    let mut conditions = status.conditions.iter();
    let version = status.version.as_ref().and_then(|version| version.history.first());
    conditions.any(|condition| condition.type_ == "Available" && condition.status == "True")
        && version.is_some_and(|version| version.state == UpdateState::Completed)
}
