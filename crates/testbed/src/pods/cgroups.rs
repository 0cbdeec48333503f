//! Control groups of kubelets: a root of its own for each, since two kubelets below one root kill each other's pods. It
//! knows both versions of the kernel's interface.

use std::{
    fs, io,
    path::{Path, PathBuf},
    time::Duration,
};

use super::{error::Error, wait::wait_until};

const MOUNT: &str = "/sys/fs/cgroup";

/// The second version where it is beside the first: it has no controllers.
const UNIFIED: &str = "unified";

/// What a new group of the first version lacks until it is copied from its parent.
const CPUSET: [&str; 2] = ["cpuset.cpus", "cpuset.mems"];

/// How long it may take until a group whose processes were killed can be removed.
const REMOVE_LIMIT: Duration = Duration::from_secs(20);

/// Makes a group, as a path below the root, in every hierarchy.
pub(crate) fn create(group: &str) -> Result<(), Error> {
    let step = || Error::at(format!("making the control group {group}"));
    for hierarchy in hierarchies(Path::new(MOUNT)).map_err(step())? {
        let mut directory = hierarchy;
        for name in group.split('/') {
            let parent = directory.clone();
            directory.push(name);
            fs::create_dir_all(&directory).map_err(step())?;
            inherit(&parent, &directory).map_err(step())?;
        }
    }
    Ok(())
}

/// Removes a group with all below it. Nothing happens if it is not there.
pub(crate) fn remove(group: &str) -> Result<(), Error> {
    let step = format!("removing the control group {group}");
    let mount = Path::new(MOUNT);
    let mut hierarchies = hierarchies(mount).map_err(Error::at(step.as_str()))?;
    // runc makes groups there, too.
    hierarchies.push(mount.join(UNIFIED));
    for hierarchy in hierarchies {
        let directory = hierarchy.join(group);
        wait_until(&step, REMOVE_LIMIT, || {
            Ok(remove_tree(&directory).map_err(|error| error.to_string()))
        })?;
    }
    Ok(())
}

/// The one of the second version, or all controllers of the first.
fn hierarchies(mount: &Path) -> io::Result<Vec<PathBuf>> {
    if mount.join("cgroup.controllers").is_file() {
        return Ok(vec![mount.to_owned()]);
    }
    let mut found = Vec::new();
    for entry in fs::read_dir(mount)? {
        let entry = entry?;
        // Names for several controllers at once are links to directories that are in the list as well.
        let is_hierarchy = entry.file_type()?.is_dir() && entry.path().join("cgroup.procs").is_file();
        if is_hierarchy && entry.file_name() != UNIFIED {
            found.push(entry.path());
        }
    }
    Ok(found)
}

fn inherit(parent: &Path, child: &Path) -> io::Result<()> {
    for file in CPUSET {
        if let (Ok(inherited), Ok(own)) = (fs::read(parent.join(file)), fs::read(child.join(file)))
            && own.trim_ascii().is_empty()
            && !inherited.trim_ascii().is_empty()
        {
            fs::write(child.join(file), inherited)?;
        }
    }
    Ok(())
}

fn remove_tree(directory: &Path) -> io::Result<()> {
    let entries = match fs::read_dir(directory) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        entries => entries?,
    };
    for entry in entries {
        let entry = entry?;
        if entry.file_type()?.is_dir() {
            remove_tree(&entry.path())?;
        }
    }
    fs::remove_dir(directory)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hierarchies_of_both_versions_are_found() {
        let mount = tempfile::tempdir().unwrap();
        let mount = mount.path();
        for name in ["cpu", "memory", "unified"] {
            fs::create_dir(mount.join(name)).unwrap();
            fs::write(mount.join(name).join("cgroup.procs"), "").unwrap();
        }
        std::os::unix::fs::symlink("cpu", mount.join("cpu,cpuacct")).unwrap();
        let mut first = hierarchies(mount).unwrap();
        first.sort();
        assert_eq!(first, [mount.join("cpu"), mount.join("memory")]);
        fs::write(mount.join("cgroup.controllers"), "cpu").unwrap();
        assert_eq!(hierarchies(mount).unwrap(), [mount]);
    }

    #[test]
    fn a_new_group_has_the_processors_of_its_parent() {
        let parent = tempfile::tempdir().unwrap();
        let child = parent.path().join("child");
        fs::create_dir(&child).unwrap();
        fs::write(parent.path().join("cpuset.cpus"), "0-1\n").unwrap();
        fs::write(child.join("cpuset.cpus"), "\n").unwrap();
        inherit(parent.path(), &child).unwrap();
        assert_eq!(fs::read_to_string(child.join("cpuset.cpus")).unwrap(), "0-1\n");
    }
}
