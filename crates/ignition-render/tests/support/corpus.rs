//! Configs that are good, single mistakes in them, and more of them drawn from seeds.

use serde_json::{Map, Value, json};

/// Good configs that have every field.
pub fn good() -> Vec<(&'static str, Value)> {
    vec![("full", full()), ("stub", stub()), ("old", old())]
}

fn full() -> Value {
    json!({
        "ignition": {
            "version": "3.5.0",
            "config": {"merge": [{"source": "https://example.com/a", "httpHeaders": [{"name": "A", "value": "b"}]}]},
            "proxy": {"httpProxy": "http://proxy:3128", "httpsProxy": "https://proxy:3128", "noProxy": ["a", "b"]},
            "security": {"tls": {"certificateAuthorities": [{"source": "data:,a"}, {"source": "data:,b"}]}},
            "timeouts": {"httpResponseHeaders": 1, "httpTotal": 0},
        },
        "kernelArguments": {"shouldExist": ["quiet", "a=b"], "shouldNotExist": ["c"]},
        "passwd": {
            "groups": [{"name": "wheel", "gid": 10, "system": true, "shouldExist": true}, {"name": "x"}],
            "users": [
                {"name": "core", "uid": 1, "groups": ["wheel", "x"], "sshAuthorizedKeys": ["ssh-rsa A", "ssh-rsa B"]},
                {"name": "other", "homeDir": "/home/o", "noCreateHome": true, "shell": "/bin/sh"},
            ],
        },
        "storage": {
            "directories": [{"path": "/etc/d", "mode": 493, "user": {"id": 0}, "group": {"name": "wheel"}}],
            "disks": [
                {"device": "/dev/a", "wipeTable": true, "partitions": [
                    {"number": 1, "label": "one", "startMiB": 1, "sizeMiB": 10},
                    {"number": 2, "label": "two", "startMiB": 11, "sizeMiB": 10, "resize": true},
                    {"number": 3, "typeGuid": "4F68BCE3-E8CD-4DB1-96E7-FBCAF984B709"},
                ]},
                {"device": "/dev/b", "partitions": [{"number": 1, "shouldExist": false}]},
            ],
            "files": [
                {"path": "/etc/a", "mode": 420, "overwrite": true, "contents": {
                    "source": "data:,hi", "compression": "", "verification": {"hash":
                        "sha256-8f434346648f6b96df89dda901c5176b10a6d83961dd3c1ac88b59b2dc327aa4"},
                }},
                {"path": "/etc/b", "append": [{"source": "data:,hi"}, {"source": "data:,hi"}]},
                {"path": "/etc/remote", "contents": {"source": "https://example.com/b", "httpHeaders": [
                    {"name": "A", "value": "b"}, {"name": "B", "value": "b"},
                ]}},
            ],
            "filesystems": [
                {"device": "/dev/c", "format": "xfs", "label": "data", "path": "/var", "mountOptions": ["ro"]},
                {"device": "/dev/d", "format": "swap", "wipeFilesystem": true, "options": ["-q", "-q"]},
            ],
            "links": [
                {"path": "/etc/c", "target": "/etc/a"},
                {"path": "/etc/e", "target": "/etc/a", "hard": true},
            ],
            "luks": [
                {"name": "one", "device": "/dev/e", "label": "x", "discard": true, "openOptions": ["--a", "--b"],
                 "clevis": {"tpm2": true, "threshold": 1, "tang": [{"url": "https://tang.example.com", "thumbprint": "x",
                    "advertisement": "{}"}]}},
                {"name": "two", "device": "/dev/f", "clevis": {"custom": {"pin": "sss", "config": "{}", "needsNetwork": true}}},
                {"name": "three", "device": "/dev/g", "keyFile": {"source": "data:,key"}},
            ],
            "raid": [{"name": "md0", "level": "raid1", "devices": ["/dev/h", "/dev/i"], "spares": 1, "options": ["-x"]}],
        },
        "systemd": {"units": [
            {"name": "a@1.service", "enabled": true, "contents": "[Unit]\nA=b\n"},
            {"name": "kubelet.service", "mask": false, "dropins": [
                {"name": "10-a.conf", "contents": "[Service]\nA=b \\\n  c\n"}, {"name": "20-b.conf"},
            ]},
        ]},
    })
}

