//! The register of rules: every rule that the sources state, by its id, with who judges it or why nobody does. Findings
//! name their rule by these ids, and docs/rules.md is written from here.

use std::fmt::Write as _;

/// A rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rule {
    /// Its id. The letters say whose it is.
    pub id: &'static str,
    /// The policy that judges it, or that would.
    pub policy: &'static str,
    /// What it says.
    pub title: &'static str,
    /// Where it comes from.
    pub source: &'static str,
    /// Whether it is judged.
    pub coverage: Coverage,
}

/// Whether a rule is judged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Coverage {
    /// It is, and there is a case for each of its verdicts.
    Judged,
    /// It is not, for a reason.
    NotJudged(&'static str),
}

/// Rules with one origin.
struct Family {
    heading: &'static str,
    policy: &'static str,
    source: &'static str,
    rules: &'static [(&'static str, &'static str, Coverage)],
}

use Coverage::{Judged, NotJudged};

const PLANNED: Coverage = NotJudged("it says how to make a path; a state and a move do not show one");
const ESCAPE: Coverage = NotJudged("it lets a running system look away; this check has no reason to");
const MACHINES: Coverage = NotJudged("a state does not show which machines were created and never joined");

const PAGE: &str = "kubernetes.io, version skew policy";
const OPERATOR: &str = "openshift/cluster-version-operator, pkg/payload/precondition, pkg/risk";
const HOSTED: &str = "openshift/hypershift, support/supportedversion, hostedcluster and nodepool controllers";
const ALAUDA: &str = "alauda/immutable-infra-docs, upgrade-cluster; alauda/acp-docs, upgrade";
const CLUSTERS: &str = "kubernetes-sigs/cluster-api, webhooks, machineset preflight, kubeadm control plane, proposals";

