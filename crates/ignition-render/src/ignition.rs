//! Ignition configs of version 3.0 to 3.5, as far as payloads need them. What is not known here is kept as it is.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::{canonical, problem::Problem, validate::validate};

/// The versions that are read, oldest first. Each reads what those before it do.
pub const VERSIONS: &[&str] = &["3.0.0", "3.1.0", "3.2.0", "3.3.0", "3.4.0", "3.5.0"];

/// What payloads have that need nothing newer.
pub const BASE_VERSION: &str = "3.2.0";

/// The first version with kernel arguments.
pub const KERNEL_ARGUMENTS_VERSION: &str = "3.3.0";

/// A config.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize)]
pub struct Config {
    /// The version, and where more configuration is.
    pub ignition: Header,
    /// Arguments of the kernel.
    #[serde(rename = "kernelArguments", default, skip_serializing_if = "is_default")]
    pub kernel_arguments: KernelArguments,
    /// Users and groups.
    #[serde(default, skip_serializing_if = "is_default")]
    pub passwd: Passwd,
    /// What is on disks.
    #[serde(default, skip_serializing_if = "is_default")]
    pub storage: Storage,
    /// What systemd runs.
    #[serde(default, skip_serializing_if = "is_default")]
    pub systemd: Systemd,
    /// What is not known here.
    #[serde(flatten)]
    pub rest: Map<String, Value>,
}

/// What a config says of itself.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize)]
pub struct Header {
    /// One of [`VERSIONS`].
    pub version: String,
    /// Configs to merge, timeouts, proxies and authorities.
    #[serde(flatten)]
    pub rest: Map<String, Value>,
}

/// Arguments of the kernel.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct KernelArguments {
    /// Those that must be there.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub should_exist: Vec<String>,
    /// Those that must not.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub should_not_exist: Vec<String>,
}

/// Users and groups.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize)]
pub struct Passwd {
    /// Users by name.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub users: Vec<User>,
    /// Groups, and what is not known here.
    #[serde(flatten)]
    pub rest: Map<String, Value>,
}

/// A user.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct User {
    /// The name.
    pub name: String,
    /// Who may log in as this user.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ssh_authorized_keys: Vec<String>,
    /// Everything else.
    #[serde(flatten)]
    pub rest: Map<String, Value>,
}

/// What is on disks.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize)]
pub struct Storage {
    /// Directories by path.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub directories: Vec<Node>,
    /// Files by path.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<File>,
    /// Links by path.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub links: Vec<Node>,
    /// Disks, arrays and file systems.
    #[serde(flatten)]
    pub rest: Map<String, Value>,
}

/// A file.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize)]
pub struct File {
    /// Where it is.
    pub path: String,
    /// What is in it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub contents: Option<Resource>,
    /// Who may do what with it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mode: Option<u32>,
    /// Whether it takes the place of what is there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub overwrite: Option<bool>,
    /// Everything else.
    #[serde(flatten)]
    pub rest: Map<String, Value>,
}

/// Content, and where it is.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize)]
pub struct Resource {
    /// A URL.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
    /// How it is packed: `gzip`, or not at all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub compression: Option<String>,
    /// Everything else.
    #[serde(flatten)]
    pub rest: Map<String, Value>,
}

/// A directory or a link.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize)]
pub struct Node {
    /// Where it is.
    pub path: String,
    /// Everything else.
    #[serde(flatten)]
    pub rest: Map<String, Value>,
}

/// What systemd runs.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize)]
pub struct Systemd {
    /// Units by name.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub units: Vec<Unit>,
    /// What is not known here.
    #[serde(flatten)]
    pub rest: Map<String, Value>,
}

/// A unit.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize)]
pub struct Unit {
    /// Its name, with its suffix.
    pub name: String,
    /// Whether it starts with the machine.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub enabled: Option<bool>,
    /// Whether it can never start.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mask: Option<bool>,
    /// Its text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub contents: Option<String>,
    /// Additions to it by name.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub dropins: Vec<DropIn>,
    /// What is not known here.
    #[serde(flatten)]
    pub rest: Map<String, Value>,
}

/// An addition to a unit.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize)]
pub struct DropIn {
    /// Its name, which ends with `.conf`.
    pub name: String,
    /// Its text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub contents: Option<String>,
    /// What is not known here.
    #[serde(flatten)]
    pub rest: Map<String, Value>,
}

/// Reads a config, or tells everything that is wrong with it.
pub fn read(value: &Value) -> Result<Config, Vec<Problem>> {
    let value = without_nulls(value);
    let problems = validate(&value);
    if !problems.is_empty() {
        return Err(problems);
    }
    // What the reader would say may quote a value. It says nothing that was not looked for before.
    hyperplane_objects::read(&value).map_err(|_| vec![Problem::new("", "", "is not an Ignition config of version 3")])
}

impl Config {
    /// The config as bytes, in its one spelling.
    pub(crate) fn bytes(&self) -> Vec<u8> {
        let value = serde_json::to_value(self).expect("a config has only text keys and finite numbers");
        canonical::text(&value).into_bytes()
    }
}

/// In JSON as Go writes it, a field that is null is one that is not there.
fn without_nulls(value: &Value) -> Value {
    match value {
        Value::Object(fields) => {
            let fields = fields.iter().filter(|(_, value)| !value.is_null());
            fields.map(|(key, value)| (key.clone(), without_nulls(value))).collect()
        }
        Value::Array(items) => items.iter().map(without_nulls).collect(),
        scalar => scalar.clone(),
    }
}

fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_is_not_known_is_kept() {
        let value = json!({
            "ignition": {"version": "3.5.0", "timeouts": {"httpTotal": 9}},
            "kernelArguments": {"shouldExist": ["quiet"]},
            "passwd": {"users": [{"name": "core", "sshAuthorizedKeys": ["ssh-ed25519 AAAA"], "uid": 7}]},
            "storage": {
                "disks": [{"device": "/dev/sda"}],
                "files": [{
                    "path": "/etc/a", "mode": 420, "user": {"name": "core"}, "contents": {"source": "data:,a"},
                }],
            },
            "systemd": {"units": [{"name": "a.service", "dropins": [{"name": "b.conf", "contents": "[Unit]"}]}]},
            "later": {"version": 1},
        });
        let config = read(&value).unwrap();
        assert_eq!(serde_json::from_slice::<Value>(&config.bytes()).unwrap(), value);
        assert_eq!(config.storage.files[0].mode, Some(0o644));
    }

    #[test]
    fn null_is_absent() {
        let value = json!({"ignition": {"version": "3.2.0"}, "storage": null, "passwd": {"users": null}});
        assert_eq!(
            read(&value).unwrap(),
            read(&json!({"ignition": {"version": "3.2.0"}})).unwrap()
        );
    }

    #[test]
    fn what_is_wrong_is_not_quoted() {
        let value = json!({"ignition": {"version": "3.2.0"}, "passwd": {"users": [{"name": "core", "uid": 1,
            "sshAuthorizedKeys": "s3cr3t"}]}});
        let problems = read(&value).unwrap_err();
        assert_eq!(problems.len(), 1);
        assert!(!problems[0].to_string().contains("s3cr3t"), "{problems:?}");
    }
}
