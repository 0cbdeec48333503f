//! What is in the image and what it says of itself. Certificates of public authorities are not: whatever the operators
//! call is named by a kubeconfig or a Secret that brings its own.

use serde_json::{Value, json};

/// Under which name releases are published; `hyperplane install` takes the same one by default.
const REPOSITORY: &str = "hyperplane.dev/hyperplane";
/// Where the binary is. Rendered manifests call it by its name, so its directory is all of the path.
pub(super) const BINARY: &str = "usr/bin/hyperplane";
const PATH: &str = "PATH=/usr/bin";
/// Nobody in particular: the number that images without an operating system use for it.
const USER: &str = "65532:65532";
/// The same for every build, so that equal binaries make equal images.
const CREATED: &str = "1970-01-01T00:00:00Z";

/// What stands before the name of a capability in the label that declares it, as managers of HyperShift read it.
const CAPABILITY: &str = "io.openshift.hypershift.";

/// An image.
pub(super) struct Image {
    /// The name by which it is pulled.
    pub(super) name: String,
    /// The version, which is also the tag, with a `v` before it.
    version: String,
    /// The binary.
    pub(super) binary: Vec<u8>,
    /// What the control-plane operator in it can do.
    capabilities: Vec<String>,
}

/// A file or a directory of the image.
pub(super) struct Entry<'a> {
    /// Where it is, without the first slash; directories end with one.
    pub(super) path: &'a str,
    /// Who may do what with it.
    pub(super) mode: u32,
    /// What is in it.
    pub(super) content: &'a [u8],
}

impl Image {
    pub(super) fn of_version(version: &str, binary: Vec<u8>, capabilities: Vec<String>) -> Self {
        Self {
            name: format!("{REPOSITORY}:v{version}"),
            version: version.to_owned(),
            binary,
            capabilities,
        }
    }

    /// The part of the name behind the colon.
    pub(super) fn tag(&self) -> String {
        format!("v{}", self.version)
    }

    /// Its files. The resolver of the C library is in the binary and needs no configuration but what a pod brings; what is
    /// temporary has a place where no volume is mounted there.
    pub(super) fn entries(&self) -> Vec<Entry<'_>> {
        let entry = |path, mode, content| Entry { path, mode, content };
        vec![
            entry("tmp/", 0o1777, &[]),
            entry("usr/", 0o755, &[]),
            entry("usr/bin/", 0o755, &[]),
            entry(BINARY, 0o755, self.binary.as_slice()),
        ]
    }

    /// How it runs and what it says of itself; `layer` is the digest of its files before they are compressed.
    pub(super) fn configuration(&self, layer: &str) -> Value {
        json!({
            "architecture": "amd64",
            "os": "linux",
            "created": CREATED,
            "config": {
                "User": USER,
                "Env": [PATH],
                "Entrypoint": [format!("/{BINARY}")],
                "WorkingDir": "/",
                "Labels": self.labels(),
            },
            "rootfs": {"type": "layers", "diff_ids": [layer]},
            "history": [{"created": CREATED, "created_by": "cargo xtask image"}],
        })
    }

    fn labels(&self) -> Value {
        let mut labels = json!({
            "org.opencontainers.image.title": "hyperplane",
            "org.opencontainers.image.description":
                "Kubernetes control planes as workloads, and upgrades of whole fleets of them",
            "org.opencontainers.image.version": self.version,
            "org.opencontainers.image.licenses": "Apache-2.0",
        });
        for capability in &self.capabilities {
            labels[format!("{CAPABILITY}{capability}")] = json!("true");
        }
        labels
    }
}
