//! TLS profiles: what the words in `tlsSecurityProfile` stand for, as programs written in Go take it. Servers of a
//! control plane and kubelets read them alike.

use super::tls_security_profile::{CustomTlsProfile, TlsProfileType, TlsSecurityProfile, TlsVersion};

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

/// Those of the list that Go calls insecure.
const INSECURE: &[&str] = &[
    "TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA256",
    "TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA256",
    "TLS_RSA_WITH_AES_128_GCM_SHA256",
    "TLS_RSA_WITH_AES_256_GCM_SHA384",
    "TLS_RSA_WITH_AES_128_CBC_SHA256",
    "TLS_RSA_WITH_AES_128_CBC_SHA",
    "TLS_RSA_WITH_AES_256_CBC_SHA",
    "TLS_RSA_WITH_3DES_EDE_CBC_SHA",
];

/// The ciphers of which HTTP/2 needs one below TLS 1.3, by the kind of the certificate: without, a server in Go does not
/// start.
const REQUIRED: &[&str] = &[
    "TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256",
    "TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256",
];

/// The version in which ciphers cannot be chosen.
const NEWEST: &str = "VersionTLS13";

/// How many of the table profile Intermediate offers; profile Old offers all.
const INTERMEDIATE: usize = 6;

/// Versions of TLS that can be the oldest one.
const VERSIONS: &[&str] = &["VersionTLS10", "VersionTLS11", "VersionTLS12", NEWEST];

/// What a server offers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TlsProfile {
    /// The oldest version.
    pub oldest: &'static str,
    /// The ciphers before TLS 1.3; none where only that is offered.
    pub ciphers: Vec<&'static str>,
}

impl TlsProfile {
    /// Reads a profile; Intermediate where none is chosen. What no program offers is left out.
    pub fn of(profile: Option<&TlsSecurityProfile>) -> Self {
        match profile.and_then(|profile| profile.profile_type.as_ref()) {
            Some(TlsProfileType::Old) => Self::listed("VersionTLS10", CIPHERS.len()),
            Some(TlsProfileType::Modern) => Self::listed(NEWEST, 0),
            Some(TlsProfileType::Custom) => Self::custom(profile.and_then(|profile| profile.custom.as_ref())),
            Some(TlsProfileType::Intermediate | TlsProfileType::Unrecognised(_)) | None => {
                Self::listed("VersionTLS12", INTERMEDIATE)
            }
        }
    }

    fn custom(custom: Option<&CustomTlsProfile>) -> Self {
        let oldest = VERSIONS.iter().find(|version| **version == oldest(custom)).copied();
        let oldest = oldest.unwrap_or("VersionTLS12");
        if oldest == NEWEST {
            return Self::listed(NEWEST, 0);
        }
        if !names(custom).any(is_known) {
            return Self::listed(oldest, INTERMEDIATE);
        }
        let mut ciphers = chosen(custom);
        if lacks_required(&ciphers) {
            ciphers.splice(0..0, REQUIRED.iter().copied());
        }
        Self { oldest, ciphers }
    }

    fn listed(oldest: &'static str, count: usize) -> Self {
        Self {
            oldest,
            ciphers: CIPHERS.iter().take(count).map(|(_, ours)| *ours).collect(),
        }
    }

    /// The ciphers that a program takes which refuses the insecure ones.
    pub fn secure_ciphers(&self) -> Vec<&'static str> {
        let is_secure = |name: &&&str| !INSECURE.contains(name);
        self.ciphers.iter().filter(is_secure).copied().collect()
    }
}

/// What is left out of a profile, and what is added, each with the path at which the profile stands.
pub fn warnings(profile: Option<&TlsSecurityProfile>, path: &str) -> Vec<String> {
    match profile.and_then(|profile| profile.profile_type.as_ref()) {
        Some(TlsProfileType::Custom) => {
            let custom = profile.and_then(|profile| profile.custom.as_ref());
            custom_warnings(custom, &format!("{path}.custom"))
        }
        Some(TlsProfileType::Unrecognised(other)) if !other.is_empty() => {
            vec![format!(
                "{path}.type {other}: choose Old, Intermediate, Modern or Custom"
            )]
        }
        Some(_) | None => Vec::new(),
    }
}

