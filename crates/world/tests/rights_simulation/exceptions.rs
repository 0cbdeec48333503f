//! Rules that no life uses, and why each is there all the same.

use std::collections::BTreeSet;

use crate::record::Right;

/// Rules of an account that stay although nothing here uses them.
pub struct Exception {
    pub account: &'static str,
    pub group: &'static str,
    pub resources: &'static [&'static str],
    pub verbs: &'static [&'static str],
    /// Why they stay.
    #[allow(dead_code, reason = "it is for those who read the table")]
    pub reason: &'static str,
}

/// The table.
pub const EXCEPTIONS: &[Exception] = &[
    Exception {
        account: OPERATOR,
        group: "hypershift.openshift.io",
        resources: &[
            "hostedclusters/finalizers",
            "hostedcontrolplanes/finalizers",
            "nodepools/finalizers",
        ],
        verbs: &["update"],
        reason: OWNERS,
    },
    Exception {
        account: "machine-controller",
        group: "cluster.x-k8s.io",
        resources: &[
            "clusters/finalizers",
            "machinedeployments/finalizers",
            "machinehealthchecks/finalizers",
            "machines/finalizers",
            "machinesets/finalizers",
        ],
        verbs: &["update"],
        reason: OWNERS,
    },
    Exception {
        account: CONTROL_PLANE,
        group: "hypershift.openshift.io",
        resources: &["hostedcontrolplanes/finalizers"],
        verbs: &["update"],
        reason: OWNERS,
    },
    Exception {
        account: PKI,
        group: "hypershift.openshift.io",
        resources: &["hostedcontrolplanes/finalizers"],
        verbs: &["update"],
        reason: OWNERS,
    },
    Exception {
        account: OPERATOR,
        group: "",
        resources: &["serviceaccounts"],
        verbs: &["get"],
        reason: CONFLICT,
    },
    Exception {
        account: OPERATOR,
        group: "batch",
        resources: &["jobs"],
        verbs: &["get"],
        reason: CONFLICT,
    },
    Exception {
        account: OPERATOR,
        group: "capi-provider.agent-install.openshift.io",
        resources: &["agentclusters", "agentmachinetemplates"],
        verbs: &["get"],
        reason: CONFLICT,
    },
    Exception {
        account: OPERATOR,
        group: "cluster.x-k8s.io",
        resources: &["machinedeployments", "machinehealthchecks", "machinesets"],
        verbs: &["get"],
        reason: CONFLICT,
    },
    Exception {
        account: OPERATOR,
        group: "cluster.x-k8s.io",
        resources: &["machines", "machinesets"],
        verbs: &["delete"],
        reason: STRAY,
    },
    Exception {
        account: OPERATOR,
        group: "cluster.x-k8s.io",
        resources: &["machines"],
        verbs: &["get"],
        reason: STRAY,
    },
    Exception {
        account: OPERATOR,
        group: "hypershift.openshift.io",
        resources: &["controlplanecomponents", "hostedcontrolplanes"],
        verbs: &["get"],
        reason: CONFLICT,
    },
    Exception {
        account: OPERATOR,
        group: "infrastructure.cluster.x-k8s.io",
        resources: &["kubevirtclusters", "kubevirtmachinetemplates"],
        verbs: &["get"],
        reason: CONFLICT,
    },
    Exception {
        account: OPERATOR,
        group: "monitoring.coreos.com",
        resources: &["podmonitors"],
        verbs: &["get"],
        reason: CONFLICT,
    },
    Exception {
        account: OPERATOR,
        group: "networking.k8s.io",
        resources: &["networkpolicies"],
        verbs: &["delete", "get"],
        reason: "a policy that a platform or a way of publishing needs goes when the manager learns better",
    },
    Exception {
        account: OPERATOR,
        group: "rbac.authorization.k8s.io",
        resources: &["clusterrolebindings", "clusterroles", "rolebindings", "roles"],
        verbs: &["get"],
        reason: CONFLICT,
    },
    Exception {
        account: "machine-controller",
        group: "cluster.x-k8s.io",
        resources: &["machinedeployments", "machinesets"],
        verbs: &["get"],
        reason: CONFLICT,
    },
    Exception {
        account: CONTROL_PLANE,
        group: "",
        resources: &["configmaps", "secrets", "serviceaccounts", "services"],
        verbs: &["delete", "get"],
        reason: GONE,
    },
    Exception {
        account: CONTROL_PLANE,
        group: "apps",
        resources: &["statefulsets"],
        verbs: &["delete", "get"],
        reason: GONE,
    },
    Exception {
        account: CONTROL_PLANE,
        group: "apps",
        resources: &["deployments"],
        verbs: &["get"],
        reason: CONFLICT,
    },
    Exception {
        account: CONTROL_PLANE,
        group: "hypershift.openshift.io",
        resources: &["controlplanecomponents", "hostedcontrolplanes"],
        verbs: &["get"],
        reason: CONFLICT,
    },
    Exception {
        account: CONTROL_PLANE,
        group: "monitoring.coreos.com",
        resources: &["podmonitors"],
        verbs: &["get"],
        reason: CONFLICT,
    },
    Exception {
        account: CONTROL_PLANE,
        group: "monitoring.coreos.com",
        resources: &["servicemonitors"],
        verbs: &["delete", "get"],
        reason: GONE,
    },
    Exception {
        account: CONTROL_PLANE,
        group: "policy",
        resources: &["poddisruptionbudgets"],
        verbs: &["delete", "get"],
        reason: GONE,
    },
    Exception {
        account: CONTROL_PLANE,
        group: "rbac.authorization.k8s.io",
        resources: &["rolebindings", "roles"],
        verbs: &["delete", "get"],
        reason: GONE,
    },
    Exception {
        account: PKI,
        group: "",
        resources: &["secrets"],
        verbs: &["get"],
        reason: CONFLICT,
    },
    housekeeping(CONTROL_PLANE, "", &["events"], &["create", "patch"], EVENTS),
    housekeeping(PKI, "", &["events"], &["create", "patch"], EVENTS),
    housekeeping(CONFIG, "", &["events"], &["create", "patch"], EVENTS),
    housekeeping("ignition-server", "", &["events"], &["patch"], EVENTS),
    housekeeping(
        CONTROL_PLANE,
        "coordination.k8s.io",
        &["leases"],
        &["create", "get", "update"],
        LEASES,
    ),
    housekeeping(
        PKI,
        "coordination.k8s.io",
        &["leases"],
        &["create", "get", "update"],
        LEASES,
    ),
    housekeeping(
        CONFIG,
        "coordination.k8s.io",
        &["leases"],
        &["create", "get", "update"],
        LEASES,
    ),
];

