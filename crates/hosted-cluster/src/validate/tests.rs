//! One row per rule at least: what breaks it, and that nothing else is broken by it.

#![allow(clippy::needless_pass_by_value, reason = "rows are written down, not passed around")]

mod authentication;
mod together;

use std::{collections::BTreeSet, sync::Arc};

use hyperplane_api::hypershift::hosted_cluster::HostedCluster;
use serde_json::{Value, json};

use super::{Verdict, rules};
use crate::{
    dereference::{Seen, State},
    settings::HostedClusterSettings,
    testing::{
        IMAGE, cluster, judge, namespace, put_control_plane, put_secret, release, seen, services, set_source, settings,
    },
};

/// What breaks a rule.
struct Row {
    rule: &'static str,
    change: Value,
    see: fn(&HostedCluster, &mut Seen),
    set: fn(&mut HostedClusterSettings),
}

impl Row {
    fn judged(&self) -> Verdict {
        let cluster = cluster(&self.change);
        let mut seen = seen(&cluster);
        (self.see)(&cluster, &mut seen);
        let mut settings = settings();
        (self.set)(&mut settings);
        judge(&cluster, &seen, &settings)
    }

    fn annotated(mut self, key: &str, value: &str) -> Self {
        self.change["metadata"] = json!({"annotations": {key: value}});
        self
    }
}

/// The rules that stop a cluster.
fn broken(verdict: &Verdict) -> BTreeSet<&'static str> {
    verdict.blockers().map(|problem| problem.rule).collect()
}

fn spec(rule: &'static str, spec: Value) -> Row {
    Row {
        rule,
        change: json!({"spec": spec}),
        see: |_, _| {},
        set: |_| {},
    }
}

fn annotation(rule: &'static str, key: &str, value: &str) -> Row {
    spec(rule, json!({})).annotated(key, value)
}

fn published(service: &str, strategy: Value) -> Value {
    let mut all = services("LoadBalancer");
    for entry in all.as_array_mut().unwrap() {
        if entry["service"] == service {
            entry["servicePublishingStrategy"] = strategy.clone();
        }
    }
    all
}

/// A configuration with a certificate of the user's for a name.
fn certificate(name: &str) -> Value {
    json!({"apiServer": {"servingCerts": {"namedCertificates": [
        {"names": [name], "servingCertificate": {"name": "mine"}}]}}})
}

/// A cluster that came from one image to where it is.
fn at(image: &str, version: &str) -> Value {
    let moment = "2026-01-01T00:00:00Z";
    json!({"desired": {"image": image, "version": version}, "observedGeneration": 1, "availableUpdates": [], "history": [
        {"state": "Completed", "image": image, "version": version, "startedTime": moment, "completionTime": moment,
         "verified": false}]})
}

fn moved(rule: &'static str, to: &str, from: &str, version: &str) -> Row {
    Row {
        change: json!({"spec": {"release": {"image": to}}, "status": {"version": at(from, version)}}),
        ..spec(rule, json!({}))
    }
}

fn of_namespace_and_services() -> Vec<Row> {
    let mut twice = services("LoadBalancer");
    let first = twice[0].clone();
    twice.as_array_mut().unwrap().push(first);
    let mut short = services("LoadBalancer");
    short.as_array_mut().unwrap().remove(2);
    let balancer = |name: &str| json!({"type": "LoadBalancer", "loadBalancer": {"hostname": name}});
    let mut same = published("APIServer", balancer("a.example.com"));
    same[1]["servicePublishingStrategy"] = balancer("A.example.com");
    vec![
        Row {
            change: json!({"metadata": {"name": "a-name-with-forty-characters-or-even-more", "namespace":
                "a-namespace-with-characters"}}),
            ..spec("namespace-length", json!({}))
        },
        Row {
            see: |cluster, seen| seen.namespace = Some(namespace(cluster, "somebody-else")),
            ..spec("namespace-claim", json!({}))
        },
        Row {
            see: |_, seen| seen.infra_id_holder = Some("others/red".to_owned()),
            ..spec("infra-id-claim", json!({}))
        },
        Row {
            see: |_, seen| seen.taken_names.push("blue-admin-kubeconfig".to_owned()),
            ..spec("kubeconfig-name", json!({}))
        },
        spec("services-complete", json!({"services": short})),
        spec("services-once", json!({"services": twice})),
        spec(
            "services-strategy",
            json!({"services": published("Konnectivity", json!({"type": "None"}))}),
        ),
        spec(
            "services-strategy",
            json!({"services": published("APIServer", json!({"type": "S3"}))}),
        ),
        spec("services-hostnames", json!({"services": same})),
        Row {
            set: |settings| settings.facts.ingress_domain = None,
            ..spec(
                "services-domain",
                json!({"services": published("Ignition", json!({"type": "Route"}))}),
            )
        },
    ]
}

