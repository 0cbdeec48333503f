//! One mistake at a time, section by section: each is refused where it is, and nothing else of it.

use serde_json::{Value, json};

use super::validate;

/// A config of a version with one section.
fn section(version: &str, name: &str, content: &Value) -> Value {
    let mut config = json!({"ignition": {"version": version}});
    match name {
        "ignition" => config["ignition"]
            .as_object_mut()
            .unwrap()
            .extend(content.as_object().cloned().unwrap()),
        name => config[name] = content.clone(),
    }
    config
}

/// Each row is refused where it says, and nothing else of it is.
fn check(rows: &[(&str, &str, Value, &str)]) {
    for (version, name, content, path) in rows {
        let paths: Vec<String> = validate(&section(version, name, content))
            .into_iter()
            .map(|one| one.path)
            .collect();
        assert_eq!(paths, [*path], "{version} {name} {content}");
    }
}

#[test]
fn types_are_those_that_ignition_reads() {
    check(&[
        (
            "3.2.0",
            "passwd",
            json!({"users": [{"name": "a", "uid": "1"}]}),
            "passwd.users[0].uid",
        ),
        (
            "3.2.0",
            "passwd",
            json!({"users": [{"name": "a", "uid": 1.5}]}),
            "passwd.users[0].uid",
        ),
        (
            "3.2.0",
            "passwd",
            json!({"users": [{"name": "a", "groups": [1]}]}),
            "passwd.users[0].groups[0]",
        ),
        (
            "3.2.0",
            "passwd",
            json!({"groups": [{"name": "a", "gid": true}]}),
            "passwd.groups[0].gid",
        ),
        (
            "3.2.0",
            "storage",
            json!({"files": [{"path": "/a", "user": "root"}]}),
            "storage.files[0].user",
        ),
        (
            "3.2.0",
            "storage",
            json!({"files": [{"path": "/a", "user": {"id": "0"}}]}),
            "storage.files[0].user.id",
        ),
        (
            "3.2.0",
            "storage",
            json!({"files": [{"path": "/a", "Mode": 1}]}),
            "storage.files[0].Mode",
        ),
        ("3.2.0", "systemd", json!({"units": {}}), "systemd.units"),
        (
            "3.2.0",
            "ignition",
            json!({"timeouts": {"httpTotal": "9"}}),
            "ignition.timeouts.httpTotal",
        ),
    ]);
}

#[test]
fn fields_of_later_versions_are_told() {
    let luks = json!({"luks": [{"name": "a", "device": "/a", "discard": true}]});
    check(&[
        ("3.0.0", "ignition", json!({"proxy": {}}), "ignition.proxy"),
        ("3.1.0", "storage", json!({"luks": []}), "storage.luks"),
        ("3.3.0", "storage", luks, "storage.luks[0].discard"),
        (
            "3.1.0",
            "passwd",
            json!({"users": [{"name": "a", "shouldExist": true}]}),
            "passwd.users[0].shouldExist",
        ),
        (
            "3.2.0",
            "storage",
            json!({"filesystems": [{"device": "/a", "format": "none"}]}),
            "storage.filesystems[0].format",
        ),
        (
            "3.0.0",
            "storage",
            json!({"files": [{"path": "/a", "contents": {"source": "https://a", "verification": {
                "hash": format!("sha256-{}", "0".repeat(64)),
            }}}]}),
            "storage.files[0].contents.verification.hash",
        ),
    ]);
}

#[test]
fn nothing_is_there_twice_or_contradicts_itself() {
    let header = json!({"name": "A", "value": "b"});
    check(&[
        (
            "3.3.0",
            "kernelArguments",
            json!({"shouldExist": ["a", "a"]}),
            "kernelArguments.shouldExist[1]",
        ),
        (
            "3.3.0",
            "kernelArguments",
            json!({"shouldExist": ["a"], "shouldNotExist": ["a"]}),
            "kernelArguments.shouldNotExist[0]",
        ),
        (
            "3.2.0",
            "passwd",
            json!({"users": [{"name": "a", "groups": ["x", "x"]}]}),
            "passwd.users[0].groups[1]",
        ),
        (
            "3.2.0",
            "passwd",
            json!({"users": [{"name": "a", "sshAuthorizedKeys": ["x", "x"]}]}),
            "passwd.users[0].sshAuthorizedKeys[1]",
        ),
        (
            "3.2.0",
            "ignition",
            json!({"proxy": {"noProxy": ["a", "a"]}}),
            "ignition.proxy.noProxy[1]",
        ),
        (
            "3.2.0",
            "ignition",
            json!({"config": {"merge": [{"source": "https://a"}, {"source": "https://a"}]}}),
            "ignition.config.merge[1].source",
        ),
        (
            "3.2.0",
            "storage",
            json!({"files": [{"path": "/a", "contents": {"source": "https://a", "httpHeaders": [header, header]}}]}),
            "storage.files[0].contents.httpHeaders[1].name",
        ),
        (
            "3.2.0",
            "storage",
            json!({"files": [{"path": "/a", "user": {"id": 0, "name": "root"}}]}),
            "storage.files[0].user",
        ),
        (
            "3.2.0",
            "storage",
            json!({"directories": [{"path": "/a"}], "links": [{"path": "/b", "target": "/x/../a", "hard": true}]}),
            "storage.links[0].target",
        ),
    ]);
    let mut unit = section(
        "3.2.0",
        "systemd",
        &json!({"units": [{"name": "a.service", "contents": "[Unit]"}]}),
    );
    unit["storage"] = json!({"files": [{"path": "/etc/systemd/system/a.service"}]});
    assert_eq!(validate(&unit)[0].path, "storage.files[0].path");
}

