//! Choices that a control plane may make, each as what it changes, so that tests can take any set of them.

use hyperplane_planner::release::Release;
use serde_json::{Value, json};

use super::{WEBHOOK, World, add_config_map, add_secret, extended_release, merge, published, release, set_secret};

/// The Secret that a user names as a certificate, and those for other things of the user's own.
pub const OF_USERS: &[&str] = &[
    "their-certificate",
    "their-etcd",
    "their-ca",
    "their-clients",
    "their-webhook",
    "kubevirt-infra-credentials",
];

/// Every choice by name.
pub fn choices() -> Vec<(&'static str, Value)> {
    let mut all = spec_choices();
    all.extend(configuration_choices());
    all.extend(annotation_choices());
    all
}

fn spec_choices() -> Vec<(&'static str, Value)> {
    let node_port = json!({"type": "NodePort", "nodePort": {"address": "203.0.113.7"}});
    vec![
        (
            "single",
            json!({"spec": {"controllerAvailabilityPolicy": "SingleReplica"}}),
        ),
        (
            "kubevirt",
            json!({"spec": {"platform": {"type": "KubeVirt", "kubevirt": {}}}}),
        ),
        (
            "elsewhere",
            json!({"spec": {"platform": {"type": "KubeVirt", "kubevirt": {"credentials": {
                "infraNamespace": "machines",
                "infraKubeConfigSecret": {"name": "infra", "key": "kubeconfig"},
            }}}}}),
        ),
        (
            "node ports",
            json!({"spec": {"services": [
                published("APIServer", &node_port),
                published("Konnectivity", &node_port),
                published("Ignition", &node_port),
            ]}}),
        ),
        (
            "encryption",
            json!({"spec": {"secretEncryption": {"type": "aescbc", "aescbc": {
                "activeKey": {"name": "one"}, "backupKey": {"name": "two"},
            }}}}),
        ),
        ("webhook", json!({"spec": {"auditWebhook": {"name": "webhook"}}})),
        (
            "own etcd",
            json!({"spec": {"etcd": {
                "managementType": "Unmanaged",
                "unmanaged": {"endpoint": "https://etcd.example.com:2379", "tls": {"clientSecret": {"name": "their-etcd"}}},
            }}}),
        ),
        (
            "networks of nodes",
            json!({"spec": {"networking": {"allocateNodeCIDRs": "Enabled"}}}),
        ),
        ("labels", json!({"spec": {"labels": {"team": "blue", "app": "theirs"}}})),
        (
            "nodes",
            json!({"spec": {"nodeSelector": {"disk": "fast"}, "tolerations": [{"key": "a", "operator": "Exists"}]}}),
        ),
        (
            "autoscaling",
            json!({"spec": {"autoscaling": {
                "maxNodesTotal": 10, "expanders": ["Random"], "scaling": "ScaleUpAndScaleDown",
                "scaleDown": {"delayAfterAddSeconds": 60, "utilizationThresholdPercent": 40},
            }}}),
        ),
    ]
}

fn configuration_choices() -> Vec<(&'static str, Value)> {
    let configuration = |value: Value| json!({"spec": {"configuration": value}});
    vec![
        (
            "identity provider",
            configuration(json!({"authentication": {"type": "OIDC", "oidcProviders": [{
                "name": "theirs",
                "issuer": {
                    "issuerURL": "https://id.example.com", "audiences": ["one", "two"],
                    "issuerCertificateAuthority": {"name": "their-ca"},
                },
                "claimMappings": {"username": {"claim": "email"}, "groups": {"claim": "groups", "prefix": "oidc:"}},
            }]}})),
        ),
        (
            "gates",
            configuration(json!({"featureGate": {
                "featureSet": "CustomNoUpgrade",
                "customNoUpgrade": {"enabled": ["ContextualLogging"], "disabled": ["OpenShiftPodSecurityAdmission"]},
            }})),
        ),
        (
            "old ciphers",
            configuration(json!({"apiServer": {"tlsSecurityProfile": {"type": "Old", "old": {}}}})),
        ),
        (
            "modern ciphers",
            configuration(json!({"apiServer": {"tlsSecurityProfile": {"type": "Modern", "modern": {}}}})),
        ),
        (
            "bodies",
            configuration(json!({"apiServer": {"audit": {
                "profile": "WriteRequestBodies",
                "customRules": [{"group": "system:nodes", "profile": "None"}],
            }}})),
        ),
        (
            "certificates",
            configuration(json!({"apiServer": {
                "additionalCORSAllowedOrigins": ["//example\\.com$"],
                "servingCerts": {"namedCertificates": [
                    {"names": ["api.example.com"], "servingCertificate": {"name": "their-certificate"}},
                ]},
            }})),
        ),
        (
            "token webhook",
            configuration(
                json!({"authentication": {"webhookTokenAuthenticator": {"kubeConfig": {"name": "their-webhook"}}}}),
            ),
        ),
        (
            "authority of clients",
            configuration(json!({"apiServer": {"clientCA": {"name": "their-clients"}}})),
        ),
        (
            "scheduler",
            configuration(json!({"scheduler": {"profile": "HighNodeUtilization"}})),
        ),
        (
            "ports",
            configuration(json!({"network": {"serviceNodePortRange": "30000-31000"}})),
        ),
    ]
}

