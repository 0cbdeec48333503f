//! HashiCorp Vault as the key service of the API servers.

use serde::{Deserialize, Serialize};

use crate::{
    hypershift::configuration::reference::{ConfigMapReference, SecretReference},
    schema::{JsonSchema, properties, rule},
    text::{string_enum, string_type},
};

/// Namespaces that Vault keeps for itself.
const RESERVED: [&str; 6] = ["root", "sys", "audit", "auth", "cubbyhole", "identity"];

string_type! {
    /// A namespace of Vault Enterprise.
    pub struct VaultNamespace {
        length: 1..=4096,
        rule: "!self.endsWith('/')" => "must not end with a slash",
        check: |text| !text.ends_with('/'),
        rule: "!self.contains(' ')" => "must not have spaces",
        check: |text| !text.contains(' '),
        rule: "!(self in ['root', 'sys', 'audit', 'auth', 'cubbyhole', 'identity'])"
            => "must not be root, sys, audit, auth, cubbyhole or identity, which Vault keeps for itself",
        check: |text| !RESERVED.contains(&text),
    }
}

string_type! {
    /// The path of a key in Vault's transit engine.
    pub struct VaultKeyPath {
        length: 8..=1542,
        matches: r"^[a-zA-Z0-9._~/-]+$" => "must be letters, digits, slashes and . _ ~ -",
        matches: r"^[a-zA-Z0-9._~-]+(/[a-zA-Z0-9._~-]+)*/keys/[a-zA-Z0-9_]([a-zA-Z0-9_.-]*[a-zA-Z0-9_])?$"
            => "must be MOUNT/keys/NAME, the name with a letter, digit or underscore at both ends",
        rule: "!self.startsWith('/')" => "must not begin with a slash",
        check: |text| !text.starts_with('/'),
        rule: "!self.endsWith('/')" => "must not end with a slash",
        check: |text| !text.ends_with('/'),
        rule: "!self.contains('//')" => "must not have two slashes in a row",
        check: |text| !text.contains("//"),
        rule: "self.split('/').all(part, part != '.' && part != '..')" => "must not have a part that is . or ..",
        check: |text| text.split('/').all(|part| part != "." && part != ".."),
    }
}

string_type! {
    /// An image of Vault's key service plugin, pinned by digest.
    pub struct VaultPluginImage {
        length: 75..=447,
        matches: r"^[^@]*@sha256:[a-f0-9]{64}$" => "must end with @sha256: and 64 hexadecimal digits in lower case",
        matches: r"^([a-zA-Z0-9-]+\.)+[a-zA-Z0-9-]+(:[0-9]{2,5})?(/[a-zA-Z0-9_.-]+)+(@|$)"
            => "must begin with the host of a registry and a repository, such as registry.example.com/team/plugin",
    }
}

string_type! {
    /// The host name in the certificate of Vault.
    pub struct VaultServerName {
        length: 1..=253,
        matches: r"^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$"
            => "must be a DNS name in lower case: letters, digits and hyphens, in parts separated by dots",
    }
}

/// A key of Vault's.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct VaultKms {
    /// The image of the plugin that talks to Vault, pinned by digest.
    pub kms_plugin_image: VaultPluginImage,
    /// Where Vault is, such as https://vault.example.com:8200.
    #[schemars(
        length(min = 1, max = 512),
        transform = rule("isURL(self)", "must be a URL"),
        transform = rule("isURL(self) && url(self).getScheme() == 'https'", "must begin with https://"),
        transform = rule("isURL(self) && url(self).getEscapedPath() in ['', '/']", "must not have a path"),
        transform = rule("isURL(self) && url(self).getQuery() == {}", "must not have a query"),
        transform = rule("!self.matches('#.+$')", "must not have a fragment"),
        transform = rule("!self.contains('@')", "must not name a user"),
    )]
    pub vault_address: String,
    /// The namespace of the key, for Vault Enterprise.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub vault_namespace: Option<VaultNamespace>,
    /// The namespace in which the API servers log in, where it is another one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub vault_auth_namespace: Option<VaultNamespace>,
    /// How the certificate of Vault is judged; unset means by the authorities that the system trusts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tls: Option<VaultTls>,
    /// The key: the mount of its engine, keys, and its name, such as transit/keys/cluster.
    pub vault_key_path: VaultKeyPath,
    /// How the API servers log in.
    pub authentication: VaultAuthentication,
}

/// How the certificate of Vault is judged.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(transform = properties(Some(1), None))]
pub struct VaultTls {
    /// The ConfigMap with the authorities that are trusted, in its key ca-bundle.crt.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ca_bundle: Option<ConfigMapReference>,
    /// The name that the certificate must have; unset means the host of vaultAddress.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub server_name: Option<VaultServerName>,
}

string_enum! {
    /// A way to log in to Vault.
    pub enum VaultAuthenticationType {
        /// With the id of a role and a secret.
        AppRole,
    }
}

/// How the API servers log in to Vault.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(transform = rule(
    "(self.type == 'AppRole') == has(self.appRole)",
    "set appRole when type is AppRole, and only then",
))]
pub struct VaultAuthentication {
    /// Which way is used.
    #[serde(rename = "type")]
    pub authentication_type: VaultAuthenticationType,
    /// The role, for type AppRole.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub app_role: Option<VaultAppRole>,
}

/// A role of Vault's.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct VaultAppRole {
    /// The Secret with the id of the role and its secret, in its keys role-id and secret-id.
    pub secret: SecretReference,
}
