//! Recipes of every platform as files: what a user sees of `--render`.

use std::{env, fs, path::Path};

use crate::support::cook_line;

/// Rewrites the files in place of comparing with them.
const BLESS: &str = "HYPERPLANE_BLESS";

fn compare(name: &str, line: &str) {
    let rendered = cook_line(line)
        .unwrap_or_else(|problems| panic!("{line}: {problems:#?}"))
        .yaml(true);
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden").join(name);
    #[expect(clippy::disallowed_methods, reason = "only a person who blesses sets it")]
    if env::var(BLESS).is_ok() {
        fs::write(&path, &rendered).unwrap();
    }
    let expected = fs::read_to_string(&path).unwrap_or_default();
    assert_eq!(rendered, expected, "{line}: see {}", path.display());
}

#[test]
fn kubevirt() {
    compare(
        "kubevirt.yaml",
        "cluster kubevirt blue --version 1.35.8 --node-pool-replicas 3",
    );
}

#[test]
fn kubevirt_with_everything() {
    compare(
        "kubevirt-full.yaml",
        "cluster kubevirt --name blue --namespace teams --release-image hyperplane.dev/kubernetes:v1.36.4 \
         --pull-secret p --ssh-key s --additional-trust-bundle t --image-content-sources m --infra-id blue-x \
         --base-domain example.com --base-domain-prefix none --node-pool-replicas 2 --node-upgrade-type Replace \
         --node-drain-timeout 10m --node-volume-detach-timeout 5m --auto-repair --network-type Other \
         --default-dual --allocate-node-cidrs --machine-cidr 192.168.0.0/16 --machine-cidr fd03::/64 \
         --control-plane-availability-policy HighlyAvailable --infra-availability-policy HighlyAvailable \
         --etcd-storage-class fast --etcd-storage-size 20Gi --fips --feature-set TechPreviewNoUpgrade \
         --enable-cluster-capabilities baremetal --disable-cluster-capabilities Console,Ingress \
         --control-plane-operator-image example.com/cpo:1 --external-dns-domain dns.example.com \
         --kas-dns-name api.blue.example.com --node-selector role=planes \
         --toleration key=planes,operator=Exists,effect=NoSchedule --pods-labels team=blue \
         --annotations a.example.com/b=c,d --labels tier=gold --pausedUntil 2030-01-31T08:00:00Z \
         --infra-kubeconfig-file k --infra-namespace machines --infra-storage-class-mapping ceph/fast,group=a \
         --infra-volumesnapshot-class-mapping ceph-snap/fast-snap,group=a --cores 4 --memory 16Gi \
         --qos-class Guaranteed --root-volume-size 64 --root-volume-storage-class ceph \
         --root-volume-access-modes ReadWriteMany --root-volume-volume-mode Block \
         --root-volume-cache-strategy PVC --additional-network name:nets/blue --attach-default-network false \
         --network-multiqueue Disable --host-device-name gpu.example.com/a,count:2 --vm-node-selector gpu=yes \
         --containerdisk example.com/disk:1",
    );
}

#[test]
fn agent() {
    compare(
        "agent.yaml",
        "cluster agent --name green --version v1.36.4 --agent-namespace hosts --agentLabelSelector size=large \
         --api-server-address 192.0.2.10 --node-pool-replicas 2 --arch arm64",
    );
}

#[test]
fn none() {
    compare(
        "none.yaml",
        "cluster none grey --version 1.34.11 --expose-through-load-balancer",
    );
}

#[test]
fn pools() {
    compare(
        "pool-kubevirt.yaml",
        "nodepool kubevirt web --cluster-name blue --version 1.35.8 --node-count 3 --cores 4",
    );
    compare(
        "pool-agent.yaml",
        "nodepool agent --name web --cluster-name green --release-image example.com/release:1 --auto-repair",
    );
    compare(
        "pool-none.yaml",
        "nodepool none web --cluster-name grey --version 1.34.11 --replicas 0",
    );
}
