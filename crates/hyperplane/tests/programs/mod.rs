//! Command lines of containers, and the processes that run them.

mod process;

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
};

use hyperplane_components::Objects;
use k8s_openapi::api::core::v1::{Container, KeyToPath, PodSpec, Volume};

pub use self::process::Program;
use crate::rendering::NAMESPACE;

/// One command line from our image.
#[derive(Clone)]
pub struct Line {
    pub component: String,
    pub container: String,
    /// The subcommand and its flags.
    pub arguments: Vec<String>,
    pub environment: Vec<(String, String)>,
}

impl Line {
    pub fn subcommand(&self) -> &str {
        &self.arguments[0]
    }

    /// The value of a flag.
    pub fn value(&self, flag: &str) -> &str {
        let mut values = self
            .arguments
            .iter()
            .filter_map(|argument| argument.strip_prefix(flag)?.strip_prefix('='));
        values
            .next()
            .unwrap_or_else(|| panic!("{} has no {flag}", self.subcommand()))
    }
}

/// The name that the first pod of a component has here.
pub fn pod_name(component: &str) -> String {
    format!("{component}-0")
}

/// The command lines of a pod that run our program. Its volumes are written below a directory. The number tells pods apart.
pub fn lines(component: &str, pod: &PodSpec, objects: &Objects, directory: &Path, number: usize) -> Vec<Line> {
    let directory = directory.join(component);
    for volume in pod.volumes.iter().flatten() {
        write(volume, objects, &directory.join(&volume.name));
    }
    let containers = pod.init_containers.iter().flatten().chain(&pod.containers);
    let ours = containers.filter(|container| container.command.as_deref() == Some(&["hyperplane".to_owned()]));
    let lines = ours.enumerate().map(|(place, container)| {
        let address = format!("127.77.{}.{}", number + 1, place + 1);
        line(component, container, &directory, &address)
    });
    lines.collect()
}

fn line(component: &str, container: &Container, volumes: &Path, address: &str) -> Line {
    let mut variables = Vec::new();
    for variable in container.env.iter().flatten() {
        let field = variable.value_from.as_ref().and_then(|from| from.field_ref.as_ref());
        let value = match field.map(|field| field.field_path.as_str()) {
            Some("metadata.name") => pod_name(component),
            Some("metadata.namespace") => NAMESPACE.to_owned(),
            Some("status.podIP") => address.to_owned(),
            Some(other) => panic!("{component}: nobody knows {other}"),
            None => expand(variable.value.as_deref().unwrap_or_default(), &variables),
        };
        variables.push((variable.name.clone(), value));
    }
    let places = places(container, volumes);
    let rewrite = |argument: &String| {
        let argument = expand(argument, &variables);
        let argument = argument.replace("[::]:", &format!("{address}:"));
        let argument = argument.replace("=127.0.0.1:", &format!("={address}:"));
        inside(&argument, &places)
    };
    let arguments: Vec<String> = container.args.iter().flatten().map(rewrite).collect();
    for argument in &arguments {
        rewrite_file(argument, &places);
    }
    Line {
        component: component.to_owned(),
        container: container.name.clone(),
        arguments,
        environment: variables,
    }
}

fn expand(text: &str, variables: &[(String, String)]) -> String {
    let replace = |text: String, (name, value): &(String, String)| text.replace(&format!("$({name})"), value);
    variables.iter().fold(text.to_owned(), replace)
}

/// Where each volume of a container is, by the path under which it is mounted; the deepest first.
fn places(container: &Container, volumes: &Path) -> Vec<(String, PathBuf)> {
    let mounts = container.volume_mounts.iter().flatten();
    let mut places: Vec<(String, PathBuf)> = mounts
        .map(|mount| {
            assert!(mount.sub_path.is_none(), "{} mounts a part of a volume", container.name);
            (mount.mount_path.clone(), volumes.join(&mount.name))
        })
        .collect();
    places.sort_by_key(|(path, _)| std::cmp::Reverse(path.len()));
    places
}

/// A flag whose path is one of this machine.
fn inside(argument: &str, places: &[(String, PathBuf)]) -> String {
    let Some((flag, path)) = argument.split_once('=') else {
        return argument.to_owned();
    };
    let found = places.iter().find_map(|(mounted, place)| {
        let rest = path.strip_prefix(mounted.as_str())?;
        (rest.is_empty() || rest.starts_with('/')).then(|| format!("{flag}={}{rest}", place.display()))
    });
    assert!(
        found.is_some() || !path.starts_with('/'),
        "{argument} leads to what is not mounted"
    );
    found.unwrap_or_else(|| argument.to_owned())
}

/// Rewrites the paths in a configuration that a flag names.
fn rewrite_file(argument: &str, places: &[(String, PathBuf)]) {
    let path = argument.split_once('=').map(|(_, path)| path);
    let Some(path) =
        path.filter(|path| Path::new(path).extension() == Some("yaml".as_ref()) && Path::new(path).exists())
    else {
        return;
    };
    let text = fs::read_to_string(path).unwrap();
    let mut written = String::new();
    let mut rest = text.as_str();
    // One pass: where volumes are here may look like a place where one is mounted.
    while let Some(next) = rest.chars().next() {
        let is_whole = |end: &str| end.is_empty() || end.starts_with(['/', '"', '\n']);
        let found = places.iter().find_map(|(mounted, place)| {
            let end = rest.strip_prefix(mounted.as_str())?;
            is_whole(end).then_some((place, end))
        });
        if let Some((place, end)) = found.filter(|_| !written.ends_with(|last: char| last.is_alphanumeric())) {
            written.push_str(&place.display().to_string());
            rest = end;
        } else {
            written.push(next);
            rest = &rest[next.len_utf8()..];
        }
    }
    fs::write(path, written).unwrap();
}

/// Writes the files of a volume.
fn write(volume: &Volume, objects: &Objects, place: &Path) {
    fs::create_dir_all(place).unwrap();
    let (files, items): (BTreeMap<String, Vec<u8>>, _) = if let Some(source) = &volume.secret {
        let name = source.secret_name.as_deref().unwrap();
        let secret = objects.secrets.get(name).and_then(|secret| secret.data.clone());
        let data = secret.unwrap_or_default().into_iter();
        (data.map(|(key, value)| (key, value.0)).collect(), &source.items)
    } else if let Some(source) = &volume.config_map {
        let map = objects.config_maps.get(&source.name).and_then(|map| map.data.clone());
        let data = map.unwrap_or_default().into_iter();
        (
            data.map(|(key, value)| (key, value.into_bytes())).collect(),
            &source.items,
        )
    } else {
        return;
    };
    let all = files.keys().map(|key| KeyToPath {
        key: key.clone(),
        path: key.clone(),
        ..KeyToPath::default()
    });
    for item in items.clone().unwrap_or_else(|| all.collect()) {
        let path = place.join(&item.path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        let content = files.get(&item.key);
        let content = content.unwrap_or_else(|| panic!("volume {} has no {}", volume.name, item.key));
        fs::write(path, content).unwrap();
    }
}
