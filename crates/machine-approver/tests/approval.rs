//! The program between two clusters that are played in memory, on virtual time. Only the kubeconfig is a real file.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use std::{
    convert::Infallible,
    fs,
    path::PathBuf,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use http::{Method, Request, Response};
use hyperplane_machine_approver::{Health, Settings, run};
use hyperplane_runtime::{Clock, Reach};
use k8s_openapi::ByteString;
use kube::{Client, client::Body};
use rcgen::{CertificateParams, DistinguishedName, DnType, KeyPair};
use serde_json::{Value, json};
use tokio::{sync::mpsc, time::timeout};
use tokio_util::sync::CancellationToken;
use tower::service_fn;

/// Path and body of a write.
type Write = (String, Value);

/// A cluster with these objects by the end of their path, where nothing ever changes; writes are told, and not carried
/// out.
fn cluster(objects: Vec<(&'static str, Vec<Value>)>, writes: mpsc::UnboundedSender<Write>) -> Client {
    let objects = Arc::new(objects);
    let service = service_fn(move |request: Request<Body>| {
        let (objects, writes) = (Arc::clone(&objects), writes.clone());
        async move {
            let (parts, body) = request.into_parts();
            let path = parts.uri.path().to_owned();
            if parts.uri.query().is_some_and(|query| query.contains("watch=")) {
                std::future::pending::<()>().await;
            }
            let mut answer = Response::new(Body::empty());
            let found = objects.iter().find(|(end, _)| path.ends_with(end));
            let text = match (parts.method, found) {
                (Method::GET, Some((_, items))) => {
                    json!({"metadata": {"resourceVersion": "1"}, "items": items}).to_string()
                }
                (Method::PATCH, _) => {
                    let body = body.collect_bytes().await.unwrap();
                    writes.send((path, serde_json::from_slice(&body).unwrap())).ok();
                    request_of("answered", "0", &KeyPair::generate().unwrap()).to_string()
                }
                (Method::POST, _) => {
                    let body = body.collect_bytes().await.unwrap();
                    writes.send((path, serde_json::from_slice(&body).unwrap())).ok();
                    *answer.status_mut() = http::StatusCode::CREATED;
                    String::from_utf8(body.to_vec()).unwrap()
                }
                _ => {
                    *answer.status_mut() = http::StatusCode::NOT_FOUND;
                    json!({"kind": "Status", "apiVersion": "v1", "status": "Failure", "code": 404}).to_string()
                }
            };
            *answer.body_mut() = Body::from(text.into_bytes());
            Ok::<_, Infallible>(answer)
        }
    });
    Client::new(service, "default")
}

/// A request for the first certificate of node a.
fn request_of(name: &str, uid: &str, key: &KeyPair) -> Value {
    let mut params = CertificateParams::default();
    params.distinguished_name = DistinguishedName::new();
    params.distinguished_name.push(DnType::OrganizationName, "system:nodes");
    params.distinguished_name.push(DnType::CommonName, "system:node:a");
    let request = params.serialize_request(key).unwrap();
    let created = "2026-01-01T12:05:00Z";
    json!({
        "apiVersion": "certificates.k8s.io/v1",
        "kind": "CertificateSigningRequest",
        "metadata": {"name": name, "uid": uid, "resourceVersion": "7", "creationTimestamp": created},
        "spec": {
            "request": ByteString(request.pem().unwrap().into_bytes()),
            "signerName": "kubernetes.io/kube-apiserver-client-kubelet",
            "username": "system:bootstrapper",
            "groups": ["system:bootstrappers", "system:authenticated"],
            "usages": ["digital signature", "client auth"],
        },
    })
}

fn machine() -> Value {
    json!({
        "apiVersion": "cluster.x-k8s.io/v1beta2",
        "kind": "Machine",
        "metadata": {"name": "m", "namespace": "clusters-one", "creationTimestamp": "2026-01-01T12:00:00Z"},
        "spec": {
            "clusterName": "one", "bootstrap": {},
            "infrastructureRef": {"apiGroup": "infrastructure.cluster.x-k8s.io", "kind": "KubevirtMachine", "name": "m"},
        },
        "status": {"addresses": [{"type": "Hostname", "address": "a"}]},
    })
}

fn settings(kubeconfig: PathBuf, reach: Reach) -> Settings {
    Settings {
        namespace: "clusters-one".to_owned(),
        kubeconfig,
        reach,
        health: Health::default(),
        instance: "one".to_owned(),
        clock: Clock::anchored("2026-01-01T12:06:00Z".parse().unwrap()),
        seed: 1,
    }
}

fn kubeconfig(token: &str) -> String {
    format!(
        "{{apiVersion: v1, kind: Config, current-context: a, \
         contexts: [{{name: a, context: {{cluster: a, user: a}}}}], \
         clusters: [{{name: a, cluster: {{server: 'https://a.example:6443'}}}}], \
         users: [{{name: a, user: {{token: {token}}}}}]}}"
    )
}

#[tokio::test(start_paused = true)]
async fn one_of_two_requests_for_a_machine_is_approved_by_a_real_kubeconfig_that_changes() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("kubeconfig");
    fs::write(&path, "").unwrap();
    let (sender, mut writes) = mpsc::unbounded_channel();
    let management = cluster(
        vec![("/namespaces/clusters-one/machines", vec![machine()])],
        sender.clone(),
    );
    let key = KeyPair::generate().unwrap();
    let requests = vec![request_of("first", "1", &key), request_of("second", "2", &key)];
    let hosted = cluster(
        vec![("/certificatesigningrequests", requests), ("/nodes", vec![])],
        sender,
    );
    let connects = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&connects);
    let reach = Reach::by(move |_| {
        counted.fetch_add(1, Ordering::Relaxed);
        Ok(hosted.clone())
    });
    let settings = settings(path.clone(), reach);
    let stop = CancellationToken::new();
    let look = async {
        tokio::time::sleep(Duration::from_mins(1)).await;
        assert_eq!(connects.load(Ordering::Relaxed), 0, "an empty file is no kubeconfig");
        fs::write(&path, kubeconfig("one")).unwrap();
        let (path_of_first, body) = timeout(Duration::from_mins(5), writes.recv()).await.unwrap().unwrap();
        let start = "/apis/certificates.k8s.io/v1/certificatesigningrequests";
        assert_eq!(path_of_first, format!("{start}/first/approval"));
        assert_eq!(body["metadata"], json!({"uid": "1", "resourceVersion": "7"}));
        assert_eq!(body["status"]["conditions"][0]["type"], "Approved");
        // The caches never show the approval, and still the other request is known to be the second.
        fs::write(&path, kubeconfig("two")).unwrap();
        let mut later = Vec::new();
        while let Ok(Some((path, _))) = timeout(Duration::from_mins(5), writes.recv()).await {
            later.push(path);
        }
        assert!(later.iter().all(|path| !path.contains("second")), "{later:?}");
        assert_eq!(connects.load(Ordering::Relaxed), 2, "the other kubeconfig is used");
        stop.cancel();
    };
    let (ended, ()) = tokio::join!(run(management, settings, stop.clone()), look);
    ended.unwrap();
}

