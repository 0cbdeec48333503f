//! The part of the configuration that concerns the API servers.

pub mod audit;
pub mod encryption;
pub mod vault;

use serde::{Deserialize, Serialize};

use self::{audit::ApiServerAudit, encryption::ApiServerEncryption};
use super::{
    reference::{ConfigMapNameReference, SecretNameReference},
    tls_security_profile::TlsSecurityProfile,
};
use crate::{
    schema::{FeatureGate, JsonSchema, atomic, gated, rule},
    text::string_enum,
};

string_enum! {
    /// Which components follow tlsSecurityProfile.
    pub enum TlsAdherence {
        /// Those that always did.
        LegacyAdheringComponentsOnly,
        /// All of them.
        StrictAllComponents,
    }
}

/// What all API servers of the hosted cluster share.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(transform = rule(
    "has(self.tlsAdherence) || !has(oldSelf.tlsAdherence)",
    "tlsAdherence cannot be removed after it has been set",
).only_with(FeatureGate::TlsAdherence))]
pub struct ApiServerConfiguration {
    /// Certificates that the API servers show beside their own.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub serving_certs: Option<ApiServerServingCertificates>,
    /// The ConfigMap with an authority for certificates of clients, in its key ca-bundle.crt, that is trusted beside
    /// those of the cluster.
    #[serde(rename = "clientCA", skip_serializing_if = "Option::is_none")]
    pub client_ca: Option<ConfigMapNameReference>,
    /// Regular expressions for hosts whose pages in a browser may call the API servers.
    #[serde(
        rename = "additionalCORSAllowedOrigins",
        default,
        skip_serializing_if = "Vec::is_empty"
    )]
    #[schemars(transform = atomic())]
    pub additional_cors_allowed_origins: Vec<String>,
    /// How stored data is encrypted. A hosted cluster asks for that by spec.secretEncryption instead.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub encryption: Option<ApiServerEncryption>,
    /// Which TLS versions and ciphers are offered; unset means profile Intermediate.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tls_security_profile: Option<TlsSecurityProfile>,
    /// Which components follow tlsSecurityProfile; stays once it is set.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(transform = gated(FeatureGate::TlsAdherence))]
    pub tls_adherence: Option<TlsAdherence>,
    /// What is written to the audit log.
    #[serde(default)]
    pub audit: ApiServerAudit,
}

/// Certificates that the API servers show beside their own.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ApiServerServingCertificates {
    /// Certificates by the name that a client asks for; a client that asks for none of them gets the default one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 32), transform = atomic())]
    pub named_certificates: Vec<NamedCertificate>,
}

/// A certificate and the names that it is shown for.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct NamedCertificate {
    /// Host names, the first part of which may be a wildcard; none means those that the certificate itself names.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 64), transform = atomic())]
    pub names: Vec<String>,
    /// The Secret with the certificate and its key, in its keys tls.crt and tls.key.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub serving_certificate: Option<SecretNameReference>,
}
