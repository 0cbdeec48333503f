//! Several Ignition configs as one. Of two entries with the same path or name the later one wins; what belongs together
//! (the additions to a unit, the keys of a user) is put together. Merging is associative, and a config merged with itself
//! is itself.

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use crate::ignition::{
    Config, DropIn, File, Header, KernelArguments, Node, Passwd, Storage, Systemd, Unit, User, VERSIONS,
};

/// Lists whose entries are told apart by one of their fields, among what has no type here.
type Keyed = &'static [(&'static str, &'static str)];

const OF_STORAGE: Keyed = &[
    ("disks", "device"),
    ("filesystems", "device"),
    ("luks", "name"),
    ("raid", "name"),
];
const OF_PASSWD: Keyed = &[("groups", "name")];
const NONE: Keyed = &[];

/// All configs as one, the first at the bottom. Entries come in the order of their paths and names.
pub fn merge_all<'a>(configs: impl IntoIterator<Item = &'a Config>) -> Config {
    let nothing = Config::default();
    configs.into_iter().fold(nothing, |base, over| merge(&base, over))
}

/// One config over another.
pub fn merge(base: &Config, over: &Config) -> Config {
    Config {
        ignition: Header {
            version: newer(&base.ignition.version, &over.ignition.version).to_owned(),
            rest: rest(&base.ignition.rest, &over.ignition.rest, NONE),
        },
        kernel_arguments: KernelArguments {
            should_exist: union(&base.kernel_arguments.should_exist, &over.kernel_arguments.should_exist),
            should_not_exist: union(
                &base.kernel_arguments.should_not_exist,
                &over.kernel_arguments.should_not_exist,
            ),
        },
        passwd: Passwd {
            users: by_name(&base.passwd.users, &over.passwd.users, |user| &user.name, user),
            rest: rest(&base.passwd.rest, &over.passwd.rest, OF_PASSWD),
        },
        storage: storage(&base.storage, &over.storage),
        systemd: Systemd {
            units: by_name(&base.systemd.units, &over.systemd.units, |unit| &unit.name, unit),
            rest: rest(&base.systemd.rest, &over.systemd.rest, NONE),
        },
        rest: rest(&base.rest, &over.rest, NONE),
    }
}

/// The newer of two versions: it reads what the older one says.
fn newer<'a>(base: &'a str, over: &'a str) -> &'a str {
    let rank = |version: &str| VERSIONS.iter().position(|known| *known == version);
    if rank(base) > rank(over) { base } else { over }
}

/// Something that has a path. Two of them never have the same.
enum Placed<'a> {
    Directory(&'a Node),
    File(&'a File),
    Link(&'a Node),
}

fn storage(base: &Storage, over: &Storage) -> Storage {
    let mut placed = BTreeMap::new();
    for layer in [base, over] {
        placed.extend(layer.directories.iter().map(|one| (&one.path, Placed::Directory(one))));
        placed.extend(layer.files.iter().map(|one| (&one.path, Placed::File(one))));
        placed.extend(layer.links.iter().map(|one| (&one.path, Placed::Link(one))));
    }
    let mut merged = Storage {
        rest: rest(&base.rest, &over.rest, OF_STORAGE),
        ..Storage::default()
    };
    for one in placed.into_values() {
        match one {
            Placed::Directory(one) => merged.directories.push(one.clone()),
            Placed::File(one) => merged.files.push(one.clone()),
            Placed::Link(one) => merged.links.push(one.clone()),
        }
    }
    merged
}

fn user(base: &User, over: &User) -> User {
    User {
        name: over.name.clone(),
        ssh_authorized_keys: union(&base.ssh_authorized_keys, &over.ssh_authorized_keys),
        rest: rest(&base.rest, &over.rest, NONE),
    }
}

fn unit(base: &Unit, over: &Unit) -> Unit {
    Unit {
        name: over.name.clone(),
        enabled: over.enabled.or(base.enabled),
        mask: over.mask.or(base.mask),
        contents: over.contents.as_ref().or(base.contents.as_ref()).cloned(),
        dropins: by_name(
            &base.dropins,
            &over.dropins,
            |one| &one.name,
            |_, over: &DropIn| over.clone(),
        ),
        rest: rest(&base.rest, &over.rest, NONE),
    }
}

/// Entries in the order of their names; two of one name become one.
fn by_name<T: Clone>(base: &[T], over: &[T], name: fn(&T) -> &String, both: fn(&T, &T) -> T) -> Vec<T> {
    let mut merged: BTreeMap<String, T> = BTreeMap::new();
    for one in base.iter().chain(over) {
        let one = match merged.get(name(one)) {
            Some(before) => both(before, one),
            // An entry alone has the form that merging gives, too.
            None => both(one, one),
        };
        merged.insert(name(&one).clone(), one);
    }
    merged.into_values().collect()
}

/// Texts of both, each once, in the order in which they first come.
fn union(base: &[String], over: &[String]) -> Vec<String> {
    let mut all: Vec<String> = Vec::new();
    for text in base.iter().chain(over) {
        if !all.contains(text) {
            all.push(text.clone());
        }
    }
    all
}

/// Fields without a type here: the later one wins, except in lists whose entries can be told apart.
fn rest(base: &Map<String, Value>, over: &Map<String, Value>, keyed: Keyed) -> Map<String, Value> {
    let mut merged = Map::new();
    for (key, value) in base.iter().chain(over) {
        let field = keyed.iter().find(|(list, _)| list == key).map(|(_, field)| *field);
        let value = match (field, value) {
            (Some(field), Value::Array(items)) => entries(merged.get(key), items, field),
            _ => value.clone(),
        };
        merged.insert(key.clone(), value);
    }
    merged
}

/// Entries of two lists in the order of the field that tells them apart; of two with the same, the later one.
fn entries(base: Option<&Value>, over: &[Value], field: &str) -> Value {
    let base = base.and_then(Value::as_array).into_iter().flatten();
    let all = base.chain(over);
    let named: BTreeMap<&str, &Value> = all.map(|one| (one[field].as_str().unwrap_or_default(), one)).collect();
    named.into_values().cloned().collect()
}