/// What a machine reads first.
fn stub() -> Value {
    json!({"ignition": {
        "version": "3.2.0",
        "config": {"merge": [{
            "source": "https://ignition.example.com:443/ignition",
            "httpHeaders": [
                {"name": "Authorization", "value": "Bearer dG9rZW4="},
                {"name": "NodePool", "value": "clusters/one"},
                {"name": "TargetConfigVersionHash", "value": "1234abcd"},
            ],
        }]},
        "security": {"tls": {"certificateAuthorities": [{"source": "data:;base64,UEVN"}]}},
        "proxy": {"httpProxy": "http://user:100%25@proxy.example.com:3128", "noProxy": ["example.com", ".svc"]},
    }})
}

fn old() -> Value {
    json!({
        "ignition": {"version": "3.0.0", "config": {"merge": [{"source": "https://example.com/a"}]}},
        "passwd": {"users": [{"name": "core", "sshAuthorizedKeys": ["ssh-rsa A"]}]},
        "storage": {"files": [{"path": "/etc/a", "contents": {"source": "data:,hi"}}]},
    })
}

/// Every place of every good config with every odd value in it, and without it; every entry of a list twice.
pub fn mistakes() -> Vec<(String, Value)> {
    let mut all = Vec::new();
    for (name, config) in good() {
        for pointer in pointers(&config) {
            let mut without = config.clone();
            remove(&mut without, &pointer);
            all.push((format!("{name} without {pointer}"), without));
            if let Some(doubled) = doubled(&config, &pointer) {
                all.push((format!("{name} with {pointer} twice"), doubled));
            }
            let found = config.pointer(&pointer).expect("it was found there");
            for (index, value) in odd().into_iter().enumerate() {
                if index < TYPES || is_telling(&pointer, found, &value, index) {
                    let mut config = config.clone();
                    *config.pointer_mut(&pointer).expect("it was found there") = value;
                    all.push((format!("{name} with odd value {index} in {pointer}"), config));
                }
            }
        }
    }
    all
}

/// Whether an odd value says something in a place. Addresses and units are tried wherever one can stand; of the others there
/// are many, and a quarter will do.
fn is_telling(pointer: &str, found: &Value, value: &Value, index: usize) -> bool {
    let Some(text) = value.as_str() else {
        return std::mem::discriminant(value) == std::mem::discriminant(found);
    };
    let key = pointer.rsplit('/').next().unwrap_or_default();
    match key {
        _ if !found.is_string() => false,
        "source" | "url" | "httpProxy" | "httpsProxy" => text.contains(':'),
        "contents" => text.contains('['),
        "version" | "format" | "level" | "path" | "device" => true,
        _ => (index + pointer.len()).is_multiple_of(4),
    }
}

/// A good config with a few changes that follow from a seed.
pub fn drawn(seed: u64) -> Value {
    let mut draw = Draw(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
    let (_, mut config) = good().swap_remove(draw.below(2));
    for _ in 0..=draw.below(3) {
        let all = pointers(&config);
        let pointer = &all[draw.below(all.len())];
        match draw.below(4) {
            0 => remove(&mut config, pointer),
            1 => config = doubled(&config, pointer).unwrap_or(config),
            2 => {
                let other = config.pointer(&all[draw.below(all.len())]).cloned();
                *config.pointer_mut(pointer).expect("it was found there") = other.unwrap_or_default();
            }
            _ => {
                let mut odd = odd();
                let value = odd.swap_remove(draw.below(odd.len()));
                *config.pointer_mut(pointer).expect("it was found there") = value;
            }
        }
        if config.get("ignition").is_none() {
            break;
        }
    }
    config
}

struct Draw(u64);

impl Draw {
    fn below(&mut self, bound: usize) -> usize {
        // A xorshift: what is drawn has to be the same everywhere, and nothing more.
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % u64::try_from(bound).expect("a length")).expect("below a length")
    }
}

/// How many of the odd values stand for their types.
const TYPES: usize = 6;

fn odd() -> Vec<Value> {
    let mut odd = vec![
        json!(""),
        json!(-1),
        json!(true),
        json!({}),
        json!([]),
        json!(1.5),
        json!(0),
        json!(1),
        json!(4096),
        json!(1_u64 << 40),
        json!(false),
        json!("x".repeat(48)),
        json!("x".repeat(300)),
        json!(format!("[Unit]\nA={}\n", "x".repeat(3_000))),
    ];
    odd.extend(TEXTS.iter().map(|text| json!(text)));
    odd
}

