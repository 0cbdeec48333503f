//! The way from pods to the hosted API server: the advertised address is on the loopback of every node, and what comes in
//! there is sent on to where the API server is published.
//!
//! With an image of HAProxy in the release it is a static pod. Without one, as plain Kubernetes has none, systemd does the
//! same with what every host has.

use std::net::IpAddr;

use serde_json::json;

use crate::{
    canonical,
    ignition::{File, Unit},
    kubelet,
    parts::{PUBLIC, file, unit},
    problem::Problem,
    worker::Endpoint,
};

const NAME: &str = "kube-apiserver-proxy";
const CONFIGURATION: &str = "/etc/kubernetes/apiserver-proxy-config";
const SOCKET: &str = "kube-apiserver-proxy.socket";

/// Connections at a time on one node: more than its pods make, and less than would hurt the host.
const MOST_CONNECTIONS: u32 = 4096;
/// Each has two ends, and a pipe in each direction.
const FILES_PER_CONNECTION: u32 = 6;
/// What the program itself has open.
const SPARE_FILES: u32 = 64;

/// What leads where.
#[derive(Clone, Debug)]
pub(crate) struct ApiServerProxy<'a> {
    address: IpAddr,
    port: u16,
    target: Endpoint<'a>,
    image: Option<&'a str>,
}

impl<'a> ApiServerProxy<'a> {
    /// Reads the advertised address and port.
    pub(crate) fn new(
        address: &str,
        port: i32,
        target: Endpoint<'a>,
        image: Option<&'a str>,
    ) -> Result<Self, Vec<Problem>> {
        let wrong =
            |path: &str, problem: &str| vec![Problem::new("", format!("spec.networking.apiServer.{path}"), problem)];
        Ok(Self {
            address: address
                .parse()
                .map_err(|_| wrong("advertiseAddress", "must be an IP address"))?,
            port: u16::try_from(port)
                .ok()
                .filter(|port| *port > 0)
                .ok_or_else(|| wrong("port", "must be a port"))?,
            target,
            image,
        })
    }

    /// Its files.
    pub(crate) fn files(&self) -> Vec<File> {
        let Some(image) = self.image else {
            return Vec::new();
        };
        vec![
            file(format!("{CONFIGURATION}/haproxy.cfg"), PUBLIC, self.configuration()),
            file(format!("{}/{NAME}.yaml", kubelet::MANIFESTS), PUBLIC, self.pod(image)),
        ]
    }

    /// Its units.
    pub(crate) fn units(&self) -> Vec<Unit> {
        let length = if self.address.is_ipv4() { 32 } else { 128 };
        let address = format!(
            "[Unit]\nDescription=Address of the API server\nBefore={service}\n\n[Service]\nType=oneshot\n\
             RemainAfterExit=yes\nExecStart=/usr/sbin/ip address replace {}/{length} dev lo\n\n[Install]\n\
             RequiredBy={service}\n",
            self.address,
            service = kubelet::SERVICE,
        );
        let mut units = vec![unit("hyperplane-api-server-address.service", address)];
        if self.image.is_none() {
            units.extend([unit(SOCKET, self.socket()), self.service()]);
        }
        units
    }

    fn listens(&self) -> String {
        host_port(&self.address.to_string(), self.port)
    }

    fn leads_to(&self) -> String {
        host_port(self.target.host, self.target.port)
    }

    /// It listens before the address is there. It could not wait for it: sockets come before all services.
    fn socket(&self) -> String {
        format!(
            "[Unit]\nDescription=Way to the API server\n\n[Socket]\nListenStream={}\nFreeBind=yes\n\n[Install]\n\
             WantedBy=sockets.target\n",
            self.listens(),
        )
    }

