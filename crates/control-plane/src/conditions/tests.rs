//! The conditions, for control planes in each state.

#[path = "../../../api/tests/support/samples.rs"]
mod samples;

use std::sync::Arc;

use hyperplane_components::Endpoint;
use serde_json::{Value, json};

use super::*;

fn control_plane(status: &Value, api_server: &Value) -> HostedControlPlane {
    let mut object = samples::hosted_control_plane(&json!({"status": status}));
    object["spec"]["services"][0] = samples::published("APIServer", api_server);
    hyperplane_objects::read(&object).unwrap()
}

fn etcd(ready: i32) -> Workload {
    let set = json!({"metadata": {"name": "etcd"}, "spec": {"replicas": 3, "selector": {}, "serviceName": "etcd",
        "template": {}}, "status": {"replicas": 3, "readyReplicas": ready}});
    Workload::StatefulSet(Arc::new(hyperplane_objects::read(&set).unwrap()))
}

fn api_server(is_available: bool) -> Workload {
    let status = if is_available { "True" } else { "False" };
    let deployment = json!({
        "metadata": {"name": "kube-apiserver"}, "spec": {"replicas": 3, "selector": {}, "template": {}},
        "status": {"unavailableReplicas": i32::from(!is_available),
            "conditions": [{"type": "Available", "status": status}]},
    });
    Workload::Deployment(Arc::new(hyperplane_objects::read(&deployment).unwrap()))
}

