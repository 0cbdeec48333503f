//! What can be chosen when Hyperplane is installed, and the judgement of it.

use hyperplane_api::schema::FeatureSet;
use thiserror::Error;

/// The namespace of the manager if nothing else is asked for.
pub const NAMESPACE: &str = "hyperplane";

/// The image that releases of this program are published under.
pub const DEFAULT_IMAGE: &str = concat!("hyperplane.dev/hyperplane:v", env!("CARGO_PKG_VERSION"));

/// One works and the other waits: the death of a machine costs a few seconds.
const REPLICAS: u32 = 2;
/// The most replicas: all but one only wait.
const MOST_REPLICAS: u32 = 5;
/// The longest name of a namespace (RFC 1123 label).
const LONGEST_NAMESPACE: usize = 63;
/// The longest scope: it is part of the name of a lease.
const LONGEST_SCOPE: usize = 40;

/// Who makes and removes the machines of hosted clusters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum MachineManager {
    /// Controllers of ours beside the other operators, for all control planes. No manager of Cluster API runs in their
    /// namespaces.
    #[default]
    Hyperplane,
    /// The same controllers, in a process of their own with rights of its own.
    Separate,
    /// A manager of Cluster API in the namespace of each control plane, from its release.
    ClusterApi,
}

impl MachineManager {
    /// The word for it on command lines.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Hyperplane => "hyperplane",
            Self::Separate => "separate",
            Self::ClusterApi => "cluster-api",
        }
    }

    /// Whether controllers of ours do it, in whichever process.
    pub const fn is_ours(self) -> bool {
        matches!(self, Self::Hyperplane | Self::Separate)
    }
}

/// Where the operators of a control plane run if its cluster does not say.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TenantOperators {
    /// In the process of the manager, for all control planes.
    #[default]
    Shared,
    /// In the namespace of each control plane.
    Dedicated,
}

impl TenantOperators {
    /// The word for it on command lines and in the annotation of a cluster.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Shared => "shared",
            Self::Dedicated => "dedicated",
        }
    }
}

/// Which kinds are defined.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Kinds {
    /// Ours, those of Cluster API and those of its providers that we write.
    #[default]
    All,
    /// All but those of providers, who bring their own.
    WithoutProviders,
    /// Ours only: Cluster API is installed already.
    Own,
    /// None: somebody else writes them.
    Nothing,
}

/// When nodes ask a registry for the image.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PullPolicy {
    /// Where they have none.
    #[default]
    IfNotPresent,
    /// At every start.
    Always,
    /// Never: it is there already.
    Never,
}

impl PullPolicy {
    /// The word of the API.
    pub const fn word(self) -> &'static str {
        match self {
            Self::IfNotPresent => "IfNotPresent",
            Self::Always => "Always",
            Self::Never => "Never",
        }
    }
}

/// What can be chosen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Options {
    /// The namespace of the operators.
    pub namespace: String,
    /// The image of this program, for the operators and for what runs in control planes.
    pub image: String,
    /// When nodes ask a registry for it.
    pub pull_policy: PullPolicy,
    /// How many processes of each operator there are. One of them works.
    pub replicas: u32,
    /// Which fields and kinds are published.
    pub feature_set: FeatureSet,
    /// Which kinds are defined.
    pub kinds: Kinds,
    /// The clusters that these operators are for, by their annotation of scope; all of them where nothing is said.
    pub scope: Option<String>,
    /// Who makes and removes machines.
    pub machines: MachineManager,
    /// Where the operators of a control plane run if its cluster does not say.
    pub tenant_operators: TenantOperators,
    /// Whether Prometheus is told of the operators. Needs the kinds of its operator.
    pub monitoring: bool,
    /// Namespaces whose pods may collect metrics of hosted control planes.
    pub monitoring_namespaces: Vec<String>,
    /// Networks of the management cluster that hosted control planes must not reach.
    pub management_networks: Vec<String>,
    /// The platform that the management cluster runs on, where it does not say so itself.
    pub management_platform: Option<String>,
    /// The domain for endpoints that are published by Route without a hostname.
    pub ingress_domain: Option<String>,
    /// What machines of KubeVirt start from where neither their pool nor its release says.
    pub boot_image: Option<String>,
    /// Further arguments of the manager.
    pub extra_arguments: Vec<String>,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            namespace: NAMESPACE.to_owned(),
            image: DEFAULT_IMAGE.to_owned(),
            pull_policy: PullPolicy::default(),
            replicas: REPLICAS,
            feature_set: FeatureSet::Default,
            kinds: Kinds::default(),
            scope: None,
            machines: MachineManager::default(),
            tenant_operators: TenantOperators::default(),
            monitoring: false,
            monitoring_namespaces: Vec::new(),
            management_networks: Vec::new(),
            management_platform: None,
            ingress_domain: None,
            boot_image: None,
            extra_arguments: Vec::new(),
        }
    }
}

/// What cannot be installed.
#[derive(Debug, Error, PartialEq, Eq)]
pub enum OptionsError {
    /// The namespace cannot be one.
    #[error(
        "{0:?} cannot be the name of a namespace: use at most {LONGEST_NAMESPACE} of a-z, 0-9 and -, with none of the last \
         at an end"
    )]
    Namespace(String),
    /// The scope cannot be part of a name.
    #[error("{0:?} cannot be a scope: use at most {LONGEST_SCOPE} of a-z, 0-9 and -, with none of the last at an end")]
    Scope(String),
    /// Nobody would work, or too many would wait.
    #[error("{0} replicas of an operator are not possible: use 1 to {MOST_REPLICAS}, of which one works")]
    Replicas(u32),
    /// There is no image.
    #[error("the image has no name: say which image holds this program")]
    Image,
    /// Not a network.
    #[error("{network:?} is no network: {why}")]
    Network {
        /// What was given.
        network: String,
        /// What is wrong with it.
        why: String,
    },
}

impl Options {
    /// The first of the choices that cannot be.
    pub fn check(&self) -> Result<(), OptionsError> {
        if !is_name(&self.namespace, LONGEST_NAMESPACE) {
            return Err(OptionsError::Namespace(self.namespace.clone()));
        }
        if let Some(scope) = self.scope.as_ref().filter(|scope| !is_name(scope, LONGEST_SCOPE)) {
            return Err(OptionsError::Scope(scope.clone()));
        }
        if !(1..=MOST_REPLICAS).contains(&self.replicas) {
            return Err(OptionsError::Replicas(self.replicas));
        }
        if self.image.trim().is_empty() {
            return Err(OptionsError::Image);
        }
        for network in &self.management_networks {
            hyperplane_hosted_cluster::check_network(network).map_err(|why| OptionsError::Network {
                network: network.clone(),
                why,
            })?;
        }
        Ok(())
    }

    /// A name outside of all namespaces. Installations in several namespaces have objects of their own.
    pub(crate) fn global_name(&self, name: &str) -> String {
        if self.namespace == NAMESPACE {
            format!("{NAMESPACE}-{name}")
        } else {
            format!("{NAMESPACE}-{name}-{}", self.namespace)
        }
    }
}

/// Whether a text can be a name, or a part of one.
fn is_name(text: &str, longest: usize) -> bool {
    let is_word = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
    let has_ends = text.bytes().next().is_some_and(is_word) && text.bytes().next_back().is_some_and(is_word);
    has_ends && text.len() <= longest && text.bytes().all(|byte| is_word(byte) || byte == b'-')
}
