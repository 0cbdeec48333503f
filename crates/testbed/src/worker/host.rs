//! A running host: its namespaces, its network and its programs. It knows how they start and end, not what a payload means.

use std::{
    fs::{self, File},
    path::{Path, PathBuf},
    process::{Child, Command},
    thread,
    time::{Duration, Instant},
};

use super::{
    Options,
    error::Error,
    payload::Payload,
    surroundings::{NAMESPACES, Surroundings, run},
    unit::{self, Kind},
};
use crate::guard::Server;

/// What the first process runs.
const INIT: &str = include_str!("init.sh");

/// How it comes to namespaces of its own. When `unshare` goes, its child is killed.
const UNSHARE: [&str; 7] = [
    "--net",
    "--mount",
    "--uts",
    "--ipc",
    "--pid",
    "--fork",
    "--kill-child=KILL",
];

/// How long a step may take; on a quiet machine each takes well under a second.
const LIMIT: Duration = Duration::from_mins(1);

/// How often is looked; a look is a file or one short process.
const POLL_INTERVAL: Duration = Duration::from_millis(50);

/// The network card of the host.
const CARD: &str = "eth0";

/// Where programs of the host find containerd.
const CONTAINERD_SOCKET: &str = "run/containerd/containerd.sock";

/// Parameters of the kernel that each network has for itself. All others belong to the machine and stay as they are.
const OF_NETWORK: &str = "net.";

/// Where a payload says how parameters of the kernel shall be.
const PARAMETERS: &str = "/etc/sysctl.d/";

/// A host.
pub(super) struct Host {
    surroundings: Surroundings,
    /// Its first process, as its surroundings see it.
    init: String,
    /// Ends it with this process.
    guard: Server,
    directory: PathBuf,
    running: Vec<Running>,
}

/// A program that was started and is to run on.
struct Running {
    name: String,
    log: PathBuf,
    child: Child,
}

impl Host {
    /// Starts an empty host.
    pub(super) fn start(surroundings: Surroundings, options: &Options) -> Result<Self, Error> {
        let directory = options.directory.clone();
        let log = directory.join("logs").join("host.log");
        let mut command = surroundings.command("unshare");
        command.args(UNSHARE).args(["sh", "-e", "-c", INIT, "sh"]);
        command.arg(&directory).arg(&options.name);
        let arguments: Vec<String> = command.get_args().map(|it| it.to_string_lossy().into_owned()).collect();
        let program = Path::new(command.get_program());
        let mut guard = Server::start("a host", program, &arguments, log.clone()).map_err(machine)?;
        let note = directory.join("started");
        let init = wait_until("the first process of a host", || {
            if guard.ended().map_err(machine)?.is_some() {
                return Err(ended("the first process of a host", &log));
            }
            // A line is there once it is whole.
            let text = fs::read_to_string(&note).unwrap_or_default();
            Ok(text
                .strip_suffix('\n')
                .map(str::to_owned)
                .ok_or_else(|| guard.log_tail()))
        })?;
        Ok(Self {
            surroundings,
            init,
            guard,
            directory,
            running: Vec::new(),
        })
    }

    /// Plugs the host into its bridge.
    pub(super) fn connect(&self, options: &Options) -> Result<(), Error> {
        let outer = format!("h-{}", options.name);
        let ip = |arguments: &str| {
            let arguments: Vec<&str> = arguments.split_whitespace().collect();
            self.surroundings.run("ip", &arguments)
        };
        // The kernel takes its time with the network of a host that had this name and ended.
        let remove = ["-c", "ip link del \"$1\" 2>/dev/null || :", "sh", &outer];
        self.surroundings.run("sh", &remove)?;
        ip(&format!(
            "link add {outer} type veth peer name {CARD} netns {}",
            self.init
        ))?;
        ip(&format!("link set {outer} master {} up", options.bridge))?;
        let (address, gateway) = (options.address, options.gateway);
        self.shell(&format!(
            "ip address add {address}/24 dev {CARD}\nip link set {CARD} up\nip route add default via {gateway}\n"
        ))
    }

    /// Sets those parameters of the kernel that a payload wants and that are the host's own.
    pub(super) fn set_kernel_parameters(&self, payload: &Payload) -> Result<(), Error> {
        let files = payload.files.iter().filter(|file| file.path.starts_with(PARAMETERS));
        let texts: Vec<_> = files.map(|file| String::from_utf8_lossy(&file.bytes)).collect();
        let script: Vec<String> = texts.iter().flat_map(|text| parameters(text)).collect();
        self.shell(&script.concat())
    }

    /// Starts containerd and gives it images.
    pub(super) fn start_containerd(&mut self, images: &[PathBuf]) -> Result<(), Error> {
        self.keep("containerd.service", "exec containerd\n")?;
        let socket = format!("/proc/{}/root/{CONTAINERD_SOCKET}", self.init);
        let surroundings = self.surroundings;
        wait_until("containerd answers", || {
            self.check()?;
            let version = surroundings.run("ctr", &["--address", &socket, "version"]);
            Ok(version.map(drop).map_err(|error| error.to_string()))
        })?;
        for image in images {
            let image = image.display().to_string();
            // They are unpacked when a container needs them.
            let import = ["--namespace", "k8s.io", "images", "import", "--no-unpack", &image];
            surroundings.run("ctr", &[&["--address", &socket], import.as_slice()].concat())?;
        }
        Ok(())
    }