struct Case {
    status: Value,
    missing: Vec<String>,
    workloads: Vec<(&'static str, Workload)>,
    has_kubeconfig: bool,
    health: Option<Result<(), String>>,
    unavailable: Vec<String>,
    warnings: Vec<Warning>,
    troubles: Vec<String>,
    encryption: Option<Judgement>,
    published: Value,
}

/// A control plane that serves.
fn serving() -> Case {
    Case {
        status: json!({}),
        missing: Vec::new(),
        workloads: vec![("etcd", etcd(3)), ("kube-apiserver", api_server(true))],
        has_kubeconfig: true,
        health: Some(Ok(())),
        unavailable: Vec::new(),
        warnings: Vec::new(),
        troubles: Vec::new(),
        encryption: None,
        published: json!({"type": "LoadBalancer"}),
    }
}

fn judge(case: Case) -> BTreeMap<String, (Option<bool>, String)> {
    let found = observations(case).into_iter();
    found.map(|found| (found.type_, (found.status, found.reason))).collect()
}

fn observations(case: Case) -> Vec<Observation> {
    let control_plane = control_plane(&case.status, &case.published);
    let infrastructure = Infrastructure {
        api_server: Some(Endpoint {
            host: "h".to_owned(),
            port: 6443,
        }),
        missing: case.missing,
        ..Infrastructure::default()
    };
    let workloads = case
        .workloads
        .into_iter()
        .map(|(name, workload)| (name.to_owned(), workload))
        .collect();
    conditions(&Seen {
        has_kubeconfig: case.has_kubeconfig,
        health: case.health,
        unavailable: &case.unavailable,
        warnings: &case.warnings,
        troubles: &case.troubles,
        encryption: case.encryption,
        ..Seen::new(&control_plane, &infrastructure, &Objects::default(), &workloads)
    })
}

fn message(case: Case, type_: &str) -> (Option<bool>, String) {
    let found = observations(case)
        .into_iter()
        .find(|found| found.type_ == type_)
        .unwrap();
    (found.status, found.message)
}

/// What is missing, and the reason that names it.
fn lacking() -> Vec<(&'static str, Case)> {
    let with = |workloads| Case { workloads, ..serving() };
    let infrastructure = Case {
        missing: vec!["an address".to_owned()],
        has_kubeconfig: false,
        ..serving()
    };
    let kubeconfig = Case {
        has_kubeconfig: false,
        ..with(Vec::new())
    };
    let unreachable = Case {
        health: Some(Err("refused".to_owned())),
        ..serving()
    };
    let component = || Case {
        unavailable: vec!["kube-scheduler".to_owned()],
        ..serving()
    };
    let later = Case {
        status: json!({"initialization": {"controlPlaneInitialized": true}}),
        ..component()
    };
    vec![
        ("AsExpected", serving()),
        ("WaitingOnInfrastructureReady", infrastructure),
        ("KubeconfigWaitingForCreate", kubeconfig),
        ("StatefulSetNotFound", with(Vec::new())),
        ("EtcdWaitingForQuorum", with(vec![("etcd", etcd(1))])),
        ("NotFound", with(vec![("etcd", etcd(2))])),
        (
            "WaitingForAvailable",
            with(vec![("etcd", etcd(2)), ("kube-apiserver", api_server(false))]),
        ),
        ("KASLoadBalancerNotReachable", unreachable),
        ("ComponentsNotAvailable", component()),
        ("AsExpected", later),
    ]
}

#[test]
fn availability_names_the_first_thing_that_is_missing() {
    for (reason, case) in lacking() {
        let (status, found) = judge(case)["Available"].clone();
        assert_eq!((status, found.as_str()), (Some(reason == "AsExpected"), reason));
    }
}

#[test]
fn missing_replicas_degrade_and_do_not_end_service() {
    let found = judge(Case {
        workloads: vec![("etcd", etcd(2)), ("kube-apiserver", api_server(true))],
        ..serving()
    });
    assert_eq!(found["Degraded"], (Some(true), "UnavailableReplicas".to_owned()));
    assert_eq!(found["Available"].0, Some(true));
    assert_eq!(judge(serving())["Degraded"].0, Some(false));
}

#[test]
fn an_external_name_is_judged_only_where_there_is_one() {
    let named = json!({"type": "Route", "route": {"hostname": "api.example.com"}});
    let health = |health| {
        judge(Case {
            published: named.clone(),
            health,
            ..serving()
        })["ExternalDNSReachable"]
            .0
    };
    assert_eq!(judge(serving())["ExternalDNSReachable"].0, None);
    assert_eq!(health(Some(Ok(()))), Some(true));
    assert_eq!(health(Some(Err("no such host".to_owned()))), Some(false));
    assert_eq!(health(None), None);
}

#[test]
fn mistakes_make_a_configuration_invalid_and_zones_are_told() {
    let warning = |about, sentence: &str| Warning {
        about,
        sentence: sentence.to_owned(),
    };
    let told = |warnings| {
        let case = Case { warnings, ..serving() };
        message(case, "ValidHostedControlPlaneConfiguration")
    };
    let (settings, zones) = (
        warning(Subject::Settings, "no such cipher"),
        warning(Subject::Zones, "two zones"),
    );
    assert_eq!(told(Vec::new()), (Some(true), "All is well".to_owned()));
    assert_eq!(told(vec![zones.clone()]), (Some(true), "two zones".to_owned()));
    let both = (Some(false), "no such cipher; two zones".to_owned());
    assert_eq!(told(vec![settings.clone(), zones.clone()]), both);

    let status = json!({"conditions": [{
        "type": "ValidHostedControlPlaneConfiguration", "status": "True", "reason": "AsExpected", "message": "two zones",
        "lastTransitionTime": "2027-01-15T08:00:00Z",
    }]});
    let control_plane = control_plane(&status, &json!({"type": "LoadBalancer"}));
    assert!(is_new_warning(&control_plane, &settings) && !is_new_warning(&control_plane, &zones));
}

#[test]
fn what_makers_of_load_balancers_say_is_told_while_an_address_is_missing() {
    let case = |missing: &[&str]| Case {
        missing: missing.iter().map(|text| (*text).to_owned()).collect(),
        troubles: vec!["Service router: no subnet".to_owned()],
        ..serving()
    };
    let (status, told) = message(case(&["no address"]), "InfrastructureReady");
    assert_eq!(
        (status, told.as_str()),
        (Some(false), "no address; Service router: no subnet")
    );
    assert_eq!(message(case(&[]), "InfrastructureReady").0, Some(true));
}

#[test]
fn every_component_counts_whoever_drives_it() {
    let report = |status: &str| -> ControlPlaneComponentStatus {
        let available = json!({"type": "Available", "status": status, "reason": "R", "message": "",
            "lastTransitionTime": "2027-01-15T08:00:00Z"});
        hyperplane_objects::read(json!({"conditions": [available]})).unwrap()
    };
    let reports = BTreeMap::from([
        ("etcd".to_owned(), report("True")),
        ("cluster-api".to_owned(), report("False")),
        ("router".to_owned(), ControlPlaneComponentStatus::default()),
    ]);
    assert_eq!(unavailable(&reports), ["cluster-api", "router"]);
}

#[test]
fn encryption_is_told_only_where_there_is_one() {
    let type_ = "EtcdDataEncryptionUpToDate";
    assert!(!judge(serving()).contains_key(type_));
    let found = judge(Case {
        encryption: Some(Judgement {
            holds: false,
            reason: "WritePromotionInProgress",
            message: String::new(),
        }),
        ..serving()
    });
    assert_eq!(found[type_], (Some(false), "WritePromotionInProgress".to_owned()));
}
