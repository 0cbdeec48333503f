//! The map of the workspace as data: which crate lies in which layer, and which layer may know which. A new crate is
//! added here and nowhere else.

/// A layer of the map.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Layer {
    /// What is on the wire. Knows nothing else.
    Types,
    /// Decisions as functions of values. No I/O.
    Domain,
    /// Controllers. They meet in the API, never each other.
    Operator,
    /// What controllers stand on.
    Ground,
    /// What people use. Leaves: nothing depends on them.
    People,
    /// What only developers use.
    Tools,
}

/// Every crate of the workspace, those that the design names but that have no content yet included.
pub(crate) const CRATES: &[(&str, Layer)] = &[
    ("hyperplane-api", Layer::Types),
    ("hyperplane-objects", Layer::Types),
    ("hyperplane-schema-attributes", Layer::Types),
    ("hyperplane-access", Layer::Domain),
    ("hyperplane-components", Layer::Domain),
    ("hyperplane-ignition-render", Layer::Domain),
    ("hyperplane-insight", Layer::Domain),
    ("hyperplane-kinds", Layer::Domain),
    ("hyperplane-merge", Layer::Domain),
    ("hyperplane-pki-issue", Layer::Domain),
    ("hyperplane-planner", Layer::Domain),
    ("hyperplane-platforms", Layer::Domain),
    ("hyperplane-recipes", Layer::Domain),
    ("hyperplane-rollout", Layer::Domain),
    ("hyperplane-schema", Layer::Domain),
    ("hyperplane-wire", Layer::Domain),
    ("hyperplane-control-plane", Layer::Operator),
    ("hyperplane-hosted-cluster", Layer::Operator),
    ("hyperplane-hosted-config", Layer::Operator),
    ("hyperplane-ignition", Layer::Operator),
    ("hyperplane-machine-approver", Layer::Operator),
    ("hyperplane-machines", Layer::Operator),
    ("hyperplane-node-pool", Layer::Operator),
    ("hyperplane-pki", Layer::Operator),
    ("hyperplane-upgrades", Layer::Operator),
    ("hyperplane-apiserver", Layer::Ground),
    ("hyperplane-component-driver", Layer::Ground),
    ("hyperplane-releases", Layer::Ground),
    ("hyperplane-runtime", Layer::Ground),
    ("hyperplane-seams", Layer::Ground),
    ("hyperplane-sidecars", Layer::Ground),
    ("hyperplane-store", Layer::Ground),
    ("hyperplane-twin", Layer::Ground),
    ("hyperplane", Layer::People),
    ("hyperplane-console", Layer::People),
    ("hyperplane-demo", Layer::People),
    ("hyperplane-install", Layer::People),
    ("hyperplane-world", Layer::People),
    ("hyperplane-conformance", Layer::Tools),
    ("hyperplane-real-cluster", Layer::Tools),
    ("hyperplane-testbed", Layer::Tools),
    ("xtask", Layer::Tools),
];

/// Layers that do no I/O and know no runtime.
pub(crate) const PURE: &[Layer] = &[Layer::Types, Layer::Domain];

/// What operators know of the ground: the runner, and the one way in which components are driven.
pub(crate) const KNOWN_TO_OPERATORS: &[&str] = &["hyperplane-component-driver", "hyperplane-runtime"];

/// Crates that make or drive I/O, which pure crates must not know, not even through others.
pub(crate) const IO_CRATES: &[&str] = &[
    "async-std",
    "axum",
    "hyper",
    "hyper-util",
    "mio",
    "reqwest",
    "tokio",
    "tower",
];

/// The features of kube that do no I/O.
pub(crate) const PURE_KUBE_FEATURES: &[&str] = &["admission", "cel", "derive", "jsonpatch", "schema"];

/// Who may serve HTTP; the binary lends its socket to others.
pub(crate) const HTTP_SERVERS: &[&str] = &[
    "hyperplane",
    "hyperplane-apiserver",
    "hyperplane-console",
    "hyperplane-ignition",
    "hyperplane-sidecars",
];

/// Who may call HTTP other than through the client that the runtime hands out.
pub(crate) const HTTP_CALLERS: &[&str] = &[
    "hyperplane-apiserver",
    "hyperplane-releases",
    "hyperplane-runtime",
    "hyperplane-sidecars",
    "hyperplane-testbed",
    "hyperplane-twin",
];

/// Crates that are unsafe, abandoned, or a second way to do what we have one for. None may be built.
pub(crate) const BANNED: &[&str] = &["bincode", "native-tls", "openssl-sys", "ring", "serde_yaml"];

/// What the lock file must not name. It names `ring` although nothing builds it: cargo locks what a feature that
/// nobody turns on would need.
pub(crate) const BANNED_IN_LOCK: &[&str] = &["bincode", "native-tls", "openssl-sys", "serde_yaml"];

/// The layer of a crate.
pub(crate) fn layer_of(name: &str) -> Option<Layer> {
    CRATES.iter().find(|(known, _)| *known == name).map(|(_, layer)| *layer)
}

/// Whether a crate of one layer may know a crate of another.
pub(crate) fn may_know(from: Layer, to: Layer, to_name: &str) -> bool {
    match from {
        Layer::Types => to == Layer::Types,
        Layer::Domain => PURE.contains(&to),
        Layer::Operator => PURE.contains(&to) || KNOWN_TO_OPERATORS.contains(&to_name),
        Layer::Ground => PURE.contains(&to) || to == Layer::Ground,
        Layer::People => to != Layer::Tools,
        Layer::Tools => true,
    }
}