#[rustfmt::skip]
const FAMILIES: [Family; 10] = [
    Family { heading: "Kubernetes: what may stand beside what", policy: "kubernetes", source: PAGE, rules: &[
        ("K-01", "Instances of kube-apiserver differ by one minor at most: one apart is fine", Judged),
        ("K-02", "Instances of kube-apiserver differ by one minor at most: two apart are not", Judged),
        ("K-03", "A kubelet is not newer than kube-apiserver", Judged),
        ("K-04", "A kubelet may be up to three minors older than kube-apiserver", Judged),
        ("K-05", "A kubelet is not four minors older than kube-apiserver", Judged),
        ("K-06", "A kubelet before 1.25 may be two minors older", Judged),
        ("K-07", "A kubelet before 1.25 is not three minors older", Judged),
        ("K-08", "The last kubelet before 1.25 is not three minors older either", Judged),
        ("K-09", "Three minors begin with the kubelet of 1.25", Judged),
        ("K-10", "While instances of kube-apiserver differ, a kubelet is not newer than the oldest", Judged),
        ("K-11", "While instances of kube-apiserver differ, a kubelet between both limits is fine", Judged),
        ("K-12", "While instances of kube-apiserver differ, the newest decides what is too old", Judged),
        ("K-13", "kube-proxy has the limits of the kubelet against kube-apiserver", Judged),
        ("K-14", "kube-proxy is within three minors of the kubelet beside it", Judged),
        ("K-15", "kube-proxy before 1.25 is within two minors of the kubelet beside it", Judged),
        ("K-16", "Controllers and scheduler may be one minor older than kube-apiserver", Judged),
        ("K-17", "Controllers and scheduler are neither two minors older nor newer", Judged),
        ("K-18", "Behind a load balancer every kube-apiserver counts for a controller", Judged),
        ("K-19", "A controller that reaches only its own kube-apiserver is judged by that one", Judged),
        ("K-20", "kubectl is within one minor of kube-apiserver; else a warning", Judged),
        ("K-21", "While instances of kube-apiserver differ, kubectl fits all of them; else a warning", Judged),
        ("K-22", "Patches are not limited", Judged),
    ] },
    Family { heading: "Kubernetes: in which order", policy: "kubernetes", source: PAGE, rules: &[
        ("KT-01", "kube-apiserver takes every minor, a single instance too; down there is no way at all", Judged),
        ("KT-02", "Controllers have the minor below before kube-apiserver takes the next", Judged),
        ("KT-03", "Kubelets are within three minors of the next kube-apiserver; the page also says two: a warning", Judged),
        ("KT-04", "A kubelet at its limit holds the control plane where it is", Judged),
        ("KT-05", "Controllers take a minor after every kube-apiserver that they can reach", Judged),
        ("KT-06", "Controllers and scheduler move in any order among themselves", Judged),
        ("KT-07", "Kubelets take a minor after every kube-apiserver", Judged),
        ("KT-08", "A kubelet changes its minor on an empty node; a patch needs no drain", Judged),
        ("KT-09", "A webhook with matchPolicy Exact does not see new versions of resources: a warning", Judged),
        ("KT-10", "The latest patch first, before a minor is left and when it is entered: a warning", Judged),
        ("KT-11", "A rollout of kube-apiserver may pause in the middle where K-01, K-10 and K-18 hold", Judged),
    ] },
    Family { heading: "etcd", policy: "etcd", source: "etcd-io/etcd 19557 and 20793; openshift/cincinnati-graph-data, 4.21", rules: &[
        ("E-01", "etcd 3.6 is entered from 3.5.26 or later", Judged),
        ("E-02", "OpenShift 4.20.0 to 4.20.14 enter 4.21 only with the risk accepted", Judged),
        ("E-03", "etcd never goes down", Judged),
        ("E-04", "No member of 3.6 joins one below 3.5.26, however the cluster came there", Judged),
    ] },
    Family { heading: "kubeadm", policy: "kubeadm", source: "kubernetes/kubernetes, cmd/kubeadm/app/phases/upgrade", rules: &[
        ("KA-01", "One minor up at most; a pre-release may be insisted on", Judged),
        ("KA-02", "One minor down at most", Judged),
        ("KA-03", "kubeadm is not older than the target; by a patch it may be insisted on", Judged),
        ("KA-04", "kubeadm has the target's minor; a newer one may be insisted on", Judged),
        ("KA-05", "A pre-release may be insisted on", Judged),
        ("KA-06", "Kubelets are within three minors of the target; may be insisted on", Judged),
        ("KA-07", "Without the cluster's version nothing is done", Judged),
    ] },
    Family { heading: "OpenShift", policy: "openshift", source: OPERATOR, rules: &[
        ("O-01", "One minor up at most, counted from the version that is being reconciled", Judged),
        ("O-02", "Another major is entered at its first minor", Judged),
        ("O-03", "Back to the version before, within its minor", Judged),
        ("O-04", "Not back further than to the version before", Judged),
        ("O-05", "Not back by a minor", Judged),
        ("O-06", "Upgradeable=False holds the minor, never a patch", Judged),
        ("O-07", "While an update runs, another patch of its minor may be asked for; the risk is told", Judged),
        ("O-08", "While an update runs, no further minor", Judged),
        ("O-09", "What is overridden holds the minor; a patch is warned of", Judged),
        ("O-10", "A target that is not recommended is warned of", Judged),
        ("O-11", "Who insists gets warnings where this policy would refuse", Judged),
        ("O-12", "Gates of the current minor are acknowledged before it is left", Judged),
        ("O-13", "Paused pools may stay over one odd minor, and come along before the next", Judged),
        ("O-14", "Kubelets at their limit hold the minor", Judged),
        ("O-15", "The payload becomes Multi at the same version", Judged),
    ] },
    Family { heading: "HyperShift, and the documented limits of node pools", policy: "hypershift", source: HOSTED, rules: &[
        ("H-01", "A hosted cluster is from 4.14 to 5.1", Judged),
        ("H-02", "A hosted cluster does not go down by a minor; by a patch it may", Judged),
        ("H-03", "A hosted cluster skips no minor, though the code lets it", Judged),
        ("H-04", "A pool is not newer than its cluster, patches included", Judged),
        ("H-05", "A pool is three minors older at most", Judged),
        ("H-06", "The same across majors, where 5.y is 4.(23+y)", Judged),
        ("H-07", "5.0 and 4.23 are one minor", Judged),
        ("H-08", "A pool of a later minor than its cluster is refused", Judged),
        ("H-09", "A pool does not go down by a minor", Judged),
        ("H-10", "Upgradeable=False holds the minor of a hosted cluster, not its patch", Judged),
        ("H-11", "An annotation that forces an upgrade names the exact image", ESCAPE),
        ("H-12", "A release for the control plane alone is judged like any other, though the code does not", Judged),
        ("H-13", "An annotation that skips the validation of releases", ESCAPE),
        ("H-14", "A pool's type of upgrade stays, and it may have a node more or a node less", Judged),
        ("H-15", "Components of a control plane wait for kube-apiserver", NotJudged("it is about the rollout within a control plane, below what a state shows")),
        ("H-16", "Odd clusters: documents allow one minor, the API two, the code three", Judged),
        ("H-17", "Even clusters: documents and API allow two minors, the code three", Judged),
        ("H-18", "One reading lets the cluster's version decide: three minors from 4.20 on", Judged),
    ] },
    Family { heading: "ACP", policy: "acp", source: ALAUDA, rules: &[
        ("A-01", "Core and aligned extensions come before Kubernetes and the operating system", Judged),
        ("A-02", "A cluster is not newer than the global one, nor than its standby", Judged),
        ("A-03", "The console offers the global cluster's version and no other: a warning", Judged),
        ("A-04", "Before the global cluster moves, every cluster has a Kubernetes that it will take", Judged),
        ("A-05", "Up to 4.2 every cluster has the newest of these first", Judged),
        ("A-06", "4.3 is entered from 4.0, 4.1 and 4.2", Judged),
        ("A-07", "The hops that are offered are taken; sources disagree whether others exist", Judged),
        ("A-08", "Kubernetes takes one minor at a time, each with one row of the matrix", Judged),
        ("A-09", "The last row of a minor, unless it takes a component down", Judged),
        ("A-09b", "A row from which no further one can be reached is told", Judged),
        ("A-10", "The network's chart is at the row and everything is well before the control plane moves", Judged),
        ("A-11", "All components come from one row, in one edit", Judged),
        ("A-12", "Templates have a new name for each hop", NotJudged("a state has no templates")),
        ("A-13", "Images of the row are staged", Judged),
        ("A-14", "On bare metal the catalogue of images has the version", Judged),
        ("A-15", "DCS provider from 1.0.21 on and rows from v4.3.2 on belong together", Judged),
        ("A-16", "Charts from v4.4 on need newer providers, and have another name", Judged),
        ("A-17", "Kubelets from 1.35 on need a field that earlier ones refuse", Judged),
        ("A-18", "1.35 needs kernel 5.8, control groups v2 and an acknowledgement", Judged),
        ("A-19", "Nodes with places of their own roll without surge; one HCS control plane node cannot", Judged),
        ("A-20", "No row takes etcd down", Judged),
        ("A-21", "etcd 3.6 comes with v4.4.0 and is entered from v4.3.x", Judged),
        ("A-22", "Modifications are reviewed; extensions with medium or high impact are acknowledged", Judged),
        ("A-23", "An exemption of a modification names the target", Judged),
        ("A-24", "A new core with an old Kubernetes is warned of", Judged),
        ("A-25", "Before a machine of the target exists, everything can be taken back", MACHINES),
        ("A-26", "Within a minor a row can be taken back", Judged),
        ("A-27", "After an instance of the target's minor has joined, there is no way back", Judged),
        ("A-28", "A machine that was created and never joined is removed by hand", MACHINES),
        ("A-29", "Processors are x86-64-v2 or later", Judged),
        ("A-30", "A backup of etcd ended with Success", Judged),
    ] },
    Family { heading: "Cluster API", policy: "cluster-api", source: CLUSTERS, rules: &[
        ("C-01", "The version of a topology never decreases; pre-releases do not count", Judged),
        ("C-02", "Without a list of versions, one minor at a time", Judged),
        ("C-03", "With a list, the target is in it, and it has no gap", Judged),
        ("C-04", "The version changes when everything is at the one before", Judged),
        ("C-05", "Who insists gets warnings for C-01, C-03 and C-04", Judged),
        ("C-06", "The control plane's path takes the last listed version of each minor", PLANNED),
        ("C-07", "A path within a minor is one step", PLANNED),
        ("C-08", "Workers take a step every three minors", PLANNED),
        ("C-09", "Workers within three minors take one step", PLANNED),
        ("C-10", "The path of workers is made anew from the oldest of them", PLANNED),
        ("C-11", "A control plane's path that is wrong is refused", PLANNED),
        ("C-12", "A workers' path that is wrong is refused", PLANNED),
        ("C-13", "A kubeadm control plane takes one minor per edit, and CoreDNS only goes up", Judged),
        ("C-14", "Machines are made while the control plane is stable", Judged),
        ("C-15", "A machine set is not newer than the control plane and three minors older at most", Judged),
        ("C-16", "With kubeadm a machine is made at the control plane's minor only: a warning", Judged),
        ("C-17", "With a topology a machine is made at the control plane's version only: a warning", Judged),
        ("C-18", "An annotation that skips checks of machine sets", ESCAPE),
        ("C-19", "A control plane changes a machine while all of it is healthy", Judged),
        ("C-20", "Control plane and workers take turns", PLANNED),
        ("C-21", "The control plane waits for workers that have to follow", PLANNED),
        ("C-22", "Machine deployments upgrade one at a time", PLANNED),
        ("C-23", "Annotations hold a machine deployment, or it and all after it", PLANNED),
        ("C-24", "A machine deployment that is new waits for the control plane", PLANNED),
        ("C-25", "A pool that is held holds the cluster to three minors above it", Judged),
        ("C-26", "Changes in place happen where extensions cover all of them", NotJudged("which extensions there are is known to a running system only")),
    ] },
    Family { heading: "Gardener", policy: "gardener", source: "gardener/gardener, core validation of shoots, docs of shoots", rules: &[
        ("G-01", "Nothing goes down, the control plane skips no minor, pools are not newer and three minors older at most", Judged),
        ("G-02", "Pools skip minors only when nodes are replaced, and do not change between replacing and in place", Judged),
        ("G-03", "Automatic updates take the latest patch, or one minor if the current one has expired", PLANNED),
        ("G-04", "A profile has one supported version per minor, and none in use is deleted", NotJudged("it is about the catalogue of a landscape and not about a cluster")),
        ("G-05", "A patch restarts the kubelet, a minor rolls nodes", Judged),
    ] },
    Family { heading: "Every rollout", policy: "prerequisites", source: "what several of the systems above look at before they begin", rules: &[
        ("P20", "The control plane is healthy", Judged),
        ("P24", "All nodes are ready", Judged),
        ("P31", "There are addresses for nodes that come before old ones go", Judged),
        ("HP-01", "A paused pool does not move", Judged),
    ] },
];

