//! From a payload to what the host would run: its files, its units, and the kubelet that they start. Pure. It reads the
//! payload as a host does and knows nothing of who made it, so what it refuses would not have worked.

use std::{collections::BTreeMap, io::Read as _};

use base64::{Engine as _, prelude::BASE64_STANDARD};
use flate2::bufread::GzDecoder;
use k8s_openapi::api::core::v1::Taint;
use serde::Deserialize;
use serde_json::{Value, json};

use super::{
    configuration::check,
    data_url,
    systemd::{self, Unit},
    unit,
};
use crate::programs::{Address, Flags, kubelet_flags};

/// The versions of Ignition configs that a host reads.
pub(super) const VERSIONS: &[&str] = &["3.0.0", "3.1.0", "3.2.0", "3.3.0", "3.4.0", "3.5.0"];
/// Bytes of a file that was packed: more than a whole configuration may have, and less than would hurt.
const MOST_UNPACKED: u64 = 64 << 20;
/// The unit whose start makes a host a node.
const KUBELET: &str = "kubelet.service";
/// The variable by which the unit of a kubelet may say which version it starts.
const VERSION: &str = "KUBELET_VERSION";

/// What a host has become. It holds credentials, and is never printed.
#[derive(Clone)]
pub(crate) struct Host {
    /// The kubeconfig with which the kubelet asks for its first certificate, with everything in it.
    pub(crate) bootstrap: Value,
    /// The identity that the kubelet was told to have.
    pub(crate) provider_id: Option<String>,
    /// Whether a cloud tells it who it is.
    pub(crate) has_cloud: bool,
    /// The labels that it gives its Node.
    pub(crate) labels: BTreeMap<String, String>,
    /// The taints that it gives its Node.
    pub(crate) taints: Vec<Taint>,
    /// Whether it asks for a certificate to serve with.
    pub(crate) asks_to_serve: bool,
    /// Pods that it takes.
    pub(crate) pods: Option<usize>,
    /// Its version, where the unit says so.
    pub(crate) version: Option<String>,
}

#[derive(Deserialize)]
struct Config {
    ignition: Header,
    #[serde(default)]
    storage: Storage,
    #[serde(default)]
    systemd: Systemd,
}

#[derive(Deserialize)]
struct Header {
    version: String,
}

#[derive(Default, Deserialize)]
struct Storage {
    #[serde(default)]
    files: Vec<File>,
}

#[derive(Deserialize)]
struct File {
    path: String,
    contents: Option<Contents>,
    #[serde(default)]
    append: Vec<Contents>,
}

#[derive(Deserialize)]
struct Contents {
    source: Option<String>,
    compression: Option<String>,
}

#[derive(Default, Deserialize)]
struct Systemd {
    #[serde(default)]
    units: Vec<Unit>,
}

/// The files of a host.
pub(super) type Files = BTreeMap<String, Vec<u8>>;

/// What the host of a name becomes by a payload, or why it does not join, in the words of whoever stops.
pub(crate) fn obey(payload: &[u8], hostname: &str) -> Result<Host, String> {
    let config: Config = serde_json::from_slice(payload).map_err(|error| {
        // What is wrong is told by its place: the text may be a key.
        let (line, column) = (error.line(), error.column());
        format!("ignition: the config cannot be parsed at line {line} column {column}")
    })?;
    if !VERSIONS.contains(&config.ignition.version.as_str()) {
        return Err(format!(
            "ignition: unsupported config version {:?}",
            config.ignition.version
        ));
    }
    let mut files = write(&config.storage.files)?;
    let units = &config.systemd.units;
    let kubelet = units.iter().find(|unit| unit.name == KUBELET && unit.is_started());
    let kubelet = kubelet.ok_or_else(|| format!("systemd: {KUBELET} is not enabled, so nothing joins"))?;
    let refused = |why: String| format!("systemd: {KUBELET}: {why}");
    systemd::prepare(kubelet, units, hostname, &mut files).map_err(refused)?;
    let read = |path: &str| text(&files, path).ok();
    let command = unit::command(&kubelet.texts(), hostname, &read).map_err(refused)?;
    let version = unit::variable(&kubelet.texts(), VERSION, &read);
    let mut host = run(&command, &files).map_err(|why| format!("kubelet: {why}"))?;
    host.version = version.map(|version| format!("v{}", version.trim_start_matches('v')));
    Ok(host)
}

/// Writes the files, as Ignition does.
fn write(files: &[File]) -> Result<Files, String> {
    let mut written = Files::new();
    for file in files {
        let path = &file.path;
        let refused = |why: &str| format!("ignition: {path}: {why}");
        if !path.starts_with('/') || path.ends_with('/') {
            return Err(refused("path not absolute"));
        }
        if written.contains_key(path) {
            return Err(refused("duplicate entry defined"));
        }
        let mut bytes = Vec::new();
        for contents in file.contents.iter().chain(&file.append) {
            let source = contents.source.as_deref().unwrap_or("data:,");
            let content = data_url::decode(source).map_err(refused)?;
            bytes.extend(match contents.compression.as_deref().unwrap_or_default() {
                "" => content,
                "gzip" => unpacked(&content).map_err(refused)?,
                _ => return Err(refused("invalid compression method")),
            });
        }
        written.insert(path.clone(), bytes);
    }
    Ok(written)
}

