//! The conditions of a control plane: a function of what was seen in one run.

use std::collections::BTreeMap;

use hyperplane_api::{
    constants::{conditions::hosted_control_plane as types, objects::kubeconfigs, reasons},
    hypershift::{
        etcd::EtcdManagementType,
        hosted_control_plane::HostedControlPlane,
        services::{PublishedService, PublishingStrategyType},
    },
};
use hyperplane_components::{Infrastructure, Workload};
use hyperplane_runtime::conditions::{Observation, holds};

/// The names of the two workloads without which there is no control plane.
const ETCD: &str = "etcd";
const API_SERVER: &str = "kube-apiserver";

/// What was seen in one run.
#[derive(Clone, Debug)]
pub(crate) struct Seen<'a> {
    /// The control plane, with its status before the run.
    pub(crate) control_plane: &'a HostedControlPlane,
    /// What in the spec cannot be carried out here, in sentences.
    pub(crate) mistakes: &'a [String],
    /// Why the release cannot be used, in sentences.
    pub(crate) release_problems: &'a [String],
    /// Where it is published.
    pub(crate) infrastructure: &'a Infrastructure,
    /// Live workloads by name.
    pub(crate) workloads: &'a BTreeMap<String, Workload>,
    /// Whether the administrator's kubeconfig is there.
    pub(crate) has_kubeconfig: bool,
    /// What the published endpoint answered, if it was asked.
    pub(crate) health: Option<Result<(), String>>,
    /// Components that are not available.
    pub(crate) unavailable: &'a [String],
}

/// All conditions.
pub(crate) fn conditions(seen: &Seen<'_>) -> Vec<Observation> {
    let infrastructure = infrastructure_ready(seen);
    let etcd = etcd_available(seen);
    let api_server = api_server_available(seen);
    let available = available(seen, &[&infrastructure, &etcd, &api_server]);
    vec![
        valid(
            types::VALID_HOSTED_CONTROL_PLANE_CONFIGURATION.as_str(),
            seen.mistakes,
            reasons::INVALID_CONFIGURATION.as_str(),
        ),
        valid(
            types::VALID_RELEASE_INFO.as_str(),
            seen.release_problems,
            reasons::MISSING_RELEASE_IMAGES.as_str(),
        ),
        external_name(seen),
        degraded(seen),
        infrastructure,
        etcd,
        api_server,
        available,
    ]
}

fn valid(condition: &str, problems: &[String], reason: &str) -> Observation {
    if problems.is_empty() {
        return Observation::holds(condition, reasons::AS_EXPECTED.as_str(), "All is well");
    }
    Observation::fails(condition, reason, problems.join("; "))
}

fn infrastructure_ready(seen: &Seen<'_>) -> Observation {
    let condition = types::INFRASTRUCTURE_READY.as_str();
    let missing = &seen.infrastructure.missing;
    if missing.is_empty() {
        return Observation::holds(condition, reasons::AS_EXPECTED.as_str(), "All endpoints are published");
    }
    let reason = reasons::WAITING_ON_INFRASTRUCTURE_READY.as_str();
    Observation::fails(condition, reason, missing.join("; "))
}

fn etcd_available(seen: &Seen<'_>) -> Observation {
    let condition = types::ETCD_AVAILABLE.as_str();
    if seen.control_plane.spec.etcd.management_type == EtcdManagementType::Unmanaged {
        return Observation::holds(condition, reasons::ETCD_RUNNING.as_str(), "Its owner runs etcd");
    }
    let Some(Workload::StatefulSet(set)) = seen.workloads.get(ETCD) else {
        return Observation::fails(
            condition,
            reasons::STATEFUL_SET_NOT_FOUND.as_str(),
            "etcd is not deployed yet",
        );
    };
    let replicas = set.spec.as_ref().and_then(|spec| spec.replicas).unwrap_or(1);
    let ready = set
        .status
        .as_ref()
        .and_then(|status| status.ready_replicas)
        .unwrap_or(0);
    let quorum = replicas / 2 + 1;
    if ready >= quorum {
        return Observation::holds(condition, reasons::QUORUM_AVAILABLE.as_str(), "etcd has a quorum");
    }
    let message = format!("{ready} of {replicas} members are ready, {quorum} make a quorum");
    Observation::fails(condition, reasons::ETCD_WAITING_FOR_QUORUM.as_str(), message)
}

