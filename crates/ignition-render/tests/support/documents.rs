//! Documents as users write them, for tests inside and outside of the crate.
#![allow(dead_code, reason = "each test target takes the part that it needs")]

/// A file, and an argument of the kernel.
pub(crate) const MACHINE: &str = "\
apiVersion: machineconfiguration.openshift.io/v1
kind: MachineConfig
metadata:
  name: 50-motd
  creationTimestamp: null
spec:
  kernelArguments: [quiet]
  config:
    ignition: {version: 3.2.0}
    storage:
      files:
        - path: /etc/motd
          mode: 0644
          contents: {source: 'data:,hello%0A'}
";

/// What kubelets are told.
pub(crate) const KUBELET: &str = "\
apiVersion: machineconfiguration.openshift.io/v1
kind: KubeletConfig
metadata: {name: big-pods}
spec:
  kubeletConfig: {maxPods: 500}
status: {conditions: []}
";

/// Where images come from.
pub(crate) const MIRRORS: &str = "\
apiVersion: config.openshift.io/v1
kind: ImageDigestMirrorSet
metadata: {name: mirrors}
spec:
  imageDigestMirrors:
    - {source: quay.io, mirrors: [mirror.example.com/quay]}
";
