//! Whether an Ignition config is one: everything that is wrong, at once, each with its path. Values are never quoted.
//!
//! What Ignition refuses is refused here, so that no machine waits for ever with a config that it cannot read. Beyond that
//! some things are refused that Ignition takes and that could never work, or that it would leave out in silence.

mod disks;
mod header;
mod luks;
mod passwd;
mod resource;
mod schema;
mod storage;
mod systemd;
mod unit;
mod walk;

#[cfg(test)]
mod mistakes;
#[cfg(test)]
mod tests;

use serde_json::Value;

use self::walk::{Fields, Walk};
use crate::problem::Problem;

/// The longest path, as Linux has it.
const LONGEST_PATH: usize = 4096;

const BAD_PATH: &str = "must be an absolute path without . and .. and without a slash at its end";
const TWICE: &str = "is given twice: put both into one";

/// Everything that is wrong with a config.
pub fn validate(config: &Value) -> Vec<Problem> {
    let mut walk = Walk::default();
    match Fields::of(String::new(), config) {
        Some(config) => {
            header::version(&mut walk, &config);
            schema::check(&mut walk, &config);
            header::check(&mut walk, &config);
            storage::check(&mut walk, &config);
            systemd::check(&mut walk, &config);
            passwd::check(&mut walk, &config);
        }
        None => walk.wrong("", "must be an object"),
    }
    walk.problems
}

fn is_path(path: &str) -> bool {
    let Some(rest) = path.strip_prefix('/') else {
        return false;
    };
    let is_part = |part: &str| !matches!(part, "" | "." | "..");
    path.len() <= LONGEST_PATH && !path.contains('\0') && rest.split('/').all(is_part)
}

/// A list whose entries are told apart by a field that must be there.
fn keyed(walk: &mut Walk, entries: &[Fields<'_>], key: &str) {
    let mut names = Vec::new();
    for entry in entries {
        match entry.filled(key) {
            Some(name) => names.push((name.to_owned(), entry.path(key))),
            None => walk.wrong(&entry.path(key), "must be given"),
        }
    }
    walk.unique(names, TWICE);
}

/// A list of texts that are one line each, and each there once.
fn lines(walk: &mut Walk, fields: &Fields<'_>, key: &str) {
    let texts = fields.texts(key);
    for (text, path) in &texts {
        if text.trim().is_empty() || text.contains(['\n', '\r', '\0']) {
            walk.wrong(path, "must be one line of text");
        }
    }
    walk.unique(texts, "is there twice: take one away");
}
