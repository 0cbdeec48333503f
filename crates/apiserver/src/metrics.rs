//! What the server counts, under upstream's names, so that dashboards work as they are.

use std::{
    collections::BTreeMap,
    sync::{Mutex, PoisonError},
};

use http::StatusCode;
use hyperplane_wire::request::RequestInfo;

use crate::service::Server;

/// Distinct label sets that are counted; clients choose names of resources that are not served, so there is a bound.
const SERIES: usize = 5_000;

/// Counters of one server.
#[derive(Debug, Default)]
pub(crate) struct Metrics {
    requests: Mutex<BTreeMap<Labels, u64>>,
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Labels {
    verb: String,
    group: String,
    version: String,
    resource: String,
    subresource: String,
    code: u16,
}

impl Metrics {
    /// Counts a request that is done.
    pub(crate) fn record(&self, info: &RequestInfo, code: StatusCode) {
        let labels = Labels {
            verb: info.verb.to_ascii_uppercase(),
            group: info.group.clone(),
            version: info.version.clone(),
            resource: info.resource.clone(),
            subresource: info.subresource.clone(),
            code: code.as_u16(),
        };
        let mut requests = self.requests.lock().unwrap_or_else(PoisonError::into_inner);
        if requests.len() < SERIES || requests.contains_key(&labels) {
            *requests.entry(labels).or_default() += 1;
        }
    }

    /// Everything in Prometheus' text format.
    pub(crate) fn text(&self, server: &Server) -> String {
        let snapshot = server.core.store.snapshot();
        let mut lines = head(
            "apiserver_request_total",
            "counter",
            "Requests by verb, resource and code.",
        );
        lines.extend(
            self.requests
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .iter()
                .map(Labels::line),
        );
        let watches = server.front.watches.taken() as u64;
        lines.extend(gauge(
            "apiserver_longrunning_requests",
            "Watches that are open.",
            watches,
        ));
        let requests = server.front.requests.taken() as u64;
        lines.extend(gauge(
            "apiserver_current_inflight_requests",
            "Requests that are running.",
            requests,
        ));
        lines.extend(gauge(
            "hyperplane_store_revision",
            "The revision of the store.",
            snapshot.revision().0,
        ));
        lines.extend(head("apiserver_storage_objects", "gauge", "Objects by resource."));
        for served in server.core.registry.get().stored() {
            let (resource, count) = (
                escape(&served.resource.qualified()),
                snapshot.count(&served.resource.collection),
            );
            lines.push(format!("apiserver_storage_objects{{resource=\"{resource}\"}} {count}"));
        }
        lines.push(String::new());
        lines.join("\n")
    }
}

impl Labels {
    fn line((labels, count): (&Self, &u64)) -> String {
        let pairs = [
            ("group", &labels.group),
            ("resource", &labels.resource),
            ("subresource", &labels.subresource),
            ("verb", &labels.verb),
            ("version", &labels.version),
        ];
        let pairs = pairs
            .map(|(name, value)| format!("{name}=\"{}\"", escape(value)))
            .join(",");
        format!("apiserver_request_total{{code=\"{}\",{pairs}}} {count}", labels.code)
    }
}

fn head(name: &str, kind: &str, help: &str) -> Vec<String> {
    vec![format!("# HELP {name} {help}"), format!("# TYPE {name} {kind}")]
}

fn gauge(name: &str, help: &str, value: u64) -> Vec<String> {
    let mut lines = head(name, "gauge", help);
    lines.push(format!("{name} {value}"));
    lines
}

fn escape(text: &str) -> String {
    text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n")
}
