//! The command line of the server, and what its values must look like.

use std::{
    net::{IpAddr, SocketAddr},
    path::PathBuf,
    str::FromStr,
};

use clap::{Args, Subcommand, ValueEnum};
use thiserror::Error;

/// What to do.
#[derive(Args)]
#[command(args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
pub struct Arguments {
    #[command(subcommand)]
    pub(super) task: Option<Task>,
    #[command(flatten)]
    pub(super) serve: Serve,
}

/// How to serve.
#[derive(Args)]
#[command(group = clap::ArgGroup::new("keeping").required(true).multiple(true))]
pub(super) struct Serve {
    /// Where objects and credentials are kept; made if it is not there.
    #[arg(long, value_name = "DIR", group = "keeping")]
    pub(super) data_dir: Option<PathBuf>,
    /// Forget all objects at the end; only credentials are kept, if there is a data directory.
    #[arg(long, group = "keeping")]
    pub(super) in_memory: bool,
    /// Where to listen; port 0 picks a free one.
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:6443")]
    pub(super) listen: SocketAddr,
    /// Where to write the administrator's kubeconfig [default: DIR/kubeconfig].
    #[arg(long, value_name = "FILE", required_unless_present = "data_dir")]
    pub(super) kubeconfig_out: Option<PathBuf>,
    /// A further name or address by which clients reach the server; repeatable.
    #[arg(long, value_name = "NAME")]
    pub(super) tls_san: Vec<String>,
    /// Addresses of Services; the server itself has the first one.
    #[arg(long, value_name = "CIDR", default_value = "10.96.0.0/12")]
    pub(super) service_cluster_ip_range: ServiceRange,
    /// Where to write a line for every request that changes something; - is standard output.
    #[arg(long, value_name = "FILE")]
    pub(super) audit_log: Option<PathBuf>,
    /// How to say that the server is ready.
    #[arg(short, long, value_enum, default_value_t = Output::Text)]
    pub(super) output: Output,
}

/// A task on the data of a server that does not run.
#[derive(Subcommand)]
pub(super) enum Task {
    /// Check the data of a server that does not run. Changes nothing.
    Fsck(Fsck),
    /// Print all objects of a server that does not run, to keep or to carry elsewhere.
    ///
    /// For example: hyperplane apiserver dump --data-dir DIR > FILE
    Dump(Place),
    /// Make the data of a new server from a dump.
    ///
    /// For example: hyperplane apiserver restore --data-dir DIR < FILE
    Restore(Place),
}

/// Where the data is.
#[derive(Args)]
pub(super) struct Place {
    /// The data directory.
    #[arg(long, value_name = "DIR")]
    pub(super) data_dir: PathBuf,
}

/// What to check.
#[derive(Args)]
pub(super) struct Fsck {
    #[command(flatten)]
    pub(super) place: Place,
    /// As which text.
    #[arg(short, long, value_enum, default_value_t = Output::Text)]
    pub(super) output: Output,
}

/// How to say something.
#[derive(Clone, Copy, ValueEnum)]
pub(super) enum Output {
    /// A line for people.
    Text,
    /// A line of JSON.
    Json,
}

/// The addresses of Services.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ServiceRange {
    /// The first one, which the server itself has.
    pub(super) first: IpAddr,
}

/// What is no range.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{0:?} is no range of at least eight addresses: use one such as 10.96.0.0/12 or fd00:10::/112")]
pub(super) struct RangeError(String);

/// Bits for the addresses in the smallest range, of eight. Upstream's.
const LEAST_BITS: u32 = 3;

impl FromStr for ServiceRange {
    type Err = RangeError;

    fn from_str(text: &str) -> Result<Self, RangeError> {
        parse(text).ok_or_else(|| RangeError(text.to_owned()))
    }
}

fn parse(text: &str) -> Option<ServiceRange> {
    let (address, prefix) = text.split_once('/')?;
    let prefix: u32 = prefix.parse().ok()?;
    let first = match address.parse().ok()? {
        IpAddr::V4(address) => {
            let host = 32_u32.checked_sub(prefix).filter(|bits| *bits >= LEAST_BITS)?;
            let mask = u32::MAX.checked_shl(host).unwrap_or(0);
            IpAddr::V4(((address.to_bits() & mask) + 1).into())
        }
        IpAddr::V6(address) => {
            let host = 128_u32.checked_sub(prefix).filter(|bits| *bits >= LEAST_BITS)?;
            let mask = u128::MAX.checked_shl(host).unwrap_or(0);
            IpAddr::V6(((address.to_bits() & mask) + 1).into())
        }
    };
    Some(ServiceRange { first })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_server_has_the_first_address_of_the_range() {
        let check = |range: &str, first: &str| {
            let expected: IpAddr = first.parse().unwrap();
            assert_eq!(range.parse(), Ok(ServiceRange { first: expected }), "{range}");
        };
        check("10.96.0.0/12", "10.96.0.1");
        check("10.97.3.4/12", "10.96.0.1");
        check("192.0.2.8/29", "192.0.2.9");
        check("0.0.0.0/0", "0.0.0.1");
        check("fd00:10::/112", "fd00:10::1");
        check("::/0", "::1");
    }

    #[test]
    fn what_is_no_range_is_refused() {
        for range in [
            "",
            "10.0.0.0",
            "10.0.0.0/",
            "10.0.0.0/30",
            "10.0.0.0/33",
            "fd00::/126",
            "a/8",
            "10.0.0.0/-1",
        ] {
            let error = range.parse::<ServiceRange>().unwrap_err().to_string();
            assert!(error.contains("use one such as 10.96.0.0/12"), "{error}");
        }
    }
}
