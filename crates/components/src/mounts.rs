//! Which Secrets and ConfigMaps pods need before they can start.

use std::collections::{BTreeMap, BTreeSet};

use k8s_openapi::api::core::v1::{Container, EnvVarSource, PodSpec, Volume};

use crate::{inputs::Objects, manifest::Manifest};

/// What kind of object pods take data from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Source {
    ConfigMap,
    Secret,
}

impl Source {
    /// The kind.
    pub(crate) fn kind(self) -> &'static str {
        match self {
            Self::ConfigMap => "ConfigMap",
            Self::Secret => "Secret",
        }
    }
}

/// What pods need of one object.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Need {
    /// Whether pods start without it, too.
    pub is_optional: bool,
    /// The keys that must be in it.
    pub keys: BTreeSet<String>,
}

/// Everything that the pods of a workload take data from, by kind and name.
pub(crate) type Needs = BTreeMap<(Source, String), Need>;

/// Everything that a pod takes data from: by volumes and by variables.
pub(crate) fn needs(pod: &PodSpec) -> Needs {
    let mut found = Found::default();
    for volume in pod.volumes.iter().flatten() {
        found.volume(volume);
    }
    for container in pod.init_containers.iter().flatten().chain(&pod.containers) {
        found.container(container);
    }
    found.needs
}

/// What is missing of it, in sentences. What the component itself writes is there, because it is written first.
pub(crate) fn missing(needs: &Needs, rendered: &[Manifest], objects: &Objects) -> Vec<String> {
    let mut missing = Vec::new();
    for ((source, name), need) in needs {
        if need.is_optional {
            continue;
        }
        let kind = source.kind();
        match keys(*source, name, rendered, objects) {
            None => missing.push(format!("{kind} {name} does not exist")),
            Some(keys) => {
                let absent = need.keys.iter().filter(|key| !keys.contains(key.as_str()));
                missing.extend(absent.map(|key| format!("{kind} {name} has no key {key}")));
            }
        }
    }
    missing
}

/// The keys of an object, if it exists.
fn keys<'a>(source: Source, name: &str, rendered: &'a [Manifest], objects: &'a Objects) -> Option<BTreeSet<&'a str>> {
    let values = values(source, name, rendered, objects)?;
    Some(values.into_keys().collect())
}

/// The content of an object by key, if it exists; what is about to be written counts before what is there.
pub(crate) fn values<'a>(
    source: Source,
    name: &str,
    rendered: &'a [Manifest],
    objects: &'a Objects,
) -> Option<BTreeMap<&'a str, &'a [u8]>> {
    let own = rendered.iter().find(|manifest| {
        let is_kind = matches!(
            (source, manifest),
            (Source::ConfigMap, Manifest::ConfigMap(_)) | (Source::Secret, Manifest::Secret(_))
        );
        is_kind && manifest.meta().name.as_deref() == Some(name)
    });
    match (source, own) {
        (_, Some(Manifest::ConfigMap(object))) => Some(config_map_values(object)),
        (_, Some(Manifest::Secret(object))) => Some(secret_values(object)),
        (Source::ConfigMap, _) => objects.config_maps.get(name).map(|object| config_map_values(object)),
        (Source::Secret, _) => objects.secrets.get(name).map(|object| secret_values(object)),
    }
}

fn config_map_values(object: &k8s_openapi::api::core::v1::ConfigMap) -> BTreeMap<&str, &[u8]> {
    let text = object
        .data
        .iter()
        .flatten()
        .map(|(key, value)| (key.as_str(), value.as_bytes()));
    let bytes = object.binary_data.iter().flatten();
    text.chain(bytes.map(|(key, value)| (key.as_str(), value.0.as_slice())))
        .collect()
}

fn secret_values(object: &k8s_openapi::api::core::v1::Secret) -> BTreeMap<&str, &[u8]> {
    let data = object.data.iter().flatten();
    data.map(|(key, value)| (key.as_str(), value.0.as_slice())).collect()
}

#[derive(Default)]
struct Found {
    needs: Needs,
}

impl Found {
    /// An object that is needed twice is optional only if it is both times.
    fn add(&mut self, source: Source, name: &str, is_optional: bool, keys: impl IntoIterator<Item = String>) {
        if name.is_empty() {
            return;
        }
        let key = (source, name.to_owned());
        let need = self.needs.entry(key).or_insert_with(|| Need {
            is_optional: true,
            keys: BTreeSet::new(),
        });
        if !is_optional {
            need.is_optional = false;
            need.keys.extend(keys);
        }
    }

    fn volume(&mut self, volume: &Volume) {
        if let Some(secret) = &volume.secret {
            let keys = secret.items.iter().flatten().map(|item| item.key.clone());
            let name = secret.secret_name.as_deref().unwrap_or_default();
            self.add(Source::Secret, name, secret.optional.unwrap_or_default(), keys);
        }
        if let Some(map) = &volume.config_map {
            let keys = map.items.iter().flatten().map(|item| item.key.clone());
            self.add(Source::ConfigMap, &map.name, map.optional.unwrap_or_default(), keys);
        }
        let projected = volume
            .projected
            .iter()
            .flat_map(|projected| projected.sources.iter().flatten());
        for part in projected {
            if let Some(secret) = &part.secret {
                let keys = secret.items.iter().flatten().map(|item| item.key.clone());
                self.add(Source::Secret, &secret.name, secret.optional.unwrap_or_default(), keys);
            }
            if let Some(map) = &part.config_map {
                let keys = map.items.iter().flatten().map(|item| item.key.clone());
                self.add(Source::ConfigMap, &map.name, map.optional.unwrap_or_default(), keys);
            }
        }
    }

    fn container(&mut self, container: &Container) {
        for source in container.env_from.iter().flatten() {
            if let Some(secret) = &source.secret_ref {
                self.add(Source::Secret, &secret.name, secret.optional.unwrap_or_default(), []);
            }
            if let Some(map) = &source.config_map_ref {
                self.add(Source::ConfigMap, &map.name, map.optional.unwrap_or_default(), []);
            }
        }
        let variables = container.env.iter().flatten();
        for source in variables.filter_map(|variable| variable.value_from.as_ref()) {
            self.variable(source);
        }
    }

    fn variable(&mut self, source: &EnvVarSource) {
        if let Some(secret) = &source.secret_key_ref {
            let is_optional = secret.optional.unwrap_or_default();
            self.add(Source::Secret, &secret.name, is_optional, [secret.key.clone()]);
        }
        if let Some(map) = &source.config_map_key_ref {
            let is_optional = map.optional.unwrap_or_default();
            self.add(Source::ConfigMap, &map.name, is_optional, [map.key.clone()]);
        }
    }
}
