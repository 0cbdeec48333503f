//! What stands in a bundle of trusted certificates. Two authorities at once are nothing special: whoever was trusted
//! before is trusted until the end of its certificate, because what it signed may still be in use.

use jiff::Timestamp;
use rustls_pki_types::CertificateDer;

use crate::inspect::Certificate;

/// Former authorities in a bundle, at most: every reader of a bundle tries one after the other.
const FORMER: usize = 16;
/// The width of the lines of PEM.
const WIDTH: usize = 64;

/// The certificates of a bundle: those of the present signers, then those that were in it before and are not over.
pub(crate) fn compose<'a>(
    signers: impl IntoIterator<Item = &'a Certificate>,
    before: &[Certificate],
    now: Timestamp,
) -> Vec<CertificateDer<'static>> {
    let mut list: Vec<CertificateDer<'static>> = Vec::new();
    for signer in signers {
        if !list.contains(&signer.der) {
            list.push(signer.der.clone());
        }
    }
    let present = list.len();
    for former in before.iter().filter(|former| former.end > now) {
        if list.len() < present + FORMER && !list.contains(&former.der) {
            list.push(former.der.clone());
        }
    }
    list
}

/// When a bundle loses one of these certificates.
pub(crate) fn next_end(before: &[Certificate], now: Timestamp) -> Option<Timestamp> {
    before
        .iter()
        .map(|certificate| certificate.end)
        .filter(|end| *end > now)
        .min()
}

/// Certificates as PEM, one after the other.
pub(crate) fn write(list: &[CertificateDer<'_>]) -> String {
    use base64::{Engine as _, prelude::BASE64_STANDARD};
    let mut text = String::new();
    for der in list {
        text.push_str("-----BEGIN CERTIFICATE-----\n");
        let body = BASE64_STANDARD.encode(der);
        for line in body.as_bytes().chunks(WIDTH) {
            text.extend(line.iter().copied().map(char::from));
            text.push('\n');
        }
        text.push_str("-----END CERTIFICATE-----\n");
    }
    text
}
