//! The command line of each server, as a function of where its files and addresses are. It starts nothing.

use std::path::Path;

use crate::layout::{self, Layout};

pub(crate) fn etcd(layout: &Layout, is_durable: bool) -> Vec<String> {
    let own = layout.identity("etcd");
    let authority = layout.identity("etcd-ca").certificate;
    let client = format!("https://{}", layout.addresses.etcd);
    let peer = format!("https://{}", layout.addresses.etcd_peer);
    vec![
        flag("name", "testbed"),
        path("data-dir", &layout.etcd_data()),
        flag("listen-client-urls", &client),
        flag("advertise-client-urls", &client),
        flag("listen-peer-urls", &peer),
        flag("initial-advertise-peer-urls", &peer),
        flag("initial-cluster", format!("testbed={peer}")),
        path("cert-file", &own.certificate),
        path("key-file", &own.key),
        path("trusted-ca-file", &authority),
        flag("client-cert-auth", "true"),
        path("peer-cert-file", &own.certificate),
        path("peer-key-file", &own.key),
        path("peer-trusted-ca-file", &authority),
        flag("peer-client-cert-auth", "true"),
        // The data never outlives the process, and each write would else wait for the disk.
        flag("unsafe-no-fsync", (!is_durable).to_string()),
    ]
}

pub(crate) fn api_server(layout: &Layout, extra: &[String]) -> Vec<String> {
    let etcd = layout.identity("etcd-client");
    let serving = layout.identity("serving");
    let service_accounts = layout.identity("service-accounts");
    let address = layout.addresses.api_server;
    let mut arguments = vec![
        flag("etcd-servers", format!("https://{}", layout.addresses.etcd)),
        path("etcd-cafile", &layout.identity("etcd-ca").certificate),
        path("etcd-certfile", &etcd.certificate),
        path("etcd-keyfile", &etcd.key),
        flag("bind-address", address.ip().to_string()),
        flag("secure-port", address.port().to_string()),
        // Loopback may not stand in the endpoints of the service `kubernetes`, so nobody maintains those.
        flag("advertise-address", address.ip().to_string()),
        flag("endpoint-reconciler-type", "none"),
        path("tls-cert-file", &serving.certificate),
        path("tls-private-key-file", &serving.key),
        path("client-ca-file", &layout.identity("ca").certificate),
        flag("authorization-mode", "Node,RBAC"),
        flag("enable-admission-plugins", "NodeRestriction"),
        flag("service-account-issuer", "https://kubernetes.default.svc"),
        path("service-account-key-file", &service_accounts.certificate),
        path("service-account-signing-key-file", &service_accounts.key),
        flag("service-cluster-ip-range", "10.96.0.0/16"),
        flag("allow-privileged", "true"),
    ];
    arguments.extend_from_slice(extra);
    arguments
}

pub(crate) fn controller_manager(layout: &Layout) -> Vec<String> {
    let authority = layout.identity("ca");
    let mut arguments = component(
        layout,
        layout::CONTROLLER_MANAGER,
        layout.addresses.controller_manager.port(),
    );
    arguments.extend([
        flag("use-service-account-credentials", "true"),
        path(
            "service-account-private-key-file",
            &layout.identity("service-accounts").key,
        ),
        path("root-ca-file", &authority.certificate),
        path("cluster-signing-cert-file", &authority.certificate),
        path("cluster-signing-key-file", &authority.key),
    ]);
    arguments
}

pub(crate) fn scheduler(layout: &Layout) -> Vec<String> {
    component(layout, layout::SCHEDULER, layout.addresses.scheduler.port())
}

/// What the controller manager and the scheduler have in common.
fn component(layout: &Layout, name: &str, port: u16) -> Vec<String> {
    let kubeconfig = layout.kubeconfig(name);
    let serving = layout.identity("serving");
    vec![
        path("kubeconfig", &kubeconfig),
        path("authentication-kubeconfig", &kubeconfig),
        path("authorization-kubeconfig", &kubeconfig),
        flag("bind-address", layout.addresses.api_server.ip().to_string()),
        flag("secure-port", port.to_string()),
        path("tls-cert-file", &serving.certificate),
        path("tls-private-key-file", &serving.key),
        // There is one of each, and an elected leader ends itself while the API server is away.
        flag("leader-elect", "false"),
    ]
}

fn flag(name: &str, value: impl AsRef<str>) -> String {
    format!("--{name}={}", value.as_ref())
}

fn path(name: &str, value: &Path) -> String {
    flag(name, value.display().to_string())
}
