//! Merging by tables and by its laws.

use proptest::{collection::vec, option, prelude::*, sample::select};
use serde_json::json;

use super::*;
use crate::{ignition, validate::validate};

fn config(value: &Value) -> Config {
    ignition::read(value).unwrap_or_else(|problems| panic!("{problems:?}"))
}

fn value(config: &Config) -> Value {
    serde_json::to_value(config).unwrap()
}

#[test]
fn later_configs_win() {
    let base = config(&json!({
        "ignition": {"version": "3.2.0"},
        "passwd": {"users": [{"name": "core", "groups": ["x", "y"], "uid": 1, "sshAuthorizedKeys": ["a", "b"]}], "groups": [{"name": "x"}]},
        "storage": {"files": [{"path": "/b", "mode": 1}, {"path": "/a", "mode": 1}], "directories": [{"path": "/d"}]},
        "systemd": {"units": [{"name": "a.service", "enabled": true, "contents": "[old]", "dropins": [
            {"name": "1.conf", "contents": "[old]"}, {"name": "2.conf", "contents": "[kept]"},
        ]}]},
    }));
    let over = config(&json!({
        "ignition": {"version": "3.4.0"},
        "kernelArguments": {"shouldExist": ["quiet"]},
        "passwd": {"users": [{"name": "core", "uid": 2, "sshAuthorizedKeys": ["b", "c"]}], "groups": [{"name": "w"}]},
        "storage": {"files": [{"path": "/b", "mode": 2}, {"path": "/d", "mode": 2}]},
        "systemd": {"units": [{"name": "a.service", "contents": "[new]", "dropins": [
            {"name": "1.conf", "contents": "[new]"},
        ]}]},
    }));
    let expected = json!({
        "ignition": {"version": "3.4.0"},
        "kernelArguments": {"shouldExist": ["quiet"]},
        "passwd": {
            "users": [{"name": "core", "groups": ["x", "y"], "uid": 2, "sshAuthorizedKeys": ["a", "b", "c"]}],
            "groups": [{"name": "w"}, {"name": "x"}],
        },
        // What was a directory is a file now.
        "storage": {"files": [{"path": "/a", "mode": 1}, {"path": "/b", "mode": 2}, {"path": "/d", "mode": 2}]},
        "systemd": {"units": [{"name": "a.service", "enabled": true, "contents": "[new]", "dropins": [
            {"name": "1.conf", "contents": "[new]"}, {"name": "2.conf", "contents": "[kept]"},
        ]}]},
    });
    assert_eq!(value(&merge(&base, &over)), expected);
}

#[test]
fn nothing_merged_is_nothing() {
    assert_eq!(merge_all([]), Config::default());
}

/// A list without two entries of one name.
fn distinct<T: std::fmt::Debug + Clone>(
    entries: impl Strategy<Value = T>,
    name: fn(&T) -> String,
) -> impl Strategy<Value = Vec<T>> {
    vec(entries, 0..4).prop_map(move |entries| {
        let named: BTreeMap<String, T> = entries.into_iter().map(|one| (name(&one), one)).collect();
        named.into_values().collect()
    })
}

fn words() -> impl Strategy<Value = String> {
    select(&["a", "b", "c", "d"][..]).prop_map(str::to_owned)
}

/// Texts of units.
fn texts() -> impl Strategy<Value = String> {
    words().prop_map(|word| format!("[{word}]\n"))
}

fn units() -> impl Strategy<Value = Unit> {
    let dropins = distinct(words().prop_map(|word| (word.clone(), word)), |(name, _)| name.clone());
    let dropins = (dropins, texts()).prop_map(|(names, contents)| {
        let named = names.into_iter().map(|(name, _)| DropIn {
            name: format!("{name}.conf"),
            contents: Some(contents.clone()),
            ..DropIn::default()
        });
        named.collect::<Vec<DropIn>>()
    });
    (words(), option::of(any::<bool>()), option::of(texts()), dropins).prop_map(|(name, enabled, contents, dropins)| {
        Unit {
            name: format!("{name}.service"),
            enabled,
            contents,
            dropins,
            ..Unit::default()
        }
    })
}

fn users() -> impl Strategy<Value = User> {
    let uid = option::of(0..3_u32);
    (words(), vec(words(), 0..4), uid).prop_map(|(name, ssh_authorized_keys, uid)| User {
        name,
        ssh_authorized_keys,
        rest: uid.map(|uid| ("uid".to_owned(), uid.into())).into_iter().collect(),
    })
}

/// Files, directories and links of which no two have one path.
fn storages() -> impl Strategy<Value = Storage> {
    let placed = distinct((words(), 0..3_u8, 0..8_u32), |(path, ..)| path.clone());
    placed.prop_map(|placed| {
        let mut storage = Storage::default();
        for (path, kind, mode) in placed {
            let path = format!("/{path}");
            let node = |key: &str, value: Value| Node {
                path: path.clone(),
                rest: std::iter::once((key.to_owned(), value)).collect(),
            };
            match kind {
                0 => storage.directories.push(node("mode", mode.into())),
                1 => storage.links.push(node("target", "/".into())),
                _ => storage.files.push(File {
                    path,
                    mode: Some(mode),
                    ..File::default()
                }),
            }
        }
        storage
    })
}

fn configs() -> impl Strategy<Value = Config> {
    let users = distinct(users(), |user| user.name.clone());
    let units = distinct(units(), |unit| unit.name.clone());
    let groups = distinct((words(), any::<bool>()), |(name, _)| name.clone());
    // Versions with kernel arguments only, so that every config is good by itself.
    let version = select(&VERSIONS[3..]);
    (version, vec(words(), 0..4), users, units, groups, storages()).prop_map(
        |(version, should_exist, users, units, groups, storage)| {
            let groups: Vec<Value> = groups
                .into_iter()
                .map(|(name, system)| json!({"name": name, "system": system}))
                .collect();
            let mut config = Config {
                ignition: Header {
                    version: version.to_owned(),
                    ..Header::default()
                },
                storage,
                ..Config::default()
            };
            config.kernel_arguments.should_exist = should_exist;
            config.passwd.users = users;
            config.passwd.rest.insert("groups".to_owned(), groups.into());
            config.systemd.units = units;
            config
        },
    )
}

/// A config in the form that merging gives.
fn normal(config: &Config) -> Config {
    merge_all([config])
}

proptest! {
    #[test]
    fn merging_is_associative(a in configs(), b in configs(), c in configs()) {
        prop_assert_eq!(merge(&merge(&a, &b), &c), merge(&a, &merge(&b, &c)));
    }

    #[test]
    fn a_config_merged_with_itself_is_itself(config in configs()) {
        let normal = normal(&config);
        prop_assert_eq!(merge(&normal, &normal), normal);
    }

    #[test]
    fn what_is_merged_of_good_configs_is_good(a in configs(), b in configs()) {
        prop_assert_eq!(validate(&value(&a)), []);
        prop_assert_eq!(validate(&value(&merge(&a, &b))), []);
    }

    #[test]
    fn nothing_of_the_later_config_is_lost(a in configs(), b in configs()) {
        let merged = merge(&a, &b);
        for file in &b.storage.files {
            prop_assert!(merged.storage.files.contains(file));
        }
        for user in &b.passwd.users {
            let found = merged.passwd.users.iter().find(|one| one.name == user.name);
            let found = found.map(|found| found.ssh_authorized_keys.as_slice()).unwrap_or_default();
            prop_assert!(user.ssh_authorized_keys.iter().all(|key| found.contains(key)));
        }
    }
}
