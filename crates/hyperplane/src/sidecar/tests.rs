//! Every command line that is rendered for a container of ours is one that this program understands.

use std::collections::BTreeSet;

use clap::Parser as _;
use hyperplane_components::{
    Asset, Component, HostedServiceAccount, SUBCOMMANDS, Sidecar, WorkloadKind, subcommands, subcommands_of,
};
use serde_json::json;

use self::rendering::{World, extended_release, published, release};
use crate::CommandLine;

#[path = "../../../components/tests/support/mod.rs"]
mod rendering;

/// For components of the catalogue that are not there yet: tokens are for clouds, and SOCKS5 is for operators of OpenShift.
const NOT_RENDERED: [&str; 2] = ["konnectivity-socks5-proxy", "token-minter"];

/// A component as one of those may look.
const OF_THE_FUTURE: Component = Component {
    sidecars: &[
        Sidecar::AvailabilityProber(&["apps/v1/Deployment"]),
        Sidecar::TokenMinter {
            audience: "cloud",
            volume: "token",
        },
        Sidecar::KonnectivityHttpsProxy,
        Sidecar::KonnectivitySocks5Proxy,
    ],
    hosted_service_account: Some(HostedServiceAccount {
        namespace: "kube-system",
        name: "of-the-future",
    }),
    ..Component::new("of-the-future", WorkloadKind::Deployment, ASSETS)
};

const ASSETS: &[Asset] = &[Asset::new("of-the-future.yaml", DEPLOYMENT)];

const DEPLOYMENT: &str = "\
apiVersion: apps/v1
kind: Deployment
metadata:
  name: of-the-future
spec:
  template:
    spec:
      containers:
        - name: one
          image: hyperplane
      volumes:
        - name: token
          emptyDir: {}
        - name: kubeconfig
          secret:
            secretName: of-the-future-service-account-kubeconfig
";

fn worlds() -> Vec<World> {
    let routed = json!([
        published(
            "APIServer",
            &json!({"type": "Route", "route": {"hostname": "api.example.com"}})
        ),
        published(
            "Konnectivity",
            &json!({"type": "NodePort", "nodePort": {"address": "203.0.113.7"}})
        ),
    ]);
    let platforms = [
        json!({"platform": {"type": "None"}}),
        json!({"platform": {"type": "KubeVirt", "kubevirt": {}}}),
        json!({"platform": {"type": "Agent", "agent": {"agentNamespace": "agents"}}}),
        json!({"platform": {"type": "None"}, "services": routed}),
    ];
    let dedicated = json!({"hyperplane.dev/tenant-operators": "dedicated"});
    let mut worlds = Vec::new();
    for fields in &platforms {
        for policy in ["HighlyAvailable", "SingleReplica"] {
            let mut fields = fields.clone();
            fields["controllerAvailabilityPolicy"] = policy.into();
            for release in [release("1.35"), release("1.36"), &extended_release()] {
                let change = json!({"metadata": {"annotations": dedicated}, "spec": fields});
                worlds.push(World::new(&change, release));
            }
        }
    }
    worlds
}

/// All command lines that are rendered anywhere, without those of later programs.
fn rendered() -> BTreeSet<Vec<String>> {
    let worlds = worlds();
    worlds.iter().flat_map(|world| subcommands(&world.inputs())).collect()
}

fn check(line: &[&str]) {
    let outcome = CommandLine::try_parse_from(["hyperplane"].iter().chain(line));
    if let Err(error) = outcome {
        panic!("{line:?}: {error}");
    }
}

#[test]
fn every_rendered_command_line_is_understood() {
    let lines = rendered();
    for line in &lines {
        check(&line.iter().map(String::as_str).collect::<Vec<_>>());
    }
    let mut seen: BTreeSet<&str> = lines.iter().map(|line| line[0].as_str()).collect();
    seen.extend(NOT_RENDERED);
    assert_eq!(seen, SUBCOMMANDS.iter().copied().collect());
}

#[test]
fn what_sidecars_of_future_components_get_is_understood() {
    let world = World::with(&json!({}));
    let lines = subcommands_of(&OF_THE_FUTURE, &world.inputs());
    for line in &lines {
        check(&line.iter().map(String::as_str).collect::<Vec<_>>());
    }
    let seen: BTreeSet<&str> = lines.iter().map(|line| line[0].as_str()).collect();
    let expected = [
        "availability-prober",
        "konnectivity-https-proxy",
        "konnectivity-socks5-proxy",
        "token-minter",
    ];
    assert_eq!(seen, BTreeSet::from(expected));
}

#[test]
fn half_a_command_line_is_refused() {
    let refused = [
        "wait-for",
        "wait-for --https=https://a/",
        "wait-for --tcp=a:1 --dns=a",
        "wait-for --tcp=a",
        "wait-for --https=https://a/ --ca-file=/a --cert-file=/b",
        "etcd-defrag --ca-file=/a --cert-file=/b --key-file=/c",
        "etcd-defrag --endpoints=https://a:1 --ca-file=/a --cert-file=/b",
        "etcd-recover-member --name=etcd-0 --namespace=a --replicas=3 --ca-file=/a --cert-file=/b --key-file=/c",
        "router --config=/a --listen=8443 --health=[::]:8081",
        "tail",
    ];
    for line in refused {
        let outcome = CommandLine::try_parse_from(["hyperplane"].into_iter().chain(line.split(' ')));
        assert!(outcome.is_err(), "{line}");
    }
}

#[test]
fn a_value_that_cannot_be_understood_is_named_with_what_can() {
    let line = [
        "hyperplane",
        "availability-prober",
        "--kubeconfig=/a",
        "--required-api=Pod",
    ];
    let refused = CommandLine::try_parse_from(line).err().map(|error| error.to_string());
    let refused = refused.expect("a kind has a version");
    assert!(refused.contains("apps/v1/Deployment"), "{refused}");
}
