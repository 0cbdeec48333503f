//! Machines of a hosted cluster, from the object that stands for one to pods on its Node, with a configuration that is
//! served in memory.

use std::{sync::Arc, time::Duration};

use base64::{Engine as _, prelude::BASE64_STANDARD};
use hyperplane_twin::{Fault, FaultKind, FaultSelector, MachineSettings};
use k8s_openapi::{
    api::{
        apps::v1::Deployment,
        certificates::v1::CertificateSigningRequest,
        core::v1::{Event, Node, Pod, Secret, Service},
        rbac::v1::ClusterRoleBinding,
    },
    apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition,
};
use kube::{
    Api, Client, ResourceExt,
    api::{ApiResource, DeleteParams, DynamicObject, GroupVersionKind, ListParams, Patch, PatchParams, PostParams},
};
use rustls::{
    ServerConfig,
    crypto::aws_lc_rs,
    pki_types::{CertificateDer, PrivateKeyDer, pem::PemObject as _},
};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio_rustls::TlsAcceptor;

use crate::{
    control_plane::{self, Authority, INTERNAL, NAMESPACE, kubeconfig, service},
    hosted::{client, control_plane_in, is_available},
    support::{World, from, is_ready},
};

/// Where the configuration is served.
const IGNITION: &str = "ignition-server.clusters-a.svc";
const PORT: u16 = 9090;
/// The token that machines show.
const TOKEN: &str = "Bearer dG9rZW4=";
/// How often it is looked, and how long it may take.
const LOOK: Duration = Duration::from_secs(1);
const PATIENCE: u32 = 1_800;

/// A management cluster with a hosted cluster to which machines can be added.
pub(crate) struct Ground {
    pub(crate) world: World,
    pub(crate) hosted: Client,
}

impl Ground {
    /// One whose machines fetch what the function makes of the usual payload.
    async fn new(change: impl Fn(&mut Value)) -> Self {
        Self::with(MachineSettings::kubevirt(), change).await
    }

    /// The same with other machines.
    pub(crate) async fn with(machines: MachineSettings, change: impl Fn(&mut Value)) -> Self {
        let world = World::with(|settings| settings.machines = machines).await;
        let definitions: Api<CustomResourceDefinition> = Api::all(world.client.clone());
        for definition in [
            definition("cluster.x-k8s.io", "v1beta2", "Machine", "machines"),
            definition(
                "infrastructure.cluster.x-k8s.io",
                "v1alpha1",
                "KubevirtMachine",
                "kubevirtmachines",
            ),
        ] {
            definitions.create(&PostParams::default(), &definition).await.unwrap();
        }
        let (world, root) = control_plane_in(world).await;
        world.create::<Deployment>(control_plane::controller_manager()).await;
        world.until(NAMESPACE, "kube-controller-manager", is_available).await;
        let hosted = client(&world, &root, INTERNAL).await;
        let binding: ClusterRoleBinding = from(json!({
            "metadata": {"name": "bootstrappers"},
            "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "system:node-bootstrapper"},
            "subjects": [{"apiGroup": "rbac.authorization.k8s.io", "kind": "Group", "name": "system:bootstrappers"}],
        }));
        let bindings: Api<ClusterRoleBinding> = Api::all(hosted.clone());
        bindings.create(&PostParams::default(), &binding).await.unwrap();
        let mut payload = payload(&root);
        change(&mut payload);
        serve(&world, &root, payload.to_string()).await;
        let user_data = control_plane::secret("user-data", &[("value", &stub(&root).to_string())]);
        world.create::<Secret>(user_data).await;
        let ground = Self { world, hosted };
        tokio::spawn(approve(ground.hosted.clone()));
        ground
    }

    fn api(&self, group: &str, version: &str, kind: &str) -> Api<DynamicObject> {
        let resource = ApiResource::from_gvk(&GroupVersionKind::gvk(group, version, kind));
        Api::namespaced_with(self.world.client.clone(), NAMESPACE, &resource)
    }

    pub(crate) fn machines(&self) -> Api<DynamicObject> {
        self.api("infrastructure.cluster.x-k8s.io", "v1alpha1", "KubevirtMachine")
    }

