//! What is reported, from what was seen.

use hyperplane_api::hypershift::paused::{PauseState, PausedUntil};
use std::collections::BTreeMap;

use hyperplane_api::hypershift::{
    hosted_cluster::HostedCluster, hosted_cluster_status::HostedClusterStatus, version_status::UpdateState,
};
use hyperplane_components::{Endpoint, Infrastructure};
use hyperplane_runtime::Failure;
use jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};

use super::{Report, deleting, status};
use crate::{
    deletion,
    dereference::{Seen, State},
    elsewhere::Outcome,
    testing::{IMAGE, UID, cluster, desired, judge, live, namespace, now, seen, settings},
};

const BEFORE: &str = "hyperplane.dev/kubernetes:v1.35.4";

/// One look at a cluster.
struct Look {
    cluster: HostedCluster,
    seen: Seen,
    failure: Option<Failure>,
    infrastructure: Option<Infrastructure>,
    now: Timestamp,
}

impl Look {
    fn new(change: &Value) -> Self {
        let cluster = cluster(change);
        Self {
            seen: seen(&cluster),
            cluster,
            failure: None,
            infrastructure: None,
            now: now(),
        }
    }

    /// With a control plane as the cluster asks for, that reports this.
    fn with_control_plane(change: &Value, reported: &Value) -> Self {
        let mut look = Self::new(change);
        let made = desired(&look.cluster, &look.seen, &settings()).control_plane;
        look.seen.namespace = Some(namespace(&look.cluster, UID));
        look.seen.control_plane = Some(live(&made, &json!({"status": reported})));
        look
    }

    fn status(&self) -> HostedClusterStatus {
        let verdict = judge(&self.cluster, &self.seen, &settings());
        status(&Report {
            cluster: &self.cluster,
            seen: &self.seen,
            verdict: &verdict,
            pause: &PauseState::of(
                self.cluster.spec.paused_until.as_ref().map(PausedUntil::as_str),
                self.now,
            ),
            failure: self.failure.as_ref(),
            infrastructure: self.infrastructure.as_ref(),
            now: self.now,
        })
    }

    /// Status and reason of every condition.
    fn conditions(&self) -> BTreeMap<String, (String, String)> {
        by_type(&self.status())
    }

    /// The same look a while later, with what was reported then.
    fn later(mut self, seconds: i64) -> Self {
        self.cluster.status = Some(self.status());
        self.now += SignedDuration::from_secs(seconds);
        self
    }
}

fn by_type(status: &HostedClusterStatus) -> BTreeMap<String, (String, String)> {
    let conditions = status.conditions.iter();
    conditions
        .map(|one| (one.type_.clone(), (one.status.clone(), one.reason.clone())))
        .collect()
}

fn condition(type_: &str, status: &str, reason: &str) -> Value {
    json!({"type": type_, "status": status, "reason": reason, "message": "so it is",
        "lastTransitionTime": "2026-01-01T00:00:00Z"})
}

fn version(image: &str, state: &str) -> Value {
    json!({"desired": {"image": image, "version": "1.36.4"}, "observedGeneration": 1, "history": [
        {"state": state, "image": image, "version": "1.36.4", "startedTime": "2026-01-01T00:00:00Z", "verified": false}]})
}

fn expect(conditions: &BTreeMap<String, (String, String)>, type_: &str, status: &str, reason: &str) {
    let expected = (status.to_owned(), reason.to_owned());
    assert_eq!(conditions.get(type_), Some(&expected), "{type_}");
}

