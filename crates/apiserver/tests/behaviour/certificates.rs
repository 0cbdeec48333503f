//! Requests for certificates: who gets one, who does not, and how long a request stays.

use std::time::Duration;

use base64::{Engine as _, prelude::BASE64_STANDARD};
use bytes::Bytes;
use http::Request;
use http_body_util::Full;
use hyperplane_access::User;
use rcgen::{CertificateParams, DnType, KeyPair};
use serde_json::{Value, json};
use tokio::time::sleep;
use tower::ServiceExt;

use crate::simulation_ground::{Ground, condition};

const PATH: &str = "/apis/certificates.k8s.io/v1/certificatesigningrequests";
const KUBELET: &str = "kubernetes.io/kube-apiserver-client-kubelet";
const CLIENT: &str = "kubernetes.io/kube-apiserver-client";

fn request(name: &str, signer: &str, common_name: &str, organisation: &str, usages: &[&str]) -> Value {
    let mut parameters = CertificateParams::default();
    parameters.distinguished_name.push(DnType::CommonName, common_name);
    if !organisation.is_empty() {
        parameters
            .distinguished_name
            .push(DnType::OrganizationName, organisation);
    }
    let key = KeyPair::generate().unwrap();
    let pem = parameters.serialize_request(&key).unwrap().pem().unwrap();
    json!({
        "apiVersion": "certificates.k8s.io/v1", "kind": "CertificateSigningRequest", "metadata": {"name": name},
        "spec": {"request": BASE64_STANDARD.encode(pem), "signerName": signer, "usages": usages},
    })
}

fn kubelet(name: &str) -> Value {
    request(
        name,
        KUBELET,
        "system:node:n",
        "system:nodes",
        &["digital signature", "client auth"],
    )
}

/// Creates a request in the name of a kubelet that only has a bootstrap token.
async fn create_as_bootstrapper(ground: &Ground, body: &Value) {
    let user = User::with_groups(
        "system:bootstrap:abcdef",
        vec!["system:bootstrappers".to_owned(), "system:authenticated".to_owned()],
    );
    let request = Request::post(PATH)
        .header("content-type", "application/json")
        .extension(user)
        .body(Full::new(Bytes::from(body.to_string())))
        .unwrap();
    assert_eq!(
        ground.world.server.clone().oneshot(request).await.unwrap().status(),
        201
    );
}

async fn bind(ground: &Ground, role: &str) {
    let body = json!({
        "metadata": {"name": role.replace(':', "-")},
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": role},
        "subjects": [{"apiGroup": "rbac.authorization.k8s.io", "kind": "Group", "name": "system:bootstrappers"}],
    });
    ground
        .create("/apis/rbac.authorization.k8s.io/v1/clusterrolebindings", &body)
        .await;
}

async fn approve(ground: &Ground, name: &str) {
    let path = format!("{PATH}/{name}/approval");
    let mut object = ground.get(&format!("{PATH}/{name}")).await.unwrap();
    object["status"]["conditions"] =
        json!([{"type": "Approved", "status": "True", "reason": "Tested", "message": "m"}]);
    let (status, answer) = ground
        .world
        .send("PUT", &path, "application/json", object.to_string())
        .await;
    assert_eq!(status, 200, "{answer:#}");
}

async fn found(ground: &Ground, name: &str) -> Value {
    ground.get(&format!("{PATH}/{name}")).await.unwrap()
}

#[tokio::test(start_paused = true)]
async fn a_kubelet_gets_its_certificate_as_soon_as_it_may() {
    let ground = Ground::with_authority().await;
    bind(&ground, "system:node-bootstrapper").await;
    create_as_bootstrapper(&ground, &kubelet("n")).await;
    sleep(Duration::from_secs(1)).await;
    let waiting = found(&ground, "n").await;
    assert_eq!(waiting["status"], json!({}), "it may ask, and no more");
    bind(
        &ground,
        "system:certificates.k8s.io:certificatesigningrequests:nodeclient",
    )
    .await;
    sleep(Duration::from_secs(1)).await;
    let signed = found(&ground, "n").await;
    let expected = "True AutoApproved: Auto approving kubelet client certificate after SubjectAccessReview.";
    assert_eq!(condition(&signed, "Approved"), expected);
    let pem = BASE64_STANDARD
        .decode(signed["status"]["certificate"].as_str().unwrap())
        .unwrap();
    assert!(pem.starts_with(b"-----BEGIN CERTIFICATE-----"));
}

#[tokio::test(start_paused = true)]
async fn others_wait_for_an_approval_and_fail_where_the_signer_refuses() {
    let ground = Ground::with_authority().await;
    ground
        .create(PATH, &request("good", CLIENT, "someone", "", &["client auth"]))
        .await;
    ground
        .create(PATH, &request("bad", CLIENT, "someone", "", &["server auth"]))
        .await;
    ground
        .create(
            PATH,
            &request("foreign", "x.test/signer", "someone", "", &["client auth"]),
        )
        .await;
    sleep(Duration::from_secs(1)).await;
    for name in ["good", "bad", "foreign"] {
        assert_eq!(found(&ground, name).await["status"], json!({}), "{name}");
        approve(&ground, name).await;
    }
    sleep(Duration::from_secs(1)).await;
    assert!(found(&ground, "good").await["status"]["certificate"].is_string());
    let bad = found(&ground, "bad").await;
    let expected = "True SignerValidationFailure: invalid usage for client certificate: server auth";
    assert_eq!(condition(&bad, "Failed"), expected);
    let foreign = found(&ground, "foreign").await;
    assert!(
        foreign["status"]["certificate"].is_null(),
        "its signer is somebody else"
    );
}

#[tokio::test(start_paused = true)]
async fn requests_are_removed_when_they_are_old() {
    let ground = Ground::with_authority().await;
    for name in ["good", "bad", "foreign", "open"] {
        let (signer, usage) = match name {
            "foreign" => ("x.test/signer", "client auth"),
            "bad" => (CLIENT, "server auth"),
            _ => (CLIENT, "client auth"),
        };
        ground
            .create(PATH, &request(name, signer, "someone", "", &[usage]))
            .await;
        if name != "open" {
            approve(&ground, name).await;
        }
    }
    sleep(Duration::from_mins(59)).await;
    assert_eq!(ground.names(PATH).await, ["bad", "foreign", "good", "open"]);
    sleep(Duration::from_mins(2)).await;
    assert_eq!(ground.names(PATH).await, ["foreign", "open"]);
    sleep(Duration::from_hours(23)).await;
    assert!(ground.names(PATH).await.is_empty());
}
