//! Load balancers that do not come: which Services wait for one, and what those who make them say about it. Pure.

use k8s_openapi::api::core::v1::{Event, Service};

/// The longest that somebody else's words may be in a condition.
const LONGEST: usize = 500;

/// Services that wait for an address.
pub(crate) fn without_address<'a>(services: impl IntoIterator<Item = &'a Service>) -> Vec<String> {
    let waiting = services.into_iter().filter(|service| {
        let type_ = service.spec.as_ref().and_then(|spec| spec.type_.as_deref());
        let status = service.status.as_ref().and_then(|status| status.load_balancer.as_ref());
        let has_address = status.is_some_and(|status| status.ingress.iter().flatten().next().is_some());
        type_ == Some("LoadBalancer") && !has_address
    });
    waiting.map(kube::ResourceExt::name_any).collect()
}

/// The last warning about a Service, in a sentence.
pub(crate) fn trouble(service: &str, events: &[Event]) -> Option<String> {
    let warnings = events.iter().filter(|event| event.type_.as_deref() == Some("Warning"));
    let last = warnings.max_by_key(|event| said_at(event))?;
    let message = last.message.as_deref().unwrap_or_default();
    let short: String = message.chars().take(LONGEST).collect();
    let reason = last.reason.as_deref().unwrap_or("Warning");
    Some(format!("Service {service}: {reason}: {short}"))
}

fn said_at(event: &Event) -> Option<jiff::Timestamp> {
    let last = event.last_timestamp.as_ref().map(|time| time.0);
    last.max(event.event_time.as_ref().map(|time| time.0))
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn service(name: &str, type_: &str, ingress: &Value) -> Service {
        hyperplane_objects::read(json!({
            "metadata": {"name": name}, "spec": {"type": type_}, "status": {"loadBalancer": {"ingress": ingress}},
        }))
        .unwrap()
    }

    #[test]
    fn only_balancers_without_an_address_wait() {
        let services = [
            service("kube-apiserver", "LoadBalancer", &json!([{"ip": "10.0.0.1"}])),
            service("router", "LoadBalancer", &json!([])),
            service("konnectivity", "LoadBalancer", &json!(null)),
            service("etcd", "ClusterIP", &json!(null)),
        ];
        assert_eq!(without_address(&services), ["router", "konnectivity"]);
    }

    #[test]
    fn the_last_warning_is_told_and_cut_short() {
        let event = |type_: &str, second: u32, message: &str| -> Event {
            hyperplane_objects::read(json!({
                "metadata": {"name": message.get(..1)}, "involvedObject": {}, "type": type_, "reason": "SyncLoadBalancerFailed",
                "lastTimestamp": format!("2027-01-15T08:00:{second:02}Z"), "message": message,
            }))
            .unwrap()
        };
        let events = [
            event("Warning", 1, "quota"),
            event("Warning", 9, "no subnet has the tag"),
            event("Normal", 30, "ensuring"),
        ];
        let told = trouble("router", &events).unwrap();
        assert_eq!(told, "Service router: SyncLoadBalancerFailed: no subnet has the tag");
        assert_eq!(trouble("router", &events[2..]), None);
        let long = trouble("router", &[event("Warning", 1, &"ä".repeat(2000))]).unwrap();
        assert!(long.chars().count() < 600);
    }
}
