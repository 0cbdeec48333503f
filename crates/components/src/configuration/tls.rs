//! TLS profiles as the servers of a control plane take them. What they stand for is said where their words are.

use hyperplane_api::hypershift::configuration::{
    tls_profile::{self, TlsProfile},
    tls_security_profile::TlsSecurityProfile,
};
use k8s_openapi::api::core::v1::Container;

use crate::{flags, inputs::Inputs};

const PATH: &str = "configuration.apiServer.tlsSecurityProfile";

/// The profile of a control plane; Intermediate where none is chosen.
pub(crate) fn profile(inputs: &Inputs<'_>) -> TlsProfile {
    TlsProfile::of(chosen(inputs))
}

/// Sets the flags that all programs of Kubernetes share.
pub(crate) fn set(inputs: &Inputs<'_>, container: &mut Container) {
    let profile = profile(inputs);
    flags::set(container, "tls-min-version", profile.oldest);
    if !profile.ciphers.is_empty() {
        flags::set(container, "tls-cipher-suites", profile.ciphers.join(","));
    }
}

/// What is left out of the profile, and what is added.
pub(crate) fn warnings(inputs: &Inputs<'_>) -> Vec<String> {
    tls_profile::warnings(chosen(inputs), PATH)
}

fn chosen<'a>(inputs: &Inputs<'a>) -> Option<&'a TlsSecurityProfile> {
    inputs.api_server()?.tls_security_profile.as_ref()
}
