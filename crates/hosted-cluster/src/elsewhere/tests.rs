//! What is decided of another cluster, from values.

use std::time::Duration;

use hyperplane_api::hypershift::hosted_cluster::HostedCluster;
use jiff::{SignedDuration, Timestamp};
use k8s_openapi::{ByteString, api::core::v1::Secret};
use serde_json::{Value, json};

use super::{
    Outcome, Site,
    networks::configured,
    told, tried_for,
    visits::{LOOK_AGAIN, LOOK_AGAIN_SOON, Visits},
};
use crate::testing::{cluster, now};

fn elsewhere() -> Value {
    json!({"spec": {"platform": {"type": "KubeVirt", "kubevirt": {"credentials": {
        "infraKubeConfigSecret": {"name": "other", "key": "kubeconfig"}, "infraNamespace": "machines"}}}}})
}

fn site(kubeconfig: &str) -> Option<Site> {
    let secret = Secret {
        data: Some([("kubeconfig".to_owned(), ByteString(kubeconfig.into()))].into()),
        ..Secret::default()
    };
    Site::new(&cluster(&elsewhere()).spec.platform, Some(&secret))
}

fn later(duration: Duration) -> Timestamp {
    now() + SignedDuration::try_from(duration).unwrap()
}

#[test]
fn there_is_no_place_without_its_copy() {
    assert_eq!(site("a").unwrap().namespace, "machines");
    let of = |change: &Value| Site::new(&cluster(change).spec.platform, Some(&Secret::default()));
    assert!(of(&elsewhere()).is_none(), "the copy is empty");
    assert!(Site::new(&cluster(&elsewhere()).spec.platform, None).is_none());
    let here = json!({"spec": {"platform": {"type": "KubeVirt", "kubevirt": {}}}});
    assert!(of(&here).is_none());
}

#[test]
fn a_place_is_visited_again_after_a_while_and_at_once_when_it_is_another() {
    let visits = Visits::default();
    let (one, other) = (site("a").unwrap(), site("b").unwrap());
    assert!(visits.recall("clusters/blue", &one, now()).is_none());
    let noted = visits.note("clusters/blue", &one, now(), Outcome::Isolated);
    assert_eq!(noted, (Outcome::Isolated, LOOK_AGAIN));
    let minute = Duration::from_mins(1);
    let known = visits.recall("clusters/blue", &one, later(minute));
    assert_eq!(known, Some((Outcome::Isolated, LOOK_AGAIN.saturating_sub(minute))));
    assert!(visits.recall("clusters/blue", &other, later(minute)).is_none());
    assert!(visits.recall("clusters/red", &one, later(minute)).is_none());
    assert!(visits.recall("clusters/blue", &one, later(LOOK_AGAIN)).is_none());
    let before = now() - SignedDuration::from_secs(1);
    assert!(
        visits.recall("clusters/blue", &one, before).is_none(),
        "the clock went back"
    );
    let failed = visits.note("clusters/blue", &one, now(), Outcome::Unread("refused".to_owned()));
    assert_eq!(failed.1, LOOK_AGAIN_SOON);
    assert!(visits.recall("clusters/blue", &one, later(LOOK_AGAIN_SOON)).is_none());
    visits.forget("clusters/blue");
    assert!(visits.recall("clusters/blue", &one, now()).is_none());
}

#[test]
fn an_openshift_cluster_tells_its_networks() {
    let networks = |pods: &str| {
        let pods = json!([{"cidr": pods, "hostPrefix": 23}]);
        json!({"clusterNetwork": pods, "serviceNetwork": ["172.30.0.0/16"]})
    };
    let both = json!({"spec": networks("10.0.0.0/14"), "status": networks("10.128.0.0/14")});
    let found = configured(&both).unwrap();
    assert_eq!(
        found.closed,
        ["10.128.0.0/14", "172.30.0.0/16"],
        "what is in use counts"
    );
    assert!(found.router.is_some());
    let asked_for = json!({"spec": networks("10.0.0.0/14")});
    assert_eq!(configured(&asked_for).unwrap().closed[0], "10.0.0.0/14");
    for nothing in [json!({}), json!({"status": {"clusterNetwork": ["strange"]}}), json!([])] {
        assert_eq!(configured(&nothing), None, "{nothing}");
    }
}

#[test]
fn the_patience_of_a_deletion_begins_with_the_first_failure_after_it() {
    let at = |seconds: i64| (now() + SignedDuration::from_secs(seconds)).to_string();
    let deleted = |status: &str, reason: &str, since: i64| -> HostedCluster {
        cluster(&json!({
            "metadata": {"deletionTimestamp": at(100)},
            "status": {"conditions": [{"type": "ValidKubeVirtInfraNetworkPolicyRBAC", "status": status,
                "reason": reason, "message": "", "lastTransitionTime": at(since)}]},
        }))
    };
    let moment = now() + SignedDuration::from_secs(400);
    let failed = "InfraClusterNetworkPolicyCreateFailed";
    let cases = [
        ("True", "AsExpected", 0, 0),
        ("False", failed, 0, 0),
        ("Unknown", failed, 300, 100),
        ("Unknown", failed, 50, 300),
        ("Unknown", "StatusUnknown", 0, 0),
    ];
    for (status, reason, since, expected) in cases {
        let found = tried_for(&deleted(status, reason, since), moment);
        assert_eq!(found.as_secs(), expected, "{status} {reason} {since}");
    }
}

#[test]
fn what_another_cluster_says_is_cut() {
    let failure = hyperplane_runtime::Failure::wait("x".repeat(5_000));
    assert_eq!(told(&failure).len(), 500);
}
