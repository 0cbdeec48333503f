//! Configs that are good, and one mistake at a time in them.

use proptest::prelude::*;
use serde_json::json;

use super::*;
use crate::source::data_url;

fn good() -> Value {
    json!({
        "ignition": {"version": "3.4.0", "config": {"merge": [{"source": "https://example.com/a"}]}},
        "kernelArguments": {"shouldExist": ["quiet"]},
        "passwd": {
            "groups": [{"name": "wheel"}],
            "users": [{"name": "core", "sshAuthorizedKeys": ["ssh-ed25519 AAAA"]}],
        },
        "storage": {
            "directories": [{"path": "/etc/d", "mode": 493}],
            "files": [
                {"path": "/etc/a", "mode": 420, "overwrite": true, "contents": {
                    "source": "data:,hi", "compression": "",
                    "verification": {"hash":
                        "sha256-8f434346648f6b96df89dda901c5176b10a6d83961dd3c1ac88b59b2dc327aa4"},
                }},
                {"path": "/etc/b", "append": [{"source": "data:,hi"}]},
            ],
            "links": [{"path": "/etc/c", "target": "/etc/a"}],
        },
        "systemd": {"units": [
            {"name": "a@1.service", "enabled": true, "contents": "[Unit]"},
            {"name": "kubelet.service", "dropins": [{"name": "10-a.conf", "contents": "[Service]"}]},
        ]},
    })
}

/// The good config with another value somewhere.
fn with(pointer: &str, value: Value) -> Value {
    let mut config = good();
    let (parent, key) = pointer.rsplit_once('/').unwrap();
    match config.pointer_mut(parent).unwrap() {
        Value::Array(items) => items[key.parse::<usize>().unwrap()] = value,
        parent => parent[key] = value,
    }
    config
}

#[test]
fn a_good_config_has_no_problem() {
    assert_eq!(validate(&good()), []);
    assert_eq!(validate(&json!({"ignition": {"version": "3.0.0"}})), []);
}

#[test]
#[expect(clippy::too_many_lines, reason = "a table, one row for each mistake")]
fn every_mistake_is_found_where_it_is() {
    let file = "/storage/files/0";
    let cases = [
        ("/ignition/version".to_owned(), json!("2.2.0"), "ignition.version"),
        ("/ignition/version".to_owned(), json!("3.2.0"), "kernelArguments"),
        (
            "/ignition/config/merge/0/source".to_owned(),
            json!("ftp://a"),
            "ignition.config.merge[0].source",
        ),
        (
            "/kernelArguments/shouldExist/0".to_owned(),
            json!("a\nb"),
            "kernelArguments.shouldExist[0]",
        ),
        (format!("{file}/path"), json!("etc/a"), "storage.files[0].path"),
        (format!("{file}/path"), json!("/etc/../a"), "storage.files[0].path"),
        (format!("{file}/path"), json!("/etc/"), "storage.files[0].path"),
        (format!("{file}/path"), json!("/etc/b"), "storage.files[1].path"),
        (format!("{file}/path"), json!("/etc/c"), "storage.links[0].path"),
        (format!("{file}/mode"), json!(4096), "storage.files[0].mode"),
        (format!("{file}/mode"), json!("0644"), "storage.files[0].mode"),
        (format!("{file}/mode"), json!(-1), "storage.files[0].mode"),
        (format!("{file}/overwrite"), json!("yes"), "storage.files[0].overwrite"),
        (
            format!("{file}/contents"),
            json!({"compression": "gzip"}),
            "storage.files[0].overwrite",
        ),
        (
            "/storage/directories/0/path".to_owned(),
            json!("/etc/a/b/c"),
            "storage.directories[0].path",
        ),
        (
            "/storage/files/1/path".to_owned(),
            json!("/etc/c/b"),
            "storage.files[1].path",
        ),
        (
            "/systemd/units/0/contents".to_owned(),
            json!("[Unit"),
            "systemd.units[0].contents",
        ),
        (
            "/systemd/units/1/dropins/0/contents".to_owned(),
            json!("[Service]\nnonsense"),
            "systemd.units[1].dropins[0].contents",
        ),
        (
            format!("{file}/contents/source"),
            json!("data:hi"),
            "storage.files[0].contents.source",
        ),
        (
            format!("{file}/contents/compression"),
            json!("xz"),
            "storage.files[0].contents.compression",
        ),
        (
            format!("{file}/contents/verification/hash"),
            json!("sha256-00"),
            "storage.files[0].contents.verification.hash",
        ),
        (
            format!("{file}/contents/source"),
            json!("data:,ho"),
            "storage.files[0].contents.verification.hash",
        ),
        (
            "/storage/links/0/target".to_owned(),
            json!(""),
            "storage.links[0].target",
        ),
        ("/storage/directories".to_owned(), json!({}), "storage.directories"),
        ("/storage/disks".to_owned(), json!([{}]), "storage.disks[0].device"),
        (
            "/systemd/units/0/name".to_owned(),
            json!("a.unit"),
            "systemd.units[0].name",
        ),
        (
            "/systemd/units/0/name".to_owned(),
            json!("kubelet.service"),
            "systemd.units[1].name",
        ),
        (
            "/systemd/units/1/dropins/0/name".to_owned(),
            json!("a"),
            "systemd.units[1].dropins[0].name",
        ),
        ("/passwd/users/0/name".to_owned(), json!("a b"), "passwd.users[0].name"),
        (
            "/passwd/users/0/sshAuthorizedKeys".to_owned(),
            json!("a"),
            "passwd.users[0].sshAuthorizedKeys",
        ),
        ("/passwd/groups/0/name".to_owned(), json!(1), "passwd.groups[0].name"),
    ];
    for (pointer, value, path) in cases {
        let problems = validate(&with(&pointer, value));
        assert!(
            problems.iter().any(|problem| problem.path == path),
            "{pointer}: {problems:?}"
        );
    }
}

