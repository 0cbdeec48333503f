//! What a pod mounts: what is missing of it, and what a container finds under a path. Pure.

use k8s_openapi::{
    ByteString,
    api::core::v1::{ConfigMap, Container, KeyToPath, Pod, Secret, Volume, VolumeMount},
};
use kube::ResourceExt;

use super::facts::Facts;
use crate::{pods, programs::Content, volumes};

/// Why volumes cannot be mounted, in the kubelet's words. Volumes that nobody mounts do not matter.
pub(crate) fn problems(pod: &Pod, facts: &dyn Facts) -> Vec<String> {
    let volumes = pods::spec(pod)
        .and_then(|spec| spec.volumes.as_deref())
        .unwrap_or_default();
    let mounted = volumes.iter().filter(|volume| is_mounted(pod, &volume.name));
    mounted
        .flat_map(|volume| {
            let reasons = of_volume(pod, volume, facts).into_iter();
            reasons.map(|reason| format!("MountVolume.SetUp failed for volume {:?} : {reason}", volume.name))
        })
        .collect()
}

fn is_mounted(pod: &Pod, volume: &str) -> bool {
    let mut containers = pods::containers(pod).iter().chain(pods::init_containers(pod));
    containers.any(|container| mounts(container).iter().any(|mount| mount.name == volume))
}

fn mounts(container: &Container) -> &[VolumeMount] {
    container.volume_mounts.as_deref().unwrap_or_default()
}

fn of_volume(pod: &Pod, volume: &Volume, facts: &dyn Facts) -> Vec<String> {
    let namespace = pod.namespace().unwrap_or_default();
    if let Some(claim) = &volume.persistent_volume_claim {
        return match facts.claim(&namespace, &claim.claim_name) {
            None => vec![format!("persistentvolumeclaim {:?} not found", claim.claim_name)],
            Some(claim) if !volumes::is_bound(&claim) => {
                vec![format!("persistentvolumeclaim {:?} is not bound", claim.name_any())]
            }
            Some(_) => Vec::new(),
        };
    }
    sources(volume)
        .into_iter()
        .filter_map(|source| source.problem(&namespace, facts))
        .collect()
}

/// One Secret or ConfigMap of a volume.
struct Source<'a> {
    is_secret: bool,
    name: &'a str,
    is_optional: bool,
    items: &'a [KeyToPath],
}

fn sources(volume: &Volume) -> Vec<Source<'_>> {
    let mut all = Vec::new();
    if let Some(secret) = &volume.secret {
        all.push(Source {
            is_secret: true,
            name: secret.secret_name.as_deref().unwrap_or_default(),
            is_optional: secret.optional == Some(true),
            items: secret.items.as_deref().unwrap_or_default(),
        });
    }
    if let Some(map) = &volume.config_map {
        all.push(Source {
            is_secret: false,
            name: &map.name,
            is_optional: map.optional == Some(true),
            items: map.items.as_deref().unwrap_or_default(),
        });
    }
    let projected = volume
        .projected
        .as_ref()
        .and_then(|projected| projected.sources.as_deref());
    for source in projected.unwrap_or_default() {
        if let Some(secret) = &source.secret {
            all.push(Source {
                is_secret: true,
                name: &secret.name,
                is_optional: secret.optional == Some(true),
                items: secret.items.as_deref().unwrap_or_default(),
            });
        }
        if let Some(map) = &source.config_map {
            all.push(Source {
                is_secret: false,
                name: &map.name,
                is_optional: map.optional == Some(true),
                items: map.items.as_deref().unwrap_or_default(),
            });
        }
    }
    all
}

