//! A machine within the machine: namespaces for processes, network, mounts and names, which end with their first
//! process. It knows how to run programs there, not which.
//!
//! Whatever is started there, however deep and however detached (containers, shims, kubelets, interfaces, rules of
//! iptables, mounts), the kernel ends with that one process. So there is one thing to end, and it is ended in three ways:
//! by [`Namespaces::end`], by a guard when the process that holds them goes away, and by a later run that finds its note.

use std::{
    fs::File,
    os::unix::process::CommandExt as _,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    time::Duration,
};

use rustix::{
    fd::AsFd,
    thread::{LinkNameSpaceType, move_into_link_name_space},
};

use super::{error::Error, process::ProcessId, wait::wait_until};
use crate::guard::{Server, tail};

/// What the first process runs.
const INIT: &str = include_str!("init.sh");

/// What is unshared. When `unshare` goes, its child is killed.
const UNSHARE: [&str; 7] = [
    "--net",
    "--mount",
    "--uts",
    "--ipc",
    "--pid",
    "--fork",
    "--kill-child=KILL",
];

/// How long making them may take; it takes some milliseconds.
const START_LIMIT: Duration = Duration::from_secs(10);

/// How long it may take until all processes in them are gone; a kernel under load needs seconds for hundreds.
const END_LIMIT: Duration = Duration::from_secs(30);

/// Directories of administrators' programs, which are not in everybody's path.
const SYSTEM_PROGRAMS: &str = "/usr/sbin:/sbin:/usr/bin:/bin";

/// The namespaces.
pub(crate) struct Namespaces {
    init: ProcessId,
    /// Ends them with this process; standing ones have none.
    _guard: Option<Server>,
}

impl Namespaces {
    /// Makes namespaces that end with this value or with this process.
    pub(crate) fn hold(state: &Path) -> Result<Self, Error> {
        let log = log_of(state);
        let guard = Server::start("unshare", Path::new("unshare"), &arguments(state), log)?;
        Self::started(state, Some(guard))
    }

    /// Makes namespaces that outlive this process; [`Namespaces::open`] finds them again.
    pub(crate) fn stand(state: &Path) -> Result<Self, Error> {
        let log = File::create(log_of(state)).map_err(Error::at("writing the log of namespaces"))?;
        let errors = log.try_clone().map_err(Error::at("writing the log of namespaces"))?;
        // In a session of its own, so that no terminal takes it along.
        Command::new("setsid")
            .arg("unshare")
            .args(arguments(state))
            .stdin(Stdio::null())
            .stdout(log)
            .stderr(errors)
            .spawn()
            .map_err(Error::at("starting unshare"))?;
        Self::started(state, None)
    }

    /// Those that stand.
    pub(crate) fn open(state: &Path) -> Option<Self> {
        let init = ProcessId::read(&note_of(state)).filter(|init| init.is_alive())?;
        Some(Self { init, _guard: None })
    }

    /// A program that runs inside, with the path of an administrator. Its working directory is the root.
    pub(crate) fn command(&self, program: impl AsRef<Path>) -> Command {
        let path = std::env::var("PATH").unwrap_or_default();
        let mut command = Command::new("nsenter");
        command
            .args(["--target", &self.init.id.to_string()])
            .args(["--net", "--mount", "--uts", "--ipc", "--pid", "--"])
            .arg(program.as_ref())
            .env("PATH", format!("{path}:{SYSTEM_PROGRAMS}"))
            .stdin(Stdio::null());
        command
    }

    /// Starts a program that runs on inside, with its output appended to a log.
    pub(crate) fn start(&self, program: &Path, arguments: &[String], log: &Path) -> Result<Child, Error> {
        let step = || format!("starting {}", program.display());
        let output = File::options()
            .create(true)
            .append(true)
            .open(log)
            .map_err(Error::at(step()))?;
        let errors = output.try_clone().map_err(Error::at(step()))?;
        // An interrupt from the keyboard is for this process alone, which ends the rest in order, or lets it stand.
        self.command(program)
            .args(arguments)
            .process_group(0)
            .stdout(output)
            .stderr(errors)
            .spawn()
            .map_err(Error::at(step()))
    }

    /// The id of the first process.
    pub(crate) fn first_process(&self) -> u32 {
        self.init.id
    }

    /// Puts the calling thread, and all threads and processes that it starts from now on, into the network inside.
    pub(crate) fn enter_network(&self) -> Result<(), Error> {
        let step = || Error::at("entering the network of the cluster");
        let network = File::open(format!("/proc/{}/ns/net", self.init.id)).map_err(step())?;
        move_into_link_name_space(network.as_fd(), Some(LinkNameSpaceType::Network))
            .map_err(|error| step()(error.into()))
    }

    /// Ends everything inside, and waits until it is gone.
    pub(crate) fn end(&self) -> Result<(), Error> {
        end(self.init)
    }

    fn started(state: &Path, mut guard: Option<Server>) -> Result<Self, Error> {
        let note = id_of(state);
        let init = wait_until("the first process of the namespaces", START_LIMIT, || {
            let id = std::fs::read_to_string(&note).unwrap_or_default();
            if let Some(init) = id.trim().parse().ok().and_then(ProcessId::of) {
                return Ok(Ok(init));
            }
            let log = log_of(state);
            let tail = tail(&log).unwrap_or_default();
            if let Some(guard) = &mut guard
                && guard.ended()?.is_some()
            {
                return Err(Error::Ended {
                    name: "the first process of the namespaces".to_owned(),
                    log,
                    tail,
                });
            }
            Ok(Err(tail))
        })?;
        init.write(&note_of(state))
            .map_err(Error::at("noting the first process"))?;
        Ok(Self { init, _guard: guard })
    }
}

/// Ends those that a note in a state directory tells of, if they still run.
pub(crate) fn end_noted(state: &Path) -> Result<(), Error> {
    match ProcessId::read(&note_of(state)) {
        Some(init) => end(init),
        None => Ok(()),
    }
}

fn end(init: ProcessId) -> Result<(), Error> {
    init.kill().map_err(Error::at("ending the namespaces"))?;
    // The kernel lets it end only after all others.
    wait_until("the end of all processes", END_LIMIT, || {
        let is_there = init.is_alive();
        Ok(if is_there {
            Err(format!("process {} is there", init.id))
        } else {
            Ok(())
        })
    })
}

fn arguments(state: &Path) -> Vec<String> {
    let mut arguments: Vec<String> = UNSHARE.map(str::to_owned).to_vec();
    arguments.extend(["sh", "-e", "-c", INIT, "sh"].map(str::to_owned));
    arguments.push(id_of(state).display().to_string());
    arguments
}

/// Where the first process writes its id.
fn id_of(state: &Path) -> PathBuf {
    state.join("init.id")
}

/// Where it is noted with its start time.
fn note_of(state: &Path) -> PathBuf {
    state.join("init")
}

fn log_of(state: &Path) -> PathBuf {
    state.join("namespaces.log")
}