fn of_certificates() -> Vec<Row> {
    let names = ["*.default.svc", "api.blue.hypershift.local", "172.31.0.1", "172.20.0.1"];
    let mut rows: Vec<Row> = names
        .iter()
        .map(|name| spec("services-certificates", json!({"configuration": certificate(name)})))
        .collect();
    rows.extend([
        // By the ingress domain of the management cluster, before there is a Service that says so.
        spec(
            "services-certificates",
            json!({"configuration": certificate("*.apps.example.com"),
                "services": published("APIServer", json!({"type": "Route"}))}),
        ),
        spec(
            "services-certificates",
            json!({"configuration": certificate("203.0.113.9"), "services": published("APIServer",
                json!({"type": "NodePort", "nodePort": {"address": "203.0.113.9", "port": 30_000}}))}),
        ),
        Row {
            see: |_, seen| {
                let status = json!({"loadBalancer": {"ingress": [{"hostname": "lb-7.example.net"}]}});
                let service = json!({"metadata": {"name": "kube-apiserver"}, "status": status});
                seen.services
                    .push(Arc::new(hyperplane_objects::read(&service).unwrap()));
            },
            ..spec(
                "services-certificates",
                json!({"configuration": certificate("*.example.net")}),
            )
        },
        Row {
            see: |_, seen| {
                let field = "spec.configuration.apiServer.servingCerts.namedCertificates[0].servingCertificate.name";
                let mut params = rcgen::CertificateParams::new(vec!["mine.example.com".to_owned()]).unwrap();
                let address = rcgen::SanType::IpAddress("172.31.0.1".parse().unwrap());
                params.subject_alt_names.push(address);
                let pem = params.self_signed(&rcgen::KeyPair::generate().unwrap()).unwrap().pem();
                set_source(seen, field, "tls.crt", pem.as_bytes());
            },
            ..spec(
                "services-certificates",
                json!({"configuration": certificate("mine.example.com")}),
            )
        },
    ]);
    rows
}

fn of_networks() -> Vec<Row> {
    let node_port = |address: &str, port: i32| {
        let strategy = json!({"type": "NodePort", "nodePort": {"address": address, "port": port}});
        json!({"services": published("Ignition", strategy)})
    };
    let networks = |change: Value| json!({"networking": change});
    vec![
        spec(
            "network-form",
            networks(json!({"clusterNetwork": [{"cidr": "10.132.0.1/14"}]})),
        ),
        spec(
            "network-form",
            networks(json!({"apiServer": {"allowedCIDRBlocks": ["203.0.113.1/24"]}})),
        ),
        spec(
            "network-families",
            networks(json!({"machineNetwork": [{"cidr": "fd01::/48"}]})),
        ),
        spec(
            "network-overlap",
            networks(json!({"machineNetwork": [{"cidr": "10.133.0.0/16"}]})),
        ),
        spec(
            "network-advertise-address",
            networks(json!({"apiServer": {"advertiseAddress": "192.168.0.7"}})),
        ),
        spec(
            "network-advertise-address",
            networks(json!({"apiServer": {"advertiseAddress": "here"}})),
        ),
        spec("network-node-port", node_port("172.31.0.9", 30_000)),
        spec("network-node-port", node_port("203.0.113.9", 8_080)),
        spec("network-plugin", networks(json!({"networkType": "OpenShiftSDN"}))),
    ]
}

