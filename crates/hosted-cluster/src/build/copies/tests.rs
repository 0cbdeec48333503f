//! Keys that replace others: nothing that was encrypted or signed with the one before is lost.

use hyperplane_api::hypershift::hosted_cluster::HostedCluster;
use serde_json::{Value, json};

use super::*;
use crate::{
    build::Desired,
    testing::{cluster, desired, put_control_plane, put_secret, seen, set_source, settings},
};

const OLD: &[u8] = &[9; 32];
const NEW: &[u8] = &[5; 32];

fn encrypted(keys: &Value) -> HostedCluster {
    cluster(&json!({"spec": {"secretEncryption": {"type": "aescbc", "aescbc": keys}}}))
}

/// What is written under a name, if it is.
fn written<'a>(desired: &'a Desired, name: &str, key: &str) -> Option<&'a [u8]> {
    let mut secrets = desired.secrets.iter();
    let secret = secrets.find(|secret| secret.metadata.name.as_deref() == Some(name))?;
    Some(&secret.data.as_ref()?.get(key)?.0)
}

#[test]
fn a_new_key_is_copied_when_the_control_plane_knows_of_the_one_before() {
    let cluster = encrypted(&json!({"activeKey": {"name": "new"}, "backupKey": {"name": "old"}}));
    let mut seen = seen(&cluster);
    set_source(&mut seen, "spec.secretEncryption.aescbc.activeKey", "key", NEW);
    set_source(&mut seen, "spec.secretEncryption.aescbc.backupKey", "key", OLD);
    put_secret(
        &mut seen,
        copies::ENCRYPTION_KEY,
        Some("clusters/old@uid/1"),
        &[("key", OLD)],
    );
    put_control_plane(
        &cluster,
        &mut seen,
        &json!({"spec": {"secretEncryption": {"aescbc": {"backupKey": null}}}}),
    );
    // First the key in use becomes the key before, and the control plane is told.
    let first = desired(&cluster, &seen, &settings());
    assert_eq!(written(&first, copies::ENCRYPTION_KEY_BEFORE, "key"), Some(OLD));
    assert_eq!(written(&first, copies::ENCRYPTION_KEY, "key"), None);
    assert_eq!(first.kept_secrets, [copies::ENCRYPTION_KEY], "the copy in use stays");
    let told = first.control_plane.spec.secret_encryption.as_ref().unwrap();
    let before = told.aescbc.as_ref().unwrap().backup_key.as_ref().unwrap();
    assert_eq!(before.name, copies::ENCRYPTION_KEY_BEFORE);
    // Then the new one takes its place, after the key before.
    put_control_plane(&cluster, &mut seen, &json!({}));
    let second = desired(&cluster, &seen, &settings());
    assert_eq!(written(&second, copies::ENCRYPTION_KEY, "key"), Some(NEW));
    let names: Vec<_> = second
        .secrets
        .iter()
        .filter_map(|secret| secret.metadata.name.as_deref())
        .collect();
    assert!(
        names.ends_with(&[copies::ENCRYPTION_KEY_BEFORE, copies::ENCRYPTION_KEY]),
        "{names:?}"
    );
}

#[test]
fn a_first_key_and_a_copy_that_somebody_has_changed_do_not_wait() {
    let cluster = encrypted(&json!({"activeKey": {"name": "key"}}));
    let mut seen = seen(&cluster);
    let good = Some(&[1_u8; 32][..]);
    let first = desired(&cluster, &seen, &settings());
    assert_eq!(written(&first, copies::ENCRYPTION_KEY, "key"), good);
    put_secret(
        &mut seen,
        copies::ENCRYPTION_KEY,
        Some("clusters/key@uid/1"),
        &[("key", b"forged")],
    );
    let mended = desired(&cluster, &seen, &settings());
    assert_eq!(written(&mended, copies::ENCRYPTION_KEY, "key"), good);
}

#[test]
fn tokens_of_every_key_before_stay_valid() {
    let (first, second) = (rcgen::KeyPair::generate().unwrap(), rcgen::KeyPair::generate().unwrap());
    let (ours, declared) = (rcgen::KeyPair::generate().unwrap(), rcgen::KeyPair::generate().unwrap());
    let cluster = cluster(&json!({"spec": {"serviceAccountSigningKey": {"name": "signing"}}}));
    let field = "spec.serviceAccountSigningKey";
    let (name, private, public) = (
        certificates::SERVICE_ACCOUNT_KEYS,
        keys::SERVICE_ACCOUNT_KEY,
        keys::SERVICE_ACCOUNT_PUBLIC_KEY,
    );
    // From our own key to that of the user.
    let mut seen = seen(&cluster);
    set_source(&mut seen, field, SIGNING_KEY, first.serialize_pem().as_bytes());
    put_secret(&mut seen, name, None, &[(public, ours.public_key_pem().as_bytes())]);
    let taken = desired(&cluster, &seen, &settings());
    assert_eq!(written(&taken, name, private), Some(first.serialize_pem().as_bytes()));
    let expected = first.public_key_pem() + &ours.public_key_pem();
    assert_eq!(written(&taken, name, public), Some(expected.as_bytes()));
    // From one key of the user to another, who declares a third.
    put_secret(
        &mut seen,
        name,
        Some("clusters/signing@uid/0"),
        &[(public, expected.as_bytes())],
    );
    set_source(&mut seen, field, SIGNING_KEY, second.serialize_pem().as_bytes());
    set_source(&mut seen, field, OLD_SIGNING_KEY, declared.public_key_pem().as_bytes());
    let moved = desired(&cluster, &seen, &settings());
    let expected = second.public_key_pem() + &declared.public_key_pem() + &expected;
    assert_eq!(written(&moved, name, public), Some(expected.as_bytes()));
    // Again, it is the same.
    put_secret(
        &mut seen,
        name,
        Some("clusters/signing@uid/0"),
        &[(public, expected.as_bytes())],
    );
    let again = desired(&cluster, &seen, &settings());
    assert_eq!(written(&again, name, public), Some(expected.as_bytes()));
}
