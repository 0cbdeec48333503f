//! Whether an Ignition config is one: everything that is wrong, at once, each with its path. Values are never quoted.

mod unit;
mod walk;

#[cfg(test)]
mod tests;

use std::{collections::BTreeSet, fmt::Write as _};

use serde_json::Value;
use sha2::{Digest as _, Sha256, Sha512};

use self::walk::{Fields, Walk};
use crate::{
    ignition::{KERNEL_ARGUMENTS_VERSION, VERSIONS},
    problem::Problem,
    source::{self, Source},
};

/// What the names of units end with.
const UNIT_SUFFIXES: &[&str] = &[
    "automount",
    "device",
    "mount",
    "path",
    "scope",
    "service",
    "slice",
    "socket",
    "swap",
    "target",
    "timer",
];

/// The longest name of a unit, as systemd has it.
const LONGEST_UNIT: usize = 255;
/// The longest name of a user, as Linux has it.
const LONGEST_USER: usize = 32;
/// The longest path, as Linux has it.
const LONGEST_PATH: usize = 4096;
/// Permissions with the bits beside them.
const MOST_MODE: u64 = 0o7777;

const BAD_PATH: &str = "must be an absolute path without . and .. and without a slash at its end";

/// Everything that is wrong with a config.
pub fn validate(config: &Value) -> Vec<Problem> {
    let mut walk = Walk::default();
    if let Some(config) = walk.root(config) {
        header(&mut walk, &config);
        storage(&mut walk, &config);
        systemd(&mut walk, &config);
        passwd(&mut walk, &config);
    }
    walk.problems
}

fn header(walk: &mut Walk, config: &Fields<'_>) {
    let Some(ignition) = walk.required(config, "ignition") else {
        return;
    };
    let version = walk.text(&ignition, "version");
    let rank = version.and_then(|version| VERSIONS.iter().position(|known| *known == version));
    if rank.is_none() {
        let problem = format!("must be one of {}", VERSIONS.join(", "));
        walk.wrong(&ignition.path("version"), problem);
    }
    if let Some(configs) = walk.object(&ignition, "config") {
        for config in walk.objects(&configs, "merge") {
            resource(walk, &config, true);
        }
        if let Some(config) = walk.object(&configs, "replace") {
            resource(walk, &config, true);
        }
    }
    if let Some(arguments) = walk.object(config, "kernelArguments") {
        let first = VERSIONS.iter().position(|known| *known == KERNEL_ARGUMENTS_VERSION);
        if rank.is_some() && rank < first {
            let problem = format!("needs ignition.version {KERNEL_ARGUMENTS_VERSION} or later");
            walk.wrong("kernelArguments", problem);
        }
        for key in ["shouldExist", "shouldNotExist"] {
            lines(walk, &arguments, key);
        }
    }
}

fn storage(walk: &mut Walk, config: &Fields<'_>) {
    let Some(storage) = walk.object(config, "storage") else {
        return;
    };
    let mut paths = Vec::new();
    for file in walk.objects(&storage, "files") {
        paths.extend(node(walk, &file));
        let contents = walk.object(&file, "contents");
        if let Some(contents) = &contents {
            resource(walk, contents, false);
        }
        let has_source = contents.is_some_and(|contents| contents.get("source").is_some());
        if file.get("overwrite") == Some(&Value::Bool(true)) && !has_source {
            walk.wrong(&file.path("overwrite"), "needs contents with a source to put there");
        }
        for contents in walk.objects(&file, "append") {
            resource(walk, &contents, false);
        }
    }
    for link in walk.objects(&storage, "links") {
        paths.extend(node(walk, &link));
        walk.flag(&link, "hard");
        if walk.text(&link, "target").is_none_or(str::is_empty) {
            walk.wrong(&link.path("target"), "must say where the link leads");
        }
    }
    // Nothing can be in a file, and what is in a link would be somewhere else.
    let closed: BTreeSet<String> = paths.iter().map(|(path, _)| path.clone()).collect();
    for directory in walk.objects(&storage, "directories") {
        paths.extend(node(walk, &directory));
    }
    for (path, place) in &paths {
        let mut above = path.match_indices('/').skip(1).map(|(end, _)| &path[..end]);
        if above.any(|above| closed.contains(above)) {
            walk.wrong(place, "lies in something that is a file or a link");
        }
    }
    walk.unique(paths, "is the path of something else, too: give each a path of its own");
    for (list, key) in [
        ("disks", "device"),
        ("filesystems", "device"),
        ("luks", "name"),
        ("raid", "name"),
    ] {
        keyed(walk, &storage, list, key);
    }
}

/// What files, directories and links have in common. The path comes back with where it stands.
fn node(walk: &mut Walk, node: &Fields<'_>) -> Option<(String, String)> {
    walk.flag(node, "overwrite");
    if let Some(mode) = node.get("mode")
        && mode.as_u64().is_none_or(|mode| mode > MOST_MODE)
    {
        walk.wrong(
            &node.path("mode"),
            "must be a number from 0 to 4095, which is 7777 in octal",
        );
    }
    for key in ["user", "group"] {
        walk.object(node, key);
    }
    let path = walk.text(node, "path").filter(|path| is_path(path));
    if path.is_none() {
        walk.wrong(&node.path("path"), BAD_PATH);
    }
    path.map(|path| (path.to_owned(), node.path("path")))
}

