//! Which fields configs have, of what type, and since which version. Ignition cannot read a config with another type in any
//! of them. What it does not know is kept; what it would take for one of its fields is told.

use serde_json::Value;

use self::Type::{Flag, Number, Object, Objects, Text, Texts};
use super::walk::{Fields, Walk};
use crate::ignition::VERSIONS;

/// What a field holds.
#[derive(Clone, Copy)]
enum Type {
    Text,
    Flag,
    Number,
    Texts,
    Object(&'static [Field]),
    Objects(&'static [Field]),
}

/// A field, and the place in the list of versions of the first one that has it.
#[derive(Clone, Copy)]
struct Field(&'static str, usize, Type);

const CONFIG: &[Field] = &[
    Field("ignition", 0, Object(IGNITION)),
    Field("kernelArguments", 3, Object(KERNEL_ARGUMENTS)),
    Field("passwd", 0, Object(PASSWD)),
    Field("storage", 0, Object(STORAGE)),
    Field("systemd", 0, Object(SYSTEMD)),
];

const IGNITION: &[Field] = &[
    Field("config", 0, Object(CONFIGS)),
    Field("proxy", 1, Object(PROXY)),
    Field("security", 0, Object(SECURITY)),
    Field("timeouts", 0, Object(TIMEOUTS)),
    Field("version", 0, Text),
];

const CONFIGS: &[Field] = &[
    Field("merge", 0, Objects(REFERENCE)),
    Field("replace", 0, Object(REFERENCE)),
];

const PROXY: &[Field] = &[
    Field("httpProxy", 0, Text),
    Field("httpsProxy", 0, Text),
    Field("noProxy", 0, Texts),
];

const SECURITY: &[Field] = &[Field("tls", 0, Object(TLS))];

const TLS: &[Field] = &[Field("certificateAuthorities", 0, Objects(REFERENCE))];

const TIMEOUTS: &[Field] = &[Field("httpResponseHeaders", 0, Number), Field("httpTotal", 0, Number)];

/// A resource that is no content of a file.
const REFERENCE: &[Field] = &[
    Field("compression", 1, Text),
    Field("httpHeaders", 1, Objects(HEADER)),
    Field("source", 0, Text),
    Field("verification", 0, Object(VERIFICATION)),
];

const RESOURCE: &[Field] = &[
    Field("compression", 0, Text),
    Field("httpHeaders", 1, Objects(HEADER)),
    Field("source", 0, Text),
    Field("verification", 0, Object(VERIFICATION)),
];

const HEADER: &[Field] = &[Field("name", 0, Text), Field("value", 0, Text)];

const VERIFICATION: &[Field] = &[Field("hash", 0, Text)];

const KERNEL_ARGUMENTS: &[Field] = &[Field("shouldExist", 0, Texts), Field("shouldNotExist", 0, Texts)];

const PASSWD: &[Field] = &[Field("groups", 0, Objects(GROUP)), Field("users", 0, Objects(USER))];

const GROUP: &[Field] = &[
    Field("gid", 0, Number),
    Field("name", 0, Text),
    Field("passwordHash", 0, Text),
    Field("shouldExist", 2, Flag),
    Field("system", 0, Flag),
];

const USER: &[Field] = &[
    Field("gecos", 0, Text),
    Field("groups", 0, Texts),
    Field("homeDir", 0, Text),
    Field("name", 0, Text),
    Field("noCreateHome", 0, Flag),
    Field("noLogInit", 0, Flag),
    Field("noUserGroup", 0, Flag),
    Field("passwordHash", 0, Text),
    Field("primaryGroup", 0, Text),
    Field("shell", 0, Text),
    Field("shouldExist", 2, Flag),
    Field("sshAuthorizedKeys", 0, Texts),
    Field("system", 0, Flag),
    Field("uid", 0, Number),
];

const STORAGE: &[Field] = &[
    Field("directories", 0, Objects(DIRECTORY)),
    Field("disks", 0, Objects(DISK)),
    Field("files", 0, Objects(FILE)),
    Field("filesystems", 0, Objects(FILE_SYSTEM)),
    Field("links", 0, Objects(LINK)),
    Field("luks", 2, Objects(LUKS)),
    Field("raid", 0, Objects(RAID)),
];

const OWNER: &[Field] = &[Field("id", 0, Number), Field("name", 0, Text)];

const DIRECTORY: &[Field] = &[
    Field("group", 0, Object(OWNER)),
    Field("mode", 0, Number),
    Field("overwrite", 0, Flag),
    Field("path", 0, Text),
    Field("user", 0, Object(OWNER)),
];

const FILE: &[Field] = &[
    Field("append", 0, Objects(RESOURCE)),
    Field("contents", 0, Object(RESOURCE)),
    Field("group", 0, Object(OWNER)),
    Field("mode", 0, Number),
    Field("overwrite", 0, Flag),
    Field("path", 0, Text),
    Field("user", 0, Object(OWNER)),
];

const LINK: &[Field] = &[
    Field("group", 0, Object(OWNER)),
    Field("hard", 0, Flag),
    Field("overwrite", 0, Flag),
    Field("path", 0, Text),
    Field("target", 0, Text),
    Field("user", 0, Object(OWNER)),
];

const DISK: &[Field] = &[
    Field("device", 0, Text),
    Field("partitions", 0, Objects(PARTITION)),
    Field("wipeTable", 0, Flag),
];

const PARTITION: &[Field] = &[
    Field("guid", 0, Text),
    Field("label", 0, Text),
    Field("number", 0, Number),
    Field("resize", 2, Flag),
    Field("shouldExist", 0, Flag),
    Field("sizeMiB", 0, Number),
    Field("startMiB", 0, Number),
    Field("typeGuid", 0, Text),
    Field("wipePartitionEntry", 0, Flag),
];

const FILE_SYSTEM: &[Field] = &[
    Field("device", 0, Text),
    Field("format", 0, Text),
    Field("label", 0, Text),
    Field("mountOptions", 1, Texts),
    Field("options", 0, Texts),
    Field("path", 0, Text),
    Field("uuid", 0, Text),
    Field("wipeFilesystem", 0, Flag),
];

const LUKS: &[Field] = &[
    Field("cex", 5, Object(&[Field("enabled", 0, Flag)])),
    Field("clevis", 0, Object(CLEVIS)),
    Field("device", 0, Text),
    Field("discard", 4, Flag),
    Field("keyFile", 0, Object(RESOURCE)),
    Field("label", 0, Text),
    Field("name", 0, Text),
    Field("openOptions", 4, Texts),
    Field("options", 0, Texts),
    Field("uuid", 0, Text),
    Field("wipeVolume", 0, Flag),
];

const CLEVIS: &[Field] = &[
    Field("custom", 0, Object(CUSTOM)),
    Field("tang", 0, Objects(TANG)),
    Field("threshold", 0, Number),
    Field("tpm2", 0, Flag),
];

const CUSTOM: &[Field] = &[
    Field("config", 0, Text),
    Field("needsNetwork", 0, Flag),
    Field("pin", 0, Text),
];

const TANG: &[Field] = &[
    Field("advertisement", 4, Text),
    Field("thumbprint", 0, Text),
    Field("url", 0, Text),
];

const RAID: &[Field] = &[
    Field("devices", 0, Texts),
    Field("level", 0, Text),
    Field("name", 0, Text),
    Field("options", 0, Texts),
    Field("spares", 0, Number),
];

const SYSTEMD: &[Field] = &[Field("units", 0, Objects(UNIT))];

const UNIT: &[Field] = &[
    Field("contents", 0, Text),
    Field(
        "dropins",
        0,
        Objects(&[Field("contents", 0, Text), Field("name", 0, Text)]),
    ),
    Field("enabled", 0, Flag),
    Field("mask", 0, Flag),
    Field("name", 0, Text),
];

/// Notes every field that is of another type, or of a later version.
pub(super) fn check(walk: &mut Walk, config: &Fields<'_>) {
    object(walk, config, CONFIG);
}

fn object(walk: &mut Walk, object: &Fields<'_>, fields: &[Field]) {
    for key in object.keys() {
        let is_nearly = |field: &&Field| field.0 != key && field.0.eq_ignore_ascii_case(key);
        if let Some(Field(name, ..)) = fields.iter().find(is_nearly) {
            // Ignition reads names of fields without regard to case, and would take it for the field.
            walk.wrong(&object.path(key), format!("must be spelled {name}"));
        }
    }
    for Field(name, since, type_) in fields {
        let Some(value) = object.get(name) else {
            continue;
        };
        let path = object.path(name);
        if walk.version.is_some_and(|version| version < *since) {
            walk.wrong(&path, format!("needs ignition.version {} or later", VERSIONS[*since]));
        }
        field(walk, &path, value, *type_);
    }
}

fn field(walk: &mut Walk, path: &str, value: &Value, type_: Type) {
    match type_ {
        Type::Text if !value.is_string() => walk.wrong(path, "must be text"),
        Type::Flag if !value.is_boolean() => walk.wrong(path, "must be true or false"),
        Type::Number if !value.is_i64() => walk.wrong(path, "must be a whole number"),
        Type::Text | Type::Flag | Type::Number => {}
        Type::Texts => {
            for (path, item) in walk.items(path, value) {
                field(walk, &path, item, Type::Text);
            }
        }
        Type::Object(fields) => match Fields::of(path.to_owned(), value) {
            Some(found) => object(walk, &found, fields),
            None => walk.wrong(path, "must be an object"),
        },
        Type::Objects(fields) => {
            for (path, item) in walk.items(path, value) {
                field(walk, &path, item, Type::Object(fields));
            }
        }
    }
}
