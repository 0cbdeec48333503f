//! A host of its own on this machine, made of an ignition payload: what Ignition and systemd do on a real one is done here
//! for the files and units that the payload has. It knows hosts, not clusters: whoever starts it approves its requests.
//!
//! A host is namespaces for processes, network, mounts and names within those of a management cluster, with an own root
//! above the machine's. All of it ends with one process. It needs root, and Debian's `containerd`, `runc`,
//! `containernetworking-plugins`, `iptables` and `iproute2`.

mod adapt;
mod conntrack;
mod error;
mod files;
mod host;
mod payload;
mod surroundings;
mod unit;

use std::{
    net::{IpAddr, Ipv4Addr},
    path::{Path, PathBuf},
    process::Command,
};

pub use self::{
    adapt::{ControlGroups, Machine},
    error::Error,
    payload::Payload,
    surroundings::Surroundings,
};
use self::{conntrack::ConnectionLimit, host::Host};

/// A host that shall be started.
#[derive(Clone, Debug)]
pub struct Options {
    /// What it and its node are called. An interface on the bridge is named after it, so it has at most 12 characters.
    pub name: String,
    /// Its address on the bridge, in a network of 24 bits.
    pub address: Ipv4Addr,
    /// Where everything else is sent, and whom it asks for names.
    pub gateway: Ipv4Addr,
    /// The bridge that it plugs into.
    pub bridge: String,
    /// Addresses of its pods, such as `10.132.1.0/24`.
    pub pods: String,
    /// Names that it knows without asking.
    pub names: Vec<(IpAddr, String)>,
    /// Its kubelet: that which a boot image would bring.
    pub kubelet: PathBuf,
    /// What forwards connections in place of `systemd-socket-proxyd`: the workload of tests.
    pub forwarder: PathBuf,
    /// Archives of the images that it shall have: there is no registry.
    pub images: Vec<PathBuf>,
    /// Where all of its files are, which is made. Its file system must be one that overlays can write to.
    pub directory: PathBuf,
    /// The control group of its pods, as a path below the root. It exists.
    pub control_group: String,
}

/// A host that runs until [`Worker::end`], until it is dropped, or until the namespaces end that it is in.
pub struct Worker {
    host: Host,
    _limit: ConnectionLimit,
}

impl Worker {
    /// Applies a payload to a new host and starts what it enables, the kubelet last. That asks for its certificates as soon
    /// as it reaches the API server.
    pub fn start(surroundings: Surroundings, payload: &[u8], options: &Options) -> Result<Self, Error> {
        let machine = Machine {
            control_groups: ControlGroups::of_machine(),
            control_group: options.control_group.clone(),
        };
        let payload = Payload::read(payload)?;
        let payload = adapt::adapt(payload, &machine)?;
        files::write(&payload, options)?;
        let limit = ConnectionLimit::hold()?;
        let mut host = Host::start(surroundings, options)?;
        host.connect(options)?;
        host.set_kernel_parameters(&payload)?;
        host.start_containerd(&options.images)?;
        host.start_units(&payload)?;
        Ok(Self { host, _limit: limit })
    }

    /// A program that runs on the host.
    pub fn command(&self, program: impl AsRef<Path>) -> Command {
        self.host.command(program)
    }

    /// Where its programs log.
    pub fn logs(&self) -> PathBuf {
        self.host.logs()
    }

    /// Fails if a program has ended that is to run on, and shows its last words.
    pub fn check(&mut self) -> Result<(), Error> {
        self.host.check()
    }

    /// Ends the host with everything on it, and waits until it is gone. Its files stay.
    pub fn end(self) -> Result<(), Error> {
        self.host.end()
    }
}
