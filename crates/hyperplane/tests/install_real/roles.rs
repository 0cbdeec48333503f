//! Every role alone: a process of its own, with the arguments of its Deployment and the token of its account, on a real API
//! server. What it is there for is done, and nothing is refused to it.

use std::{collections::BTreeSet, path::Path};

use serde_json::json;

use crate::{
    audit::ACCOUNT,
    pod::{play, start},
    program::Running,
    site::{INSIDE, RELEASE, Site},
};

/// A role of the binary.
struct Role {
    namespace: &'static str,
    /// The name of its Deployment and of its account.
    name: &'static str,
    /// What it does before long, and nobody else in its name: verbs and resources.
    does: &'static [&'static str],
}

impl Role {
    /// Whom the API server sees.
    fn user(&self) -> String {
        format!("{ACCOUNT}{}:{}", self.namespace, self.name)
    }
}

/// Those that are installed.
const INSTALLED: &[Role] = &[
    Role {
        namespace: "hyperplane",
        name: "operator",
        does: &["update leases", "patch hostedcontrolplanes", "patch machinedeployments"],
    },
    Role {
        namespace: "hyperplane",
        name: "machine-controller",
        does: &["update leases", "patch machinesets", "patch machines"],
    },
];

/// Those of one control plane, in the order in which they come. The hosted API server does not run: nothing is approved,
/// and nothing is written into the hosted cluster.
const OF_CONTROL_PLANE: &[Role] = &[
    Role {
        namespace: INSIDE,
        name: "control-plane-operator",
        does: &["update leases", "patch controlplanecomponents", "patch statefulsets"],
    },
    Role {
        namespace: INSIDE,
        name: "control-plane-pki-operator",
        does: &["update leases", "patch secrets", "patch configmaps"],
    },
    Role {
        namespace: INSIDE,
        name: "ignition-server",
        does: &["list secrets", "patch secrets"],
    },
    Role {
        namespace: INSIDE,
        name: "hosted-cluster-config-operator",
        does: &["update leases", "list hostedcontrolplanes"],
    },
    Role {
        namespace: INSIDE,
        name: "machine-approver",
        does: &["list machines"],
    },
];

/// What they have written together, without a node on which anything could run.
const WRITTEN: &[(&str, &str)] = &[
    ("configmap", "root-ca"),
    ("secret", "admin-kubeconfig"),
    ("statefulset", "etcd"),
    ("controlplanecomponent", "etcd"),
    ("controlplanecomponent", "kube-apiserver"),
    ("controlplanecomponent", "machine-approver"),
];

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs a real control plane: cargo xtask test"]
async fn every_role_works_alone_with_its_own_account_and_is_refused_nothing() {
    let directory = tempfile::tempdir().unwrap();
    let site = Site::start(directory.path()).await;
    site.run(&[
        "install",
        "apply",
        "--machines=separate",
        "--tenant-operators=dedicated",
    ])
    .unwrap();
    let mut running = Vec::new();
    for role in INSTALLED {
        running.push(begin(&site, role, directory.path()).await);
    }
    site.order_cluster(json!({
        "controllerAvailabilityPolicy": "SingleReplica",
        "platform": {"type": "KubeVirt", "kubevirt": {}},
    }))
    .await;
    order_pool(&site).await;
    for role in OF_CONTROL_PLANE {
        running.push(begin(&site, role, directory.path()).await);
    }
    site.until_written(WRITTEN).await;
    for role in INSTALLED.iter().chain(OF_CONTROL_PLANE) {
        site.until(&format!("{:?} by {}", role.does, role.name), async || {
            play(&site, INSIDE).await;
            missing(&site, role).is_empty()
        })
        .await;
    }
    for program in running {
        assert_eq!(program.end(), Some(0));
    }
    // Watches are noted when they end.
    assert_eq!(site.audit.refusals(), Vec::<String>::new());
    have_no_other_rights(&site).await;
}

/// Operators of one control plane see nothing of others, and the log would have told of any refusal.
async fn have_no_other_rights(site: &Site) {
    for role in OF_CONTROL_PLANE {
        let asking = format!("--as={}", role.user());
        let refused = site
            .kubectl(&["get", "secrets", "--namespace", "clusters", &asking])
            .await;
        assert!(refused.is_err_and(|said| said.contains("Forbidden")), "{}", role.name);
    }
    let refusals = site.audit.refusals();
    assert_eq!(refusals.len(), OF_CONTROL_PLANE.len(), "{refusals:?}");
}

/// Starts a role once its Deployment is there.
async fn begin(site: &Site, role: &Role, directory: &Path) -> Running {
    site.until(&format!("deployment {}", role.name), async || {
        play(site, INSIDE).await;
        let arguments = ["get", "deployment", role.name, "--namespace", role.namespace];
        site.kubectl(&arguments).await.is_ok()
    })
    .await;
    start(site, role.namespace, role.name, directory).await
}

/// What a role has not done yet.
fn missing(site: &Site, role: &Role) -> BTreeSet<String> {
    let granted = site.audit.granted(&role.user());
    let expected = role.does.iter().map(|what| (*what).to_owned());
    expected.filter(|what| !granted.contains(what)).collect()
}

/// A pool whose machines nobody ever makes.
async fn order_pool(site: &Site) {
    site.apply(&[json!({
        "apiVersion": "hypershift.openshift.io/v1beta1", "kind": "NodePool",
        "metadata": {"name": "alpha", "namespace": "clusters"},
        "spec": {
            "clusterName": "one",
            "release": {"image": RELEASE},
            "replicas": 1,
            "management": {"upgradeType": "Replace", "autoRepair": true},
            "platform": {"type": "KubeVirt", "kubevirt": {"rootVolume": {
                "type": "Persistent", "diskImage": {"containerDiskImage": "registry.example.com/os:1"}}}},
        },
    })])
    .await;
}
