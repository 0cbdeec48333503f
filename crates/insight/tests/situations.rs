//! Every situation with the text that is expected of it: the explanation, and the picture of its cluster.
//! `cargo xtask bless` writes the texts.

use std::{collections::BTreeSet, env, fs};

use hyperplane_insight::{
    Explanation, Outcome, cluster_rows, cluster_status, explain_cluster, explain_pool,
    render::{self, Look},
};

use crate::support::{CLUSTERS, Situation, folder, names, situation};

fn explained(situation: &Situation) -> Explanation {
    let scene = situation.scene();
    let (kind, key) = situation.about.split_once(' ').unwrap();
    let (namespace, name) = key.split_once('/').unwrap();
    let explanation = match kind {
        "cluster" => explain_cluster(&scene, namespace, name),
        _ => explain_pool(&scene, namespace, name),
    };
    explanation.unwrap()
}

fn text(situation: &Situation) -> String {
    let scene = situation.scene();
    let explanation = render::explanation(&explained(situation), situation.now, Look::PLAIN);
    let status = cluster_status(&scene, CLUSTERS, "blue");
    let status = status.map(|status| render::status(&status, situation.now, Look::PLAIN));
    let rows = render::clusters(&cluster_rows(&scene), situation.now, Look::PLAIN);
    let status = status.unwrap_or_else(|| "There is no such cluster.\n".to_owned());
    format!(
        "$ hyperplane explain {}\n{explanation}\n$ hyperplane status blue\n{status}\n$ hyperplane status\n{rows}",
        situation.about
    )
}

#[test]
fn every_situation_is_told_as_recorded() {
    #[allow(
        clippy::disallowed_methods,
        reason = "the switch that writes golden files is a variable, as in every crate"
    )]
    let is_blessed = env::var_os("HYPERPLANE_BLESS").is_some();
    let mut wrong = Vec::new();
    for name in names() {
        let text = text(&situation(&name));
        let path = folder().join(format!("{name}.txt"));
        if is_blessed {
            fs::write(&path, text).unwrap();
        } else if fs::read_to_string(&path).ok().as_deref() != Some(text.as_str()) {
            wrong.push(name);
        }
    }
    assert!(
        wrong.is_empty(),
        "{wrong:?} are told otherwise than recorded: `cargo xtask bless`, and read the difference"
    );
}

/// What each situation must come to, and the reasons of its causes in their order. The texts alone could be blessed wrong.
const EXPECTED: &[(&str, Outcome, &[&str])] = &[
    (
        "bad_node_configuration",
        Outcome::Held,
        &["InvalidConfiguration", "InvalidConfiguration"],
    ),
    ("certificate_pending", Outcome::Held, &["CertificateNotApproved"]),
    ("deletion_drains", Outcome::Held, &["DrainBlocked"]),
    ("deletion_held", Outcome::Held, &["HeldByFinalizer", "HeldByFinalizer"]),
    ("deletion_under_way", Outcome::Progresses, &["DeletionUnderWay"]),
    ("drain_blocked", Outcome::Held, &["DrainBlocked"]),
    ("etcd_crash", Outcome::Held, &["ContainerCrashes"]),
    ("forbidden", Outcome::Unknown, &["NotRead"]),
    ("forbidden_and_well", Outcome::Unknown, &[]),
    ("healthy", Outcome::Nothing, &[]),
    ("host_waits_for_approval", Outcome::Held, &["CertificateNotApproved"]),
    ("ignition_failed", Outcome::Held, &["ConfigurationNotFetched"]),
    ("image_not_pulled", Outcome::Held, &["ImageNotPulled"]),
    ("init_container_fails", Outcome::Held, &["ContainerCrashes"]),
    ("instance_refused", Outcome::Held, &["InstanceNotReady"]),
    (
        "invalid_configuration",
        Outcome::Held,
        &["InvalidConfiguration", "InvalidRelease"],
    ),
    ("machines_held_up", Outcome::Held, &["MachinesHeldUp"]),
    ("machines_paused", Outcome::Held, &["Paused"]),
    ("missing_secret", Outcome::Held, &["MissingInput"]),
    ("network_plugin_missing", Outcome::Held, &["NetworkPluginMissing"]),
    ("no_load_balancer", Outcome::Held, &["NoAddress"]),
    ("nobody_looked", Outcome::Unknown, &["NothingReported"]),
    ("on_delete", Outcome::Held, &["WaitsForUser"]),
    ("paused", Outcome::Held, &["Paused"]),
    ("pool_without_cluster", Outcome::Held, &["MissingInput"]),
    ("repair_blocked", Outcome::Held, &["NodeNotReady", "RepairBlocked"]),
    ("roll_under_way", Outcome::Progresses, &["RollingOut"]),
    (
        "several_at_once",
        Outcome::Held,
        &["Paused", "Unschedulable", "NodesUnreachable"],
    ),
    ("starting", Outcome::Progresses, &["Starting"]),
    ("unschedulable", Outcome::Held, &["Unschedulable"]),
    ("unused_fields", Outcome::Nothing, &[]),
    ("unused_kinds", Outcome::Nothing, &[]),
    ("version_skew", Outcome::Held, &["VersionSkew"]),
    ("volume_pending", Outcome::Held, &["VolumePending"]),
];

#[test]
fn every_situation_comes_to_its_causes() {
    let known: Vec<&str> = EXPECTED.iter().map(|(name, ..)| *name).collect();
    assert_eq!(names(), known, "every situation says what it comes to");
    let mut wrong = Vec::new();
    for (name, outcome, reasons) in EXPECTED {
        let explanation = explained(&situation(name));
        let found: Vec<&str> = explanation.causes.iter().map(|cause| cause.blocker.reason).collect();
        if (explanation.outcome, found.as_slice()) != (*outcome, *reasons) {
            wrong.push(format!("{name}: {:?} {found:?}", explanation.outcome));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn every_cause_says_what_to_do_and_ends_a_way() {
    for name in names() {
        let explanation = explained(&situation(&name));
        let ends = ends(&explanation);
        for cause in &explanation.causes {
            assert!(cause.blocker.remedy.len() > 10, "{name}: {cause:?}");
            assert!(
                ends.contains(&cause.blocker.id),
                "{name}: no way ends at {}",
                cause.blocker.id
            );
        }
        let ids: Vec<&String> = explanation.causes.iter().map(|cause| &cause.blocker.id).collect();
        let unique: BTreeSet<&String> = ids.iter().copied().collect();
        assert_eq!(unique.len(), ids.len(), "{name}: {ids:?}");
        assert!(ends.iter().all(|end| ids.contains(&end)), "{name}: {ends:?} {ids:?}");
    }
}

fn ends(explanation: &Explanation) -> Vec<String> {
    let mut links: Vec<&hyperplane_insight::Link> = explanation.links.iter().collect();
    let mut ends = Vec::new();
    while let Some(link) = links.pop() {
        ends.extend(link.cause.clone());
        links.extend(&link.because);
    }
    ends
}

#[test]
fn what_a_status_says_is_what_an_explanation_says() {
    for name in names() {
        let situation = situation(&name);
        let scene = situation.scene();
        let (Some(status), Some(explanation)) = (
            cluster_status(&scene, CLUSTERS, "blue"),
            explain_cluster(&scene, CLUSTERS, "blue"),
        ) else {
            continue;
        };
        assert_eq!(status.blockers, explanation.causes, "{name}");
    }
}
