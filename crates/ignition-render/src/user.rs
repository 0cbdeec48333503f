//! What users want of a node, from all their documents together. Nothing is left out in silence: what a plain host cannot
//! do is a problem.

use hyperplane_api::hypershift::configuration::tls_security_profile::TlsSecurityProfile;
use serde_json::{Map, Value};

use crate::{
    document::{Document, Kind},
    ignition::{self, BASE_VERSION, Config, Header, KERNEL_ARGUMENTS_VERSION, KernelArguments},
    kubelet,
    merge::merge_all,
    mirrors::{self, Mirrors},
    problem::Problem,
};

/// Levels of the log of containerd.
const LOG_LEVELS: &[&str] = &["trace", "debug", "info", "warn", "error", "fatal", "panic"];

/// What users want of a node.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct UserConfig {
    /// All MachineConfigs, merged in the order of their names.
    pub machine: Config,
    /// Fields of the kubelet's configuration.
    pub kubelet: Map<String, Value>,
    /// How much the kubelet says.
    pub kubelet_log_level: Option<u64>,
    /// The TLS profile of the kubelet, where it has one of its own.
    pub kubelet_tls_profile: Option<TlsSecurityProfile>,
    /// How much containerd says.
    pub runtime_log_level: Option<String>,
    /// What containers are run with.
    pub runtime: Option<String>,
    /// Mirrors of images.
    pub mirrors: Vec<Mirrors>,
}

impl UserConfig {
    /// Reads documents, in the order in which [`crate::document::read`] gives them, or tells everything that stops them.
    pub fn of(documents: &[Document]) -> Result<Self, Vec<Problem>> {
        let mut reader = Reader::default();
        let mut machines = Vec::new();
        for document in documents {
            match document.kind {
                Kind::MachineConfig => machines.extend(reader.machine(document)),
                Kind::KubeletConfig => reader.kubelet(document),
                Kind::ContainerRuntimeConfig => reader.runtime(document),
                Kind::ImageContentSourcePolicy => reader.mirrors(document, "repositoryDigestMirrors"),
                Kind::ImageDigestMirrorSet => reader.mirrors(document, "imageDigestMirrors"),
                Kind::ClusterImagePolicy => {
                    let problem = "nothing on the nodes checks the signatures of images: take it out";
                    reader.problems.push(Problem::new(document.place(), "", problem));
                }
            }
        }
        reader.config.machine = merge_all(&machines);
        if reader.problems.is_empty() {
            Ok(reader.config)
        } else {
            Err(reader.problems)
        }
    }
}

#[derive(Default)]
struct Reader {
    config: UserConfig,
    problems: Vec<Problem>,
}

impl Reader {
    fn wrong(&mut self, document: &Document, path: &str, problem: impl Into<String>) {
        self.problems.push(Problem::new(document.place(), path, problem));
    }

    fn machine(&mut self, document: &Document) -> Option<Config> {
        let spec = document.spec();
        let host = "the host image decides that: choose another one";
        for (field, nothing) in [
            ("osImageURL", Value::from("")),
            ("fips", Value::from(false)),
            ("kernelType", Value::from("")),
            ("extensions", Value::Array(Vec::new())),
            ("baseOSExtensionsContainerImage", Value::from("")),
        ] {
            let given = &spec[field];
            let is_usual = given.is_null() || *given == nothing || (field == "kernelType" && given == "default");
            if !is_usual {
                self.wrong(document, &format!("spec.{field}"), host);
            }
        }
        let mut config = match spec.get("config").filter(|config| !config.is_null()) {
            None => Config::default(),
            Some(config) => match ignition::read(config) {
                Ok(config) => config,
                Err(problems) => {
                    let place = document.place();
                    let problems = problems.into_iter().map(|one| one.within(&place, "spec.config"));
                    self.problems.extend(problems);
                    return None;
                }
            },
        };
        let arguments = self.kernel_arguments(document);
        if !arguments.is_empty() {
            let added = Config {
                ignition: Header {
                    version: KERNEL_ARGUMENTS_VERSION.to_owned(),
                    ..Header::default()
                },
                kernel_arguments: KernelArguments {
                    should_exist: arguments,
                    ..KernelArguments::default()
                },
                ..Config::default()
            };
            config = merge_all([&config, &added]);
        }
        if config.ignition.version.is_empty() {
            BASE_VERSION.clone_into(&mut config.ignition.version);
        }
        Some(config)
    }