#[test]
fn a_new_cluster_says_what_is_known_and_that_the_rest_is_not() {
    let conditions = Look::new(&json!({})).conditions();
    expect(&conditions, "ValidConfiguration", "True", "AsExpected");
    expect(&conditions, "SupportedHostedCluster", "True", "AsExpected");
    expect(&conditions, "ValidReleaseImage", "True", "AsExpected");
    expect(&conditions, "Available", "False", "WaitingForAvailable");
    expect(&conditions, "Progressing", "True", "Progressing");
    expect(&conditions, "ReconciliationActive", "True", "ReconciliationActive");
    expect(&conditions, "ReconciliationSucceeded", "True", "ReconciliatonSucceeded");
    expect(&conditions, "EtcdAvailable", "Unknown", "StatusUnknown");
    expect(&conditions, "IgnitionEndpointAvailable", "False", "NotFound");
    assert!(!conditions.contains_key("CloudResourcesDestroyed"));
}

#[test]
fn whatever_is_wrong_is_told_where_it_belongs_and_blocks() {
    let mut look =
        Look::new(&json!({"spec": {"release": {"image": "registry.example.com/x:1"}, "labels": {"app": "x"}}}));
    look.seen.sources[0].state = State::Missing;
    let conditions = look.conditions();
    expect(&conditions, "ValidConfiguration", "False", "InvalidConfiguration");
    expect(&conditions, "ValidReleaseImage", "False", "InvalidImage");
    expect(&conditions, "Progressing", "False", "Blocked");
    let status = look.status();
    let progressing = status.conditions.iter().find(|one| one.type_ == "Progressing").unwrap();
    for part in ["spec.labels[app]", "spec.release.image", "spec.pullSecret"] {
        assert!(progressing.message.contains(part), "{}", progressing.message);
    }
    let mut look = Look::new(&json!({}));
    look.seen.sources[0].state = State::Missing;
    expect(&look.conditions(), "ValidReleaseImage", "False", "SecretNotFound");
    let unsupported = Look::new(&json!({"spec": {"platform": {"type": "IBMCloud", "ibmcloud": {}}}}));
    expect(
        &unsupported.conditions(),
        "SupportedHostedCluster",
        "False",
        "UnsupportedHostedCluster",
    );
}

#[test]
fn what_was_not_judged_is_never_said_to_be_good() {
    let platform = json!({"type": "IBMCloud", "ibmcloud": {}});
    let conditions = Look::new(&json!({"spec": {"platform": platform}})).conditions();
    expect(&conditions, "ValidConfiguration", "Unknown", "StatusUnknown");
    expect(&conditions, "PlatformCredentialsFound", "Unknown", "StatusUnknown");
    expect(&conditions, "ValidReleaseImage", "True", "AsExpected");
    let wrong = json!({"spec": {"platform": platform, "labels": {"app": "x"},
        "release": {"image": "registry.example.com/x:1"}}});
    let conditions = Look::new(&wrong).conditions();
    expect(&conditions, "ValidConfiguration", "False", "InvalidConfiguration");
    expect(&conditions, "ValidReleaseImage", "False", "InvalidImage");
    let proxy = json!({"spec": {"configuration": {"proxy": {"trustedCA": {"name": "proxy"}}}}});
    let mut look = Look::new(&proxy);
    look.seen.sources.last_mut().unwrap().state = State::Missing;
    let conditions = look.conditions();
    expect(&conditions, "ValidProxyConfiguration", "Unknown", "StatusUnknown");
    expect(&conditions, "ValidConfiguration", "False", "InvalidConfiguration");
}

