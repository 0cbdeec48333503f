//! Content, and where it is: its source, its headers, how it is packed, and its hash.

use std::fmt::Write as _;

use sha2::{Digest as _, Sha256, Sha512};

use super::{
    TWICE,
    walk::{Fields, Walk},
};
use crate::source::{self, Source};

/// The place in the list of versions of the first with hashes that are shorter.
const SHORT_HASHES: usize = 1;

/// What a resource is there for.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Need {
    /// The content of a file, which may be nothing.
    Content,
    /// Something else, and whether its source must be given.
    Source(bool),
}

pub(super) fn check(walk: &mut Walk, resource: &Fields<'_>, need: Need) {
    let url = resource.text("source");
    let content = match url {
        Some("") | None if need == Need::Source(true) => {
            walk.wrong(&resource.path("source"), "must say where it is");
            None
        }
        None => None,
        Some("") => Some(Source::Data(Vec::new())),
        Some(url) => match source::parse(url) {
            Ok(source) => Some(source),
            Err(problem) => {
                walk.wrong(&resource.path("source"), problem);
                None
            }
        },
    };
    let compression = resource.text("compression").unwrap_or_default();
    if !matches!(compression, "" | "gzip") {
        walk.wrong(&resource.path("compression"), "must be gzip, or left out");
    }
    headers(walk, resource);
    let verification = resource.object("verification");
    let Some((verification, hash)) = verification.and_then(|found| found.text("hash").map(|hash| (found, hash))) else {
        return;
    };
    let path = verification.path("hash");
    if url.is_none() {
        walk.wrong(&path, "is the hash of nothing: give a source, too");
    }
    let content = match &content {
        // With compression the hash is of what comes out, which is not looked at here.
        Some(Source::Data(content)) if compression.is_empty() => Some(content.as_slice()),
        _ => None,
    };
    let knows_short = walk.version.is_none_or(|version| version >= SHORT_HASHES);
    if let Err(problem) = verify(hash, content, knows_short) {
        walk.wrong(&path, problem);
    }
}

fn headers(walk: &mut Walk, resource: &Fields<'_>) {
    let headers = resource.objects("httpHeaders");
    let url = resource.text("source").unwrap_or_default();
    let is_remote = url.starts_with("https:") || url.starts_with("http:");
    if !headers.is_empty() && !is_remote {
        let problem = "are for a source with https: or http: only: take them away";
        walk.wrong(&resource.path("httpHeaders"), problem);
    }
    let mut names = Vec::new();
    for header in headers {
        match header.filled("name") {
            Some(name) => names.push((name.to_owned(), header.path("name"))),
            None => walk.wrong(&header.path("name"), "must be given"),
        }
        if header.text("value") == Some("") {
            walk.wrong(
                &header.path("value"),
                "must not be empty: leave it out to take the header away",
            );
        }
    }
    walk.unique(names, TWICE);
}

/// Whether a hash is one, and that of the content where that is known.
fn verify(hash: &str, content: Option<&[u8]>, knows_short: bool) -> Result<(), &'static str> {
    let form = if knows_short {
        "must be sha512- and 128 hexadecimal digits, or sha256- and 64"
    } else {
        "must be sha512- and 128 hexadecimal digits; sha256 needs ignition.version 3.1.0 or later"
    };
    let (algorithm, digits) = hash.split_once('-').ok_or(form)?;
    let length = match algorithm {
        "sha512" => 128,
        "sha256" if knows_short => 64,
        _ => return Err(form),
    };
    if digits.len() != length || !digits.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return Err(form);
    }
    let Some(content) = content else {
        return Ok(());
    };
    let found = if algorithm == "sha512" {
        hexadecimal(Sha512::digest(content))
    } else {
        hexadecimal(Sha256::digest(content))
    };
    let is_same = found.eq_ignore_ascii_case(digits);
    is_same.then_some(()).ok_or("is not the hash of the source")
}

fn hexadecimal(bytes: impl IntoIterator<Item = u8>) -> String {
    bytes.into_iter().fold(String::new(), |mut text, byte| {
        write!(text, "{byte:02x}").expect("writing to a String does not fail");
        text
    })
}
