//! Two tenants: neither's identities can read or write the other's namespace, and whatever is written in a namespace is
//! written by its own accounts, or by who runs the management cluster.

use http::Request;
use hyperplane_access::User;
use hyperplane_api::constants::objects::roles;
use kube::{Client, client::Body};

use crate::ground::{Ground, single};

const ROLES: [&str; 3] = [
    roles::CONTROL_PLANE_OPERATOR,
    roles::PKI_OPERATOR,
    roles::CONFIG_OPERATOR,
];

async fn code(client: &Client, method: &str, uri: String) -> u16 {
    let request = Request::builder()
        .method(method)
        .uri(uri)
        .header("content-type", "application/json");
    let request = request.body(Body::from(b"{}".to_vec())).unwrap();
    client.send(request).await.unwrap().status().as_u16()
}

#[tokio::test(start_paused = true)]
async fn neither_of_two_tenants_reaches_the_other() {
    let ground = Ground::new(31).await;
    let operators = ground.start().await;
    for name in ["blue", "red"] {
        ground.cluster(name, single()).await;
    }
    for name in ["blue", "red"] {
        ground.until_condition(name, "Available", "True").await;
        ground.until_version(name, "1.36.4").await;
    }
    let kinds = ground.kinds().await;
    assert!(kinds.len() > 50);
    for (own, other) in [("clusters-blue", "clusters-red"), ("clusters-red", "clusters-blue")] {
        for role in ROLES {
            let client = ground.embedded.client(User::service_account(own, role, ""));
            let mine = code(&client, "GET", format!("/api/v1/namespaces/{own}/secrets")).await;
            assert_eq!(mine, 200, "{role} in its own namespace");
            for (path, kind, _) in kinds.iter().filter(|(_, _, is_namespaced)| *is_namespaced) {
                for (method, name) in [
                    ("GET", ""),
                    ("GET", "/a"),
                    ("POST", ""),
                    ("PUT", "/a"),
                    ("DELETE", "/a"),
                    ("DELETE", ""),
                ] {
                    let uri = format!("{path}/namespaces/{other}/{kind}{name}");
                    assert_eq!(
                        code(&client, method, uri.clone()).await,
                        403,
                        "{method} {uri} by {role} of {own}"
                    );
                }
            }
        }
    }
    for name in ["blue", "red"] {
        ground.delete(name).await;
    }
    for name in ["blue", "red"] {
        ground.until_gone(name).await;
    }
    operators.stop().await;
    for line in ground.since(0).iter().filter(|line| line.code != 403) {
        let of_tenant = line.user.strip_prefix("system:serviceaccount:clusters-");
        let Some((tenant, _)) = of_tenant.and_then(|rest| rest.split_once(':')) else {
            let is_known = line.user.starts_with("system:") || line.user == User::admin().name;
            assert!(is_known, "{line:?}");
            continue;
        };
        assert!(line.namespace == format!("clusters-{tenant}"), "{line:?}");
    }
}
