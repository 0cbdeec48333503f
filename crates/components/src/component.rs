//! What a component is: data, with functions only where data does not suffice.

use crate::{
    inputs::Inputs,
    manifest::{Manifest, Workload},
};

/// One component of a hosted control plane.
#[derive(Debug)]
pub struct Component {
    /// Its name, and that of its workload.
    pub name: &'static str,
    /// What kind of workload it is.
    pub kind: WorkloadKind,
    /// Its manifests: our own YAML, in which an image is named as the release names the component, and `hyperplane` for
    /// this program.
    pub assets: &'static [Asset],
    /// The components that it waits for, besides the API server.
    pub dependencies: &'static [&'static str],
    /// What is special about it.
    pub traits: Traits,
    /// Whether a control plane has it. That the release carries its images is asked besides.
    pub predicate: fn(&Inputs<'_>) -> bool,
    /// What it waits for besides components and the objects that it mounts, in sentences: what its manifests are made
    /// from, and choices that cannot be carried out.
    pub waits: fn(&Inputs<'_>) -> Vec<String>,
    /// What was asked of it in a way that cannot be understood and is therefore left out, in sentences.
    pub warnings: fn(&Inputs<'_>) -> Vec<String>,
    /// What the spec changes in its workload.
    pub adapt: fn(&Inputs<'_>, &mut Workload),
    /// What depends on what runs already, besides: given the live workload, it completes what is rendered and says what
    /// is waited for. (Almost everything depends on the inputs alone.)
    pub follow: fn(&Inputs<'_>, Option<&Workload>, &mut [Manifest], &mut Workload) -> Vec<String>,
    /// Containers of ours that its pods run besides their own.
    pub sidecars: &'static [Sidecar],
    /// As which service account of the hosted cluster it acts there, if it does.
    pub hosted_service_account: Option<HostedServiceAccount>,
}

impl Component {
    /// A component with nothing special about it.
    pub const fn new(name: &'static str, kind: WorkloadKind, assets: &'static [Asset]) -> Self {
        Self {
            name,
            kind,
            assets,
            dependencies: &[],
            traits: Traits::ORDINARY,
            predicate: always,
            waits: nothing,
            warnings: nothing,
            adapt: as_it_is,
            follow: follows_nothing,
            sidecars: &[],
            hosted_service_account: None,
        }
    }
}

/// One manifest of a component.
#[derive(Debug)]
pub struct Asset {
    /// The name of its file, with its folder.
    pub file: &'static str,
    /// Its text.
    pub text: &'static str,
    /// Whether a control plane that has the component has this, too.
    pub predicate: fn(&Inputs<'_>) -> bool,
    /// What the spec changes in it. The workload is changed by its component instead.
    pub adapt: fn(&Inputs<'_>, &mut Manifest),
}

impl Asset {
    /// A manifest that every control plane with the component has as it is.
    pub const fn new(file: &'static str, text: &'static str) -> Self {
        Self {
            file,
            text,
            predicate: always,
            adapt: manifest_as_it_is,
        }
    }

    /// The same, only where the predicate holds.
    pub const fn when(mut self, predicate: fn(&Inputs<'_>) -> bool) -> Self {
        self.predicate = predicate;
        self
    }

    /// The same, changed by the spec.
    pub const fn adapted(mut self, adapt: fn(&Inputs<'_>, &mut Manifest)) -> Self {
        self.adapt = adapt;
        self
    }
}

/// An [`Asset`] from a file under `src/assets`.
macro_rules! asset {
    ($file:literal) => {
        $crate::component::Asset::new(
            $file,
            include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/src/assets/", $file)),
        )
    };
}

pub(crate) use asset;

/// The kind of a workload.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WorkloadKind {
    /// A Deployment.
    Deployment,
    /// A StatefulSet.
    StatefulSet,
    /// A Job.
    Job,
    /// A CronJob.
    CronJob,
}

/// What is special about a component. (Fields are claims; the default is an ordinary one.)
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[allow(
    clippy::struct_excessive_bools,
    reason = "each is a claim of its own, and a table reads best with their names"
)]
pub struct Traits {
    /// It is on the way of a request.
    pub is_request_serving: bool,
    /// Its replicas are spread over zones.
    pub is_spread: bool,
    /// It talks to the API of the management cluster.
    pub needs_management_api: bool,
    /// Without it an API request fails.
    pub is_api_critical: bool,
    /// It is part of what runs before the API server does, and does not wait for it.
    pub precedes_api_server: bool,
    /// It has three replicas where others have two.
    pub has_three_replicas: bool,
}

impl Traits {
    /// Nothing is special.
    pub const ORDINARY: Self = Self {
        is_request_serving: false,
        is_spread: false,
        needs_management_api: false,
        is_api_critical: false,
        precedes_api_server: false,
        has_three_replicas: false,
    };
}

/// A container of ours in the pods of a component. Those that act towards the hosted API server use the volume
/// `kubeconfig` of the pod, which every such component has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sidecar {
    /// Lets nothing else start before the hosted API server is ready and serves these, each as group/version/kind.
    AvailabilityProber(&'static [&'static str]),
    /// Keeps a token of the component's service account in the hosted cluster fresh, for one audience, in a file of an
    /// emptyDir volume that the component mounts.
    TokenMinter {
        /// For whom the token is.
        audience: &'static str,
        /// The volume with the token.
        volume: &'static str,
    },
    /// An HTTP proxy on port 8090 of the pod that leads into the hosted cluster's network.
    KonnectivityHttpsProxy,
    /// A SOCKS5 proxy on port 8094 of the pod that leads into the hosted cluster's network.
    KonnectivitySocks5Proxy,
}

/// A service account of the hosted cluster.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HostedServiceAccount {
    /// Its namespace.
    pub namespace: &'static str,
    /// Its name.
    pub name: &'static str,
}

fn always(_: &Inputs<'_>) -> bool {
    true
}

fn nothing(_: &Inputs<'_>) -> Vec<String> {
    Vec::new()
}

fn follows_nothing(_: &Inputs<'_>, _: Option<&Workload>, _: &mut [Manifest], _: &mut Workload) -> Vec<String> {
    Vec::new()
}

fn as_it_is(_: &Inputs<'_>, _: &mut Workload) {}

fn manifest_as_it_is(_: &Inputs<'_>, _: &mut Manifest) {}
