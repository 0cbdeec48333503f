//! How a control plane is reached from outside: which Services publish it, and where clients find them.

use hyperplane_api::hypershift::hosted_control_plane::HostedControlPlane;
use k8s_openapi::api::core::v1::Service;

use crate::inputs::Management;

/// A host and a port.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Endpoint {
    /// A host name or an address.
    pub host: String,
    /// The port.
    pub port: u16,
}

/// Where the parts of a control plane are reached from outside; what is not known yet is absent.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Infrastructure {
    /// The API server.
    pub api_server: Option<Endpoint>,
    /// Konnectivity, by agents.
    pub konnectivity: Option<Endpoint>,
    /// The ignition server, by machines.
    pub ignition: Option<Endpoint>,
    /// What is missing and who has to give it, in sentences. Empty means that the infrastructure is ready.
    pub missing: Vec<String>,
}

/// The Services that publish a control plane.
pub fn published_services(control_plane: &HostedControlPlane, management: &Management) -> Vec<Service> {
    let _ = (control_plane, management);
    todo!()
}

/// Where the control plane is reached, by what is asked for and what the live Services have got.
pub fn observe(control_plane: &HostedControlPlane, management: &Management, services: &[&Service]) -> Infrastructure {
    let _ = (control_plane, management, services);
    todo!()
}
