//! The way of a manager outside of its cluster to hosted API servers.

use std::net::{IpAddr, SocketAddr};

use http::Uri;
use hyperplane_runtime::Reach;
use kube::{Client, Config};

/// A way to hosted API servers that leads over one address. Who answers there goes by the name in the TLS greeting, and
/// the certificate that comes back must be for that name. Servers that are named by their address are reached there: an
/// address is not part of a greeting, and is published for those outside.
pub(super) fn through(relay: SocketAddr) -> Reach {
    Reach::by(move |config| Client::try_from(redirected(config, relay)))
}

fn redirected(mut config: Config, relay: SocketAddr) -> Config {
    let host = config.cluster_url.host().unwrap_or_default().to_owned();
    if host.trim_matches(['[', ']']).parse::<IpAddr>().is_ok() {
        return config;
    }
    config.tls_server_name.get_or_insert(host);
    config.cluster_url = Uri::builder()
        .scheme("https")
        .authority(relay.to_string())
        .path_and_query("/")
        .build()
        .expect("an address and a port are an authority");
    config
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_go_over_the_relay_and_addresses_do_not() {
        let relay = "127.0.0.1:7000".parse().unwrap();
        let seen = |url: &str| {
            let config = redirected(Config::new(url.parse().unwrap()), relay);
            (config.cluster_url.to_string(), config.tls_server_name)
        };
        let name = "kube-apiserver.clusters-one.svc";
        let expected = ("https://127.0.0.1:7000/".to_owned(), Some(name.to_owned()));
        assert_eq!(seen(&format!("https://{name}:6443")), expected);
        for address in ["https://192.0.2.1:6443/", "https://[2001:db8::1]:6443/"] {
            assert_eq!(seen(address), (address.to_owned(), None));
        }
    }
}