fn api_server_available(seen: &Seen<'_>) -> Observation {
    let condition = types::KUBE_API_SERVER_AVAILABLE.as_str();
    let Some(Workload::Deployment(deployment)) = seen.workloads.get(API_SERVER) else {
        return Observation::fails(
            condition,
            reasons::NOT_FOUND.as_str(),
            "kube-apiserver is not deployed yet",
        );
    };
    let conditions = deployment
        .status
        .iter()
        .flat_map(|status| status.conditions.iter().flatten());
    let mut available = conditions.filter(|condition| condition.type_ == "Available");
    if available.any(|condition| condition.status == "True") {
        return Observation::holds(condition, reasons::AS_EXPECTED.as_str(), "kube-apiserver is available");
    }
    let message = "kube-apiserver has too few available replicas";
    Observation::fails(condition, reasons::WAITING_FOR_AVAILABLE.as_str(), message)
}

/// True when part of the control plane does not work, although the whole may still serve.
fn degraded(seen: &Seen<'_>) -> Observation {
    let condition = types::DEGRADED.as_str();
    let lacking: Vec<String> = seen
        .workloads
        .iter()
        .filter_map(|(name, workload)| unavailable_replicas(workload).map(|count| format!("{name} lacks {count}")))
        .collect();
    if lacking.is_empty() {
        return Observation::fails(condition, reasons::AS_EXPECTED.as_str(), "Every replica is available");
    }
    let message = format!("Replicas are unavailable: {}", lacking.join(", "));
    Observation::holds(condition, reasons::UNAVAILABLE_REPLICAS.as_str(), message)
}

fn unavailable_replicas(workload: &Workload) -> Option<i32> {
    let count = match workload {
        Workload::Deployment(deployment) => deployment.status.as_ref()?.unavailable_replicas?,
        Workload::StatefulSet(set) => {
            let wanted = set.spec.as_ref()?.replicas.unwrap_or(1);
            wanted - set.status.as_ref()?.ready_replicas.unwrap_or(0)
        }
        Workload::Job(_) | Workload::CronJob(_) => return None,
    };
    (count > 0).then_some(count)
}

/// Whether the hostname that the spec gives to the API server leads there. The check asks by that very name.
fn external_name(seen: &Seen<'_>) -> Observation {
    let condition = types::EXTERNAL_DNS_REACHABLE.as_str();
    let Some(name) = hostname(seen.control_plane) else {
        let message = "No external hostname is asked for";
        return Observation::unknown(condition, reasons::STATUS_UNKNOWN.as_str(), message);
    };
    match &seen.health {
        Some(Ok(())) => Observation::holds(condition, reasons::AS_EXPECTED.as_str(), format!("{name} answers")),
        Some(Err(problem)) => {
            let reason = reasons::EXTERNAL_DNS_HOST_NOT_REACHABLE.as_str();
            Observation::fails(condition, reason, format!("{name}: {problem}"))
        }
        None => Observation::unknown(
            condition,
            reasons::STATUS_UNKNOWN.as_str(),
            format!("{name} was not asked yet"),
        ),
    }
}

fn hostname(control_plane: &HostedControlPlane) -> Option<String> {
    let services = &control_plane.spec.services;
    let service = services
        .iter()
        .find(|service| service.service == PublishedService::ApiServer)?;
    let strategy = &service.service_publishing_strategy;
    let name = match strategy.strategy_type {
        PublishingStrategyType::LoadBalancer => strategy.load_balancer.as_ref()?.hostname.as_ref(),
        PublishingStrategyType::Route => strategy.route.as_ref()?.hostname.as_ref(),
        _ => None,
    };
    name.map(ToString::to_string)
}

