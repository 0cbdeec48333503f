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
    /// What the spec changes in its workload.
    pub adapt: fn(&Inputs<'_>, &mut Workload),
    /// As which service account of the hosted cluster it acts there, if it does.
    pub hosted_service_account: Option<HostedServiceAccount>,
}

/// One manifest of a component.
#[derive(Debug)]
pub struct Asset {
    /// The name of its file.
    pub file: &'static str,
    /// Its text.
    pub text: &'static str,
    /// Whether a control plane that has the component has this, too.
    pub predicate: fn(&Inputs<'_>) -> bool,
    /// What the spec changes in it.
    pub adapt: fn(&Inputs<'_>, &mut Manifest),
}

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
#[allow(clippy::struct_excessive_bools, reason = "each is a claim of its own, and a table reads best with their names")]
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

/// A service account of the hosted cluster.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HostedServiceAccount {
    /// Its namespace.
    pub namespace: &'static str,
    /// Its name.
    pub name: &'static str,
}