    /// Starts what a payload enables.
    pub(super) fn start_units(&mut self, payload: &Payload) -> Result<(), Error> {
        for start in unit::starts(payload)? {
            match start.kind {
                Kind::ToItsEnd => self.shell(&start.script)?,
                Kind::On | Kind::Kubelet => self.keep(&start.name, &start.script)?,
            }
        }
        self.check()
    }

    /// A program that runs on the host.
    pub(super) fn command(&self, program: impl AsRef<Path>) -> Command {
        let mut command = self.surroundings.command("nsenter");
        command.args(["--target", &self.init]).args(NAMESPACES);
        command.arg("--").arg(program.as_ref());
        command
    }

    pub(super) fn logs(&self) -> PathBuf {
        self.directory.join("logs")
    }

    /// Fails if a program has ended that is to run on.
    pub(super) fn check(&mut self) -> Result<(), Error> {
        self.running.iter_mut().try_for_each(Running::check)
    }

    /// Ends the host and waits until it is gone.
    pub(super) fn end(mut self) -> Result<(), Error> {
        self.kill()?;
        wait_until("the end of a host", || {
            let ended = self.guard.ended().map_err(machine)?;
            Ok(ended.map(drop).ok_or_else(|| "it is there".to_owned()))
        })
    }

    /// Kills the first process; the kernel lets it end only after all others.
    fn kill(&mut self) -> Result<(), Error> {
        if self.guard.ended().map_err(machine)?.is_some() {
            return Ok(());
        }
        let kill = ["-c", "kill -KILL \"$1\"", "sh", &self.init];
        self.surroundings.run("sh", &kill).map(drop)
    }

    /// Runs a script on the host to its end.
    fn shell(&self, script: &str) -> Result<(), Error> {
        run(self.command("sh").args(["-e", "-c", script])).map(drop)
    }

    /// Starts a script on the host that runs on.
    fn keep(&mut self, name: &str, script: &str) -> Result<(), Error> {
        let log = self.logs().join(format!("{name}.log"));
        let step = || Error::at(format!("starting {name}"));
        let output = File::create(&log).map_err(step())?;
        let errors = output.try_clone().map_err(step())?;
        let mut command = self.command("sh");
        command.args(["-e", "-c", script]).stdout(output).stderr(errors);
        let child = command.spawn().map_err(step())?;
        let name = name.to_owned();
        self.running.push(Running { name, log, child });
        Ok(())
    }
}

impl Drop for Host {
    fn drop(&mut self) {
        // What cannot be killed goes with the surroundings.
        drop(self.kill());
        for running in &mut self.running {
            drop(running.child.wait());
        }
    }
}

impl Running {
    fn check(&mut self) -> Result<(), Error> {
        let step = Error::at(format!("looking after {}", self.name));
        match self.child.try_wait().map_err(step)? {
            None => Ok(()),
            Some(_) => Err(ended(&self.name, &self.log)),
        }
    }
}

/// One line of a script for each parameter that is the host's own. Kernels lack some.
fn parameters(text: &str) -> Vec<String> {
    let settings = text.lines().filter_map(|line| line.split_once('='));
    let settings = settings.map(|(name, value)| (name.trim(), value.trim()));
    let own = settings.filter(|(name, _)| name.starts_with(OF_NETWORK));
    own.map(|(name, value)| {
        let path = format!("/proc/sys/{}", name.replace('.', "/"));
        format!("if [ -e {path} ]; then echo '{value}' >{path}; fi\n")
    })
    .collect()
}

fn ended(name: &str, log: &Path) -> Error {
    Error::Ended {
        name: name.to_owned(),
        log: log.to_owned(),
        tail: crate::guard::tail(log).unwrap_or_default(),
    }
}

fn machine(error: crate::Error) -> Error {
    Error::Machine {
        step: error.to_string(),
        source: std::io::Error::other(error),
    }
}

/// Looks until a probe gives a value. What it says otherwise is told when the time is over; an error ends the waiting.
fn wait_until<T>(what: &str, mut probe: impl FnMut() -> Result<Result<T, String>, Error>) -> Result<T, Error> {
    let start = Instant::now();
    loop {
        match probe()? {
            Ok(value) => return Ok(value),
            Err(_) if start.elapsed() < LIMIT => thread::sleep(POLL_INTERVAL),
            Err(last) => {
                return Err(Error::Late {
                    what: what.to_owned(),
                    limit: LIMIT,
                    last,
                });
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_of_the_machine_are_not_the_hosts() {
        let text = "# Pods are reached.\nnet.ipv4.ip_forward = 1\nkernel.panic = 10\nvm.panic_on_oom = 0\n";
        let expected = "if [ -e /proc/sys/net/ipv4/ip_forward ]; then echo '1' >/proc/sys/net/ipv4/ip_forward; fi\n";
        assert_eq!(parameters(text), [expected]);
    }
}