/// The first of the reasons, in the order of what rests on what, why the control plane does not serve.
fn available(seen: &Seen<'_>, parts: &[&Observation]) -> Observation {
    let condition = types::AVAILABLE.as_str();
    let fails = |reason: &str, message: String| Observation::fails(condition, reason, message);
    let [infrastructure, rest @ ..] = parts else {
        return Observation::unknown(condition, reasons::STATUS_UNKNOWN.as_str(), "Nothing was looked at");
    };
    if infrastructure.status != Some(true) {
        return fails(&infrastructure.reason, infrastructure.message.clone());
    }
    if !seen.has_kubeconfig {
        let message = format!("Secret {} is not there yet", kubeconfigs::ADMIN);
        return fails(reasons::KUBECONFIG_WAITING_FOR_CREATE.as_str(), message);
    }
    if let Some(part) = rest.iter().find(|part| part.status != Some(true)) {
        return fails(&part.reason, part.message.clone());
    }
    if let Some(Err(problem)) = &seen.health {
        return fails(reasons::KAS_LOAD_BALANCER_NOT_REACHABLE.as_str(), problem.clone());
    }
    if !was_available(seen.control_plane) && !seen.unavailable.is_empty() {
        let message = format!("Waiting for components: {}", seen.unavailable.join(", "));
        return fails(reasons::COMPONENTS_NOT_AVAILABLE.as_str(), message);
    }
    Observation::holds(
        condition,
        reasons::AS_EXPECTED.as_str(),
        "The hosted control plane is available",
    )
}

/// Whether it ever served: from then on a component that fails is told by Degraded and by its own report.
pub(crate) fn was_available(control_plane: &HostedControlPlane) -> bool {
    let Some(status) = &control_plane.status else {
        return false;
    };
    let initialized = status
        .initialization
        .as_ref()
        .and_then(|state| state.control_plane_initialized);
    initialized == Some(true) || holds(&status.conditions, types::AVAILABLE.as_str())
}

#[cfg(test)]
mod tests {
    use hyperplane_components::Endpoint;
    use serde_json::{Value, json};

    use super::*;

    fn control_plane(status: &Value, api_server: &Value) -> HostedControlPlane {
        let service = |name: &str, strategy: &Value| json!({"service": name, "servicePublishingStrategy": strategy});
        let balanced = json!({"type": "LoadBalancer"});
        let services = [
            service("APIServer", api_server),
            service("OAuthServer", &balanced),
            service("Konnectivity", &balanced),
            service("Ignition", &balanced),
        ];
        serde_json::from_value(json!({
            "apiVersion": "hypershift.openshift.io/v1beta1", "kind": "HostedControlPlane",
            "metadata": {"name": "a", "namespace": "clusters-a"},
            "spec": {
                "releaseImage": "hyperplane.dev/kubernetes:v1.36.4", "platform": {"type": "None"},
                "dns": {"baseDomain": "example.com"}, "pullSecret": {"name": "pull"}, "sshKey": {"name": "ssh"},
                "etcd": {"managementType": "Managed", "managed": {"storage": {"type": "PersistentVolume"}}},
                "issuerURL": "https://issuer", "infraID": "a-1", "services": services,
            },
            "status": status,
        }))
        .unwrap()
    }

    fn etcd(ready: i32) -> Workload {
        let set = json!({"metadata": {"name": "etcd"}, "spec": {"replicas": 3, "selector": {}, "serviceName": "etcd",
            "template": {}}, "status": {"replicas": 3, "readyReplicas": ready}});
        Workload::StatefulSet(serde_json::from_value(set).unwrap())
    }

    fn api_server(is_available: bool) -> Workload {
        let status = if is_available { "True" } else { "False" };
        let deployment = json!({
            "metadata": {"name": "kube-apiserver"}, "spec": {"replicas": 3, "selector": {}, "template": {}},
            "status": {"unavailableReplicas": i32::from(!is_available),
                "conditions": [{"type": "Available", "status": status}]},
        });
        Workload::Deployment(serde_json::from_value(deployment).unwrap())
    }

    struct Case {
        status: Value,
        missing: Vec<String>,
        workloads: Vec<(&'static str, Workload)>,
        has_kubeconfig: bool,
        health: Option<Result<(), String>>,
        unavailable: Vec<String>,
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
            published: json!({"type": "LoadBalancer"}),
        }
    }

    fn judge(case: Case) -> BTreeMap<String, (Option<bool>, String)> {
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
        let found = conditions(&Seen {
            control_plane: &control_plane,
            mistakes: &[],
            release_problems: &[],
            infrastructure: &infrastructure,
            workloads: &workloads,
            has_kubeconfig: case.has_kubeconfig,
            health: case.health,
            unavailable: &case.unavailable,
        });
        found
            .into_iter()
            .map(|found| (found.type_, (found.status, found.reason)))
            .collect()
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
}
