//! Merging by tables and by its laws.

use std::collections::BTreeMap;

use proptest::{collection::vec, option, prelude::*, sample::select};
use serde_json::json;

use super::*;
use crate::{
    ignition::{self, DropIn, File, Header, KERNEL_ARGUMENTS_VERSION, Node, Storage, Unit, User},
    validate::validate,
};

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

/// Every field is put over the one before, lists are united, and what is appended is appended.
#[test]
fn entries_are_merged_field_by_field() {
    let version = json!({"version": "3.4.0"});
    let check = |section: &str, base: Value, over: Value, expected: Value| {
        let config_of = |part: Value| config(&json!({"ignition": version, section: part}));
        let found = value(&merge(&config_of(base), &config_of(over)));
        assert_eq!(found[section], expected);
    };
    check(
        "storage",
        json!({"files": [{
            "path": "/a", "mode": 1, "overwrite": true, "user": {"id": 1}, "group": {"name": "x"},
            "contents": {"source": "data:,a", "compression": "gzip"}, "append": [{"source": "data:,b"}],
        }]}),
        json!({"files": [{
            "path": "/a", "mode": 2, "user": {"name": "y"}, "contents": {"source": "data:,c"},
            "append": [{"source": "data:,b"}],
        }]}),
        json!({"files": [{
            "path": "/a", "mode": 2, "overwrite": true, "user": {"name": "y"}, "group": {"name": "x"},
            "contents": {"source": "data:,c"}, "append": [{"source": "data:,b"}, {"source": "data:,b"}],
        }]}),
    );
    // Who only says the mode keeps the content.
    check(
        "storage",
        json!({"files": [{"path": "/a", "contents": {"source": "data:,a"}}], "disks": [
            {"device": "/dev/b", "wipeTable": true, "partitions": [{"number": 1, "label": "x"}, {"label": "y"}]},
        ]}),
        json!({"files": [{"path": "/a", "mode": 2}], "disks": [
            {"device": "/dev/b", "partitions": [{"label": "y", "sizeMiB": 9}, {"number": 1, "sizeMiB": 8}]},
            {"device": "/dev/a"},
        ]}),
        json!({"files": [{"path": "/a", "mode": 2, "contents": {"source": "data:,a"}}], "disks": [
            {"device": "/dev/a"},
            {"device": "/dev/b", "wipeTable": true, "partitions": [
                {"number": 1, "label": "x", "sizeMiB": 8}, {"label": "y", "sizeMiB": 9},
            ]},
        ]}),
    );
    check(
        "passwd",
        json!({"users": [{"name": "core", "groups": ["a", "b"], "shell": "/bin/sh"}], "groups": [{"name": "x", "gid": 1}]}),
        json!({"users": [{"name": "core", "groups": ["c", "b"]}], "groups": [{"name": "x", "system": true}]}),
        json!({
            "users": [{"name": "core", "groups": ["a", "b", "c"], "shell": "/bin/sh"}],
            "groups": [{"name": "x", "gid": 1, "system": true}],
        }),
    );
    check(
        "ignition",
        json!({
            "version": "3.4.0", "timeouts": {"httpTotal": 1}, "proxy": {"noProxy": ["a"]},
            "config": {"merge": [{"source": "https://b", "httpHeaders": [{"name": "X", "value": "1"}, {"name": "Y", "value": "1"}]}]},
            "security": {"tls": {"certificateAuthorities": [{"source": "data:,b"}]}},
        }),
        json!({
            "version": "3.4.0", "timeouts": {"httpResponseHeaders": 2}, "proxy": {"noProxy": ["b"]},
            "config": {"merge": [{"source": "https://b", "httpHeaders": [{"name": "X"}, {"name": "Y", "value": "2"}]}, {"source": "https://a"}]},
            "security": {"tls": {"certificateAuthorities": [{"source": "data:,a"}]}},
        }),
        json!({
            "version": "3.4.0", "timeouts": {"httpTotal": 1, "httpResponseHeaders": 2}, "proxy": {"noProxy": ["a", "b"]},
            "config": {"merge": [{"source": "https://b", "httpHeaders": [{"name": "Y", "value": "2"}]}, {"source": "https://a"}]},
            "security": {"tls": {"certificateAuthorities": [{"source": "data:,b"}, {"source": "data:,a"}]}},
        }),
    );
}

