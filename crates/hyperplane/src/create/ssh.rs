//! Makes an SSH key for nodes.

use anyhow::anyhow;
use aws_lc_rs::{
    rand::SystemRandom,
    signature::{ECDSA_P256_SHA256_ASN1_SIGNING, EcdsaKeyPair, KeyPair as _},
};
use hyperplane_recipes::ssh::KeyPair;

/// A key, with what it is for as its comment.
pub(super) fn generate(comment: &str) -> anyhow::Result<KeyPair> {
    let unusable = |_| anyhow!("no SSH key can be made: make one with ssh-keygen and use --ssh-key");
    let made = EcdsaKeyPair::generate_pkcs8(&ECDSA_P256_SHA256_ASN1_SIGNING, &SystemRandom::new()).map_err(unusable)?;
    let pair = EcdsaKeyPair::from_pkcs8(&ECDSA_P256_SHA256_ASN1_SIGNING, made.as_ref())
        .map_err(|_| anyhow!("the SSH key that was made cannot be read: make one with ssh-keygen and use --ssh-key"))?;
    Ok(KeyPair::p256(pair.public_key().as_ref(), made.as_ref(), comment))
}
