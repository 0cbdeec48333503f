//! The host itself: what the kernel is told, whom programs trust, who may log in, and which release it is made for.

use hyperplane_planner::release::Release;
use serde_json::json;

use crate::{
    canonical,
    ignition::{File, Unit, User},
    parts::{PUBLIC, file, unit},
    problem::Problem,
};

/// The user that people log in as; images that Ignition runs on have it.
const LOGIN: &str = "core";
/// Where the release is written, for people and for tools.
pub(crate) const RELEASE: &str = "/etc/hyperplane/release.json";

const KERNEL_SETTINGS: &str = "\
# Pods are reached through this host.
net.ipv4.ip_forward = 1
net.ipv6.conf.all.forwarding = 1
# What kubelets expect, and refuse to start without when they protect the defaults of the kernel.
kernel.keys.root_maxbytes = 25000000
kernel.keys.root_maxkeys = 1000000
kernel.panic = 10
kernel.panic_on_oops = 1
vm.overcommit_memory = 1
vm.panic_on_oom = 0
# Every container watches files.
fs.inotify.max_user_instances = 8192
fs.inotify.max_user_watches = 524288
";

const MODULES: &str = "br_netfilter\noverlay\n";

/// Families of Linux keep authorities in different places; a place that a host does not look at does no harm.
const TRUST_PLACES: &[&str] = &["/etc/pki/ca-trust/source/anchors", "/usr/local/share/ca-certificates"];

const TRUST_SERVICE: &str = "\
[Unit]
Description=Further authorities
Before=containerd.service kubelet.service

[Service]
Type=oneshot
RemainAfterExit=yes
ExecStart=/bin/sh /etc/hyperplane/trust.sh

[Install]
RequiredBy=containerd.service kubelet.service
";

const TRUST_SCRIPT: &str = "\
set -eu
if command -v update-ca-trust >/dev/null; then
  update-ca-trust
else
  update-ca-certificates
fi
";

/// Files that every worker has.
pub(crate) fn files(release: &Release) -> Vec<File> {
    let release = json!({
        "distribution": release.distribution,
        "version": release.version.number(),
        "kubernetesVersion": format!("v{}", release.kubernetes.number()),
        "image": release.image,
    });
    vec![
        file(RELEASE, PUBLIC, canonical::text(&release)),
        file("/etc/sysctl.d/90-hyperplane.conf", PUBLIC, KERNEL_SETTINGS),
        file("/etc/modules-load.d/hyperplane.conf", PUBLIC, MODULES),
    ]
}

/// Authorities, each bundle with a name, and what makes programs trust them.
pub(crate) fn trust(bundles: &[(&str, &str)]) -> (Vec<File>, Vec<Unit>) {
    let bundles: Vec<_> = bundles.iter().filter(|(_, text)| !text.trim().is_empty()).collect();
    if bundles.is_empty() {
        return (Vec::new(), Vec::new());
    }
    let mut files = vec![file("/etc/hyperplane/trust.sh", PUBLIC, TRUST_SCRIPT)];
    for (name, text) in bundles {
        let placed = TRUST_PLACES
            .iter()
            .map(|place| file(format!("{place}/{name}.crt"), PUBLIC, text));
        files.extend(placed);
    }
    (files, vec![unit("hyperplane-trust.service", TRUST_SERVICE.to_owned())])
}

/// Who may log in, by the keys of a text with one in each line; nobody where there is none.
pub(crate) fn login(keys: &str) -> Result<Option<User>, Problem> {
    let keys = keys
        .lines()
        .map(str::trim)
        .filter(|line| !line.is_empty() && !line.starts_with('#'));
    let keys: Vec<String> = keys.map(str::to_owned).collect();
    // A private key where public ones belong must not be handed to machines.
    if keys.iter().any(|key| key.starts_with("-----") || !key.contains(' ')) {
        return Err(Problem::new(
            "",
            "spec.sshKey",
            "must lead to public keys, one in each line",
        ));
    }
    Ok((!keys.is_empty()).then(|| User {
        name: LOGIN.to_owned(),
        ssh_authorized_keys: keys,
        ..User::default()
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn people_log_in_with_public_keys() {
        let user = login("# ours\nssh-ed25519 AAAA a@b\n\nssh-rsa BBBB\n")
            .unwrap()
            .unwrap();
        assert_eq!(user.ssh_authorized_keys, ["ssh-ed25519 AAAA a@b", "ssh-rsa BBBB"]);
        assert_eq!(login("\n").unwrap(), None);
        let problem = login("-----BEGIN OPENSSH PRIVATE KEY-----\nc2VjcmV0\n").unwrap_err();
        assert!(!problem.to_string().contains("c2VjcmV0"));
    }

    #[test]
    fn authorities_are_put_where_hosts_look() {
        assert_eq!(trust(&[("user", " \n")]), (Vec::new(), Vec::new()));
        let (files, units) = trust(&[("user", "PEM"), ("proxy", "PEM")]);
        assert_eq!((files.len(), units.len()), (5, 1));
    }
}