#[test]
fn what_the_control_plane_reports_is_bubbled_up() {
    let reported = json!({"conditions": [
        condition("Available", "True", "AsExpected"),
        condition("Degraded", "True", "UnavailableReplicas"),
        condition("EtcdAvailable", "True", "QuorumAvailable"),
        condition("ClusterVersionFailing", "True", "Stuck"),
        condition("CloudResourcesDestroyed", "False", "RemainingCloudResources"),
        condition("CertRotation_root_Degraded", "True", "Expired"),
    ], "controlPlaneEndpoint": {"host": "api.example.com", "port": 6443}});
    let mut look = Look::with_control_plane(&json!({}), &reported);
    look.infrastructure = Some(Infrastructure {
        ignition: Some(Endpoint {
            host: "ignition.example.com".to_owned(),
            port: 8443,
        }),
        ..Infrastructure::default()
    });
    let conditions = look.conditions();
    expect(&conditions, "Available", "True", "AsExpected");
    expect(&conditions, "Degraded", "True", "UnavailableReplicas");
    expect(&conditions, "EtcdAvailable", "True", "QuorumAvailable");
    expect(&conditions, "ClusterVersionSucceeding", "False", "Stuck");
    expect(
        &conditions,
        "CloudResourcesDestroyed",
        "False",
        "RemainingCloudResources",
    );
    assert!(!conditions.contains_key("CertRotation_root_Degraded"));
    let status = look.status();
    assert_eq!(status.control_plane_endpoint.unwrap().port, 6443);
    assert_eq!(status.ignition_endpoint.as_deref(), Some("ignition.example.com:8443"));
    let route = json!({"spec": {"services": crate::testing::services("Route")}});
    let look = Look::with_control_plane(&route, &reported);
    assert_eq!(look.status().control_plane_endpoint.unwrap().port, 443);
}

#[test]
fn both_releases_count_as_progress() {
    let arrived =
        json!({"versionStatus": version(IMAGE, "Completed"), "controlPlaneVersion": version(IMAGE, "Completed")});
    let mut look = Look::with_control_plane(&json!({}), &arrived);
    look.cluster.status = None;
    expect(&look.conditions(), "Progressing", "False", "AsExpected");
    let half = json!({"versionStatus": version(IMAGE, "Completed"), "controlPlaneVersion": version(IMAGE, "Partial")});
    let look = Look::with_control_plane(&json!({}), &half);
    expect(&look.conditions(), "Progressing", "True", "Progressing");
    let own = json!({"spec": {"release": {"image": BEFORE}, "controlPlaneRelease": {"image": IMAGE}}});
    let reported =
        json!({"versionStatus": version(BEFORE, "Completed"), "controlPlaneVersion": version(BEFORE, "Completed")});
    let look = Look::with_control_plane(&own, &reported);
    expect(&look.conditions(), "Progressing", "True", "Progressing");
}

#[test]
fn without_a_word_from_inside_the_history_follows_the_control_plane() {
    let look = Look::with_control_plane(&json!({"spec": {"release": {"image": BEFORE}}}), &json!({}));
    let first = look.status().version.unwrap();
    assert_eq!(
        (first.desired.image.as_str(), first.desired.version.as_str()),
        (BEFORE, "1.35.4")
    );
    assert_eq!(first.history[0].state, UpdateState::Partial);
    let mut look = look.later(60);
    let control_plane = look.seen.control_plane.as_ref().unwrap();
    look.seen.control_plane = Some(live(control_plane, &json!({"status": {"releaseImage": BEFORE}})));
    let second = look.status().version.unwrap();
    assert_eq!(second.history[0].state, UpdateState::Completed);
    let mut look = look.later(60);
    let control_plane = look.seen.control_plane.as_ref().unwrap();
    look.seen.control_plane = Some(live(control_plane, &json!({"spec": {"releaseImage": IMAGE}})));
    look.cluster.spec.release.image = IMAGE.parse().unwrap();
    let third = look.status().version.unwrap();
    let states: Vec<(&str, &UpdateState)> = third
        .history
        .iter()
        .map(|one| (one.image.as_str(), &one.state))
        .collect();
    assert_eq!(
        states,
        [(IMAGE, &UpdateState::Partial), (BEFORE, &UpdateState::Completed)]
    );
    assert_eq!(third.desired.version, "1.36.4");
}

