//! Writing PEM. Reading is left to the types of rustls.

use base64::{Engine as _, prelude::BASE64_STANDARD};

/// The width of the lines, as every writer of PEM has it.
const WIDTH: usize = 64;

/// A section of PEM.
pub(crate) fn write(label: &str, der: &[u8]) -> String {
    let body = BASE64_STANDARD.encode(der);
    let mut lines = String::with_capacity(body.len() + body.len() / WIDTH + 1);
    for line in body.as_bytes().chunks(WIDTH) {
        lines.extend(line.iter().map(|byte| char::from(*byte)));
        lines.push('\n');
    }
    format!("-----BEGIN {label}-----\n{lines}-----END {label}-----\n")
}
