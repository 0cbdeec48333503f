//! Reading pictures from the API, with requests of their own: what watches told and what the story keeps has no part in it.

use std::time::Duration;

use http::Request;
use hyperplane_runtime::Reach;
use kube::Client;
use serde_json::Value;
use tokio::time::{sleep, timeout};

use crate::{
    claims::{Rest, Revisions},
    json::{Objects, by_name, list, name, text},
    observe::hosted,
    picture::Picture,
    plan::Plan,
};

/// Asks for metadata alone.
const METADATA: &str = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1";
/// How long a server is given for one answer.
const PATIENCE: Duration = Duration::from_secs(10);
/// How often a picture is tried, and the pause between: a connection may break while an API server is replaced.
const TRIES: usize = 4;
const PAUSE: Duration = Duration::from_millis(500);

/// Everything that is made for a control plane and does not change by the clock, by the path of its group.
const KINDS: &[(&str, &[&str])] = &[
    (
        "/api/v1",
        &[
            "configmaps",
            "persistentvolumeclaims",
            "pods",
            "secrets",
            "serviceaccounts",
            "services",
        ],
    ),
    ("/apis/apps/v1", &["deployments", "replicasets", "statefulsets"]),
    ("/apis/batch/v1", &["cronjobs"]),
    (
        "/apis/cluster.x-k8s.io/v1beta2",
        &[
            "clusters",
            "machinedeployments",
            "machinehealthchecks",
            "machines",
            "machinesets",
        ],
    ),
    (
        "/apis/hypershift.openshift.io/v1beta1",
        &["controlplanecomponents", "hostedcontrolplanes"],
    ),
    (
        "/apis/infrastructure.cluster.x-k8s.io/v1alpha1",
        &["kubevirtclusters", "kubevirtmachines", "kubevirtmachinetemplates"],
    ),
    ("/apis/networking.k8s.io/v1", &["networkpolicies"]),
    ("/apis/policy/v1", &["poddisruptionbudgets"]),
    ("/apis/rbac.authorization.k8s.io/v1", &["rolebindings", "roles"]),
];

/// Who reads.
#[derive(Clone)]
pub(crate) struct Reader {
    pub(crate) client: Client,
    pub(crate) reach: Reach,
    pub(crate) plan: Plan,
}

impl Reader {
    /// Everything of the cluster now. What does not answer is left out, and no claim holds without it.
    pub(crate) async fn picture(&self) -> Picture {
        let plan = &self.plan;
        let users = format!("/apis/hypershift.openshift.io/v1beta1/namespaces/{}", plan.namespace);
        let inside = plan.control_plane_namespace();
        let within = |group: &str, plural: &str| format!("/apis/{group}/namespaces/{inside}/{plural}");
        let mut pools = self.objects(&format!("{users}/nodepools")).await;
        pools.retain(|_, pool| text(pool, "/spec/clusterName") == plan.cluster);
        let (nodes, api_version) = self.inside().await;
        Picture {
            cluster: self.object(&format!("{users}/hostedclusters/{}", plan.cluster)).await,
            pools,
            components: self
                .objects(&within("hypershift.openshift.io/v1beta1", "controlplanecomponents"))
                .await,
            machines: self.objects(&within("cluster.x-k8s.io/v1beta2", "machines")).await,
            nodes,
            api_version,
            namespace: self.object(&format!("/api/v1/namespaces/{inside}")).await,
        }
    }

    /// Lists everything of the cluster again and again, with a pause between, until nothing changed; gives up after so many
    /// pauses.
    pub(crate) async fn rest(&self, pause: Duration, most: usize) -> Rest {
        let mut rest = Rest {
            after: self.revisions().await,
            pause,
            ..Rest::default()
        };
        while rest.pauses < most && !rest.is_calm() {
            sleep(pause).await;
            rest.before = std::mem::replace(&mut rest.after, self.revisions().await);
            rest.pauses += 1;
        }
        rest
    }

    async fn revisions(&self) -> Revisions {
        let plan = &self.plan;
        let inside = plan.control_plane_namespace();
        let users = format!("/apis/hypershift.openshift.io/v1beta1/namespaces/{}", plan.namespace);
        let mut paths: Vec<String> = Vec::new();
        for (group, kinds) in KINDS {
            paths.extend(
                kinds
                    .iter()
                    .map(|plural| format!("{group}/namespaces/{inside}/{plural}")),
            );
        }
        paths.push(format!(
            "{users}/hostedclusters?fieldSelector=metadata.name%3D{}",
            plan.cluster
        ));
        paths.extend(
            plan.pools()
                .map(|pool| format!("{users}/nodepools?fieldSelector=metadata.name%3D{}", pool.name)),
        );
        let mut found = Revisions::new();
        for path in paths {
            note(
                &mut found,
                &path,
                ask(&self.client, &path, Some(METADATA)).await.as_ref(),
            );
        }
        if let Some(hosted) = hosted(&self.client, &self.reach, plan).await {
            let path = "/api/v1/nodes";
            note(&mut found, path, ask(&hosted, path, Some(METADATA)).await.as_ref());
        }
        found
    }

    /// The Nodes of the hosted cluster, and the version that its API server gives itself.
    async fn inside(&self) -> (Option<Objects>, Option<String>) {
        for _ in 0..TRIES {
            if let Some(client) = hosted(&self.client, &self.reach, &self.plan).await
                && let (Some(mut nodes), Some(version)) = (
                    ask(&client, "/api/v1/nodes", None).await,
                    ask(&client, "/version", None).await,
                )
            {
                let nodes = nodes["items"].as_array_mut().map(std::mem::take);
                return (nodes.map(by_name), Some(text(&version, "/gitVersion").to_owned()));
            }
            sleep(PAUSE).await;
        }
        (None, None)
    }

    async fn object(&self, path: &str) -> Value {
        ask(&self.client, path, None).await.unwrap_or_default()
    }

    async fn objects(&self, path: &str) -> Objects {
        let mut answer = self.object(path).await;
        by_name(answer["items"].as_array_mut().map(std::mem::take).unwrap_or_default())
    }
}

/// One request; nothing if there is no such thing, or no answer in time.
async fn ask(client: &Client, path: &str, accept: Option<&str>) -> Option<Value> {
    let mut request = Request::get(path);
    if let Some(accept) = accept {
        request = request.header("Accept", accept);
    }
    let request = request.body(Vec::new()).ok()?;
    timeout(PATIENCE, client.request(request)).await.ok()?.ok()
}

/// A kind that a server does not have has no objects.
fn note(found: &mut Revisions, path: &str, answer: Option<&Value>) {
    let path = path.split('?').next().unwrap_or_default();
    let plural = path.rsplit('/').next().unwrap_or_default();
    for object in answer.map_or(&[][..], |answer| list(answer, "/items")) {
        let revision = text(object, "/metadata/resourceVersion");
        found.insert(format!("{plural} {}", name(object)), revision.to_owned());
    }
}
