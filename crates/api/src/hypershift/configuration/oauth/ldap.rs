//! Identity providers that are LDAP directories.

use serde::{Deserialize, Serialize};

use crate::schema::JsonSchema;

use super::super::reference::{ConfigMapNameReference, SecretNameReference};

/// An LDAP directory.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct LdapIdentityProvider {
    /// Where and how users are searched: ldap://host:port/base?attribute?scope?filter, or ldaps.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    /// Leaves TLS out, unless the address says ldaps. Unset means that the connection is upgraded to TLS.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub insecure: Option<bool>,
    /// The name to search with; unset means anonymously.
    #[serde(rename = "bindDN", skip_serializing_if = "Option::is_none")]
    pub bind_dn: Option<String>,
    /// The Secret with the password to search with, under key bindPassword.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bind_password: Option<SecretNameReference>,
    /// The ConfigMap with the authorities of the directory under key ca.crt; unset means those of the system.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ca: Option<ConfigMapNameReference>,
    /// Which attributes say what of the user.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub attributes: Option<LdapAttributes>,
}

/// Which attributes say what of a user. Of each list the first attribute that is not empty counts.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct LdapAttributes {
    /// Attributes for the identity itself, such as dn; without any of them the login fails.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub id: Vec<String>,
    /// Attributes for the name of a new user, such as uid; none means the identity.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub preferred_username: Vec<String>,
    /// Attributes for the name to show, such as cn.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub name: Vec<String>,
    /// Attributes for the mail address.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub email: Vec<String>,
}