#[test]
fn what_changes_its_kind_is_what_the_later_config_says() {
    let arguments = |exist: &[&str], not: &[&str]| {
        config(&json!({
            "ignition": {"version": KERNEL_ARGUMENTS_VERSION},
            "kernelArguments": {"shouldExist": exist, "shouldNotExist": not},
        }))
    };
    let merged = merge(&arguments(&["a", "b"], &["c"]), &arguments(&["c"], &["a"]));
    assert_eq!(merged.kernel_arguments.should_exist, ["b", "c"]);
    assert_eq!(merged.kernel_arguments.should_not_exist, ["a"]);

    let storage = |storage: Value| config(&json!({"ignition": {"version": "3.2.0"}, "storage": storage}));
    let file = storage(json!({"files": [{"path": "/a", "mode": 1}]}));
    let link = storage(json!({"links": [{"path": "/a", "target": "/b"}]}));
    let later = storage(json!({"files": [{"path": "/a", "overwrite": false}]}));
    let merged = value(&merge_all([&file, &link]));
    assert_eq!(merged["storage"], json!({"links": [{"path": "/a", "target": "/b"}]}));
    // Nothing of the first file is left once it was a link. The other way round the link would never have been there.
    let merged = value(&merge_all([&file, &link, &later]));
    assert_eq!(
        merged["storage"],
        json!({"files": [{"path": "/a", "overwrite": false}]})
    );
    assert_ne!(merge(&file, &merge(&link, &later)), merge_all([&file, &link, &later]));
}

/// Appended lists grow, which Ignition's do as well.
#[test]
fn what_is_appended_twice_is_there_twice() {
    let config = config(&json!({"ignition": {"version": "3.2.0"}, "storage": {
        "files": [{"path": "/a", "append": [{"source": "data:,a"}]}],
        "filesystems": [{"device": "/dev/a", "format": "xfs", "mountOptions": ["ro"], "options": ["-q"]}],
    }}));
    let merged = value(&merge(&config, &config));
    assert_eq!(
        merged["storage"]["files"][0]["append"].as_array().map(Vec::len),
        Some(2)
    );
    assert_eq!(merged["storage"]["filesystems"][0]["options"], json!(["-q", "-q"]));
    assert_eq!(merged["storage"]["filesystems"][0]["mountOptions"], json!(["ro", "ro"]));
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
    let keys = distinct(words(), Clone::clone);
    (words(), keys, uid).prop_map(|(name, ssh_authorized_keys, uid)| User {
        name,
        ssh_authorized_keys,
        rest: uid.map(|uid| ("uid".to_owned(), uid.into())).into_iter().collect(),
    })
}

/// What a path is in all configs, so that merging never takes anything away.
fn kind_of(path: &str) -> u8 {
    path.bytes().map(|byte| byte % 3).sum::<u8>() % 3
}

/// Files, directories and links of which no two have one path.
fn storages() -> impl Strategy<Value = Storage> {
    let placed = distinct((words(), option::of(0..8_u32), option::of(words())), |(path, ..)| {
        path.clone()
    });
    placed.prop_map(|placed| {
        let mut storage = Storage::default();
        for (name, mode, content) in placed {
            let path = format!("/{name}");
            let mode = mode.map(|mode| ("mode".to_owned(), Value::from(mode)));
            let target = std::iter::once(("target".to_owned(), Value::from("/")));
            match kind_of(&name) {
                0 => storage.directories.push(Node {
                    path,
                    rest: mode.into_iter().collect(),
                }),
                1 => storage.links.push(Node {
                    path,
                    rest: target.collect(),
                }),
                _ => {
                    let contents = content.map(|content| json!({"source": format!("data:,{content}")}));
                    let mut file = json!({"path": path});
                    file.as_object_mut().unwrap().extend(mode);
                    file.as_object_mut()
                        .unwrap()
                        .extend(contents.map(|contents| ("contents".to_owned(), contents)));
                    storage.files.push(hyperplane_objects::read::<File>(&file).unwrap());
                }
            }
        }
        storage
    })
}

fn configs() -> impl Strategy<Value = Config> {
    let users = distinct(users(), |user| user.name.clone());
    let units = distinct(units(), |unit| unit.name.clone());
    let groups = distinct((words(), any::<bool>()), |(name, _)| name.clone());
    let arguments = distinct(words(), Clone::clone);
    // Versions with kernel arguments only, so that every config is good by itself.
    let version = select(&VERSIONS[3..]);
    (version, arguments, users, units, groups, storages()).prop_map(
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
            let found = merged.storage.files.iter().find(|one| one.path == file.path).unwrap();
            prop_assert!(file.mode.is_none() || file.mode == found.mode);
            prop_assert!(file.contents.is_none() || file.contents == found.contents);
        }
        for user in &b.passwd.users {
            let found = merged.passwd.users.iter().find(|one| one.name == user.name);
            let found = found.map(|found| found.ssh_authorized_keys.as_slice()).unwrap_or_default();
            prop_assert!(user.ssh_authorized_keys.iter().all(|key| found.contains(key)));
        }
    }
}
