//! Volumes as directories, with the owners and modes that a kubelet gives them.

use std::{
    collections::BTreeMap,
    fs,
    os::unix::fs::{PermissionsExt as _, chown},
    path::{Path, PathBuf},
};

use anyhow::{Context as _, Result, bail};
use hyperplane_components::Objects;
use k8s_openapi::api::core::v1::{KeyToPath, PodSpec, Volume};

/// A directory that a group may write to, and whose files are of that group.
const SHARED_MODE: u32 = 0o2770;

/// The files of a volume by their paths, and their mode.
type Files = (BTreeMap<String, Vec<u8>>, u32);

/// Writes all volumes of a pod below a directory, and says where each is. Claims are kept elsewhere: they outlive pods.
pub fn write(
    pod: &PodSpec,
    objects: &Objects,
    directory: &Path,
    claims: &BTreeMap<String, PathBuf>,
) -> Result<BTreeMap<String, PathBuf>> {
    let group = pod.security_context.as_ref().and_then(|context| context.fs_group);
    let group = group.map(u32::try_from).transpose()?;
    let mut places = BTreeMap::new();
    for volume in pod.volumes.iter().flatten() {
        let place = directory.join(&volume.name);
        fs::create_dir_all(&place)?;
        if let Some((files, mode)) = files(volume, objects)? {
            for (path, content) in files {
                write_file(&place.join(path), &content, mode, group)?;
            }
        } else {
            share(&place, group)?;
        }
        places.insert(volume.name.clone(), place);
    }
    for (name, place) in claims {
        fs::create_dir_all(place)?;
        share(place, group)?;
        places.insert(name.clone(), place.clone());
    }
    Ok(places)
}

/// The files of a volume and their mode; none of one that is empty.
fn files(volume: &Volume, objects: &Objects) -> Result<Option<Files>> {
    let name = &volume.name;
    if let Some(secret) = &volume.secret {
        let wanted = secret.secret_name.as_deref().unwrap_or_default();
        let found = objects.secrets.get(wanted);
        let found = found.with_context(|| format!("volume {name}: there is no Secret {wanted}"))?;
        let data = found.data.iter().flatten();
        let all = data.map(|(key, value)| (key.clone(), value.0.clone())).collect();
        return Ok(Some((
            chosen(all, secret.items.as_deref())?,
            mode(secret.default_mode)?,
        )));
    }
    if let Some(map) = &volume.config_map {
        let found = objects.config_maps.get(&map.name);
        let found = found.with_context(|| format!("volume {name}: there is no ConfigMap {}", map.name))?;
        let data = found.data.iter().flatten();
        let all = data
            .map(|(key, value)| (key.clone(), value.clone().into_bytes()))
            .collect();
        return Ok(Some((chosen(all, map.items.as_deref())?, mode(map.default_mode)?)));
    }
    if volume.empty_dir.is_some() {
        return Ok(None);
    }
    bail!("volume {name} is of a kind that these pods have not had so far")
}

fn mode(mode: Option<i32>) -> Result<u32> {
    Ok(u32::try_from(mode.unwrap_or(0o644))?)
}

fn chosen(mut all: BTreeMap<String, Vec<u8>>, items: Option<&[KeyToPath]>) -> Result<BTreeMap<String, Vec<u8>>> {
    let Some(items) = items else { return Ok(all) };
    let take = |item: &KeyToPath| {
        let value = all.remove(&item.key);
        let value = value.with_context(|| format!("there is no key {}", item.key))?;
        Ok((item.path.clone(), value))
    };
    items.iter().map(take).collect()
}

fn write_file(path: &Path, content: &[u8], mode: u32, group: Option<u32>) -> Result<()> {
    fs::create_dir_all(path.parent().context("a file has a directory")?)?;
    fs::write(path, content)?;
    fs::set_permissions(path, fs::Permissions::from_mode(mode))?;
    chown(path, None, group)?;
    Ok(())
}

fn share(directory: &Path, group: Option<u32>) -> Result<()> {
    chown(directory, None, group)?;
    fs::set_permissions(directory, fs::Permissions::from_mode(SHARED_MODE))?;
    Ok(())
}