#[test]
fn what_was_reached_before_the_first_word_from_inside_stays_in_the_history() {
    let images = |look: &Look| -> Vec<String> {
        let history = look.status().version.unwrap().history;
        history.into_iter().map(|one| one.image).collect()
    };
    let look = Look::with_control_plane(
        &json!({"spec": {"release": {"image": BEFORE}}}),
        &json!({"releaseImage": BEFORE}),
    );
    let mut look = look.later(60);
    assert_eq!(images(&look), [BEFORE]);
    let mut told = version(IMAGE, "Partial");
    told["history"][0]["startedTime"] = json!("2030-01-01T00:00:00Z");
    let control_plane = look.seen.control_plane.as_ref().unwrap();
    let word = json!({"spec": {"releaseImage": IMAGE}, "status": {"versionStatus": told}});
    look.seen.control_plane = Some(live(control_plane, &word));
    assert_eq!(images(&look), [IMAGE, BEFORE]);
    let look = look.later(60);
    assert_eq!(images(&look), [IMAGE, BEFORE], "once, however often it is looked at");
}

#[test]
fn a_release_of_the_management_side_alone_is_no_version_of_the_cluster() {
    let look = Look::with_control_plane(
        &json!({"spec": {"release": {"image": BEFORE}}}),
        &json!({"releaseImage": BEFORE}),
    );
    let mut look = look.later(60);
    let own = json!({"spec": {"controlPlaneReleaseImage": IMAGE}, "status": {"releaseImage": IMAGE}});
    let control_plane = look.seen.control_plane.as_ref().unwrap();
    look.seen.control_plane = Some(live(control_plane, &own));
    look.cluster.spec.control_plane_release = Some(cluster(&json!({})).spec.release);
    let version = look.status().version.unwrap();
    assert_eq!((version.desired.image.as_str(), version.history.len()), (BEFORE, 1));
    assert!(judge(&look.cluster, &look.seen, &settings()).allows());
}

#[test]
fn the_data_plane_has_a_history_of_its_own() {
    let reported =
        json!({"versionStatus": version(BEFORE, "Completed"), "controlPlaneVersion": version(IMAGE, "Completed")});
    let status = Look::with_control_plane(&json!({}), &reported).status();
    assert_eq!(status.version.unwrap().desired.image, BEFORE);
    assert_eq!(status.control_plane_version.unwrap().desired.image, IMAGE);
}

#[test]
fn pauses_are_told_and_what_nobody_can_read_pauses_nothing() {
    let paused = |text: &str| Look::new(&json!({"spec": {"pausedUntil": text}})).conditions();
    expect(&paused("true"), "ReconciliationActive", "False", "ReconciliationPaused");
    expect(&paused("true"), "Progressing", "False", "Blocked");
    expect(
        &paused("2001-01-01T00:00:00Z"),
        "ReconciliationActive",
        "True",
        "ReconciliationActive",
    );
    expect(
        &paused("tomorrow"),
        "ReconciliationActive",
        "True",
        "InvalidPausedUntilValue",
    );
}

#[test]
fn waiting_is_no_error() {
    let mut look = Look::new(&json!({}));
    look.failure = Some(Failure::wait("the ignition server"));
    expect(
        &look.conditions(),
        "ReconciliationSucceeded",
        "True",
        "ReconciliatonSucceeded",
    );
    look.failure = Some(Failure::retry("the server is busy"));
    expect(
        &look.conditions(),
        "ReconciliationSucceeded",
        "False",
        "ReconciliationError",
    );
}

#[test]
fn at_rest_nothing_changes() {
    let reported = json!({"conditions": [condition("Available", "True", "AsExpected")], "releaseImage": IMAGE});
    let look = Look::with_control_plane(&json!({}), &reported);
    let first = look.later(0);
    let known = first.cluster.status.clone();
    let later = first.later(86_400);
    assert_eq!(later.cluster.status, known);
}