fn of_texts() -> Vec<Row> {
    vec![
        spec("labels-form", json!({"labels": {"team": "a b"}})),
        spec("labels-form", json!({"nodeSelector": {"-team": "a"}})),
        spec("labels-reserved", json!({"labels": {"app": "mine"}})),
        annotation(
            "destroy-grace-period",
            "hypershift.openshift.io/destroy-grace-period",
            "soon",
        ),
        annotation(
            "pod-security",
            "hypershift.openshift.io/pod-security-admission-label-override",
            "lax",
        ),
        annotation("tenant-operators", "hyperplane.dev/tenant-operators", "elsewhere"),
        Row {
            change: json!({"metadata": {"annotations": {
                "hypershift.openshift.io/control-plane-operator-image": "example.com/operator:v0.0",
                "hypershift.openshift.io/control-plane-operator-image-labels": "io.openshift.hypershift.restricted-psa=true",
            }}}),
            ..spec("operator-capabilities", json!({}))
        },
        annotation(
            "resource-request-override",
            "resource-request-override.hypershift.openshift.io/etcd",
            "cpu=1",
        ),
        annotation(
            "resource-request-override",
            "resource-request-override.hypershift.openshift.io/etcd.etcd",
            "cpu",
        ),
        Row {
            see: |cluster, seen| put_control_plane(cluster, seen, &json!({"spec": {"fips": true}})),
            ..spec("immutable-choice", json!({}))
        },
        Row {
            see: |cluster, seen| {
                let credentials = json!({"infraNamespace": "machines"});
                let platform = json!({"kubevirt": {"credentials": credentials}});
                put_control_plane(cluster, seen, &json!({"spec": {"platform": platform}}));
            },
            ..spec(
                "immutable-choice",
                json!({"platform": {"type": "KubeVirt", "kubevirt": {}}}),
            )
        },
        Row {
            see: |cluster, seen| {
                let change = json!({"spec": {"serviceAccountSigningKey": {"name": "sa-signing-key"}}});
                put_control_plane(cluster, seen, &change);
            },
            ..spec("signing-key-stays", json!({"serviceAccountSigningKey": {"name": ""}}))
        },
    ]
}

fn of_platforms() -> Vec<Row> {
    let kubevirt = |settings: Value| json!({"platform": {"type": "KubeVirt", "kubevirt": settings}});
    vec![
        spec(
            "platform-supported",
            json!({"platform": {"type": "IBMCloud", "ibmcloud": {}}}),
        ),
        Row {
            set: |settings| settings.served.kubevirt = false,
            ..spec("platform-provider", kubevirt(json!({})))
        },
        Row {
            see: |_, seen| {
                let image = json!({"platform": "KubeVirt", "architecture": "arm64", "name": "image"});
                let spec = json!({"image": "registry.example.com/arm:1", "osImages": [image]});
                seen.releases.push(release(&json!({"spec": spec})));
            },
            ..spec(
                "platform-architecture",
                json!({"release": {"image": "registry.example.com/arm:1"}, "platform": {"type": "KubeVirt", "kubevirt": {}}}),
            )
        },
        spec(
            "kubevirt-base-domain",
            json!({"platform": {"type": "KubeVirt", "kubevirt": {"baseDomainPassthrough": true}},
                "dns": {"baseDomain": "other.example.com"}}),
        ),
        Row {
            set: |settings| settings.facts.ingress_domain = None,
            ..spec(
                "kubevirt-ingress-domain",
                kubevirt(json!({"baseDomainPassthrough": true})),
            )
        },
        spec(
            "kubevirt-credentials",
            kubevirt(json!({"credentials": {"infraNamespace": "machines"}})),
        ),
        Row {
            change: json!({"spec": kubevirt(json!({})), "metadata": {"annotations": {
                "hypershift.openshift.io/kubevirt-vm-jsonpatch": "{}"}}}),
            ..spec("kubevirt-json-patch", json!({}))
        },
        spec("agent-namespace", json!({"platform": {"type": "Agent"}})),
        spec(
            "agent-namespace-exists",
            json!({"platform": {"type": "Agent", "agent": {"agentNamespace": "nowhere"}}}),
        ),
        spec(
            "encryption-by-key-service",
            json!({"secretEncryption": {"type": "kms", "kms": {"provider": "AWS"}}}),
        ),
        spec("encryption-active-key", json!({"secretEncryption": {"type": "aescbc"}})),
    ]
}