    /// A Machine and what stands for it at its provider.
    pub(crate) async fn machine(&self, name: &str) {
        let machines = self.api("cluster.x-k8s.io", "v1beta2", "Machine");
        let machine: DynamicObject = from(json!({
            "apiVersion": "cluster.x-k8s.io/v1beta2", "kind": "Machine", "metadata": {"name": name},
            "spec": {
                "clusterName": "a", "version": "1.35.2", "bootstrap": {"dataSecretName": "user-data"},
                "infrastructureRef": {"apiGroup": "infrastructure.cluster.x-k8s.io", "kind": "KubevirtMachine", "name": name},
            },
        }));
        let machine = machines.create(&PostParams::default(), &machine).await.unwrap();
        let infrastructure: DynamicObject = from(json!({
            "apiVersion": "infrastructure.cluster.x-k8s.io/v1alpha1", "kind": "KubevirtMachine",
            "metadata": {"name": name, "ownerReferences": [{
                "apiVersion": "cluster.x-k8s.io/v1beta2", "kind": "Machine", "name": name,
                "uid": machine.uid(), "controller": true,
            }]},
            "spec": {"virtualMachineTemplate": {"spec": {"template": {"spec": {"domain": {
                "cpu": {"cores": 8}, "memory": {"guest": "32Gi"}}}}}}},
        }));
        self.machines()
            .create(&PostParams::default(), &infrastructure)
            .await
            .unwrap();
    }

    /// Waits until the Node of a machine is as wanted.
    pub(crate) async fn node(&self, name: &str, is: impl Fn(&Node) -> bool) -> Node {
        let nodes: Api<Node> = Api::all(self.hosted.clone());
        for _ in 0..PATIENCE {
            let found = nodes.get_opt(name).await.unwrap();
            if let Some(found) = found.filter(|node| is(node)) {
                return found;
            }
            self.world.pass(LOOK).await;
        }
        let (found, told) = (nodes.get_opt(name).await.unwrap(), self.told().await);
        panic!("node {name} is not as wanted: {found:#?}\n{told:#?}");
    }

    /// What was told about machines, as the console of each would.
    async fn told(&self) -> Vec<String> {
        let events = self.world.api::<Event>(NAMESPACE);
        let events = events.list(&ListParams::default()).await.unwrap().items;
        let of_machines = events
            .into_iter()
            .filter(|event| event.involved_object.kind.as_deref() == Some("KubevirtMachine"));
        of_machines.filter_map(|event| event.message).collect()
    }

    pub(crate) fn break_machines(&self, kind: FaultKind) {
        self.world.faults.set(vec![Fault {
            selector: FaultSelector {
                machine: "pool".to_owned(),
                ..FaultSelector::default()
            },
            kind,
        }]);
    }
}

fn definition(group: &str, version: &str, kind: &str, plural: &str) -> CustomResourceDefinition {
    let open = json!({"type": "object", "x-kubernetes-preserve-unknown-fields": true});
    from(json!({
        "metadata": {"name": format!("{plural}.{group}")},
        "spec": {
            "group": group, "scope": "Namespaced",
            "names": {"kind": kind, "plural": plural, "singular": kind.to_lowercase(), "listKind": format!("{kind}List")},
            "versions": [{
                "name": version, "served": true, "storage": true, "subresources": {"status": {}},
                "schema": {"openAPIV3Schema": {"type": "object", "properties": {"spec": open, "status": open}}},
            }],
        },
    }))
}

fn data_url(text: &str) -> String {
    format!("data:text/plain;base64,{}", BASE64_STANDARD.encode(text))
}

/// What machines boot with.
fn stub(root: &Authority) -> Value {
    json!({"ignition": {
        "version": "3.2.0",
        "config": {"merge": [{"source": format!("https://{IGNITION}/ignition"),
            "httpHeaders": [{"name": "Authorization", "value": TOKEN}]}]},
        "security": {"tls": {"certificateAuthorities": [{"source": data_url(&root.certificate)}]}},
    }})
}

/// What they fetch.
fn payload(root: &Authority) -> Value {
    let bootstrapper = root.client("system:bootstrapper", "system:bootstrappers");
    let bootstrap = kubeconfig(INTERNAL, &root.certificate, &bootstrapper);
    let configuration =
        "kind: KubeletConfiguration\napiVersion: kubelet.config.k8s.io/v1beta1\nserverTLSBootstrap: true\n";
    let unit = "[Service]\nExecStart=/usr/bin/kubelet --config=/etc/kubernetes/kubelet.conf \
        --bootstrap-kubeconfig=/etc/kubernetes/bootstrap --kubeconfig=/var/lib/kubelet/kubeconfig --provider-id=kubevirt://%H\n";
    let file = |path: &str, text: &str| json!({"path": path, "mode": 420, "contents": {"source": data_url(text)}});
    json!({
        "ignition": {"version": "3.2.0"},
        "storage": {"files": [
            file("/etc/kubernetes/kubelet.conf", configuration), file("/etc/kubernetes/bootstrap", &bootstrap),
        ]},
        "systemd": {"units": [{"name": "kubelet.service", "enabled": true, "contents": unit}]},
    })
}