#[test]
fn a_deletion_says_what_it_waits_for_and_keeps_the_rest() {
    let reported = json!({"conditions": [condition("CloudResourcesDestroyed", "False", "RemainingCloudResources")]});
    let look = Look::with_control_plane(&json!({}), &reported).later(0);
    let step = deletion::next(&deletion::Facts {
        node_pools: vec!["workers".to_owned()],
        ..deletion::Facts::default()
    });
    let control_plane = look.seen.control_plane.as_deref();
    let status = deleting(&look.cluster, control_plane, &step, look.now).unwrap();
    let conditions = by_type(&status);
    expect(&conditions, "Progressing", "True", "Deleting");
    expect(
        &conditions,
        "CloudResourcesDestroyed",
        "False",
        "RemainingCloudResources",
    );
    expect(&conditions, "ValidConfiguration", "True", "AsExpected");
    assert!(!conditions.contains_key("HostedClusterDestroyed"));
    let step = deletion::next(&deletion::Facts {
        grace: std::time::Duration::from_mins(1),
        ..deletion::Facts::default()
    });
    let status = deleting(&look.cluster, None, &step, look.now).unwrap();
    let conditions = by_type(&status);
    expect(&conditions, "HostedClusterDestroyed", "True", "WaitingForGracePeriod");
    expect(&conditions, "Available", "False", "Deleting");
    let over = deletion::next(&deletion::Facts::default());
    assert_eq!(deleting(&look.cluster, None, &over, look.now), None);
}

#[test]
fn what_was_found_on_the_cluster_with_the_machines_is_told_and_kept() {
    let type_ = "ValidKubeVirtInfraNetworkPolicyRBAC";
    let here = Look::new(&json!({"spec": {"platform": {"type": "KubeVirt", "kubevirt": {}}}}));
    assert!(!here.conditions().contains_key(type_));
    let mut look = Look::new(
        &json!({"spec": {"platform": {"type": "KubeVirt", "kubevirt": {"credentials": {
        "infraKubeConfigSecret": {"name": "other", "key": "kubeconfig"}, "infraNamespace": "machines"}}}}}),
    );
    expect(&look.conditions(), type_, "Unknown", "StatusUnknown");
    let why = || "no rights".to_owned();
    for (outcome, status, reason) in [
        (Outcome::Isolated, "True", "AsExpected"),
        (
            Outcome::Unwritten(why()),
            "False",
            "InfraClusterNetworkPolicyCreateFailed",
        ),
        (Outcome::Unread(why()), "False", "InfraClusterNetworkReadFailed"),
    ] {
        look.seen.elsewhere = Some(outcome);
        expect(&look.conditions(), type_, status, reason);
    }
    let mut later = look.later(0);
    later.seen.elsewhere = None;
    expect(&later.conditions(), type_, "False", "InfraClusterNetworkReadFailed");
    let step = deletion::next(&deletion::Facts {
        unanswered: Some(deletion::Unanswered {
            why: why(),
            tried_for: std::time::Duration::ZERO,
        }),
        ..deletion::Facts::default()
    });
    let status = deleting(&later.cluster, None, &step, later.now).unwrap();
    let conditions = by_type(&status);
    expect(&conditions, type_, "Unknown", "InfraClusterNetworkPolicyCreateFailed");
}

#[test]
fn fields_without_effect_are_named_and_nothing_is_said_without_them() {
    let find = |look: &Look| {
        let mut conditions = look.status().conditions.into_iter();
        conditions.find(|one| one.type_ == "UnusedFields")
    };
    assert_eq!(
        find(&Look::new(&json!({"spec": {"fips": false, "capabilities": {}}}))),
        None
    );
    let look = Look::new(&json!({"spec": {"fips": true, "configuration": {
        "network": {"serviceNodePortRange": "30000-31000", "networkDiagnostics": {"mode": "Disabled"}}}}}));
    let told = find(&look).unwrap();
    assert_eq!((told.status.as_str(), told.reason.as_str()), ("True", "NotActedOn"));
    let fields = "spec.fips, spec.configuration.network.networkDiagnostics.";
    assert!(told.message.contains(fields), "{}", told.message);
    let later = look.later(600);
    assert_eq!(
        later.cluster.status,
        Some(later.status()),
        "nothing is written while nothing happens"
    );
}