#[test]
fn all_mistakes_are_told_at_once_and_not_without_end() {
    let mut config = with("/ignition/version", json!(3));
    config["storage"]["files"][0]["mode"] = json!("x");
    let paths: Vec<String> = validate(&config).into_iter().map(|problem| problem.path).collect();
    assert_eq!(paths, ["ignition.version", "ignition.version", "storage.files[0].mode"]);
    let files: Vec<Value> = (0..1_000).map(|_| json!({})).collect();
    let config = json!({"ignition": {"version": "3.2.0"}, "storage": {"files": files}});
    assert_eq!(validate(&config).len(), 100);
    assert_eq!(validate(&json!([])).len(), 1);
}

/// Words that mean something, so that values come near to configs.
const KEYS: &[&str] = &[
    "ignition", "storage", "files", "systemd", "units", "name", "path", "contents", "source", "version", "passwd",
    "users", "dropins",
];

/// Any value of JSON, not too deep.
fn values() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        "[a-z/:.]{0,8}".prop_map(Value::from),
    ];
    let keys = proptest::sample::select(KEYS);
    leaf.prop_recursive(5, 40, 5, move |inner| {
        let fields = proptest::collection::vec((keys.clone(), inner.clone()), 0..5);
        prop_oneof![
            proptest::collection::vec(inner, 0..4).prop_map(Value::from),
            fields.prop_map(|fields| fields.into_iter().collect::<Value>()),
        ]
    })
}

proptest! {
    #[test]
    fn nothing_makes_it_panic_and_what_passes_is_read(value in values()) {
        let is_good = validate(&value).is_empty();
        if is_good {
            prop_assert!(hyperplane_objects::read::<crate::ignition::Config>(value).is_ok());
        }
    }

    #[test]
    fn content_of_any_kind_passes(content in proptest::collection::vec(any::<u8>(), 0..64)) {
        prop_assert_eq!(validate(&with("/storage/files/1/append/0/source", data_url(&content).into())), []);
    }
}
