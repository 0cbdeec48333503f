//! The choice of a TLS profile, as API servers and kubelets are told it.

use serde::{Deserialize, Serialize};

use crate::{
    schema::{FeatureGate, JsonSchema, atomic, gated, list_set, nullable},
    text::string_enum,
};

string_enum! {
    /// A selection of TLS versions and ciphers, after Mozilla's recommendations for servers.
    pub enum TlsProfileType {
        /// For very old clients: everything from TLS 1.0.
        Old,
        /// For most clients: safe ciphers from TLS 1.2.
        Intermediate,
        /// For new clients: TLS 1.3 alone.
        Modern,
        /// What custom lists.
        Custom,
    }
}

string_enum! {
    /// A version of TLS.
    pub enum TlsVersion {
        /// TLS 1.0.
        Tls10 = "VersionTLS10",
        /// TLS 1.1.
        Tls11 = "VersionTLS11",
        /// TLS 1.2.
        Tls12 = "VersionTLS12",
        /// TLS 1.3.
        Tls13 = "VersionTLS13",
    }
}

string_enum! {
    /// A group in which the two sides of a TLS connection exchange keys.
    pub enum TlsGroup {
        /// X25519.
        X25519,
        /// NIST P-256.
        Secp256r1 = "secp256r1",
        /// NIST P-384.
        Secp384r1 = "secp384r1",
        /// NIST P-521.
        Secp521r1 = "secp521r1",
        /// X25519 together with ML-KEM-768, which a quantum computer does not break.
        X25519Mlkem768 = "X25519MLKEM768",
        /// P-256 together with ML-KEM-768, which a quantum computer does not break.
        SecP256r1Mlkem768 = "SecP256r1MLKEM768",
        /// P-384 together with ML-KEM-1024, which a quantum computer does not break.
        SecP384r1Mlkem1024 = "SecP384r1MLKEM1024",
    }
}

/// Which TLS versions and ciphers a server offers.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TlsSecurityProfile {
    /// The selection; unset means Intermediate.
    #[serde(rename = "type", skip_serializing_if = "Option::is_none")]
    pub profile_type: Option<TlsProfileType>,
    /// Stands beside type Old; has no settings.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(transform = nullable())]
    pub old: Option<NamedTlsProfile>,
    /// Stands beside type Intermediate; has no settings.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(transform = nullable())]
    pub intermediate: Option<NamedTlsProfile>,
    /// Stands beside type Modern; has no settings.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(transform = nullable())]
    pub modern: Option<NamedTlsProfile>,
    /// Versions and ciphers, for type Custom. A wrong choice locks clients out.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(transform = nullable())]
    pub custom: Option<CustomTlsProfile>,
}

/// A profile whose content its name tells.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
pub struct NamedTlsProfile {}

/// Versions and ciphers one by one.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CustomTlsProfile {
    /// Ciphers by the names of OpenSSL, such as ECDHE-RSA-AES128-GCM-SHA256. Those that a program does not have are left
    /// out.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(transform = atomic())]
    pub ciphers: Vec<String>,
    /// Groups in which keys are exchanged; unset means what each program chooses.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(
        length(min = 1, max = 7),
        transform = list_set(),
        transform = gated(FeatureGate::TlsGroupPreferences),
    )]
    pub groups: Vec<TlsGroup>,
    /// The oldest version that is offered.
    #[serde(rename = "minTLSVersion", skip_serializing_if = "Option::is_none")]
    pub min_tls_version: Option<TlsVersion>,
}