    fn kernel_arguments(&mut self, document: &Document) -> Vec<String> {
        let path = "spec.kernelArguments";
        let arguments = match &document.spec()["kernelArguments"] {
            Value::Null => return Vec::new(),
            Value::Array(arguments) => arguments,
            _ => {
                self.wrong(document, path, "must be a list");
                return Vec::new();
            }
        };
        let is_line = |text: &&str| !text.trim().is_empty() && !text.contains(['\n', '\r', '\0']);
        let texts = arguments
            .iter()
            .map(|one| one.as_str().filter(is_line).map(str::to_owned));
        let texts: Option<Vec<String>> = texts.collect();
        if texts.is_none() {
            self.wrong(document, path, "must be lines of text");
        }
        texts.unwrap_or_default()
    }

    fn kubelet(&mut self, document: &Document) {
        let spec = document.spec();
        match &spec["kubeletConfig"] {
            Value::Null => {}
            Value::Object(fields) => {
                for key in fields.keys().filter(|key| kubelet::OWNED.contains(&key.as_str())) {
                    let path = format!("spec.kubeletConfig.{key}");
                    self.wrong(document, &path, "is the cluster's to say: take it out");
                }
                if fields
                    .get("registerWithTaints")
                    .is_some_and(|taints| !taints.is_array())
                {
                    self.wrong(document, "spec.kubeletConfig.registerWithTaints", "must be a list");
                }
                kubelet::overlay(&mut self.config.kubelet, fields);
            }
            _ => self.wrong(document, "spec.kubeletConfig", "must be an object"),
        }
        if spec["autoSizingReserved"] == true {
            let problem = "nothing on the nodes works out reservations: give kubeletConfig.systemReserved";
            self.wrong(document, "spec.autoSizingReserved", problem);
        }
        if let Some(profile) = spec.get("tlsSecurityProfile").filter(|profile| profile.is_object()) {
            match hyperplane_objects::read::<TlsSecurityProfile>(profile) {
                Ok(profile) => self.config.kubelet_tls_profile = Some(profile),
                Err(error) => self.wrong(document, "spec.tlsSecurityProfile", format!("cannot be read: {error}")),
            }
        }
        match &spec["logLevel"] {
            Value::Null => {}
            level if level.as_u64().is_some_and(|level| level <= 10) => self.config.kubelet_log_level = level.as_u64(),
            _ => self.wrong(document, "spec.logLevel", "must be a number from 0 to 10"),
        }
    }

    fn runtime(&mut self, document: &Document) {
        let settings = &document.spec()["containerRuntimeConfig"];
        for (key, value) in settings
            .as_object()
            .into_iter()
            .flatten()
            .filter(|(_, value)| !value.is_null())
        {
            let path = format!("spec.containerRuntimeConfig.{key}");
            match (key.as_str(), value.as_str()) {
                ("pidsLimit", None) if value.is_i64() => {
                    self.config.kubelet.insert("podPidsLimit".to_owned(), value.clone());
                }
                ("logSizeMax", Some(_)) => {
                    self.config
                        .kubelet
                        .insert("containerLogMaxSize".to_owned(), value.clone());
                }
                ("logLevel", Some(level)) if LOG_LEVELS.contains(&level) => {
                    self.config.runtime_log_level = Some(level.to_owned());
                }
                ("defaultRuntime", Some(runtime)) if matches!(runtime, "runc" | "crun") => {
                    self.config.runtime = Some(runtime.to_owned());
                }
                ("pidsLimit" | "logSizeMax" | "logLevel" | "defaultRuntime", _) => {
                    let problem = "has a value that containerd does not have";
                    self.wrong(document, &path, problem);
                }
                _ => self.wrong(document, &path, "is nothing that containerd can be told: take it out"),
            }
        }
    }

