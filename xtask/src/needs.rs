//! What the tasks need of a machine, looked for before anything long begins: one line each, with what to do.

use std::process::Command;

use anyhow::{Result, ensure};

/// A program that must be there.
struct Need {
    /// What people call it.
    title: &'static str,
    /// What it is needed for.
    purpose: &'static str,
    /// How it is asked for its version.
    probe: &'static [&'static str],
    /// How it gets onto Debian and onto macOS.
    debian: &'static str,
    macos: &'static str,
}

/// Rust and a C compiler are there: without them this program would not run.
const TESTS: &[Need] = &[
    Need {
        title: "rustfmt",
        purpose: "checks the format",
        probe: &["cargo", "fmt", "--version"],
        debian: "rustup component add rustfmt",
        macos: "rustup component add rustfmt",
    },
    Need {
        title: "clippy",
        purpose: "checks the code",
        probe: &["cargo", "clippy", "--version"],
        debian: "rustup component add clippy",
        macos: "rustup component add clippy",
    },
];

/// What is needed besides where tests run on real servers.
const SERVERS: &[Need] = &[Need {
    title: "Go",
    purpose: "builds Kubernetes, once",
    probe: &["go", "version"],
    debian: "a Go of this year: https://go.dev/dl",
    macos: "brew install go",
}];

/// Looks for everything that a run of tests needs, and prints a line for each. An error if anything is missing.
pub(crate) fn check(with_servers: bool) -> Result<()> {
    let needs = TESTS.iter().chain(SERVERS.iter().filter(|_| with_servers));
    let mut missing = 0;
    for need in needs {
        let version = version(need.probe);
        println!("{}", line(need, version.as_deref()));
        missing += u64::from(version.is_none());
    }
    ensure!(missing == 0, "install what is missing and run this again");
    Ok(())
}

fn version(probe: &[&str]) -> Option<String> {
    let (program, arguments) = probe.split_first()?;
    let output = Command::new(program).args(arguments).output().ok()?;
    let text = String::from_utf8_lossy(&output.stdout);
    (output.status.success()).then(|| text.lines().next().unwrap_or_default().to_owned())
}

fn line(need: &Need, version: Option<&str>) -> String {
    let Need {
        title,
        purpose,
        debian,
        macos,
        ..
    } = need;
    match version {
        Some(version) => format!("found   {title:<8} {version}"),
        None => format!("MISSING {title:<8} ({purpose}). Debian: {debian}. macOS: {macos}."),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_missing_says_how_to_get_it() {
        let found = line(&SERVERS[0], Some("go version go1.26"));
        assert_eq!(found, "found   Go       go version go1.26");
        let missing = line(&SERVERS[0], None);
        assert!(missing.starts_with("MISSING Go"), "{missing}");
        assert!(missing.contains("brew install go"), "{missing}");
        assert_eq!(version(&["no-such-program-anywhere", "--version"]), None);
    }
}
