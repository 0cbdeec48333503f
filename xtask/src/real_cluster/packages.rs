//! What a machine must have so that real pods run on it: Linux, root, and packages of Debian. It says what is missing, one
//! line each, and installs packages where it may.

use std::{
    env, fs,
    path::{Path, PathBuf},
    process::Command,
};

use anyhow::{Result, ensure};

use crate::process;

/// A package of Debian.
struct Package {
    name: &'static str,
    /// What it is needed for.
    purpose: &'static str,
    /// A file of it: a program, or a path from the root.
    file: &'static str,
}

const fn package(name: &'static str, purpose: &'static str, file: &'static str) -> Package {
    Package { name, purpose, file }
}

const PACKAGES: &[Package] = &[
    package("containerd", "runs containers on nodes", "containerd"),
    package("runc", "starts containers", "runc"),
    package("containernetworking-plugins", "connects pods", "/usr/lib/cni/bridge"),
    package("iptables", "Services and network policies", "iptables-restore"),
    package("nftables", "Services inside of hosted clusters", "nft"),
    package("conntrack", "forgets connections to pods that are gone", "conntrack"),
    package("iproute2", "networks of nodes", "ip"),
    package("procps", "settings of the kernel", "sysctl"),
    package("socat", "forwards ports on nodes", "socat"),
    package("util-linux", "namespaces of nodes", "nsenter"),
    package("gcc", "builds what holds the namespaces of pods", "gcc"),
    package("libc6-dev", "the same", "/usr/include/stdlib.h"),
];

/// Directories of administrators' programs, which are not in everybody's path.
const SYSTEM_PROGRAMS: [&str; 4] = ["/usr/sbin", "/sbin", "/usr/bin", "/bin"];

/// Sees to it that everything is there. Packages are installed by root where `apt-get` is; otherwise it says what to do.
pub(super) fn prepare() -> Result<()> {
    ensure!(cfg!(target_os = "linux"), "real pods need Linux");
    let missing = missing(&directories());
    for package in &missing {
        println!("{}", line(package));
    }
    ensure!(
        is_root(&fs::read_to_string("/proc/self/status").unwrap_or_default()),
        "real pods need root: run this again with sudo"
    );
    if missing.is_empty() {
        return Ok(());
    }
    let names: Vec<&str> = missing.iter().map(|package| package.name).collect();
    // Lists of packages may be missing or old; reading them anew takes time, so it is the second try.
    if !install(&names)? {
        process::run_on_terminal(Command::new("apt-get").args(["update", "-qq"]))?;
        ensure!(install(&names)?, "apt-get could not install {}", names.join(" "));
    }
    Ok(())
}

fn install(names: &[&str]) -> Result<bool> {
    process::run_on_terminal(
        Command::new("apt-get")
            .args(["install", "--yes", "-qq", "--no-install-recommends"])
            .args(names)
            .env("DEBIAN_FRONTEND", "noninteractive"),
    )
}

fn directories() -> Vec<PathBuf> {
    let path = env::var_os("PATH").unwrap_or_default();
    let own: Vec<PathBuf> = env::split_paths(&path).collect();
    own.into_iter().chain(SYSTEM_PROGRAMS.map(PathBuf::from)).collect()
}

fn missing(directories: &[PathBuf]) -> Vec<&'static Package> {
    let is_there = |package: &Package| {
        // A path from the root stands for itself.
        Path::new(package.file).is_file() || directories.iter().any(|it| it.join(package.file).is_file())
    };
    PACKAGES.iter().filter(|package| !is_there(package)).collect()
}

fn line(package: &Package) -> String {
    let Package { name, purpose, .. } = package;
    format!("MISSING {name} ({purpose}). Debian: apt-get install {name}")
}

/// Whether the effective user of a process is root, by `/proc/PID/status`.
fn is_root(status: &str) -> bool {
    let users = status.lines().find_map(|line| line.strip_prefix("Uid:"));
    users.and_then(|users| users.split_whitespace().nth(1)) == Some("0")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_missing_says_how_to_get_it() {
        let nowhere = tempfile::tempdir().unwrap();
        let missing = missing(&[nowhere.path().to_owned()]);
        let containerd = missing.iter().find(|package| package.name == "containerd").unwrap();
        assert_eq!(
            line(containerd),
            "MISSING containerd (runs containers on nodes). Debian: apt-get install containerd"
        );
    }

    #[test]
    fn the_effective_user_counts() {
        assert!(is_root("Name:\tx\nUid:\t1000\t0\t0\t0\n"));
        assert!(!is_root("Name:\tx\nUid:\t0\t1000\t0\t0\n"));
        assert!(!is_root(""));
    }
}