/// Every rule, in the order of the document.
pub fn rules() -> impl Iterator<Item = Rule> {
    FAMILIES.iter().flat_map(|family| {
        family.rules.iter().map(|(id, title, coverage)| Rule {
            id,
            policy: family.policy,
            title,
            source: family.source,
            coverage: *coverage,
        })
    })
}

/// The rule with an id.
pub fn rule(id: &str) -> Option<Rule> {
    rules().find(|rule| rule.id == id)
}

/// How docs/rules.md begins.
const PREFACE: &str = "\
# Rules

Every rule that `hyperplane upgrade check` knows. This file is written from the register in
`crates/planner/src/policy/register.rs` by `cargo xtask bless`; change it there.

A finding names its rule by the id. The cases in `crates/planner/tests/cases` hold each judged rule to its verdicts.
Policies are chosen with `--policy`; what judges when nobody chooses is in [upgrade-check.md](upgrade-check.md).
";

/// docs/rules.md.
pub fn markdown() -> String {
    let mut text = PREFACE.to_owned();
    let mut line = |arguments: std::fmt::Arguments<'_>| {
        writeln!(text, "{arguments}").expect("a string takes everything");
    };
    line(format_args!(
        "\n## Policies\n\n| policy | what it is | source |\n|---|---|---|"
    ));
    for policy in super::ALL {
        line(format_args!(
            "| `{}` | {} | {} |",
            policy.name, policy.title, policy.source
        ));
    }
    for family in &FAMILIES {
        line(format_args!("\n## {}\n", family.heading));
        line(format_args!("Policy `{}`. Source: {}.\n", family.policy, family.source));
        line(format_args!("| id | rule | judged |\n|---|---|---|"));
        for (id, title, coverage) in family.rules {
            match coverage {
                Judged => line(format_args!("| {id} | {title} | yes |")),
                NotJudged(reason) => line(format_args!("| {id} | {title} | no: {reason} |")),
            }
        }
    }
    text
}
