//! Directories of clusters: one for each, with a note of who holds it. What a killed run left is found by these notes and
//! removed by the next one.

use std::{
    fs::{self, DirBuilder},
    io,
    os::unix::fs::{DirBuilderExt as _, MetadataExt as _},
    path::{Path, PathBuf},
    process,
};

use super::{cgroups, error::Error, namespaces, process::ProcessId};

/// Below which all are. Layers of images take gigabytes, so it is not where temporary files may lie in memory.
const PARENT: &str = "/var/tmp/hyperplane-pods";

/// Who may do what in it.
const OWN: u32 = 0o755;
const WRITABLE_BY_OTHERS: u32 = 0o022;

/// The name of the cluster that stands until it is ended.
pub(crate) const STANDING: &str = "standing";

/// The directory of one cluster.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct State {
    name: String,
    pub(crate) directory: PathBuf,
}

impl State {
    /// That of a cluster which this process holds.
    pub(crate) fn held() -> Self {
        Self::named(&format!("held-by-{}", process::id()))
    }

    /// That of the cluster which stands.
    pub(crate) fn standing() -> Self {
        Self::named(STANDING)
    }

    fn named(name: &str) -> Self {
        Self {
            name: name.to_owned(),
            directory: Path::new(PARENT).join(name),
        }
    }

    /// Makes it, with a note of this process as the owner of a held one.
    pub(crate) fn create(&self) -> Result<(), Error> {
        let step = || Error::at(format!("making {}", self.directory.display()));
        if self.directory.exists() {
            let directory = self.directory.clone();
            return Err(Error::Running { directory });
        }
        make_parent(Path::new(PARENT)).map_err(step())?;
        fs::create_dir(&self.directory).map_err(step())?;
        match ProcessId::of(process::id()) {
            Some(owner) if self.name != STANDING => owner.write(&self.owner()).map_err(step()),
            _ => Ok(()),
        }
    }

    /// Ends what runs from it, and removes it. Nothing happens if it is not there.
    pub(crate) fn remove(&self) -> Result<(), Error> {
        namespaces::end_noted(&self.directory)?;
        cgroups::remove(&self.control_group())?;
        match fs::remove_dir_all(&self.directory) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
            removed => removed.map_err(Error::at(format!("removing {}", self.directory.display()))),
        }
    }

    /// The control group of everything of this cluster, as a path below the root.
    pub(crate) fn control_group(&self) -> String {
        format!("hyperplane-pods-{}", self.name)
    }

    fn owner(&self) -> PathBuf {
        self.directory.join("owner")
    }
}

/// Makes the directory of all clusters for this user alone. Where one is that others may write to, it is refused: notes in it
/// say which processes are ended.
fn make_parent(parent: &Path) -> io::Result<()> {
    match DirBuilder::new().mode(OWN).create(parent) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => check_parent(parent),
        made => made,
    }
}

fn check_parent(parent: &Path) -> io::Result<()> {
    let found = fs::symlink_metadata(parent)?;
    let is_own = found.is_dir() && found.uid() == rustix::process::geteuid().as_raw();
    if is_own && found.mode() & WRITABLE_BY_OTHERS == 0 {
        return Ok(());
    }
    let complaint = format!("{} is not a directory of this user alone: remove it", parent.display());
    Err(io::Error::new(io::ErrorKind::PermissionDenied, complaint))
}

/// Removes what was left by processes that hold their clusters no longer. What stands stays, if it does stand.
pub(crate) fn sweep() -> Result<(), Error> {
    let entries = match fs::read_dir(PARENT) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        entries => entries.map_err(Error::at(format!("reading {PARENT}")))?,
    };
    check_parent(Path::new(PARENT)).map_err(Error::at(format!("reading {PARENT}")))?;
    for entry in entries {
        let entry = entry.map_err(Error::at(format!("reading {PARENT}")))?;
        let state = State::named(&entry.file_name().to_string_lossy());
        let is_held = ProcessId::read(&state.owner()).is_some_and(ProcessId::is_alive);
        if !is_held && state.name != STANDING {
            println!("removing what an earlier run left in {}", state.directory.display());
            state.remove()?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::{env, os::unix::fs::PermissionsExt as _, process::Command, thread, time::Duration};

    use super::*;
    use crate::pods::{namespaces::Namespaces, wait::wait_until};

    /// Tells the helper which cluster to hold.
    const HOLD: &str = "HYPERPLANE_TEST_HOLDS";

    const LIMIT: Duration = Duration::from_secs(20);

    #[test]
    fn a_directory_that_others_may_write_to_is_refused() {
        let directory = tempfile::tempdir().unwrap();
        let parent = directory.path().join("pods");
        make_parent(&parent).unwrap();
        make_parent(&parent).unwrap();
        fs::set_permissions(&parent, fs::Permissions::from_mode(0o777)).unwrap();
        let refused = make_parent(&parent).unwrap_err();
        assert_eq!(refused.kind(), io::ErrorKind::PermissionDenied);
        let link = directory.path().join("link");
        std::os::unix::fs::symlink(directory.path(), &link).unwrap();
        assert!(make_parent(&link).is_err());
    }

    /// Not a test of its own: the process that is killed below.
    #[test]
    #[ignore = "needs root: cargo xtask test"]
    fn helper_that_holds_until_it_is_killed() {
        let Ok(name) = env::var(HOLD) else { return };
        let state = State::named(&name);
        state.create().unwrap();
        cgroups::create(&format!("{}/node-1", state.control_group())).unwrap();
        let namespaces = Namespaces::hold(&state.directory).unwrap();
        let log = state.directory.join("log");
        // Detached from everything, as shims of containers are.
        let arguments = ["-c", "setsid sleep 1000 & echo $! >&2"].map(str::to_owned);
        let mut shell = namespaces.start(Path::new("sh"), &arguments, &log).unwrap();
        shell.wait().unwrap();
        thread::sleep(LIMIT * 10);
    }

    #[test]
    #[ignore = "needs root: cargo xtask test"]
    fn what_a_killed_process_held_ends_with_it_and_is_swept() {
        let name = format!("killed-by-{}", process::id());
        let state = State::named(&name);
        let mut holder = Command::new(env::current_exe().unwrap())
            .args([
                "--ignored",
                "--exact",
                "pods::state::tests::helper_that_holds_until_it_is_killed",
            ])
            .env(HOLD, &name)
            .spawn()
            .unwrap();
        let note = state.directory.join("init");
        let log = state.directory.join("log");
        let init = wait_until("the namespaces", LIMIT, || {
            let has_started = fs::read_to_string(&log).is_ok_and(|log| !log.is_empty());
            let init = ProcessId::read(&note).filter(|_| has_started);
            Ok(init.ok_or_else(|| "no note".to_owned()))
        });
        let init = init.unwrap();
        assert!(init.is_alive());
        holder.kill().unwrap();
        holder.wait().unwrap();
        // The kernel lets the first process end only after all others.
        wait_until("the end of the namespaces", LIMIT, || {
            Ok(if init.is_alive() { Err(init.to_string()) } else { Ok(()) })
        })
        .unwrap();
        sweep().unwrap();
        assert!(!state.directory.exists());
        let group = Path::new("/sys/fs/cgroup").join(state.control_group());
        let first = Path::new("/sys/fs/cgroup/memory").join(state.control_group());
        assert!(!group.exists() && !first.exists());
    }
}
