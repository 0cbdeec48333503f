//! Secrets of a user that are copied to the namespace of a control plane, and the keys for Secrets in etcd among them.

use hyperplane_api::{
    constants::objects::{copies, keys},
    hypershift::{hosted_cluster::HostedClusterSpec, secret_encryption::SecretEncryptionType},
};

use crate::problem::{Problem, Rule};

/// A Secret of the user that is copied.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SecretCopy {
    /// The field that names the Secret.
    pub field: String,
    /// The name of the Secret.
    pub source: String,
    /// The name of the copy.
    pub target: &'static str,
    /// What of it is copied.
    pub keys: Vec<KeyCopy>,
}

/// One key of a Secret that is copied.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyCopy {
    /// The key in the Secret of the user.
    pub from: String,
    /// The key in the copy.
    pub to: String,
}

impl KeyCopy {
    /// A key that keeps its name.
    pub fn same(key: &str) -> Self {
        Self::renamed(key, key)
    }

    /// A key that gets another name.
    pub fn renamed(from: &str, to: &str) -> Self {
        Self {
            from: from.to_owned(),
            to: to.to_owned(),
        }
    }
}

const KEY_SERVICE: Rule = Rule {
    name: "encryption-by-key-service",
    asks: "secretEncryption must not ask for a key service that the platform does not have",
};
const ACTIVE_KEY: Rule = Rule {
    name: "encryption-active-key",
    asks: "secretEncryption of type aescbc needs the Secret with the active key",
};

/// The rules of this file.
pub(crate) const RULES: &[Rule] = &[KEY_SERVICE, ACTIVE_KEY];

/// The keys of AES-CBC; platforms without a key service know nothing else. They are copied in this order: what the active
/// key was must be there as the key before, before another is the active one.
pub(crate) fn aescbc_keys(spec: &HostedClusterSpec) -> Result<Vec<SecretCopy>, Problem> {
    let Some(encryption) = &spec.secret_encryption else {
        return Ok(Vec::new());
    };
    if encryption.encryption_type != SecretEncryptionType::AesCbc {
        return Err(Problem::new(
            &KEY_SERVICE,
            "spec.secretEncryption.type",
            format!(
                "platform {} has no key service that this manager knows",
                spec.platform.type_.as_str()
            ),
            "use type aescbc",
        ));
    }
    let keys = encryption.aescbc.as_ref();
    let Some(keys) = keys.filter(|keys| !keys.active_key.name.is_empty()) else {
        return Err(Problem::new(
            &ACTIVE_KEY,
            "spec.secretEncryption.aescbc.activeKey",
            "it is missing",
            "name the Secret that holds the key",
        ));
    };
    let copy = |field: &str, source: &str, target: &'static str| SecretCopy {
        field: format!("spec.secretEncryption.aescbc.{field}"),
        source: source.to_owned(),
        target,
        keys: vec![KeyCopy::same(keys::ENCRYPTION_KEY)],
    };
    let before = keys.backup_key.as_ref().filter(|before| !before.name.is_empty());
    let before = before.map(|before| copy("backupKey", &before.name, copies::ENCRYPTION_KEY_BEFORE));
    let active = copy("activeKey", &keys.active_key.name, copies::ENCRYPTION_KEY);
    Ok(before.into_iter().chain([active]).collect())
}
