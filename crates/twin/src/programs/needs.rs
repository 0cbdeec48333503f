//! Whom a program has to reach before it is done or ready. Pure.

use serde::Deserialize;

use super::{API_SERVER, Content, Flags, Invocation, Read};

/// The port of HTTPS.
const HTTPS: u16 = 443;

/// A host and a port.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Address {
    /// A name or an address.
    pub(crate) host: String,
    /// The port.
    pub(crate) port: u16,
}

/// Something that has to be there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Need {
    /// Somebody answers.
    Reach(Address),
    /// One of several answers.
    ReachAny(Vec<Address>),
    /// A name is known.
    Resolve(String),
}

/// What a program needs.
pub(crate) fn needs(invocation: &Invocation, flags: &Flags, read: &Read<'_>) -> Vec<Need> {
    match (invocation.program.as_str(), invocation.subcommand()) {
        (API_SERVER, _) => {
            let servers = flags
                .list("etcd-servers")
                .into_iter()
                .filter_map(Address::of_url)
                .collect();
            vec![Need::ReachAny(servers)]
        }
        (_, Some("wait-for")) => wait_for(flags),
        (_, Some("availability-prober")) | ("kube-controller-manager" | "kube-scheduler", _) => {
            let files = flags.of("kubeconfig").chain(flags.of("authentication-kubeconfig"));
            let servers = files.filter_map(|path| server_of(&read(path)));
            let mut needs: Vec<Need> = servers.map(Need::Reach).collect();
            needs.dedup();
            needs
        }
        _ => Vec::new(),
    }
}

fn wait_for(flags: &Flags) -> Vec<Need> {
    let https = flags
        .of("https")
        .filter_map(|url| Address::of_url(url))
        .map(Need::Reach);
    let tcp = flags
        .of("tcp")
        .filter_map(|text| Address::parse(text, HTTPS))
        .map(Need::Reach);
    let dns = flags.of("dns").cloned().map(Need::Resolve);
    https.chain(tcp).chain(dns).collect()
}

impl Address {
    /// The host and port of a URL.
    pub(crate) fn of_url(url: &str) -> Option<Self> {
        let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
        Self::parse(rest.split('/').next().unwrap_or_default(), HTTPS)
    }

    /// A host, and a port if one is given.
    pub(crate) fn parse(text: &str, port: u16) -> Option<Self> {
        let (host, port) = match text.rsplit_once(':') {
            Some((host, number)) if !host.contains(':') || host.ends_with(']') => (host, number.parse().ok()?),
            _ => (text, port),
        };
        let host = host.trim_start_matches('[').trim_end_matches(']');
        (!host.is_empty()).then(|| Self {
            host: host.to_owned(),
            port,
        })
    }
}

#[derive(Deserialize)]
struct Kubeconfig {
    clusters: Vec<NamedCluster>,
}

#[derive(Deserialize)]
struct NamedCluster {
    cluster: Cluster,
}

#[derive(Deserialize)]
struct Cluster {
    server: String,
}

/// The server that a kubeconfig names.
fn server_of(content: &Content) -> Option<Address> {
    let Content::Bytes(bytes) = content else { return None };
    let kubeconfig: Kubeconfig = hyperplane_objects::read_yaml(std::str::from_utf8(bytes).ok()?).ok()?;
    Address::of_url(&kubeconfig.clusters.first()?.cluster.server)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_read() {
        let cases = [
            ("https://etcd-client:2379/health", Some(("etcd-client", 2379))),
            ("https://a.example", Some(("a.example", 443))),
            ("https://[2001:db8::1]:6443/x", Some(("2001:db8::1", 6443))),
            ("https://:1", None),
        ];
        for (url, expected) in cases {
            let found = Address::of_url(url);
            assert_eq!(
                found.as_ref().map(|found| (found.host.as_str(), found.port)),
                expected,
                "{url}"
            );
        }
    }

    #[test]
    fn programs_say_whom_they_need() {
        let kubeconfig = "clusters: [{name: a, cluster: {server: 'https://kube-apiserver.n.svc:6443'}}]\nusers: []\n";
        let read = |path: &str| match path {
            "/etc/kubeconfig" => Content::Bytes(kubeconfig.as_bytes().to_vec()),
            _ => Content::Missing,
        };
        let reach = |host: &str, port| Address {
            host: host.to_owned(),
            port,
        };
        let cases = [
            (
                "kube-apiserver --etcd-servers=https://etcd-client:2379",
                vec![Need::ReachAny(vec![reach("etcd-client", 2379)])],
            ),
            (
                "hyperplane wait-for --tcp a:1 --dns b",
                vec![Need::Reach(reach("a", 1)), Need::Resolve("b".to_owned())],
            ),
            (
                "hyperplane availability-prober --kubeconfig /etc/kubeconfig",
                vec![Need::Reach(reach("kube-apiserver.n.svc", 6443))],
            ),
            (
                "kube-scheduler --kubeconfig=/etc/kubeconfig --authentication-kubeconfig=/etc/kubeconfig",
                vec![Need::Reach(reach("kube-apiserver.n.svc", 6443))],
            ),
            ("other --kubeconfig=/etc/kubeconfig", vec![]),
        ];
        for (command, expected) in cases {
            let words: Vec<String> = command.split_whitespace().map(str::to_owned).collect();
            let invocation = Invocation::new(&words[..1], &words[1..], "c");
            let flags = Flags::loose(&invocation.arguments);
            assert_eq!(needs(&invocation, &flags, &read), expected, "{command}");
        }
    }
}
