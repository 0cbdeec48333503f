//! What an Ignition config of version 3 says, as far as payloads of node pools say anything. Pure.

use std::io::Read as _;

use base64::{Engine as _, engine::general_purpose::STANDARD};
use flate2::read::GzDecoder;
use serde::Deserialize;

use super::error::Error;

/// The largest file of a payload, decompressed: payloads are limited by the Secrets that they lie in, to far less.
const FILE_LIMIT: u64 = 64 << 20;

/// The permission bits of a file that names none.
const FILE_MODE: u32 = 0o644;

/// Files, directories and units.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Payload {
    /// Files, in order.
    pub files: Vec<File>,
    /// Paths of directories.
    pub directories: Vec<String>,
    /// Units, in order.
    pub units: Vec<Unit>,
}

/// A file of a payload.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct File {
    /// Where it goes.
    pub path: String,
    /// Its permission bits.
    pub mode: u32,
    /// What is in it.
    pub bytes: Vec<u8>,
}

/// A unit of systemd.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unit {
    /// Its name, with its kind.
    pub name: String,
    /// Whether it starts with the host.
    pub is_enabled: bool,
    /// Its text; none for one that the host has.
    pub contents: Option<String>,
}

impl Payload {
    /// Reads a config.
    pub fn read(bytes: &[u8]) -> Result<Self, Error> {
        let config: Config = serde_json::from_slice(bytes).map_err(|error| Error::Payload(error.to_string()))?;
        let file = |file: ConfigFile| {
            let bytes = file
                .contents
                .read()
                .map_err(|problem| Error::Payload(format!("{}: {problem}", file.path)))?;
            Ok(File {
                mode: file.mode.unwrap_or(FILE_MODE),
                path: file.path,
                bytes,
            })
        };
        let unit = |unit: ConfigUnit| Unit {
            name: unit.name,
            is_enabled: unit.enabled.unwrap_or_default(),
            contents: unit.contents,
        };
        Ok(Self {
            files: config.storage.files.into_iter().map(file).collect::<Result<_, _>>()?,
            directories: config.storage.directories.into_iter().map(|it| it.path).collect(),
            units: config.systemd.units.into_iter().map(unit).collect(),
        })
    }

    /// The unit of a name.
    pub fn unit(&self, name: &str) -> Option<&Unit> {
        self.units.iter().find(|unit| unit.name == name)
    }
}