    fn mirrors(&mut self, document: &Document, list: &str) {
        match mirrors::of(document, list) {
            Ok(mirrors) => self.config.mirrors.extend(mirrors),
            Err(problems) => self.problems.extend(problems),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::document;

    const MACHINE: &str = "machineconfiguration.openshift.io/v1";

    fn read(documents: &[Value]) -> Result<UserConfig, Vec<String>> {
        let text: Vec<String> = documents.iter().map(ToString::to_string).collect();
        let documents = document::read(&[("one", text.join("\n---\n"))]).unwrap();
        let told = |problems: Vec<Problem>| problems.into_iter().map(|one| one.path).collect();
        UserConfig::of(&documents).map_err(told)
    }

    fn object(version: &str, kind: &str, name: &str, spec: &Value) -> Value {
        json!({"apiVersion": version, "kind": kind, "metadata": {"name": name}, "spec": spec})
    }

    #[test]
    fn documents_are_put_together_by_their_names() {
        let file = |mode: u32| {
            json!({
                "config": {"ignition": {"version": "3.2.0"}, "storage": {"files": [{"path": "/etc/a", "mode": mode}]}},
                "kernelArguments": ["quiet"],
            })
        };
        let config = read(&[
            object(MACHINE, "MachineConfig", "60-b", &file(2)),
            object(MACHINE, "MachineConfig", "50-a", &file(1)),
            object(
                MACHINE,
                "KubeletConfig",
                "b",
                &json!({"kubeletConfig": {"maxPods": 9, "evictionHard": {"x": "1"}}}),
            ),
            object(
                MACHINE,
                "KubeletConfig",
                "a",
                &json!({"kubeletConfig": {"maxPods": 8, "evictionHard": {"y": "2"}}}),
            ),
            object(
                MACHINE,
                "ContainerRuntimeConfig",
                "a",
                &json!({"containerRuntimeConfig": {"pidsLimit": 99}}),
            ),
            object(
                "config.openshift.io/v1",
                "ImageDigestMirrorSet",
                "a",
                &json!({"imageDigestMirrors": [
                    {"source": "quay.io", "mirrors": ["m.example.com"], "mirrorSourcePolicy": "NeverContactSource"},
                ]}),
            ),
        ]);
        let config = config.unwrap();
        assert_eq!(config.machine.storage.files[0].mode, Some(2));
        assert_eq!(config.machine.kernel_arguments.should_exist, ["quiet"]);
        assert_eq!(config.machine.ignition.version, KERNEL_ARGUMENTS_VERSION);
        let kubelet = json!({"maxPods": 9, "evictionHard": {"x": "1", "y": "2"}, "podPidsLimit": 99});
        assert_eq!(Value::Object(config.kubelet), kubelet);
        assert!(config.mirrors[0].is_exclusive);
    }

    #[test]
    fn what_a_host_cannot_do_is_told() {
        let found = read(&[
            object(
                MACHINE,
                "MachineConfig",
                "a",
                &json!({
                    "fips": true, "kernelType": "realtime", "osImageURL": "x", "extensions": ["usbguard"], "kernelArguments": [1],
                }),
            ),
            object(
                MACHINE,
                "MachineConfig",
                "b",
                &json!({
                    "fips": false, "kernelType": "default", "osImageURL": "", "extensions": [], "kernelArguments": null,
                }),
            ),
            object(
                MACHINE,
                "KubeletConfig",
                "a",
                &json!({
                    "kubeletConfig": {"clusterDNS": [], "maxPods": 1, "registerWithTaints": "a"}, "autoSizingReserved": true, "logLevel": 11,
                    "tlsSecurityProfile": {"type": "Custom", "custom": {"ciphers": "all"}},
                }),
            ),
            object(
                MACHINE,
                "ContainerRuntimeConfig",
                "a",
                &json!({"containerRuntimeConfig": {
                    "overlaySize": "1G", "logLevel": "loud",
                }}),
            ),
            object("config.openshift.io/v1", "ClusterImagePolicy", "a", &json!({})),
        ]);
        assert_eq!(
            found.unwrap_err(),
            [
                "",
                "spec.containerRuntimeConfig.logLevel",
                "spec.containerRuntimeConfig.overlaySize",
                "spec.kubeletConfig.clusterDNS",
                "spec.kubeletConfig.registerWithTaints",
                "spec.autoSizingReserved",
                "spec.tlsSecurityProfile",
                "spec.logLevel",
                "spec.osImageURL",
                "spec.fips",
                "spec.kernelType",
                "spec.extensions",
                "spec.kernelArguments",
            ]
        );
    }
}
