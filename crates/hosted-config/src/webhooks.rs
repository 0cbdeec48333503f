//! Webhooks of the hosted cluster that would make its API server call Services of the management cluster. The server
//! resolves names in the namespace of the control plane, so that such a webhook is a way from the hosted side to the
//! management side, which must not exist. Admission cannot refuse webhook configurations, so they are taken away.

use std::collections::BTreeSet;

use http::Uri;

/// Names with which a Service can be asked for inside of its cluster, beginning with the shortest.
const ENDINGS: &[&str] = &["", ".svc", ".svc.cluster.local"];

/// Whether the URL of a webhook leads to one of the Services in a namespace.
pub(crate) fn leads_to_service(url: &str, namespace: &str, services: &BTreeSet<String>) -> bool {
    let Ok(uri) = url.parse::<Uri>() else {
        return false;
    };
    let Some(host) = uri.host() else {
        return false;
    };
    let host = host.trim_end_matches('.').to_ascii_lowercase();
    let Some(rest) = services.iter().find_map(|service| after(&host, service)) else {
        return false;
    };
    if rest.is_empty() {
        return true;
    }
    let Some(rest) = after(rest.trim_start_matches('.'), namespace) else {
        return false;
    };
    ENDINGS.contains(&rest)
}

/// What follows a name in a host, if the host begins with it as a whole label.
fn after<'a>(host: &'a str, name: &str) -> Option<&'a str> {
    let rest = host.strip_prefix(name)?;
    (rest.is_empty() || rest.starts_with('.')).then_some(rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_of_a_service_is_known() {
        let services = BTreeSet::from(["etcd-client".to_owned(), "kube-apiserver".to_owned()]);
        let cases = [
            ("https://etcd-client/validate", true),
            ("https://etcd-client:2379/validate", true),
            ("https://ETCD-CLIENT./x", true),
            ("https://kube-apiserver.clusters-a", true),
            ("https://kube-apiserver.clusters-a.svc/x", true),
            ("https://kube-apiserver.clusters-a.svc.cluster.local:6443", true),
            ("https://kube-apiserver.clusters-b.svc", false),
            ("https://etcd-client-of-mine/validate", false),
            ("https://webhook.default.svc", false),
            ("https://example.com/etcd-client", false),
            ("https://etcd-client.clusters-a.svc.example.com", false),
            ("not a url", false),
            ("", false),
        ];
        for (url, expected) in cases {
            assert_eq!(leads_to_service(url, "clusters-a", &services), expected, "{url}");
        }
    }
}