#[derive(Deserialize)]
struct Config {
    #[serde(default)]
    storage: Storage,
    #[serde(default)]
    systemd: Systemd,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Storage {
    files: Vec<ConfigFile>,
    directories: Vec<ConfigDirectory>,
}

#[derive(Deserialize)]
struct ConfigFile {
    path: String,
    mode: Option<u32>,
    #[serde(default)]
    contents: Contents,
}

#[derive(Deserialize)]
struct ConfigDirectory {
    path: String,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Systemd {
    units: Vec<ConfigUnit>,
}

#[derive(Deserialize)]
struct ConfigUnit {
    name: String,
    enabled: Option<bool>,
    contents: Option<String>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Contents {
    source: Option<String>,
    compression: Option<String>,
}

impl Contents {
    /// The bytes of a data URL. A host of tests has nowhere to fetch from.
    fn read(&self) -> Result<Vec<u8>, String> {
        let Some(source) = &self.source else {
            return Ok(Vec::new());
        };
        let (head, data) = source
            .strip_prefix("data:")
            .and_then(|rest| rest.split_once(','))
            .ok_or_else(|| format!("`{source}` is not a data URL"))?;
        let bytes = if head.ends_with(";base64") {
            STANDARD.decode(data).map_err(|error| error.to_string())?
        } else {
            percent_decoded(data)?
        };
        match self.compression.as_deref() {
            None | Some("") => Ok(bytes),
            Some("gzip") => decompressed(&bytes),
            Some(other) => Err(format!("compression `{other}` is unknown")),
        }
    }
}

fn percent_decoded(text: &str) -> Result<Vec<u8>, String> {
    let mut decoded = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((first, after)) = rest.split_first() {
        if *first != b'%' {
            decoded.push(*first);
            rest = after;
            continue;
        }
        let digits = after.get(..2).and_then(|digits| std::str::from_utf8(digits).ok());
        let byte = digits.and_then(|digits| u8::from_str_radix(digits, 16).ok());
        decoded.push(byte.ok_or("a percent sign is not followed by two hexadecimal digits")?);
        rest = &after[2..];
    }
    Ok(decoded)
}

fn decompressed(bytes: &[u8]) -> Result<Vec<u8>, String> {
    let mut read = Vec::new();
    let mut decoder = GzDecoder::new(bytes).take(FILE_LIMIT + 1);
    decoder.read_to_end(&mut read).map_err(|error| error.to_string())?;
    if read.len() as u64 > FILE_LIMIT {
        return Err(format!("it has more than {FILE_LIMIT} bytes"));
    }
    Ok(read)
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use flate2::{Compression, write::GzEncoder};
    use serde_json::json;

    use super::*;

    fn read(config: &serde_json::Value) -> Result<Payload, Error> {
        Payload::read(config.to_string().as_bytes())
    }

    fn compressed(text: &str) -> String {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
        encoder.write_all(text.as_bytes()).unwrap();
        STANDARD.encode(encoder.finish().unwrap())
    }

    #[test]
    fn files_are_read_in_every_encoding() {
        let payload = read(&json!({
            "ignition": {"version": "3.2.0"},
            "storage": {
                "directories": [{"path": "/etc/kubernetes/manifests", "mode": 493}],
                "files": [
                    {"path": "/a", "mode": 384, "contents": {"source": "data:,a%20b%0A%C3%A9"}},
                    {"path": "/b", "contents": {"source": "data:text/plain;charset=utf-8;base64,aGVsbG8="}},
                    {"path": "/c", "contents": {
                        "source": format!("data:;base64,{}", compressed("small")), "compression": "gzip",
                    }},
                    {"path": "/d", "contents": {}},
                ],
            },
        }))
        .unwrap();
        let files: Vec<_> = payload
            .files
            .iter()
            .map(|file| (file.path.as_str(), file.mode, str::from_utf8(&file.bytes).unwrap()))
            .collect();
        let expected = [
            ("/a", 0o600, "a b\né"),
            ("/b", 0o644, "hello"),
            ("/c", 0o644, "small"),
            ("/d", 0o644, ""),
        ];
        assert_eq!(files, expected);
        assert_eq!(payload.directories, ["/etc/kubernetes/manifests"]);
    }

    #[test]
    fn units_are_enabled_only_where_it_is_said() {
        let payload = read(&json!({"systemd": {"units": [
            {"name": "containerd.service", "enabled": true},
            {"name": "proxy.service", "contents": "[Service]\n"},
        ]}}))
        .unwrap();
        assert!(payload.unit("containerd.service").unwrap().is_enabled);
        let proxy = payload.unit("proxy.service").unwrap();
        assert_eq!(
            (proxy.is_enabled, proxy.contents.as_deref()),
            (false, Some("[Service]\n"))
        );
        assert_eq!(payload.unit("kubelet.service"), None);
    }

    #[test]
    fn what_cannot_be_read_is_named() {
        let problem = |source: &str, compression: &str| {
            let contents = json!({"source": source, "compression": compression});
            let config = json!({"storage": {"files": [{"path": "/a", "contents": contents}]}});
            read(&config).unwrap_err().to_string()
        };
        assert_eq!(
            problem("https://example.com/a", ""),
            "the payload: /a: `https://example.com/a` is not a data URL"
        );
        assert!(problem("data:,%4", "").contains("percent sign"));
        assert!(problem("data:;base64,!", "").starts_with("the payload: /a: "));
        assert_eq!(problem("data:,a", "xz"), "the payload: /a: compression `xz` is unknown");
        assert!(matches!(Payload::read(b"no"), Err(Error::Payload(_))));
    }
}