/// What gzip holds.
fn unpacked(bytes: &[u8]) -> Result<Vec<u8>, &'static str> {
    let mut content = Vec::new();
    let mut reader = GzDecoder::new(bytes).take(MOST_UNPACKED);
    reader.read_to_end(&mut content).map_err(|_| "it is not gzip")?;
    Ok(content)
}

pub(super) fn text(files: &Files, path: &str) -> Result<String, String> {
    let bytes = files
        .get(path)
        .ok_or_else(|| format!("open {path}: no such file or directory"))?;
    String::from_utf8(bytes.clone()).map_err(|_| format!("{path} is no text"))
}

/// Starts the kubelet: its flags, its configuration and what both name.
fn run(command: &[String], files: &Files) -> Result<Host, String> {
    let (program, arguments) = command.split_first().ok_or("there is no command")?;
    if program.rsplit('/').next() != Some("kubelet") {
        return Err(format!("{program} is not a kubelet"));
    }
    let flags = kubelet_flags(arguments)?;
    let path = flags.last("config").ok_or("--config is not given")?;
    let configuration: Value =
        hyperplane_objects::yaml_value(&text(files, path)?).map_err(|_| format!("{path} is not YAML"))?;
    check(&configuration, files).map_err(|why| format!("{path}: {why}"))?;
    let path = flags
        .last("bootstrap-kubeconfig")
        .ok_or("--bootstrap-kubeconfig is not given, so it has no way to ask for a certificate")?;
    let bootstrap = kubeconfig(&text(files, path)?, files).map_err(|why| format!("{path}: {why}"))?;
    let of_flag = flags.last("provider-id").filter(|id| !id.is_empty());
    let provider_id = of_flag.or_else(|| configuration["providerID"].as_str());
    let mut taints = Vec::new();
    for taint in configuration["registerWithTaints"].as_array().into_iter().flatten() {
        taints.push(hyperplane_objects::read(taint).map_err(|_| "registerWithTaints has what is no taint")?);
    }
    for taint in flags.list("register-with-taints") {
        taints.push(parsed_taint(taint).ok_or_else(|| format!("--register-with-taints: {taint:?} is no taint"))?);
    }
    Ok(Host {
        bootstrap,
        provider_id: provider_id.filter(|id| !id.is_empty()).map(str::to_owned),
        has_cloud: flags.last("cloud-provider") == Some("external"),
        labels: labels(&flags)?,
        taints,
        asks_to_serve: configuration["serverTLSBootstrap"] == true,
        pods: configuration["maxPods"].as_u64().and_then(|pods| pods.try_into().ok()),
        version: None,
    })
}

/// A kubeconfig that can be used, with the files that it names put in.
fn kubeconfig(text: &str, files: &Files) -> Result<Value, String> {
    let mut config: Value = hyperplane_objects::yaml_value(text).map_err(|_| "it is not YAML")?;
    let cluster = config.pointer_mut("/clusters/0/cluster");
    let cluster = cluster
        .filter(|cluster| cluster.is_object())
        .ok_or("it names no cluster")?;
    let server = cluster["server"]
        .as_str()
        .filter(|server| server.starts_with("https://"));
    if server.and_then(Address::of_url).is_none() {
        return Err("it names no server with HTTPS".to_owned());
    }
    if let Some(path) = cluster["certificate-authority"].as_str().map(str::to_owned) {
        let pem = self::text(files, &path)?;
        cluster["certificate-authority-data"] = json!(BASE64_STANDARD.encode(pem));
        if let Some(fields) = cluster.as_object_mut() {
            fields.remove("certificate-authority");
        }
    }
    if !cluster["certificate-authority-data"].is_string() {
        return Err("it trusts no certificate authority".to_owned());
    }
    Ok(config)
}

fn labels(flags: &Flags) -> Result<BTreeMap<String, String>, String> {
    let pairs = flags.list("node-labels").into_iter().map(|pair| {
        let (key, value) = pair
            .split_once('=')
            .ok_or_else(|| format!("--node-labels: {pair:?} has no value"))?;
        Ok((key.to_owned(), value.to_owned()))
    });
    pairs.collect()
}

/// A taint as flags have it: `key=value:effect`, or without a value.
fn parsed_taint(text: &str) -> Option<Taint> {
    let (name, effect) = text.rsplit_once(':')?;
    let (key, value) = match name.split_once('=') {
        Some((key, value)) => (key, Some(value.to_owned())),
        None => (name, None),
    };
    let is_effect = matches!(effect, "NoSchedule" | "PreferNoSchedule" | "NoExecute");
    (is_effect && !key.is_empty()).then(|| Taint {
        key: key.to_owned(),
        value: value.filter(|value| !value.is_empty()),
        effect: effect.to_owned(),
        time_added: None,
    })
}

#[cfg(test)]
mod tests;