impl Source<'_> {
    fn problem(&self, namespace: &str, facts: &dyn Facts) -> Option<String> {
        if self.is_optional {
            return None;
        }
        let (kind, key_kind) = if self.is_secret {
            ("secret", "secret")
        } else {
            ("configmap", "config")
        };
        let missing = if self.is_secret {
            let secret = facts.secret(namespace, self.name);
            secret.map(|secret| self.missing_key(|key| secret_key(&secret, key).is_some()))
        } else {
            let map = facts.config_map(namespace, self.name);
            map.map(|map| self.missing_key(|key| config_key(&map, key).is_some()))
        };
        match missing {
            None => Some(format!("{kind} {:?} not found", self.name)),
            Some(key) => key.map(|key| format!("references non-existent {key_kind} key: {key}")),
        }
    }

    fn missing_key(&self, has: impl Fn(&str) -> bool) -> Option<String> {
        let mut keys = self.items.iter().map(|item| &item.key);
        keys.find(|key| !has(key)).cloned()
    }

    /// The key that is found under a path of the volume.
    fn key(&self, path: &str) -> Option<String> {
        if self.items.is_empty() {
            return (!path.contains('/')).then(|| path.to_owned());
        }
        self.items
            .iter()
            .find(|item| item.path == path)
            .map(|item| item.key.clone())
    }

    /// Whether a path of the volume is above files of this source.
    fn has_directory(&self, path: &str) -> bool {
        self.items.iter().any(|item| below(path, &item.path).is_some())
    }

    fn read(&self, namespace: &str, path: &str, facts: &dyn Facts) -> Option<Vec<u8>> {
        let key = self.key(path)?;
        if self.is_secret {
            secret_key(facts.secret(namespace, self.name)?.as_ref(), &key).map(|bytes| bytes.0.clone())
        } else {
            config_key(facts.config_map(namespace, self.name)?.as_ref(), &key)
        }
    }
}

/// A key of a Secret.
pub(crate) fn secret_key<'a>(secret: &'a Secret, key: &str) -> Option<&'a ByteString> {
    secret.data.as_ref()?.get(key)
}

/// A key of a ConfigMap, text or not.
pub(crate) fn config_key(map: &ConfigMap, key: &str) -> Option<Vec<u8>> {
    let text = map
        .data
        .as_ref()
        .and_then(|data| data.get(key))
        .map(|text| text.clone().into_bytes());
    text.or_else(|| map.binary_data.as_ref()?.get(key).map(|bytes| bytes.0.clone()))
}

/// What a container finds under a path.
pub(crate) fn read(pod: &Pod, container: &Container, path: &str, facts: &dyn Facts) -> Content {
    let Some((mount, rest)) = mount_of(container, path) else {
        return Content::Unmounted;
    };
    let Some(volume) = volume_of(pod, mount) else {
        return Content::Missing;
    };
    let path = match mount.sub_path.as_deref().filter(|path| !path.is_empty()) {
        Some(sub) if rest.is_empty() => sub.to_owned(),
        Some(sub) => format!("{sub}/{rest}"),
        None => rest.to_owned(),
    };
    let sources = sources(volume);
    let is_api = !sources.is_empty() || volume.projected.is_some() || volume.downward_api.is_some();
    if !is_api {
        return Content::Written;
    }
    let namespace = pod.namespace().unwrap_or_default();
    let found = sources.iter().find_map(|source| source.read(&namespace, &path, facts));
    match found {
        Some(bytes) => Content::Bytes(bytes),
        None if is_made(volume, &path) => Content::Written,
        None if path.is_empty() || sources.iter().any(|source| source.has_directory(&path)) => Content::Directory,
        None => Content::Missing,
    }
}

/// The mount that holds a path, and the rest of the path in it. The deepest one hides those above it.
fn mount_of<'a>(container: &'a Container, path: &'a str) -> Option<(&'a VolumeMount, &'a str)> {
    let inside = mounts(container)
        .iter()
        .filter_map(|mount| Some((mount, below(&mount.mount_path, path)?)));
    inside.min_by_key(|(_, rest)| rest.len())
}