fn of_releases() -> Vec<Row> {
    let kubernetes = |version: &str| format!("hyperplane.dev/kubernetes:{version}");
    vec![
        spec(
            "release-resolves",
            json!({"release": {"image": "registry.example.com/unknown:1"}}),
        ),
        Row {
            see: |_, seen| {
                let spec =
                    json!({"image": "registry.example.com/part:1", "components": {"kube-apiserver": {"image": null}}});
                seen.releases.push(release(&json!({"spec": spec})));
            },
            ..spec(
                "release-whole",
                json!({"release": {"image": "registry.example.com/part:1"}}),
            )
        },
        Row {
            see: |_, seen| {
                let old = json!({"version": "v1.19.0"});
                let programs = json!({"kube-apiserver": old, "kube-controller-manager": old, "kube-scheduler": old,
                    "kube-proxy": old});
                let spec = json!({"image": "registry.example.com/old:1", "version": "v1.19.0",
                    "kubernetesVersion": "v1.19.0", "components": programs});
                seen.releases.push(release(&json!({"spec": spec})));
            },
            ..spec(
                "release-window",
                json!({"release": {"image": "registry.example.com/old:1"}}),
            )
        },
        Row {
            see: |_, seen| {
                let spec =
                    json!({"image": "registry.example.com/acp:1", "distribution": "acp", "scheme": "kubernetes"});
                seen.releases.push(release(&json!({"spec": spec})));
            },
            ..moved("release-distribution", IMAGE, "registry.example.com/acp:1", "v1.36.4")
        },
        moved("release-downgrade", &kubernetes("v1.35.4"), IMAGE, "1.36.4"),
        moved("release-downgrade", &kubernetes("v1.36.2"), IMAGE, "1.36.4"),
        moved("release-skip", IMAGE, &kubernetes("v1.34.4"), "1.34.4"),
        Row {
            see: objecting,
            ..moved("upgrade-upgradeable", IMAGE, &kubernetes("v1.35.4"), "1.35.4")
        },
        Row {
            see: objecting,
            ..moved("upgrade-forced", IMAGE, &kubernetes("v1.35.4"), "1.35.4")
                .annotated("hypershift.openshift.io/force-upgrade-to", "another")
        },
    ]
}

/// The cluster says that it is not upgradeable.
fn objecting(cluster: &HostedCluster, seen: &mut Seen) {
    let condition = json!({"type": "ClusterVersionUpgradeable", "status": "False", "reason": "Busy", "message": "wait",
        "lastTransitionTime": "2026-01-01T00:00:00Z"});
    put_control_plane(cluster, seen, &json!({"status": {"conditions": [condition]}}));
}

const TOKEN_WEBHOOK: &str = "spec.configuration.authentication.webhookTokenAuthenticator.kubeConfig.name";
const RUNS_A_PROGRAM: &[u8] = b"users: [{name: u, user: {exec: {command: sh}}}]";
const READS_A_FILE: &[u8] = b"users: [{name: u, user: {tokenFile: /etc/passwd}}]";

fn of_sources() -> Vec<Row> {
    let bundle = |name: &str| json!({"additionalTrustBundle": {"name": name}});
    vec![
        Row {
            see: |_, seen| seen.sources[0].state = State::Missing,
            ..spec("source-exists", json!({}))
        },
        Row {
            see: |_, seen| set_source(seen, "spec.sshKey", "id_rsa.pub", b""),
            ..spec("source-keys", json!({"sshKey": {"name": "keys"}}))
        },
        Row {
            see: |_, seen| set_source(seen, "spec.pullSecret", ".dockerconfigjson", b"{}"),
            ..spec("source-pull-secret", json!({}))
        },
        spec("source-trust-bundle", bundle("bundle")),
        Row {
            see: |_, seen| set_source(seen, "spec.auditWebhook", "webhook-kubeconfig", RUNS_A_PROGRAM),
            ..spec("source-kubeconfig", json!({"auditWebhook": {"name": "audit"}}))
        },
        Row {
            see: |_, seen| set_source(seen, "spec.auditWebhook", "webhook-kubeconfig", READS_A_FILE),
            ..spec("source-kubeconfig", json!({"auditWebhook": {"name": "audit"}}))
        },
        Row {
            see: |_, seen| set_source(seen, TOKEN_WEBHOOK, "kubeConfig", RUNS_A_PROGRAM),
            ..spec(
                "source-kubeconfig",
                json!({"configuration": {"authentication": {"webhookTokenAuthenticator": {
                    "kubeConfig": {"name": "tokens"}}}}}),
            )
        },
        spec(
            "source-reserved-name",
            json!({"configuration": {"image": {"additionalTrustedCA": {"name": "root-ca"}}}}),
        ),
        Row {
            see: |_, seen| {
                set_source(
                    seen,
                    "spec.configuration.proxy.trustedCA.name",
                    "ca-bundle.crt",
                    b"nothing",
                );
            },
            ..spec(
                "source-proxy-bundle",
                json!({"configuration": {"proxy": {"trustedCA": {"name": "proxy"}}}}),
            )
        },
    ]
}

