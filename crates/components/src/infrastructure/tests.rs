//! The publishing matrix as data.

use k8s_openapi::api::core::v1::Service;
use serde_json::{Value, json};

use super::{Endpoint, Infrastructure, observe, published_services};
use crate::{
    inputs::Management,
    support::{control_plane, live_services, management, published},
};

/// Host and port, or what is missing.
type Place = Result<(&'static str, u16), &'static str>;

/// How the API server is published, which kind of Service that takes, and where clients then find it.
fn matrix() -> Vec<(Value, &'static str, Place)> {
    vec![
        (json!({"type": "LoadBalancer"}), "LoadBalancer", Ok(("192.0.2.1", 6443))),
        (
            json!({"type": "LoadBalancer", "loadBalancer": {"hostname": "api.example.com"}}),
            "LoadBalancer",
            Ok(("api.example.com", 6443)),
        ),
        (
            json!({"type": "NodePort", "nodePort": {"address": "203.0.113.7"}}),
            "NodePort",
            Ok(("203.0.113.7", 30000)),
        ),
        (
            json!({"type": "NodePort", "nodePort": {"address": "203.0.113.7", "port": 31000}}),
            "NodePort",
            Ok(("203.0.113.7", 31000)),
        ),
        (json!({"type": "NodePort"}), "NodePort", Err("without nodePort.address")),
        (
            json!({"type": "Route", "route": {"hostname": "api.example.com"}}),
            "ClusterIP",
            Ok(("api.example.com", 443)),
        ),
        (
            json!({"type": "Route"}),
            "ClusterIP",
            Ok(("kube-apiserver-clusters-one.apps.example.com", 443)),
        ),
        (
            json!({"type": "None"}),
            "ClusterIP",
            Ok(("kube-apiserver.clusters-one.svc", 6443)),
        ),
        (json!({"type": "S3"}), "ClusterIP", Err("cannot be published by S3")),
    ]
}

fn observed(strategy: &Value, management: &Management, are_live: bool) -> (Vec<Service>, Infrastructure) {
    let control_plane = control_plane(&json!({"spec": {"services": [published("APIServer", strategy)]}}));
    let services = if are_live {
        live_services(&control_plane, management)
    } else {
        published_services(&control_plane, management)
    };
    let infrastructure = observe(&control_plane, management, &services.iter().collect::<Vec<_>>());
    (services, infrastructure)
}

#[test]
fn each_strategy_has_its_service_and_its_place() {
    for (strategy, kind, expected) in matrix() {
        let (services, infrastructure) = observed(&strategy, &management(), true);
        let service = services
            .iter()
            .find(|one| one.metadata.name.as_deref() == Some("kube-apiserver"));
        let found = service.and_then(|service| service.spec.as_ref()?.type_.as_deref());
        assert_eq!(found, Some(kind), "{strategy}");
        match expected {
            Ok((host, port)) => {
                let host = host.to_owned();
                assert_eq!(infrastructure.api_server, Some(Endpoint { host, port }), "{strategy}");
            }
            Err(problem) => {
                assert_eq!(infrastructure.api_server, None, "{strategy}");
                let said = infrastructure.missing.join("; ");
                assert!(said.contains(problem), "{strategy}: {said}");
            }
        }
    }
}

#[test]
fn what_a_management_cluster_has_not_given_yet_is_named() {
    for (strategy, missing) in [
        (
            json!({"type": "LoadBalancer"}),
            "the load balancer of Service kube-apiserver has no address yet",
        ),
        (
            json!({"type": "NodePort", "nodePort": {"address": "203.0.113.7"}}),
            "Service kube-apiserver has no port on the nodes yet",
        ),
        (
            json!({"type": "Route"}),
            "the load balancer of Service router has no address yet",
        ),
    ] {
        let (_, infrastructure) = observed(&strategy, &management(), false);
        assert!(
            infrastructure.missing.contains(&missing.to_owned()),
            "{strategy}: {:?}",
            infrastructure.missing
        );
    }
    let without_domain = Management {
        ingress_domain: None,
        ..management()
    };
    let (_, infrastructure) = observed(&json!({"type": "Route"}), &without_domain, true);
    let said = infrastructure.missing.join("; ");
    assert!(said.contains("give a host name"), "{said}");
    // What is not listed in the spec is asked for, one sentence each.
    assert!(
        said.contains("no entry for Konnectivity") && said.contains("no entry for Ignition"),
        "{said}"
    );
}

#[test]
fn the_router_is_there_for_routes_only() {
    for (strategy, expected) in [
        (json!({"type": "Route"}), true),
        (json!({"type": "LoadBalancer"}), false),
        (json!({"type": "NodePort"}), false),
    ] {
        let (services, _) = observed(&strategy, &management(), true);
        let router = services
            .iter()
            .find(|one| one.metadata.name.as_deref() == Some("router"));
        assert_eq!(router.is_some(), expected, "{strategy}");
    }
}

#[test]
fn the_api_server_may_be_closed_to_most_networks() {
    let control_plane = control_plane(&json!({"spec": {"networking": {"apiServer": {
        "allowedCIDRBlocks": ["192.0.2.0/24"],
    }}}}));
    for service in published_services(&control_plane, &management()) {
        let ranges = service.spec.and_then(|spec| spec.load_balancer_source_ranges);
        let is_api_server = service.metadata.name.as_deref() == Some("kube-apiserver");
        let expected = is_api_server.then(|| vec!["192.0.2.0/24".to_owned()]);
        assert_eq!(ranges, expected, "{:?}", service.metadata.name);
    }
}

#[test]
fn agents_reach_a_tunnel_before_its_api_server_is_ready() {
    let services = published_services(&control_plane(&json!({})), &management());
    let publishing: Vec<&str> = services
        .iter()
        .filter(|service| {
            let spec = service.spec.as_ref().expect("it has a spec");
            spec.publish_not_ready_addresses == Some(true)
        })
        .filter_map(|service| service.metadata.name.as_deref())
        .collect();
    assert_eq!(publishing, ["konnectivity-server"], "users are led to what is ready");
}

#[test]
fn a_long_namespace_still_gives_a_host_name() {
    let namespace = "n".repeat(63);
    let other = format!("{}m", &namespace[..62]);
    let host = |namespace: &str| {
        let change = json!({
            "metadata": {"namespace": namespace},
            "spec": {"services": [published("APIServer", &json!({"type": "Route"}))]},
        });
        let control_plane = control_plane(&change);
        let services = live_services(&control_plane, &management());
        let found = observe(&control_plane, &management(), &services.iter().collect::<Vec<_>>());
        found.api_server.expect("it is published").host
    };
    assert_ne!(host(&namespace), host(&other));
    for part in host(&namespace).split('.') {
        assert!(part.len() <= 63, "{part}");
    }
}