fn custom_warnings(custom: Option<&CustomTlsProfile>, path: &str) -> Vec<String> {
    let mut warnings = Vec::new();
    let oldest = oldest(custom);
    if !VERSIONS.contains(&oldest) {
        let versions = VERSIONS.join(", ");
        warnings.push(format!("{path}.minTLSVersion must be one of {versions}"));
    }
    let unknown = names(custom).filter(|name| !is_known(name));
    warnings.extend(unknown.map(|name| format!("{path}.ciphers: {name} is not offered by any program")));
    if oldest == NEWEST {
        return warnings;
    }
    if !names(custom).any(is_known) {
        warnings.push(format!(
            "{path}.ciphers: none is known, and those of Intermediate are used"
        ));
    } else if lacks_required(&chosen(custom)) {
        let required = REQUIRED.join(" and ");
        warnings.push(format!(
            "{path}.ciphers: {required} are added, as HTTP/2 needs one of them"
        ));
    }
    warnings
}

/// The oldest version that is asked for; empty where none is.
fn oldest(custom: Option<&CustomTlsProfile>) -> &str {
    let version = custom.and_then(|custom| custom.min_tls_version.as_ref());
    version.map(TlsVersion::as_str).unwrap_or_default()
}

/// The ciphers that are asked for.
fn names(custom: Option<&CustomTlsProfile>) -> impl Iterator<Item = &str> {
    let ciphers = custom.into_iter().flat_map(|custom| &custom.ciphers);
    ciphers.map(String::as_str)
}

/// Those of them that can be chosen.
fn chosen(custom: Option<&CustomTlsProfile>) -> Vec<&'static str> {
    let wanted: Vec<&str> = names(custom).collect();
    let is_wanted = |(theirs, ours): &&(&str, &str)| wanted.contains(theirs) || wanted.contains(ours);
    let chosen = CIPHERS.iter().filter(is_wanted);
    chosen.map(|(_, ours)| *ours).collect()
}

/// Whether a cipher is offered by programs, chosen or, as those of TLS 1.3, always.
fn is_known(name: &str) -> bool {
    name.starts_with("TLS_AES_")
        || name.starts_with("TLS_CHACHA20_")
        || CIPHERS.iter().any(|(theirs, ours)| *theirs == name || *ours == name)
}

fn lacks_required(ciphers: &[&str]) -> bool {
    !ciphers.iter().any(|cipher| REQUIRED.contains(cipher))
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    #[test]
    fn profiles_become_versions_and_ciphers() {
        let custom = |oldest: &str, cipher: &str| json!({"type": "Custom", "custom": {"minTLSVersion": oldest, "ciphers": [cipher]}});
        let cases = [
            (Value::Null, "VersionTLS12", 6, 6),
            (json!({"type": "Intermediate"}), "VersionTLS12", 6, 6),
            (json!({"type": "Old"}), "VersionTLS10", 18, 10),
            (json!({"type": "Modern"}), NEWEST, 0, 0),
            (custom(NEWEST, "a"), NEWEST, 0, 0),
            (custom("VersionTLS11", "a"), "VersionTLS11", 6, 6),
            (custom("", "ECDHE-RSA-AES256-SHA"), "VersionTLS12", 3, 3),
            // A list of which a careful program takes none must not become one that it chooses itself.
            (custom("VersionTLS12", "AES128-SHA"), "VersionTLS12", 3, 2),
        ];
        for (profile, oldest, count, secure) in cases {
            let typed: Option<TlsSecurityProfile> = hyperplane_objects::read(&profile).unwrap();
            let found = TlsProfile::of(typed.as_ref());
            let counts = (found.oldest, found.ciphers.len(), found.secure_ciphers().len());
            assert_eq!(counts, (oldest, count, secure), "{profile}");
        }
    }
}
