//! The limit of tracked connections, which belongs to the machine: kube-proxy on a host of tests cannot set it, and goes on
//! only where it already is what kube-proxy wants. So it is set for as long as a host runs, and then set back.

use std::{
    fs::{self, File},
    io,
    os::{fd::AsRawFd as _, unix::process::parent_id},
    path::Path,
    process::{self, Command},
};

use super::{error::Error, surroundings::run};

const LIMIT: &str = "/proc/sys/net/netfilter/nf_conntrack_max";

/// A directory for each processor, and other things.
const PROCESSORS: &str = "/sys/devices/system/cpu";

/// What kube-proxy wants unless it is told otherwise: so many for each processor, within bounds; pkg/proxy/conntrack.
const PER_PROCESSOR: usize = 32_768;
const LEAST: usize = 131_072;
const MOST: usize = 1_048_576;

/// The limit as kube-proxy wants it, until this value is dropped.
pub(super) struct ConnectionLimit {
    machine: MachineNetwork,
    /// What it was, if it was something else.
    before: Option<String>,
}

impl ConnectionLimit {
    /// Sets the limit of this machine.
    pub(super) fn hold() -> Result<Self, Error> {
        let processors = processors(Path::new(PROCESSORS)).map_err(Error::at("counting processors"))?;
        let wanted = wanted(processors).to_string();
        let machine = MachineNetwork::open()?;
        let before = machine.run("cat", &[LIMIT])?.trim().to_owned();
        if before == wanted {
            return Ok(Self { machine, before: None });
        }
        machine.write_limit(&wanted)?;
        Ok(Self {
            machine,
            before: Some(before),
        })
    }
}

impl Drop for ConnectionLimit {
    fn drop(&mut self) {
        if let Some(before) = &self.before {
            // It could be written a while ago; if not now, the limit stays one that kube-proxy itself would have set.
            drop(self.machine.write_limit(before));
        }
    }
}

/// The network of the machine, from which alone the limit can be written. The thread that starts a host may be in another,
/// but whoever started this process is not, or else its first thread. It is held open: either may be gone later.
struct MachineNetwork(File);

impl MachineNetwork {
    fn open() -> Result<Self, Error> {
        let of_process = |id: u32| File::open(format!("/proc/{id}/ns/net"));
        let file = of_process(parent_id()).or_else(|_| of_process(process::id()));
        file.map(Self).map_err(Error::at("opening the network of the machine"))
    }

    fn run(&self, program: &str, arguments: &[&str]) -> Result<String, Error> {
        let network = format!("--net=/proc/{}/fd/{}", process::id(), self.0.as_raw_fd());
        run(Command::new("nsenter").args([&network, "--", program]).args(arguments))
    }

    fn write_limit(&self, limit: &str) -> Result<(), Error> {
        self.run("sh", &["-c", "echo \"$1\" >\"$2\"", "sh", limit, LIMIT])
            .map(drop)
    }
}

fn wanted(processors: usize) -> usize {
    processors.saturating_mul(PER_PROCESSOR).clamp(LEAST, MOST)
}

/// All processors of the machine, those that this process may not use included: kube-proxy counts them so.
fn processors(directory: &Path) -> io::Result<usize> {
    let mut count = 0;
    for entry in fs::read_dir(directory)? {
        let name = entry?.file_name();
        let number = name.to_str().and_then(|name| name.strip_prefix("cpu"));
        count += usize::from(number.is_some_and(|number| number.parse::<u32>().is_ok()));
    }
    Ok(count)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_limit_follows_the_processors_within_bounds() {
        assert_eq!([1, 4, 8, 1000].map(wanted), [131_072, 131_072, 262_144, 1_048_576]);
        let directory = tempfile::tempdir().unwrap();
        for name in ["cpu0", "cpu11", "cpufreq", "power"] {
            fs::create_dir(directory.path().join(name)).unwrap();
        }
        assert_eq!(processors(directory.path()).unwrap(), 2);
    }
}
