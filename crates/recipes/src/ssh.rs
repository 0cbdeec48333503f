//! SSH keys as nodes and users have them. Where keys come from is not known here: a point on the curve is given.

use std::fmt;

use base64::{Engine as _, engine::general_purpose::STANDARD};

/// What a line with a public key begins with.
const KINDS: &[&str] = &["ssh-", "ecdsa-sha2-", "sk-ssh-", "sk-ecdsa-"];
/// The kind of key that is made, and the name of its curve.
const KIND: &str = "ecdsa-sha2-nistp256";
const CURVE: &str = "nistp256";

/// Both halves of a key.
#[derive(Clone, PartialEq, Eq)]
pub struct KeyPair {
    /// A line for authorized_keys.
    pub public: String,
    /// The private half in PKCS #8, as PEM.
    pub private: String,
}

impl fmt::Debug for KeyPair {
    /// The private half is nobody's business.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("KeyPair")
            .field("public", &self.public)
            .finish_non_exhaustive()
    }
}

impl KeyPair {
    /// A key of NIST's curve P-256, which every SSH reads: the uncompressed point of its public half (65 bytes), and its
    /// private half in PKCS #8.
    pub fn p256(point: &[u8], private: &[u8], comment: &str) -> Self {
        let mut blob = Vec::new();
        for part in [KIND.as_bytes(), CURVE.as_bytes(), point] {
            push(&mut blob, part);
        }
        Self {
            public: format!("{KIND} {} {comment}\n", STANDARD.encode(blob)),
            private: pem(private),
        }
    }
}

/// A part of a key, behind its length.
fn push(blob: &mut Vec<u8>, part: &[u8]) {
    let length = u32::try_from(part.len()).expect("a name and a point are short");
    blob.extend_from_slice(&length.to_be_bytes());
    blob.extend_from_slice(part);
}

fn pem(bytes: &[u8]) -> String {
    const LINE: usize = 64;
    let text = STANDARD.encode(bytes);
    let characters: Vec<char> = text.chars().collect();
    let lines = characters
        .chunks(LINE)
        .map(|line| line.iter().chain(&['\n']).collect::<String>());
    let body: String = lines.collect();
    format!("-----BEGIN PRIVATE KEY-----\n{body}-----END PRIVATE KEY-----\n")
}

/// Says what is wrong with a file of public keys.
pub(crate) fn check(text: &str) -> Result<(), String> {
    if text.contains("PRIVATE KEY") {
        return Err("the file holds a private key: use the public half, which ends in .pub".to_owned());
    }
    let lines = text
        .lines()
        .map(str::trim)
        .filter(|line| !line.is_empty() && !line.starts_with('#'));
    let lines: Vec<&str> = lines.collect();
    let is_key = |line: &&str| {
        let parts: Vec<&str> = line.split_whitespace().collect();
        let kind = parts
            .iter()
            .position(|part| KINDS.iter().any(|kind| part.starts_with(kind)));
        kind.and_then(|place| parts.get(place + 1))
            .is_some_and(|blob| STANDARD.decode(blob).is_ok())
    };
    if lines.is_empty() || !lines.iter().all(is_key) {
        return Err("the file holds no public SSH keys: use one line each, such as ssh-ed25519 AAAA…".to_owned());
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pair_is_what_ssh_reads() {
        let pair = KeyPair::p256(&[4; 65], &[7; 100], "blue");
        assert!(
            pair.public
                .starts_with("ecdsa-sha2-nistp256 AAAAE2VjZHNhLXNoYTItbmlzdHAyNTYAAAAIbmlzdHAyNTYAAABB")
        );
        assert!(pair.public.ends_with(" blue\n"));
        assert_eq!(check(&pair.public), Ok(()));
        assert!(pair.private.lines().all(|line| line.len() <= 64));
        assert!(check(&pair.private).unwrap_err().contains("public half"));
        assert!(!format!("{pair:?}").contains("PRIVATE"));
    }

    #[test]
    fn what_is_no_key_is_told() {
        assert!(check("# comment\nssh-ed25519 AAAA me\nfrom=\"10.0.0.0/8\" ssh-rsa BBBB you\n").is_ok());
        for text in ["", "# comment", "ssh-ed25519", "ssh-ed25519 ???", "hello"] {
            assert!(check(text).is_err(), "{text}");
        }
    }
}
