//! Modes of mounted files, a place for temporary ones, and which volumes hold nothing that is missed.

use hyperplane_api::constants::annotations;
use k8s_openapi::api::core::v1::{EmptyDirVolumeSource, Volume, VolumeMount};

use crate::manifest::Workload;

/// The mode of files from Secrets: for the owner and the group.
const SECRET_MODE: i32 = 0o640;

/// The mode of files from ConfigMaps: for everybody.
const CONFIG_MAP_MODE: i32 = 0o644;

/// The volume for temporary files, and where it is: the root of a container cannot be written to.
const TEMPORARY: &str = "tmp-dir";
const TEMPORARY_PATH: &str = "/tmp";

pub(super) fn apply(workload: &mut Workload) {
    let volumes = workload.pod_mut().volumes.get_or_insert_default();
    for volume in volumes.iter_mut() {
        if let Some(secret) = &mut volume.secret {
            secret.default_mode.get_or_insert(SECRET_MODE);
        }
        if let Some(map) = &mut volume.config_map {
            map.default_mode.get_or_insert(CONFIG_MAP_MODE);
        }
        if let Some(projected) = &mut volume.projected {
            projected.default_mode.get_or_insert(SECRET_MODE);
        }
    }
    volumes.push(Volume {
        name: TEMPORARY.to_owned(),
        empty_dir: Some(EmptyDirVolumeSource::default()),
        ..Volume::default()
    });
    for container in workload.containers_mut() {
        container.volume_mounts.get_or_insert_default().push(VolumeMount {
            name: TEMPORARY.to_owned(),
            mount_path: TEMPORARY_PATH.to_owned(),
            ..VolumeMount::default()
        });
    }
}

/// Tells the autoscaler of the management cluster which volumes do not keep a pod on its node.
pub(super) fn annotate(workload: &mut Workload) {
    let volumes = workload.pod_mut().volumes.iter().flatten();
    let mut local: Vec<&str> = volumes
        .filter(|volume| volume.empty_dir.is_some())
        .map(|volume| volume.name.as_str())
        .collect();
    local.sort_unstable();
    let local = local.join(",");
    let meta = workload.template_mut().metadata.get_or_insert_default();
    let key = annotations::SAFE_TO_EVICT_LOCAL_VOLUMES.as_str().to_owned();
    meta.annotations.get_or_insert_default().insert(key, local);
}