fn volume_of<'a>(pod: &'a Pod, mount: &VolumeMount) -> Option<&'a Volume> {
    let mut volumes = pods::spec(pod)?.volumes.iter().flatten();
    volumes.find(|volume| volume.name == mount.name)
}

/// The claims that a container mounts.
pub(crate) fn claims<'a>(pod: &'a Pod, container: &'a Container) -> impl Iterator<Item = &'a str> {
    mounts(container)
        .iter()
        .filter_map(|mount| volume_of(pod, mount).and_then(claim_of))
}

/// The claim on whose volume a path of a container is.
pub(crate) fn claim_at<'a>(pod: &'a Pod, container: &'a Container, path: &'a str) -> Option<&'a str> {
    let (mount, _) = mount_of(container, path)?;
    claim_of(volume_of(pod, mount)?)
}

fn claim_of(volume: &Volume) -> Option<&str> {
    let claim = volume.persistent_volume_claim.as_ref()?;
    Some(claim.claim_name.as_str())
}

/// The rest of a path below a directory.
fn below<'a>(directory: &str, path: &'a str) -> Option<&'a str> {
    let rest = path.strip_prefix(directory.trim_end_matches('/'))?;
    if rest.is_empty() {
        Some(rest)
    } else {
        rest.strip_prefix('/')
    }
}

/// Whether the kubelet makes a file by itself: tokens and facts about the pod.
fn is_made(volume: &Volume, path: &str) -> bool {
    let downward = volume
        .downward_api
        .as_ref()
        .and_then(|api| api.items.as_deref())
        .unwrap_or_default();
    let projected = volume
        .projected
        .as_ref()
        .and_then(|projected| projected.sources.as_deref());
    downward.iter().any(|item| item.path == path)
        || projected.unwrap_or_default().iter().any(|source| {
            let token = source.service_account_token.as_ref();
            let facts = source
                .downward_api
                .as_ref()
                .and_then(|api| api.items.as_deref())
                .unwrap_or_default();
            token.is_some_and(|token| token.path == path) || facts.iter().any(|item| item.path == path)
        })
}

/// The Secrets, ConfigMaps and claims that a pod refers to, as `namespace/name`.
#[derive(Default)]
pub(crate) struct References {
    pub(crate) secrets: Vec<String>,
    pub(crate) config_maps: Vec<String>,
    pub(crate) claims: Vec<String>,
}

impl References {
    /// What a pod refers to, in volumes and in the environment of its containers.
    pub(crate) fn of(pod: &Pod) -> Self {
        let namespace = pod.namespace().unwrap_or_default();
        let mut references = Self::default();
        for volume in pods::spec(pod)
            .and_then(|spec| spec.volumes.as_deref())
            .unwrap_or_default()
        {
            for source in sources(volume) {
                references.add(source.is_secret, &namespace, source.name);
            }
            if let Some(claim) = &volume.persistent_volume_claim {
                references.claims.push(format!("{namespace}/{}", claim.claim_name));
            }
        }
        for container in pods::containers(pod).iter().chain(pods::init_containers(pod)) {
            for variable in container
                .env
                .iter()
                .flatten()
                .filter_map(|variable| variable.value_from.as_ref())
            {
                if let Some(secret) = &variable.secret_key_ref {
                    references.add(true, &namespace, &secret.name);
                }
                if let Some(map) = &variable.config_map_key_ref {
                    references.add(false, &namespace, &map.name);
                }
            }
            for source in container.env_from.iter().flatten() {
                if let Some(secret) = &source.secret_ref {
                    references.add(true, &namespace, &secret.name);
                }
                if let Some(map) = &source.config_map_ref {
                    references.add(false, &namespace, &map.name);
                }
            }
        }
        references
    }

    fn add(&mut self, is_secret: bool, namespace: &str, name: &str) {
        let list = if is_secret {
            &mut self.secrets
        } else {
            &mut self.config_maps
        };
        list.push(format!("{namespace}/{name}"));
    }
}