#[test]
fn sources_and_proxies_are_addresses() {
    let file = |contents: Value| json!({"files": [{"path": "/a", "contents": contents}]});
    let hash = format!("sha512-{}", "0".repeat(128));
    check(&[
        (
            "3.2.0",
            "ignition",
            json!({"proxy": {"httpProxy": "proxy:3128"}}),
            "ignition.proxy.httpProxy",
        ),
        (
            "3.2.0",
            "ignition",
            json!({"proxy": {"httpsProxy": ""}}),
            "ignition.proxy.httpsProxy",
        ),
        (
            "3.2.0",
            "ignition",
            json!({"timeouts": {"httpTotal": -1}}),
            "ignition.timeouts.httpTotal",
        ),
        (
            "3.2.0",
            "ignition",
            json!({"security": {"tls": {"certificateAuthorities": [{}]}}}),
            "ignition.security.tls.certificateAuthorities[0].source",
        ),
        (
            "3.2.0",
            "storage",
            file(json!({"verification": {"hash": hash}})),
            "storage.files[0].contents.verification.hash",
        ),
        (
            "3.2.0",
            "storage",
            file(json!({"source": "data:,a", "httpHeaders": [{"name": "A", "value": "b"}]})),
            "storage.files[0].contents.httpHeaders",
        ),
        (
            "3.2.0",
            "storage",
            file(json!({"source": "https://a", "httpHeaders": [{"name": "A", "value": ""}]})),
            "storage.files[0].contents.httpHeaders[0].value",
        ),
        (
            "3.2.0",
            "storage",
            file(json!({"source": "data:,a b"})),
            "storage.files[0].contents.source",
        ),
    ]);
    assert_eq!(validate(&section("3.2.0", "storage", &file(json!({"source": ""})))), []);
}