const OPERATOR: &str = "operator";
const CONTROL_PLANE: &str = "control-plane-operator";
const PKI: &str = "control-plane-pki-operator";
const CONFIG: &str = "hosted-cluster-config-operator";

const OWNERS: &str = "a server that enforces permissions of owner references asks for it (kubernetes, plugin/pkg/admission/gc); \
                      the embedded one does not";
const CONFLICT: &str = "whoever is told of a conflict when it deletes, or changes finalizers, looks what is there (runtime, \
                        writer.rs and finalizer.rs); here nobody else writes in that moment";
const GONE: &str = "a component that a cluster or its release no longer has takes everything with it that it consisted of; of \
                    the releases here none lacks a component with such objects that another has";
const STRAY: &str =
    "machines and sets that nobody controls are deleted with their cluster; here everything is controlled";
const EVENTS: &str = "what goes wrong is told in events, and again if it happens again; in these lives nothing does";
const LEASES: &str = "a process in a pod of its own holds a lease; where machines are simulated it runs without one, so that \
                      nothing is written at rest";

const fn housekeeping(
    account: &'static str,
    group: &'static str,
    resources: &'static [&'static str],
    verbs: &'static [&'static str],
    reason: &'static str,
) -> Exception {
    Exception {
        account,
        group,
        resources,
        verbs,
        reason,
    }
}

impl Exception {
    fn covers(&self, right: &Right) -> bool {
        self.account == right.account
            && self.group == right.group
            && self.resources.contains(&right.resource.as_str())
            && self.verbs.contains(&right.verb.as_str())
    }

    fn rights(&self) -> impl Iterator<Item = Right> {
        self.resources.iter().flat_map(|resource| {
            self.verbs.iter().map(|verb| Right {
                account: self.account.to_owned(),
                group: self.group.to_owned(),
                resource: (*resource).to_owned(),
                verb: (*verb).to_owned(),
            })
        })
    }
}

/// What is unused without an exception, and what has an exception without being unused.
pub fn judge(unused: &BTreeSet<Right>, table: &[Exception]) -> (Vec<String>, Vec<String>) {
    let bare = unused.iter().filter(|right| !table.iter().any(|one| one.covers(right)));
    let needless = table
        .iter()
        .flat_map(Exception::rights)
        .filter(|right| !unused.contains(right));
    (
        bare.map(ToString::to_string).collect(),
        needless.map(|right| right.to_string()).collect(),
    )
}

#[test]
fn an_exception_is_for_what_is_unused_and_for_nothing_else() {
    let right = |verb: &str| Right {
        account: "operator".to_owned(),
        group: String::new(),
        resource: "pods".to_owned(),
        verb: verb.to_owned(),
    };
    let table = [Exception {
        account: "operator",
        group: "",
        resources: &["pods"],
        verbs: &["get", "list"],
        reason: "for this test",
    }];
    let unused = BTreeSet::from([right("get"), right("watch")]);
    let (bare, needless) = judge(&unused, &table);
    assert_eq!(bare, [right("watch").to_string()]);
    assert_eq!(needless, [right("list").to_string()]);
}