fn is_path(path: &str) -> bool {
    let Some(rest) = path.strip_prefix('/') else {
        return false;
    };
    let is_part = |part: &str| !matches!(part, "" | "." | "..");
    path.len() <= LONGEST_PATH && !path.contains('\0') && rest.split('/').all(is_part)
}

fn resource(walk: &mut Walk, resource: &Fields<'_>, is_required: bool) {
    let url = walk.text(resource, "source");
    let content = url.map(source::parse);
    match &content {
        Some(Err(problem)) => walk.wrong(&resource.path("source"), *problem),
        None if is_required => walk.wrong(&resource.path("source"), "must say where the config is"),
        _ => {}
    }
    let compression = walk.text(resource, "compression").unwrap_or_default();
    if !matches!(compression, "" | "gzip") {
        walk.wrong(&resource.path("compression"), "must be gzip, or left out");
    }
    let Some(verification) = walk.object(resource, "verification") else {
        return;
    };
    let Some(hash) = walk.text(&verification, "hash") else {
        return;
    };
    let content = match &content {
        // With compression the hash is of what comes out, which is not looked at here.
        Some(Ok(Source::Data(content))) if compression.is_empty() => Some(content.as_slice()),
        _ => None,
    };
    if let Err(problem) = verify(hash, content) {
        walk.wrong(&verification.path("hash"), problem);
    }
}

/// Whether a hash is one, and that of the content where that is known.
fn verify(hash: &str, content: Option<&[u8]>) -> Result<(), &'static str> {
    let form = "must be sha512- and 128 hexadecimal digits, or sha256- and 64";
    let (algorithm, digits) = hash.split_once('-').ok_or(form)?;
    let length = match algorithm {
        "sha512" => 128,
        "sha256" => 64,
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

fn systemd(walk: &mut Walk, config: &Fields<'_>) {
    let Some(systemd) = walk.object(config, "systemd") else {
        return;
    };
    let mut names = Vec::new();
    for unit in walk.objects(&systemd, "units") {
        let name = walk.text(&unit, "name").filter(|name| is_unit(name));
        match name {
            Some(name) => names.push((name.to_owned(), unit.path("name"))),
            None => walk.wrong(
                &unit.path("name"),
                "must be the name of a unit, such as kubelet.service",
            ),
        }
        for key in ["enabled", "mask"] {
            walk.flag(&unit, key);
        }
        unit::check(walk, &unit);
        let mut additions = Vec::new();
        for addition in walk.objects(&unit, "dropins") {
            unit::check(walk, &addition);
            let name = walk.text(&addition, "name").filter(|name| is_addition(name));
            match name {
                Some(name) => additions.push((name.to_owned(), addition.path("name"))),
                None => walk.wrong(&addition.path("name"), "must be a file name that ends with .conf"),
            }
        }
        walk.unique(additions, "is the name of another addition to this unit");
    }
    walk.unique(names, "is the name of another unit: put both into one");
}

fn is_unit(name: &str) -> bool {
    let Some((stem, suffix)) = name.rsplit_once('.') else {
        return false;
    };
    let is_allowed =
        |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b':' | b'-' | b'_' | b'.' | b'\\' | b'@');
    let is_short = !stem.is_empty() && name.len() <= LONGEST_UNIT;
    is_short && UNIT_SUFFIXES.contains(&suffix) && stem.bytes().all(is_allowed)
}

fn is_addition(name: &str) -> bool {
    let stem = name.strip_suffix(".conf").unwrap_or_default();
    !stem.is_empty() && name.len() <= LONGEST_UNIT && !name.contains(['/', '\0', '\n'])
}

fn passwd(walk: &mut Walk, config: &Fields<'_>) {
    let Some(passwd) = walk.object(config, "passwd") else {
        return;
    };
    let mut names = Vec::new();
    for user in walk.objects(&passwd, "users") {
        let name = walk.text(&user, "name").filter(|name| is_user(name));
        match name {
            Some(name) => names.push((name.to_owned(), user.path("name"))),
            None => walk.wrong(&user.path("name"), "must be the name of a user, such as core"),
        }
        lines(walk, &user, "sshAuthorizedKeys");
    }
    walk.unique(names, "is the name of another user: put both into one");
    keyed(walk, &passwd, "groups", "name");
}

fn is_user(name: &str) -> bool {
    let is_inner = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.');
    let starts = name
        .bytes()
        .next()
        .is_some_and(|byte| byte.is_ascii_alphabetic() || byte == b'_');
    starts && name.len() <= LONGEST_USER && name.bytes().all(is_inner)
}

/// A list of texts that are one line each.
fn lines(walk: &mut Walk, fields: &Fields<'_>, key: &str) {
    for (path, item) in walk.items(fields, key) {
        let is_line = |text: &str| !text.trim().is_empty() && !text.contains(['\n', '\r', '\0']);
        if !item.as_str().is_some_and(is_line) {
            walk.wrong(&path, "must be one line of text");
        }
    }
}

/// A list whose entries are told apart by one of their fields.
fn keyed(walk: &mut Walk, fields: &Fields<'_>, list: &str, key: &str) {
    let mut names = Vec::new();
    for entry in walk.objects(fields, list) {
        match walk.text(&entry, key).filter(|name| !name.is_empty()) {
            Some(name) => names.push((name.to_owned(), entry.path(key))),
            None => walk.wrong(&entry.path(key), "must be given"),
        }
    }
    walk.unique(names, "is given twice: put both into one");
}
