//! Identity providers that check a name and a password: a file, a server that takes basic authentication, Keystone.

use serde::{Deserialize, Serialize};

use crate::schema::JsonSchema;

use super::super::reference::{ConfigMapNameReference, SecretNameReference};

/// Names and passwords in a file.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct HtpasswdIdentityProvider {
    /// The Secret with the file under key htpasswd. Without it the provider is left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file_data: Option<SecretNameReference>,
}

/// A server that checks name and password by HTTP basic authentication.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct BasicAuthIdentityProvider {
    /// The address that is asked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    /// The ConfigMap with the authorities of the server under key ca.crt; unset means those of the system.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ca: Option<ConfigMapNameReference>,
    /// The Secret with the certificate that the server is shown, under key tls.crt.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tls_client_cert: Option<SecretNameReference>,
    /// The Secret with the private key of that certificate, under key tls.key.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tls_client_key: Option<SecretNameReference>,
}

/// Keystone, the identity service of OpenStack.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct KeystoneIdentityProvider {
    /// The address of the service.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    /// The domain that users belong to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub domain_name: Option<String>,
    /// The ConfigMap with the authorities of the server under key ca.crt; unset means those of the system.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ca: Option<ConfigMapNameReference>,
    /// The Secret with the certificate that the server is shown, under key tls.crt.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tls_client_cert: Option<SecretNameReference>,
    /// The Secret with the private key of that certificate, under key tls.key.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tls_client_key: Option<SecretNameReference>,
}
