//! On whose behalf an in-process request is made. Owns the name of a service account and its syntax; how it travels is
//! the business of those who send and receive requests.

use thiserror::Error;

/// A service account of a tenant's namespace. As a request extension it is what an embedded server authenticates.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Identity {
    namespace: String,
    role: String,
}

/// Why a service account cannot exist.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{part} {value:?} is no DNS name; use lower-case letters, digits, dashes and dots")]
pub struct InvalidIdentity {
    part: &'static str,
    value: String,
}

impl Identity {
    /// An identity by namespace and role. Both must be names that Kubernetes accepts: a header that could not be sent
    /// would make the request with our own rights.
    pub fn new(namespace: impl Into<String>, role: impl Into<String>) -> Result<Self, InvalidIdentity> {
        Ok(Self {
            namespace: dns_name("namespace", namespace.into())?,
            role: dns_name("role", role.into())?,
        })
    }

    /// The namespace of the service account.
    pub fn namespace(&self) -> &str {
        &self.namespace
    }

    /// The name of the service account: the role of the operator.
    pub fn role(&self) -> &str {
        &self.role
    }

    /// The name under which the API server knows it.
    pub fn user(&self) -> String {
        format!("system:serviceaccount:{}:{}", self.namespace, self.role)
    }
}

fn dns_name(part: &'static str, value: String) -> Result<String, InvalidIdentity> {
    let is_valid = !value.is_empty()
        && value.len() <= 253
        && value
            .bytes()
            .all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-' || byte == b'.');
    if is_valid {
        Ok(value)
    } else {
        Err(InvalidIdentity { part, value })
    }
}