fn annotation_choices() -> Vec<(&'static str, Value)> {
    let annotations = |value: Value| json!({"metadata": {"annotations": value}});
    vec![
        (
            "dedicated operators",
            annotations(json!({"hyperplane.dev/tenant-operators": "dedicated"})),
        ),
        (
            "dedicated nodes",
            annotations(json!({"hypershift.openshift.io/topology": "dedicated-request-serving-components"})),
        ),
        (
            "restart",
            annotations(json!({"hypershift.openshift.io/restart-date": "2026-01-01"})),
        ),
        (
            "requests",
            annotations(json!({
                "resource-request-override.hypershift.openshift.io/kube-apiserver.kube-apiserver": "cpu=1500m,memory=4096Mi",
            })),
        ),
        (
            "numbers",
            annotations(json!({
                "hypershift.openshift.io/kube-apiserver-max-requests-inflight": "5000",
                "hypershift.openshift.io/kube-apiserver-max-mutating-requests-inflight": "2000",
                "hypershift.openshift.io/kube-apiserver-verbosity-level": "4",
                "hypershift.openshift.io/kube-apiserver-goaway-chance": "0.01",
                "hypershift.openshift.io/kube-apiserver-service-account-token-max-expiration": "24h",
                "hypershift.openshift.io/disable-profiling": "kube-apiserver,kube-controller-manager,kube-scheduler",
            })),
        ),
        (
            "no machines",
            annotations(json!({"hypershift.openshift.io/disable-machine-management": "true"})),
        ),
        (
            "no ignition",
            annotations(json!({"hypershift.openshift.io/disable-ignition-server": "true"})),
        ),
    ]
}

/// Releases, with and without what plain Kubernetes does not carry.
pub fn releases() -> Vec<Release> {
    vec![release("1.35").clone(), release("1.36").clone(), extended_release()]
}

/// A world in which these choices were made, in this order.
pub fn chosen(choices: &[(&'static str, Value)], release: &Release) -> World {
    let mut change = json!({});
    for (_, value) in choices {
        merge(&mut change, value);
    }
    let mut world = World::new(&change, release);
    add_secret(&mut world.objects, "their-certificate", &["tls.crt", "tls.key"]);
    let of_etcd = ["etcd-client-ca.crt", "etcd-client.crt", "etcd-client.key"];
    add_secret(&mut world.objects, "their-etcd", &of_etcd);
    add_secret(&mut world.objects, "kubevirt-infra-credentials", &["kubeconfig"]);
    add_config_map(&mut world.objects, "their-ca", &["ca-bundle.crt"]);
    add_config_map(&mut world.objects, "their-clients", &["ca-bundle.crt"]);
    set_secret(&mut world.objects, "their-webhook", "kubeConfig", WEBHOOK);
    world
}

/// One world for each choice, and one with as many as go together: what a rule over all of them must hold for.
pub fn every_world() -> Vec<World> {
    let all = choices();
    let mut worlds: Vec<World> = all
        .iter()
        .map(|one| chosen(std::slice::from_ref(one), &extended_release()))
        .collect();
    for release in releases() {
        worlds.push(chosen(&[], &release));
        worlds.push(chosen(&all, &release));
    }
    worlds
}
