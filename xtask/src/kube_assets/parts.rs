//! Builds what a cluster of real pods needs beside Kubernetes, each in a module of its own, once per version.

use std::{fs, path::Path, process::Command, time::Instant};

use anyhow::{Context, Result};
use hyperplane_testbed::{
    assets::Environment,
    parts::{COREDNS_VERSION, KONNECTIVITY_VERSION, NETWORK_POLICIES_VERSION, Part},
};

use super::{go_command, json_of, lock, module, step};

/// The modules that hold them, and the version of Go that each asks for.
const COREDNS: &str = "github.com/coredns/coredns";
const COREDNS_GO: &str = "1.25.0";
const NETWORK_POLICIES: &str = "sigs.k8s.io/kube-network-policies";
const NETWORK_POLICIES_GO: &str = "1.26.0";

/// What our own program in Go asks for.
const WORKLOAD_GO: &str = "1.24.0";

/// Without what only a debugger reads.
const LINKER_FLAGS: &str = "-s -w";

/// Builds all that are not there.
pub(super) fn ensure_built() -> Result<()> {
    let start = Instant::now();
    let environment = Environment::read();
    let directory = environment.parts_directory()?;
    fs::create_dir_all(&directory).with_context(|| format!("making {}", directory.display()))?;
    // Held until the end; the operating system releases it even if this process is killed.
    let _lock = lock(&directory.join("build.lock"))?;
    for part in Part::ALL {
        let path = part.path(&environment)?;
        if !path.is_file() {
            build(part, &path).with_context(|| format!("building {}", path.display()))?;
        }
    }
    println!(
        "what pods need beside Kubernetes is in {} after {:.0} s",
        directory.display(),
        start.elapsed().as_secs_f64()
    );
    Ok(())
}

fn build(part: Part, path: &Path) -> Result<()> {
    let source = path.with_file_name("build");
    if source.exists() {
        fs::remove_dir_all(&source).context("removing a half-built directory")?;
    }
    fs::create_dir_all(&source).context("making the build directory")?;
    // Beside its place first: whatever is in its place is whole.
    let partial = source.join("built");
    match GoModule::of(part) {
        Some(module) => build_go(&module, part, &source, &partial)?,
        None => build_c(part, &source, &partial)?,
    }
    fs::rename(partial, path).with_context(|| format!("keeping {}", part.name()))?;
    fs::remove_dir_all(&source).context("removing the build directory")
}

fn build_go(module: &GoModule, part: Part, source: &Path, output: &Path) -> Result<()> {
    fs::write(source.join("go.mod"), &module.file).context("writing go.mod")?;
    fs::write(source.join("main.go"), &module.text).context("writing main.go")?;
    if let Some((module, version)) = module.upstream {
        seed_sums(&format!("{module}@{version}"), part, source)?;
    }
    let label = format!("downloading modules of {}", part.name());
    step(go_command(source).args(["mod", "tidy"]), &label, source)?;
    let mut command = go_command(source);
    command.args(["build", "-trimpath", "-ldflags", LINKER_FLAGS, "-o"]);
    step(command.arg(output).arg(&module.package), part.name(), source).map(drop)
}

/// Begins with the sums that upstream itself was built with. Go checks those of the upstream module against the database of
/// sums, and needs the database for nothing that they name: it does not know every commit that somebody depends on.
fn seed_sums(upstream: &str, part: Part, source: &Path) -> Result<()> {
    let label = format!("downloading {}", part.name());
    let downloaded = step(
        go_command(source).args(["mod", "download", "-json", upstream]),
        &label,
        source,
    )?;
    let downloaded = json_of(&downloaded)?;
    let directory = downloaded["Dir"]
        .as_str()
        .context("go does not say where the module is")?;
    let sums = fs::read(Path::new(directory).join("go.sum")).context("reading upstream's go.sum")?;
    // A copy would be as read-only as the original, and Go adds to it.
    fs::write(source.join("go.sum"), sums).context("writing go.sum")
}

fn build_c(part: Part, source: &Path, output: &Path) -> Result<()> {
    let text = part.source().context("a program in C is written here")?;
    let file = source.join("main.c");
    fs::write(&file, text).context("writing main.c")?;
    let mut command = Command::new("cc");
    command.args(["-static", "-O2", "-s", "-Wall", "-Wextra", "-Werror", "-o"]);
    step(command.arg(output).arg(file), part.name(), source).map(drop)
}

/// A module to build a program from.
#[derive(Debug)]
struct GoModule {
    /// Its go.mod.
    file: String,
    /// Its only source file.
    text: String,
    /// Which package is the program.
    package: String,
    /// The module that it requires, and of which version.
    upstream: Option<(&'static str, &'static str)>,
}

impl GoModule {
    /// None for a program that is not in Go.
    fn of(part: Part) -> Option<Self> {
        let upstream = match part {
            Part::KonnectivityAgent => Some((module::KONNECTIVITY, KONNECTIVITY_VERSION)),
            Part::CoreDns => Some((COREDNS, COREDNS_VERSION)),
            Part::NetworkPolicies => Some((NETWORK_POLICIES, NETWORK_POLICIES_VERSION)),
            Part::Workload => None,
            Part::Pause => return None,
        };
        let requiring = |go: &str| {
            let required = upstream.map(|(module, version)| format!("\nrequire {module} {version}\n"));
            format!("module kubeassets\n\ngo {go}\n{}", required.unwrap_or_default())
        };
        let file = match part {
            Part::KonnectivityAgent => module::konnectivity_file(),
            Part::CoreDns => requiring(COREDNS_GO),
            Part::NetworkPolicies => requiring(NETWORK_POLICIES_GO),
            Part::Workload | Part::Pause => requiring(WORKLOAD_GO),
        };
        let package = match part {
            Part::KonnectivityAgent => format!("{}/cmd/agent", module::KONNECTIVITY),
            Part::NetworkPolicies => format!("{NETWORK_POLICIES}/cmd/kube-network-policies/standard"),
            Part::CoreDns | Part::Workload | Part::Pause => ".".to_owned(),
        };
        let text = match part.source() {
            Some(text) => text.to_owned(),
            None => module::importing([package.as_str()]),
        };
        Some(Self {
            file,
            text,
            package,
            upstream,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn upstream_programs_are_imported_from_the_module_that_is_required() {
        let module = GoModule::of(Part::NetworkPolicies).unwrap();
        assert!(
            module
                .file
                .contains("require sigs.k8s.io/kube-network-policies v1.1.1\n"),
            "{module:?}"
        );
        assert!(
            module.text.contains(&format!("\t_ \"{}\"\n", module.package)),
            "{module:?}"
        );
    }

    #[test]
    fn our_own_programs_are_the_module() {
        let module = GoModule::of(Part::CoreDns).unwrap();
        assert!(
            module.file.contains("require github.com/coredns/coredns v1.14.2\n"),
            "{module:?}"
        );
        assert_eq!(
            (module.package.as_str(), module.text.as_str()),
            (".", Part::CoreDns.source().unwrap())
        );
        assert!(GoModule::of(Part::Pause).is_none());
    }
}