/// Serves a payload to whoever shows the token, from a pod behind a Service.
async fn serve(world: &World, root: &Authority, payload: String) {
    let pod = json!({
        "metadata": {"name": "ignition-server", "namespace": NAMESPACE, "labels": {"app": "ignition-server"}},
        "spec": {"containers": [{"name": "main", "image": "ignition:1"}]},
    });
    world.create::<Pod>(pod).await;
    let mut object = service("ignition-server", "ClusterIP", 443);
    object["spec"]["ports"][0]["targetPort"] = json!(PORT);
    world.create::<Service>(object).await;
    world.until(NAMESPACE, "ignition-server", is_ready).await;
    let leaf = root.serving(&[IGNITION]);
    let certificate = CertificateDer::from_pem_slice(leaf.certificate.as_bytes()).unwrap();
    let key = PrivateKeyDer::from_pem_slice(leaf.key.as_bytes()).unwrap();
    let config = ServerConfig::builder_with_provider(Arc::new(aws_lc_rs::default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![certificate], key)
        .unwrap();
    let acceptor = TlsAcceptor::from(Arc::new(config));
    let mut listener = world.network.listen(NAMESPACE, "ignition-server", PORT);
    tokio::spawn(async move {
        while let Some(connection) = listener.accept().await {
            let Ok(mut stream) = acceptor.accept(connection.io).await else {
                continue;
            };
            let mut asked = Vec::new();
            while !asked.ends_with(b"\r\n\r\n") {
                let mut byte = [0];
                if stream.read_exact(&mut byte).await.is_err() {
                    break;
                }
                asked.extend(byte);
            }
            let asked = String::from_utf8_lossy(&asked).into_owned();
            let (status, body) = if asked.contains(TOKEN) && asked.starts_with("GET /ignition ") {
                ("200 OK", payload.as_str())
            } else {
                ("401 Unauthorized", "no token")
            };
            let answer = format!("HTTP/1.1 {status}\r\nContent-Length: {}\r\n\r\n{body}", body.len());
            drop(stream.write_all(answer.as_bytes()).await);
            drop(stream.shutdown().await);
        }
    });
}

/// Approves every request for a certificate, for as long as the test lasts.
async fn approve(hosted: Client) {
    let requests: Api<CertificateSigningRequest> = Api::all(hosted);
    let approved = json!([{"type": "Approved", "status": "True", "reason": "Test", "message": "it is a test"}]);
    let patch = Patch::Merge(json!({"status": {"conditions": approved}}));
    loop {
        if let Ok(list) = requests.list(&ListParams::default()).await {
            let waiting = list.items.iter().filter(|request| {
                let status = request.status.as_ref();
                status.and_then(|status| status.conditions.as_ref()).is_none()
            });
            for request in waiting {
                let name = request.name_any();
                drop(requests.patch_approval(&name, &PatchParams::default(), &patch).await);
            }
        }
        tokio::time::sleep(LOOK).await;
    }
}

pub(crate) fn readiness(node: &Node) -> &str {
    let conditions = node.status.iter().flat_map(|status| status.conditions.iter().flatten());
    let mut ready = conditions.filter(|condition| condition.type_ == "Ready");
    ready.next().map_or("", |condition| condition.status.as_str())
}

pub(crate) fn node_is_ready(node: &Node) -> bool {
    readiness(node) == "True"
}

#[tokio::test(start_paused = true)]
async fn a_machine_becomes_a_node_that_runs_pods() {
    let ground = Ground::new(|_| {}).await;
    ground.machine("pool-a-1").await;
    let node = ground.node("pool-a-1", node_is_ready).await;
    assert_eq!(node.spec.unwrap().provider_id.as_deref(), Some("kubevirt://pool-a-1"));
    let status = node.status.unwrap();
    assert_eq!(status.node_info.unwrap().kubelet_version, "v1.35.2");
    assert_eq!(status.capacity.unwrap()["cpu"].0, "8");
    let machine = ground.machines().get("pool-a-1").await.unwrap();
    assert_eq!(machine.data["spec"]["providerID"], "kubevirt://pool-a-1");
    assert_eq!(machine.data["status"]["initialization"]["provisioned"], true);
    let addresses = status.addresses.unwrap();
    let told = machine.data["status"]["addresses"].as_array().unwrap();
    let internal = addresses.iter().find(|address| address.type_ == "InternalIP").unwrap();
    assert!(told.contains(&json!({"type": "InternalIP", "address": internal.address})));
    let requests: Api<CertificateSigningRequest> = Api::all(ground.hosted.clone());
    let requests = requests.list(&ListParams::default()).await.unwrap().items;
    assert_eq!(requests.len(), 2, "one as a client, one to serve");

    let pods: Api<Pod> = Api::namespaced(ground.hosted.clone(), "default");
    let pod: Pod = from(json!({"metadata": {"name": "a"}, "spec": {
        "nodeName": "pool-a-1", "containers": [{"name": "main", "image": "a:1"}], "automountServiceAccountToken": false}}));
    pods.create(&PostParams::default(), &pod).await.unwrap();
    for _ in 0..PATIENCE {
        if is_ready(&pods.get("a").await.unwrap()) {
            break;
        }
        ground.world.pass(LOOK).await;
    }
    assert!(is_ready(&pods.get("a").await.unwrap()));

    ground
        .machines()
        .delete("pool-a-1", &DeleteParams::default())
        .await
        .unwrap();
    ground.node("pool-a-1", |node| readiness(node) == "Unknown").await;
    assert!(ground.machines().get_opt("pool-a-1").await.unwrap().is_none());
}

#[tokio::test(start_paused = true)]
async fn a_machine_that_never_boots_is_never_there() {
    let ground = Ground::new(|_| {}).await;
    ground.break_machines(FaultKind::NeverBoots);
    ground.machine("pool-a-1").await;
    ground.world.pass(Duration::from_hours(1)).await;
    let machine = ground.machines().get("pool-a-1").await.unwrap();
    assert!(machine.data["status"].is_null() && machine.data["spec"]["providerID"].is_null());
    ground.world.faults.set(Vec::new());
    ground.node("pool-a-1", node_is_ready).await;
}

#[tokio::test(start_paused = true)]
async fn a_broken_configuration_does_not_join_and_says_why() {
    let ground = Ground::new(|payload| payload["storage"]["files"][1]["path"] = json!("/elsewhere")).await;
    ground.machine("pool-a-1").await;
    ground.world.pass(Duration::from_mins(30)).await;
    let nodes: Api<Node> = Api::all(ground.hosted.clone());
    assert!(nodes.get_opt("pool-a-1").await.unwrap().is_none());
    let machine = ground.machines().get("pool-a-1").await.unwrap();
    assert_eq!(
        machine.data["status"]["initialization"]["provisioned"], true,
        "the machine is there all the same"
    );
    assert_eq!(
        ground.told().await,
        ["kubelet: open /etc/kubernetes/bootstrap: no such file or directory"]
    );
}

#[tokio::test(start_paused = true)]
async fn faults_stop_a_machine_on_its_way() {
    let ground = Ground::new(|_| {}).await;
    for (kind, name) in [
        (FaultKind::BrokenIgnition, "pool-a-1"),
        (FaultKind::NeverJoins, "pool-a-2"),
    ] {
        ground.break_machines(kind.clone());
        ground.machine(name).await;
        ground.world.pass(Duration::from_mins(30)).await;
        let nodes: Api<Node> = Api::all(ground.hosted.clone());
        assert!(nodes.get_opt(name).await.unwrap().is_none(), "{kind:?}");
    }
    // The one goes on where it stopped; what the other fetched stays broken.
    ground.world.faults.set(Vec::new());
    ground.node("pool-a-2", node_is_ready).await;
    let nodes: Api<Node> = Api::all(ground.hosted.clone());
    assert!(nodes.get_opt("pool-a-1").await.unwrap().is_none());
}

#[tokio::test(start_paused = true)]
async fn a_silent_machine_is_heard_of_again() {
    let ground = Ground::new(|_| {}).await;
    ground.machine("pool-a-1").await;
    ground.node("pool-a-1", node_is_ready).await;
    ground.world.pass(Duration::from_mins(10)).await;
    ground.break_machines(FaultKind::Silent {
        from: Duration::ZERO,
        until: Some(Duration::from_hours(1)),
    });
    // What is heard last counts for forty seconds, however long the node has been there.
    let broken = ground.world.clock.now();
    let node = ground.node("pool-a-1", |node| readiness(node) == "Unknown").await;
    let elapsed = ground.world.clock.now().duration_since(broken).as_secs();
    assert!((40..=61).contains(&elapsed), "{elapsed}");
    let taints = node.spec.unwrap().taints.unwrap();
    assert!(taints.iter().any(|taint| taint.key == "node.kubernetes.io/unreachable"));
    ground.world.pass(Duration::from_mins(45)).await;
    let node = ground.node("pool-a-1", node_is_ready).await;
    assert!(node.spec.unwrap().taints.unwrap_or_default().is_empty());
}

#[tokio::test(start_paused = true)]
async fn at_rest_machines_write_nothing() {
    let ground = Ground::new(|_| {}).await;
    for number in 1..=3 {
        ground.machine(&format!("pool-a-{number}")).await;
    }
    for number in 1..=3 {
        ground.node(&format!("pool-a-{number}"), node_is_ready).await;
    }
    ground.world.pass(Duration::from_hours(1)).await;
    let nodes: Api<Node> = Api::all(ground.hosted.clone());
    let revisions = async || {
        let inside = nodes.list(&ListParams::default()).await.unwrap();
        (ground.world.revision().await, inside.metadata.resource_version)
    };
    let before = revisions().await;
    ground.world.pass(Duration::from_hours(1)).await;
    assert_eq!(revisions().await, before);
}
