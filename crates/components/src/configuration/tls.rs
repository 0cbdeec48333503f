//! TLS profiles: the oldest version and the ciphers that servers of a control plane offer.

use k8s_openapi::api::core::v1::Container;

use super::texts;
use crate::{flags, inputs::Inputs};

/// Ciphers by the name that profiles use and the name that programs in Go use. What Go does not have is not listed, and
/// not offered. Those of TLS 1.3 cannot be chosen and are left out too.
const CIPHERS: &[(&str, &str)] = &[
    (
        "ECDHE-ECDSA-AES128-GCM-SHA256",
        "TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256",
    ),
    ("ECDHE-RSA-AES128-GCM-SHA256", "TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256"),
    (
        "ECDHE-ECDSA-AES256-GCM-SHA384",
        "TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384",
    ),
    ("ECDHE-RSA-AES256-GCM-SHA384", "TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384"),
    (
        "ECDHE-ECDSA-CHACHA20-POLY1305",
        "TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256",
    ),
    (
        "ECDHE-RSA-CHACHA20-POLY1305",
        "TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256",
    ),
    ("ECDHE-ECDSA-AES128-SHA256", "TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA256"),
    ("ECDHE-RSA-AES128-SHA256", "TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA256"),
    ("ECDHE-ECDSA-AES128-SHA", "TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA"),
    ("ECDHE-RSA-AES128-SHA", "TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA"),
    ("ECDHE-ECDSA-AES256-SHA", "TLS_ECDHE_ECDSA_WITH_AES_256_CBC_SHA"),
    ("ECDHE-RSA-AES256-SHA", "TLS_ECDHE_RSA_WITH_AES_256_CBC_SHA"),
    ("AES128-GCM-SHA256", "TLS_RSA_WITH_AES_128_GCM_SHA256"),
    ("AES256-GCM-SHA384", "TLS_RSA_WITH_AES_256_GCM_SHA384"),
    ("AES128-SHA256", "TLS_RSA_WITH_AES_128_CBC_SHA256"),
    ("AES128-SHA", "TLS_RSA_WITH_AES_128_CBC_SHA"),
    ("AES256-SHA", "TLS_RSA_WITH_AES_256_CBC_SHA"),
    ("DES-CBC3-SHA", "TLS_RSA_WITH_3DES_EDE_CBC_SHA"),
];

/// How many of the table profile Intermediate offers; profile Old offers all.
const INTERMEDIATE: usize = 6;

/// Versions of TLS that can be the oldest one.
const VERSIONS: &[&str] = &["VersionTLS10", "VersionTLS11", "VersionTLS12", "VersionTLS13"];

/// What servers offer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct TlsProfile {
    /// The oldest version.
    pub oldest: &'static str,
    /// The ciphers before TLS 1.3; none where only that is offered.
    pub ciphers: Vec<&'static str>,
}

impl TlsProfile {
    /// The profile of a control plane; Intermediate where none is chosen.
    pub(crate) fn of(inputs: &Inputs<'_>) -> Self {
        let profile = inputs.configuration(&["apiServer", "tlsSecurityProfile"]);
        match profile["type"].as_str() {
            Some("Old") => Self::listed("VersionTLS10", CIPHERS.len()),
            Some("Modern") => Self::listed("VersionTLS13", 0),
            Some("Custom") => {
                let oldest = profile["custom"]["minTLSVersion"].as_str();
                let oldest = VERSIONS.iter().find(|version| Some(**version) == oldest).copied();
                let wanted: Vec<&str> = texts(&profile["custom"]["ciphers"]).collect();
                let is_wanted = |(theirs, ours): &&(&str, &str)| wanted.contains(theirs) || wanted.contains(ours);
                let ciphers = CIPHERS.iter().filter(is_wanted).map(|(_, ours)| *ours);
                Self {
                    oldest: oldest.unwrap_or("VersionTLS12"),
                    ciphers: ciphers.collect(),
                }
            }
            _ => Self::listed("VersionTLS12", INTERMEDIATE),
        }
    }

    fn listed(oldest: &'static str, count: usize) -> Self {
        Self {
            oldest,
            ciphers: CIPHERS.iter().take(count).map(|(_, ours)| *ours).collect(),
        }
    }

    /// Sets the flags that all programs of Kubernetes share.
    pub(crate) fn set(&self, container: &mut Container) {
        flags::set(container, "tls-min-version", self.oldest);
        if !self.ciphers.is_empty() {
            flags::set(container, "tls-cipher-suites", self.ciphers.join(","));
        }
    }
}

/// What is left out of a profile.
pub(crate) fn warnings(inputs: &Inputs<'_>) -> Vec<String> {
    let profile = inputs.configuration(&["apiServer", "tlsSecurityProfile"]);
    let path = "configuration.apiServer.tlsSecurityProfile";
    let mut warnings = Vec::new();
    match profile["type"].as_str() {
        None | Some("" | "Old" | "Intermediate" | "Modern") => {}
        Some("Custom") => {
            let oldest = profile["custom"]["minTLSVersion"].as_str().unwrap_or_default();
            if !VERSIONS.contains(&oldest) {
                warnings.push(format!(
                    "{path}.custom.minTLSVersion must be one of {}",
                    VERSIONS.join(", ")
                ));
            }
            let is_known = |name: &&str| {
                name.starts_with("TLS_AES_")
                    || name.starts_with("TLS_CHACHA20_")
                    || CIPHERS.iter().any(|(theirs, ours)| theirs == name || ours == name)
            };
            let unknown = texts(&profile["custom"]["ciphers"]).filter(|name| !is_known(name));
            warnings.extend(unknown.map(|name| format!("{path}.custom.ciphers: {name} is not offered by any program")));
        }
        Some(other) => warnings.push(format!(
            "{path}.type {other}: choose Old, Intermediate, Modern or Custom"
        )),
    }
    warnings
}