const TEXTS: &[&str] = &[
    "/",
    "/etc/a",
    "/etc/a/b",
    "/etc/c/b",
    "/etc/../a",
    "/etc//a",
    "/etc/d",
    "/dev/a",
    "a",
    "a/b",
    "a:b",
    "a b",
    "core",
    "wheel",
    "3.0.0",
    "3.1.0",
    "3.2.0",
    "3.3.0",
    "3.4.0",
    "9.0.0",
    "gzip",
    "xz",
    "ext4",
    "btrfs",
    "vfat",
    "none",
    "ntfs",
    "raid0",
    "raid7",
    "linear",
    "tang",
    "quiet",
    "c",
    "sha256-00",
    "sha512-00",
    "md5-00",
    "8",
    "4F68BCE3-E8CD-4DB1-96E7-FBCAF984B709",
    "4F68BCE3-E8CD-4DB1-96E7-FBCAF984B70",
    "proxy:3128",
    "//proxy:3128",
    "ftp://proxy",
    "http://proxy",
    "http://pro xy/",
    "http://[::1",
    "http://a:b/",
    "http://a/%zz",
    "http://a/#%z",
    "http://us^er@a/",
    "https://example.com/a",
    "s3://bucket/key",
    "tftp://a/b",
    "gs://a/b",
    "arn:aws:s3:::bucket/key",
    "oem:///a",
    "data:,hi",
    "data:hi",
    "data:,a b",
    "data:,{}",
    "data:,\"",
    "data:,#",
    "data:,a^b",
    "data:,%zz",
    "data:,\u{e4}",
    "data:,a\nb",
    "data:text/plain,hi",
    "data:text/plain;charset=utf-8;base64,aGk=",
    "data:text/plain;charset=\"utf-8\",hi",
    "data:texty/plain,hi",
    "data:font/woff,hi",
    "data:x-a/b,hi",
    "data:text,hi",
    "data:;,hi",
    "data:;base64;a=b,aGk=",
    "data:;base32,hi",
    "data:;base64,aGk",
    "data:;base64,aGk%3D",
    "data:;base64,a-_=",
    "DATA:,hi",
    "a.service",
    "kubelet.service",
    "a.unit",
    "service",
    "10-a.conf",
    "conf",
    "[Unit",
    "[Unit]x",
    "[Unit]a]",
    "[Unit]\nnonsense",
    "[Unit]\nA=b \\\n# c\nmore\n",
    "[Unit]\nA=b \\ \nmore\n",
    "[Unit]\r\nA=b \\\r\nmore\r\n",
    "a [Unit",
    "a # [Unit",
    "[Unit]\n# c \\\nmore\n",
];

/// The places of everything in a config.
fn pointers(config: &Value) -> Vec<String> {
    let mut all = Vec::new();
    collect(config, "", &mut all);
    all
}

fn collect(value: &Value, pointer: &str, all: &mut Vec<String>) {
    let below: Vec<(String, &Value)> = match value {
        Value::Object(fields) => fields.iter().map(|(key, value)| (key.clone(), value)).collect(),
        Value::Array(items) => items
            .iter()
            .enumerate()
            .map(|(index, item)| (index.to_string(), item))
            .collect(),
        _ => Vec::new(),
    };
    for (key, value) in below {
        let pointer = format!("{pointer}/{key}");
        collect(value, &pointer, all);
        all.push(pointer);
    }
}

fn remove(config: &mut Value, pointer: &str) {
    let (parent, key) = pointer.rsplit_once('/').expect("a pointer begins with a slash");
    match config.pointer_mut(parent) {
        Some(Value::Object(fields)) => drop(Map::remove(fields, key)),
        Some(Value::Array(items)) => drop(items.remove(key.parse().expect("an index"))),
        _ => {}
    }
}

/// The config with an entry of a list twice.
fn doubled(config: &Value, pointer: &str) -> Option<Value> {
    let mut config = config.clone();
    let entry = config.pointer(pointer)?.clone();
    let (parent, _) = pointer.rsplit_once('/')?;
    config.pointer_mut(parent)?.as_array_mut()?.push(entry);
    Some(config)
}
