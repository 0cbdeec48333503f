//! Test binaries: which there are, on which ground they stand, how they are run. It judges no result.

use std::{
    path::{Path, PathBuf},
    process::Command,
};

use anyhow::{Context, Result, ensure};
use serde_json::Value;

use super::ground::Ground;

/// A test binary that was built.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Binary {
    pub(crate) executable: PathBuf,
    pub(crate) ground: Ground,
    package_directory: PathBuf,
    target: String,
}

impl Binary {
    /// Reads the test binaries from what `cargo test --no-run --message-format=json` prints, one object per line.
    pub(crate) fn read_all(messages: &str) -> Result<Vec<Self>> {
        let mut binaries = Vec::new();
        for line in messages.lines().filter(|line| line.starts_with('{')) {
            let message: Value = serde_json::from_str(line).context("reading cargo's messages")?;
            binaries.extend(Self::of_message(&message));
        }
        // Long ones first, so that none is left alone at the end while a core has nothing to do.
        let is_short = |binary: &Self| binary.ground != Ground::Simulation && !binary.has_sockets();
        binaries.sort_by_key(|binary| (is_short(binary), binary.ground, binary.label()));
        Ok(binaries)
    }

    fn of_message(message: &Value) -> Option<Self> {
        if message["reason"] != "compiler-artifact" || message["profile"]["test"] != true {
            return None;
        }
        let target = message["target"]["name"].as_str()?;
        Some(Self {
            executable: message["executable"].as_str()?.into(),
            ground: Ground::from_target(target),
            package_directory: Path::new(message["manifest_path"].as_str()?).parent()?.to_owned(),
            target: target.to_owned(),
        })
    }

    /// A short name for people: the directory of the package and the name of the target.
    pub(crate) fn label(&self) -> String {
        let package = self.package_directory.file_name().unwrap_or_default().to_string_lossy();
        format!("{package}: {}", self.target)
    }

    /// Runs it as cargo would, in the directory of its package.
    pub(crate) fn command(&self) -> Command {
        let mut command = Command::new(&self.executable);
        command
            .current_dir(&self.package_directory)
            .env("CARGO_MANIFEST_DIR", &self.package_directory);
        command
    }

    /// Whether its tests are of programs over sockets.
    pub(crate) fn has_sockets(&self) -> bool {
        self.target.rsplit('_').next() == Some("sockets")
    }

    /// A program that was built beside it, if it was.
    pub(crate) fn program(&self, name: &str) -> Option<PathBuf> {
        // Test binaries are in a directory `deps` beside the programs.
        let program = self.executable.parent()?.parent()?.join(name);
        program.is_file().then_some(program)
    }

    /// Its soaks: tests that are ignored by default and have `soak` in their name.
    pub(crate) fn soaks(&self) -> Result<Vec<String>> {
        Ok(named(&self.ignored()?, "soak"))
    }

    /// Tests on real pods that take long: they have `long` in their name.
    pub(crate) fn long_tests_on_pods(&self) -> Result<Vec<String>> {
        match self.ground {
            Ground::Pods => Ok(named(&self.ignored()?, "long")),
            _ => Ok(Vec::new()),
        }
    }

    /// The listing of tests that are ignored by default.
    fn ignored(&self) -> Result<String> {
        let output = self
            .command()
            .args(["--list", "--ignored", "--format=terse"])
            .output()
            .with_context(|| format!("listing the tests of {}", self.label()))?;
        ensure!(output.status.success(), "{} cannot list its tests", self.label());
        Ok(String::from_utf8_lossy(&output.stdout).into_owned())
    }
}

/// The tests of a listing that have a word in their name.
fn named(listing: &str, word: &str) -> Vec<String> {
    let names = listing.lines().filter_map(|line| line.strip_suffix(": test"));
    names.filter(|name| name.contains(word)).map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const MESSAGES: &str = r#"
   Compiling something
{"reason":"compiler-artifact","manifest_path":"/w/crates/api/Cargo.toml","target":{"name":"hyperplane_api","kind":["lib"]},"profile":{"test":false},"executable":null}
{"reason":"compiler-artifact","manifest_path":"/w/crates/testbed/Cargo.toml","target":{"name":"crds_real","kind":["test"]},"profile":{"test":true},"executable":"/w/target/crds_real-1"}
{"reason":"compiler-artifact","manifest_path":"/w/crates/runtime/Cargo.toml","target":{"name":"runner_simulation","kind":["test"]},"profile":{"test":true},"executable":"/w/target/runner_simulation-1"}
{"reason":"compiler-artifact","manifest_path":"/w/crates/api/Cargo.toml","target":{"name":"hyperplane_api","kind":["lib"]},"profile":{"test":true},"executable":"/w/target/hyperplane_api-1"}
{"reason":"build-finished","success":true}
"#;

    #[test]
    fn the_name_of_a_target_says_its_ground() {
        let binaries = Binary::read_all(MESSAGES).unwrap();
        let seen: Vec<_> = binaries.iter().map(|it| (it.ground, it.label())).collect();
        let expected = [
            (Ground::Simulation, "runtime: runner_simulation"),
            (Ground::Pure, "api: hyperplane_api"),
            (Ground::Real, "testbed: crds_real"),
        ];
        assert_eq!(seen, expected.map(|(ground, label)| (ground, label.to_owned())));
        assert_eq!(binaries[1].executable, Path::new("/w/target/hyperplane_api-1"));
        assert_eq!(
            binaries[1].command().get_current_dir(),
            Some(Path::new("/w/crates/api"))
        );
    }

    #[test]
    fn soaks_are_told_by_their_name() {
        let listing = "queue::soak_many_seeds: test\nneeds_server: test\nsoak: benchmark\n";
        assert_eq!(named(listing, "soak"), ["queue::soak_many_seeds"]);
    }
}