/// Secrets are encrypted with a key that is not the one that is given.
fn put_other_key(seen: &mut Seen) {
    let key: &[u8] = &[9; 32];
    put_secret(seen, "aescbc-active-key", Some("clusters/key@uid/0"), &[("key", key)]);
}

fn of_keys() -> Vec<Row> {
    let aescbc = json!({"secretEncryption": {"type": "aescbc", "aescbc": {"activeKey": {"name": "key"}}}});
    vec![
        Row {
            see: |_, seen| {
                let field = seen.sources.iter().find(|source| source.order.source == "key");
                let field = field.unwrap().order.field.clone();
                set_source(seen, &field, "key", b"short");
            },
            ..spec("source-encryption-key", aescbc.clone())
        },
        Row {
            see: |_, seen| put_other_key(seen),
            ..spec("encryption-key-in-use", aescbc)
        },
        Row {
            see: |_, seen| put_other_key(seen),
            ..spec("encryption-stays", json!({}))
        },
        spec(
            "source-signing-key",
            json!({"serviceAccountSigningKey": {"name": "signing"}}),
        ),
        Row {
            see: |_, seen| {
                let field = "spec.serviceAccountSigningKey";
                let key = rcgen::KeyPair::generate().unwrap().serialize_pem();
                set_source(seen, field, "key", key.as_bytes());
                set_source(seen, field, "old-key.pub", b"not a key");
            },
            ..spec(
                "source-signing-key",
                json!({"serviceAccountSigningKey": {"name": "signing"}}),
            )
        },
    ]
}

fn rows() -> Vec<Row> {
    let families = [
        of_namespace_and_services(),
        of_certificates(),
        of_networks(),
        of_texts(),
        of_platforms(),
        of_releases(),
        of_sources(),
        of_keys(),
        authentication::rows(),
    ];
    families.into_iter().flatten().collect()
}

#[test]
fn nothing_is_wrong_with_the_cluster_that_all_rows_start_from() {
    let verdict = spec("", json!({})).judged();
    let problems: Vec<String> = verdict.blockers().map(ToString::to_string).collect();
    assert_eq!(problems, [] as [&str; 0]);
    assert!(verdict.allows() && verdict.proxy.is_empty());
}

#[test]
fn every_row_breaks_its_rule_and_no_other() {
    for (number, row) in rows().into_iter().enumerate() {
        let verdict = row.judged();
        let problems: Vec<_> = verdict.blockers().chain(&verdict.proxy).collect();
        let broken: BTreeSet<&str> = problems.iter().map(|problem| problem.rule).collect();
        assert_eq!(broken, BTreeSet::from([row.rule]), "row {number}: {problems:#?}");
        for problem in problems {
            assert!(!problem.what.is_empty() && !problem.remedy.is_empty(), "{problem:?}");
        }
    }
}

#[test]
fn every_rule_has_a_row_and_a_name_of_its_own() {
    let all: Vec<&str> = rules().iter().map(|rule| rule.name).collect();
    let names: BTreeSet<&str> = all.iter().copied().collect();
    assert_eq!(names.len(), all.len());
    let tested: BTreeSet<&str> = rows().iter().map(|row| row.rule).collect();
    assert_eq!(names, tested);
}