#[test]
#[expect(clippy::too_many_lines, reason = "a table, one row for each mistake")]
fn disks_are_judged() {
    let disk = |partitions: Value| json!({"disks": [{"device": "/dev/a", "partitions": partitions}]});
    let system = |fields: Value| {
        let mut system = json!({"device": "/dev/a"});
        system
            .as_object_mut()
            .unwrap()
            .extend(fields.as_object().cloned().unwrap());
        json!({"filesystems": [system]})
    };
    let raid = |fields: Value| {
        let mut raid = json!({"name": "a", "level": "raid1", "devices": ["/dev/a"]});
        raid.as_object_mut()
            .unwrap()
            .extend(fields.as_object().cloned().unwrap());
        json!({"raid": [raid]})
    };
    let first = "storage.disks[0].partitions[0]";
    check(&[
        (
            "3.2.0",
            "storage",
            json!({"disks": [{"device": "dev"}]}),
            "storage.disks[0].device",
        ),
        ("3.2.0", "storage", disk(json!([{}])), first),
        (
            "3.2.0",
            "storage",
            disk(json!([{"number": 1, "shouldExist": false, "label": "a"}])),
            first,
        ),
        (
            "3.2.0",
            "storage",
            disk(json!([{"label": "a:b"}])),
            "storage.disks[0].partitions[0].label",
        ),
        (
            "3.2.0",
            "storage",
            disk(json!([{"number": 1, "guid": "x"}])),
            "storage.disks[0].partitions[0].guid",
        ),
        (
            "3.2.0",
            "storage",
            disk(json!([{"number": -1}])),
            "storage.disks[0].partitions[0].number",
        ),
        (
            "3.2.0",
            "storage",
            disk(json!([{"number": 1}, {"number": 1}])),
            "storage.disks[0].partitions[1].number",
        ),
        (
            "3.2.0",
            "storage",
            disk(json!([{"number": 1, "label": "a"}, {"number": 2, "label": "a"}])),
            "storage.disks[0].partitions[1].label",
        ),
        (
            "3.2.0",
            "storage",
            disk(json!([{"number": 1, "startMiB": 5, "sizeMiB": 5}, {"number": 2, "startMiB": 1, "sizeMiB": 5}])),
            "storage.disks[0].partitions[0].startMiB",
        ),
        (
            "3.2.0",
            "storage",
            disk(json!([{"label": "a"}, {"number": 2, "shouldExist": false}])),
            "storage.disks[0].partitions",
        ),
        (
            "3.2.0",
            "storage",
            system(json!({"format": "ntfs"})),
            "storage.filesystems[0].format",
        ),
        (
            "3.2.0",
            "storage",
            system(json!({"path": "/a"})),
            "storage.filesystems[0].format",
        ),
        (
            "3.2.0",
            "storage",
            system(json!({"format": "xfs", "path": "a"})),
            "storage.filesystems[0].path",
        ),
        (
            "3.2.0",
            "storage",
            system(json!({"format": "xfs", "label": "more than twelve"})),
            "storage.filesystems[0].label",
        ),
        (
            "3.2.0",
            "storage",
            raid(json!({"level": "raid7"})),
            "storage.raid[0].level",
        ),
        (
            "3.2.0",
            "storage",
            raid(json!({"level": "raid0", "spares": 1})),
            "storage.raid[0].spares",
        ),
        (
            "3.2.0",
            "storage",
            raid(json!({"devices": []})),
            "storage.raid[0].devices",
        ),
        (
            "3.2.0",
            "storage",
            raid(json!({"devices": ["a"]})),
            "storage.raid[0].devices[0]",
        ),
    ]);
}

#[test]
#[expect(clippy::too_many_lines, reason = "a table, one row for each mistake")]
fn encrypted_devices_are_judged() {
    let luks = |fields: Value| {
        let mut luks = json!({"name": "a", "device": "/dev/a"});
        luks.as_object_mut()
            .unwrap()
            .extend(fields.as_object().cloned().unwrap());
        json!({"luks": [luks]})
    };
    let tang = |fields: Value| {
        let mut tang = json!({"url": "https://a", "thumbprint": "b"});
        tang.as_object_mut()
            .unwrap()
            .extend(fields.as_object().cloned().unwrap());
        luks(json!({"clevis": {"tang": [tang]}}))
    };
    let custom = json!({"pin": "sss", "config": "{}"});
    check(&[
        ("3.5.0", "storage", luks(json!({"name": "a/b"})), "storage.luks[0].name"),
        (
            "3.5.0",
            "storage",
            luks(json!({"device": ""})),
            "storage.luks[0].device",
        ),
        (
            "3.5.0",
            "storage",
            luks(json!({"label": "x".repeat(48)})),
            "storage.luks[0].label",
        ),
        (
            "3.5.0",
            "storage",
            luks(json!({"keyFile": {"source": "x"}})),
            "storage.luks[0].keyFile.source",
        ),
        (
            "3.5.0",
            "storage",
            luks(json!({"openOptions": ["a", "a"]})),
            "storage.luks[0].openOptions[1]",
        ),
        (
            "3.5.0",
            "storage",
            luks(json!({"cex": {"enabled": true}, "clevis": {"tpm2": true}})),
            "storage.luks[0].cex",
        ),
        (
            "3.5.0",
            "storage",
            luks(json!({"clevis": {"custom": custom, "tpm2": true}})),
            "storage.luks[0].clevis.custom",
        ),
        (
            "3.5.0",
            "storage",
            luks(json!({"clevis": {"custom": {"pin": "x", "config": "{}"}}})),
            "storage.luks[0].clevis.custom.pin",
        ),
        (
            "3.5.0",
            "storage",
            luks(json!({"clevis": {"custom": {"pin": "sss"}}})),
            "storage.luks[0].clevis.custom.config",
        ),
        (
            "3.5.0",
            "storage",
            tang(json!({"url": "a"})),
            "storage.luks[0].clevis.tang[0].url",
        ),
        (
            "3.5.0",
            "storage",
            tang(json!({"thumbprint": ""})),
            "storage.luks[0].clevis.tang[0].thumbprint",
        ),
        (
            "3.5.0",
            "storage",
            tang(json!({"advertisement": "{"})),
            "storage.luks[0].clevis.tang[0].advertisement",
        ),
    ]);
}