#[tokio::test(start_paused = true)]
async fn two_keys_for_a_machine_wait_until_one_request_is_gone() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("kubeconfig");
    fs::write(&path, kubeconfig("one")).unwrap();
    let (sender, mut writes) = mpsc::unbounded_channel();
    let machines = vec![("/namespaces/clusters-one/machines", vec![machine()])];
    let management = cluster(machines, sender.clone());
    let [own, forged] =
        [("own", "1"), ("forged", "2")].map(|(name, uid)| request_of(name, uid, &KeyPair::generate().unwrap()));
    let hosted = |requests: Vec<Value>| {
        let objects = vec![("/certificatesigningrequests", requests), ("/nodes", vec![])];
        cluster(objects, sender.clone())
    };
    let (contested, resolved) = (hosted(vec![own.clone(), forged]), hosted(vec![own]));
    let connects = AtomicUsize::new(0);
    let reach = Reach::by(move |_| match connects.fetch_add(1, Ordering::Relaxed) {
        0 => Ok(contested.clone()),
        _ => Ok(resolved.clone()),
    });
    let settings = settings(path.clone(), reach);
    let stop = CancellationToken::new();
    let look = async {
        let mut told = Vec::new();
        while let Ok(Some((path, body))) = timeout(Duration::from_mins(5), writes.recv()).await {
            assert!(path.ends_with("/events"), "{path}");
            told.push((body["reason"].clone(), body["involvedObject"]["name"].clone()));
        }
        told.sort_by_key(|(_, name)| name.to_string());
        let contested = |name: &str| (json!("MachineContested"), json!(name));
        assert_eq!(told, [contested("forged"), contested("own")], "each is told once");
        fs::write(&path, kubeconfig("two")).unwrap();
        let (path, _) = timeout(Duration::from_mins(5), writes.recv()).await.unwrap().unwrap();
        assert!(path.ends_with("/own/approval"), "{path}");
        stop.cancel();
    };
    let (ended, ()) = tokio::join!(run(management, settings, stop.clone()), look);
    ended.unwrap();
}

#[tokio::test(start_paused = true)]
async fn without_the_kind_of_machines_it_waits_until_it_is_told_to_end() {
    let (sender, mut writes) = mpsc::unbounded_channel();
    let reach = Reach::by(|_| panic!("there is nothing to reach for"));
    let settings = settings("/nowhere".into(), reach);
    let health = settings.health.clone();
    let stop = CancellationToken::new();
    let look = async {
        tokio::time::sleep(Duration::from_hours(1)).await;
        for path in ["/healthz", "/readyz"] {
            assert_eq!(health.respond(&Method::GET, path).status(), 200, "{path}");
        }
        stop.cancel();
    };
    let (ended, ()) = tokio::join!(run(cluster(vec![], sender), settings, stop.clone()), look);
    ended.unwrap();
    assert!(writes.try_recv().is_err());
}