    /// It starts when somebody comes, so it is not enabled.
    fn service(&self) -> Unit {
        let contents = format!(
            "[Unit]\nDescription=Way to the API server\nRequires={SOCKET}\nAfter={SOCKET} network-online.target\n\n\
             [Service]\nLimitNOFILE={files}\n\
             ExecStart=/usr/lib/systemd/systemd-socket-proxyd --connections-max={MOST_CONNECTIONS} {target}\n",
            files = MOST_CONNECTIONS * FILES_PER_CONNECTION + SPARE_FILES,
            target = self.leads_to(),
        );
        Unit {
            enabled: None,
            ..unit("kube-apiserver-proxy.service", contents)
        }
    }

    fn configuration(&self) -> String {
        format!(
            "global\n  maxconn {MOST_CONNECTIONS}\n\ndefaults\n  mode tcp\n  timeout connect 10s\n  timeout client 30m\n  \
             timeout server 30m\n  option clitcpka\n  option srvtcpka\n\nfrontend local\n  bind {}\n  default_backend \
             remote\n\nbackend remote\n  server api {}\n",
            self.listens(),
            self.leads_to(),
        )
    }

    fn pod(&self, image: &str) -> String {
        canonical::text(&json!({
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {"name": NAME, "namespace": "kube-system", "labels": {"k8s-app": NAME}},
            "spec": {
                "hostNetwork": true,
                "priorityClassName": "system-node-critical",
                "containers": [{
                    "name": "haproxy",
                    "image": image,
                    "command": ["haproxy", "-f", "/usr/local/etc/haproxy/haproxy.cfg"],
                    "resources": {"requests": {"cpu": "13m", "memory": "16Mi"}},
                    "livenessProbe": {
                        "tcpSocket": {"host": self.address, "port": self.port},
                        "initialDelaySeconds": 120,
                        "periodSeconds": 120,
                    },
                    "volumeMounts": [{"name": "config", "mountPath": "/usr/local/etc/haproxy", "readOnly": true}],
                }],
                "volumes": [{"name": "config", "hostPath": {"path": CONFIGURATION}}],
            },
        }))
    }
}

/// A host and a port as programs take them.
fn host_port(host: &str, port: u16) -> String {
    if host.contains(':') {
        format!("[{host}]:{port}")
    } else {
        format!("{host}:{port}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TARGET: Endpoint<'static> = Endpoint {
        host: "api.example.com",
        port: 443,
    };

    #[test]
    fn the_address_leads_to_where_the_api_server_is() {
        let plain = ApiServerProxy::new("172.20.0.1", 6443, TARGET, None).unwrap();
        assert_eq!(plain.files(), []);
        let units = plain.units();
        let names: Vec<&str> = units.iter().map(|unit| unit.name.as_str()).collect();
        assert_eq!(
            names,
            [
                "hyperplane-api-server-address.service",
                SOCKET,
                "kube-apiserver-proxy.service"
            ]
        );
        assert!(
            units[1]
                .contents
                .as_ref()
                .unwrap()
                .contains("ListenStream=172.20.0.1:6443\n")
        );
        // A socket that waited for a service would wait for itself: services come after all sockets.
        let texts: Vec<&str> = units.iter().filter_map(|unit| unit.contents.as_deref()).collect();
        assert!(!texts[1].contains("After=") && !texts[0].contains(SOCKET), "{texts:?}");
        assert!(units[2].contents.as_ref().unwrap().ends_with(" api.example.com:443\n"));
        let with_image = ApiServerProxy::new("fd00::1", 6443, TARGET, Some("haproxy:1")).unwrap();
        assert_eq!((with_image.files().len(), with_image.units().len()), (2, 1));
        assert!(with_image.configuration().contains("bind [fd00::1]:6443\n"));
    }

    #[test]
    fn addresses_and_ports_are_read() {
        assert!(ApiServerProxy::new("nowhere", 6443, TARGET, None).is_err());
        assert!(ApiServerProxy::new("172.20.0.1", 0, TARGET, None).is_err());
        assert!(ApiServerProxy::new("172.20.0.1", 70_000, TARGET, None).is_err());
    }
}
