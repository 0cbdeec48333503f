//! Builds etcd, Kubernetes, the konnectivity server and Ignition's validator from Go modules into the cache, once per
//! version. It owns the order of steps, the lock and the manifest; what is built is in `module` and `parts`.

mod module;
mod parts;
mod version;

use std::{
    collections::BTreeSet,
    fs::{self, File, TryLockError},
    path::Path,
    process::Command,
    time::{Duration, Instant},
};

use anyhow::{Context, Result, bail, ensure};
use hyperplane_testbed::assets::{Environment, KUBERNETES_VERSION, MANIFEST, PREVIOUS_KUBERNETES_VERSION, Program};
use serde_json::{Deserializer, Value, json};

use self::module::{Facts, Home, KUBERNETES};
pub(crate) use self::version::Version;
use crate::process;

/// How long one step may take: a cold build of kube-apiserver needs five minutes on two cores.
const STEP_LIMIT: Duration = Duration::from_mins(30);

/// Builds what is missing of one version, or of those that tests need.
pub(crate) fn run(version: Option<Version>) -> Result<()> {
    if let Some(version) = version {
        return ensure_built(version, &Program::ALL);
    }
    ensure_built(parse(KUBERNETES_VERSION)?, &Program::ALL)?;
    run_previous()
}

/// Builds what is missing of the version from which tests upgrade.
pub(crate) fn run_previous() -> Result<()> {
    ensure_built(parse(PREVIOUS_KUBERNETES_VERSION)?, &Program::PREVIOUS)
}

/// Builds what is missing for tests with real pods: the programs of nodes, of both versions, and what is beside
/// Kubernetes. What the user brings has none of them.
pub(crate) fn run_for_pods() -> Result<()> {
    ensure_built(
        parse(KUBERNETES_VERSION)?,
        &[&Program::ALL[..], &Program::NODE].concat(),
    )?;
    let previous = [&Program::PREVIOUS[..], &Program::NODE].concat();
    ensure_built(parse(PREVIOUS_KUBERNETES_VERSION)?, &previous)?;
    parts::ensure_built()
}

fn parse(version: &str) -> Result<Version> {
    version.parse().map_err(anyhow::Error::msg)
}

fn ensure_built(version: Version, programs: &[Program]) -> Result<()> {
    let directory = Environment::read().cache_directory(&version.to_string())?;
    let parent = directory.parent().context("the cache lies in a directory")?;
    fs::create_dir_all(parent).with_context(|| format!("making {}", parent.display()))?;
    // Held until the end; the operating system releases it even if this process is killed.
    let _lock = lock(&parent.join(format!("{version}.lock")))?;
    // The same version may have been built with fewer programs.
    let is_built = |program: &Program| directory.join(program.name()).is_file();
    if directory.join(MANIFEST).is_file() && programs.iter().all(is_built) {
        println!("Kubernetes {version} is in {}", directory.display());
        return Ok(());
    }
    build(version, programs, &directory)
        .with_context(|| format!("building Kubernetes {version} in {}", directory.display()))
}

fn lock(path: &Path) -> Result<File> {
    let file = File::create(path).with_context(|| format!("writing {}", path.display()))?;
    match file.try_lock() {
        Ok(()) => {}
        Err(TryLockError::WouldBlock) => {
            println!("another build is under way; waiting for it");
            file.lock().with_context(|| format!("waiting for {}", path.display()))?;
        }
        Err(TryLockError::Error(error)) => return Err(error).with_context(|| format!("locking {}", path.display())),
    }
    Ok(file)
}

fn build(version: Version, programs: &[Program], directory: &Path) -> Result<()> {
    let start = Instant::now();
    let go = go_version()?;
    println!("building Kubernetes {version} with {go} into {}", directory.display());
    if directory.exists() && !directory.join(MANIFEST).is_file() {
        fs::remove_dir_all(directory).context("removing a half-built directory")?;
    }
    let source = directory.join("build");
    let missing: Vec<Program> = programs
        .iter()
        .copied()
        .filter(|program| !directory.join(program.name()).is_file())
        .collect();
    let etcd = prepare_all(version, &missing, &source)?;
    for (index, program) in missing.iter().enumerate() {
        let output = directory.join(program.name());
        let label = format!("[{}/{}] {}", index + 1, missing.len(), program.name());
        let source = source.join(Home::of(*program).directory());
        // Beside its place first: whatever is in its place is whole.
        let partial = source.join(program.name());
        let mut command = go_command(&source);
        command.args(["build", "-trimpath", "-ldflags", &version.linker_flags(), "-o"]);
        step(command.arg(&partial).arg(module::package(*program)), &label, &source)?;
        fs::rename(partial, output).with_context(|| format!("keeping {}", program.name()))?;
    }
    fs::remove_dir_all(&source).context("removing the build directory")?;
    write_manifest(version, programs, etcd, &go, directory)?;
    println!(
        "Kubernetes {version} is in {} after {:.0} s",
        directory.display(),
        start.elapsed().as_secs_f64()
    );
    Ok(())
}

/// Writes the modules that missing programs are built from, and no others: what is there stays as it is. The version of
/// etcd comes back, where Kubernetes was asked for it.
fn prepare_all(version: Version, missing: &[Program], source: &Path) -> Result<Option<String>> {
    let of = |home: Home| -> Vec<Program> { missing.iter().copied().filter(|it| Home::of(*it) == home).collect() };
    for home in Home::APART {
        if let (Some(module), programs @ [_, ..]) = (home.module_file(), of(home).as_slice()) {
            let label = format!("downloading modules of {}", home.directory());
            prepare_module(&module, programs, &label, &source.join(home.directory()))?;
        }
    }
    match of(Home::Kubernetes).as_slice() {
        [] => Ok(None),
        programs => {
            let facts = prepare(version, programs, &source.join(Home::Kubernetes.directory()))?;
            Ok(Some(facts.etcd.trim_start_matches('v').to_owned()))
        }
    }
}

/// Writes the module of Kubernetes and lets Go complete it.
fn prepare(version: Version, programs: &[Program], source: &Path) -> Result<Facts> {
    fs::create_dir_all(source).context("making the build directory")?;
    let release = format!("{KUBERNETES}@v{version}");
    let mut download = go_command(source);
    let downloaded = step(
        download.args(["mod", "download", "-json", &release]),
        "downloading Kubernetes",
        source,
    )?;
    let downloaded = json_of(&downloaded)?;
    let path = downloaded["GoMod"].as_str().context("go names no module file")?;
    let module_file = step(
        go_command(source).args(["mod", "edit", "-json", path]),
        "reading its modules",
        source,
    )?;
    let facts = Facts::read(&json_of(&module_file)?)?;
    let module = facts.module_file(version, programs);
    prepare_module(&module, programs, "downloading modules", source)?;
    Ok(facts)
}

fn prepare_module(module: &str, programs: &[Program], label: &str, source: &Path) -> Result<()> {
    fs::create_dir_all(source).context("making the build directory")?;
    fs::write(source.join("go.mod"), module).context("writing go.mod")?;
    fs::write(source.join("tools.go"), module::source_file(programs)).context("writing tools.go")?;
    step(go_command(source).args(["mod", "tidy"]), label, source).map(drop)
}

/// Runs one command, prints how long it took, and gives back its output.
fn step(command: &mut Command, label: &str, directory: &Path) -> Result<String> {
    let finished = process::run(command, label, &directory.join("step.log"), STEP_LIMIT)?;
    if finished.status.is_none() {
        bail!("{label}: not finished after {} s", STEP_LIMIT.as_secs());
    }
    let program = command.get_program().display();
    ensure!(finished.is_success(), "{label}: {program} says:\n{}", finished.output);
    println!("{:>6.1} s  {label}", finished.elapsed.as_secs_f64());
    Ok(finished.output)
}

/// Go, with the user's own settings for where modules come from, and nothing of a surrounding workspace.
fn go_command(directory: &Path) -> Command {
    let mut command = Command::new("go");
    command
        .current_dir(directory)
        .env("CGO_ENABLED", "0")
        .env("GOWORK", "off");
    command
}

fn go_version() -> Result<String> {
    let output = Command::new("go").arg("version").output().context(
        "`go` was not found: install Go 1.26 or newer, or set KUBEBUILDER_ASSETS to a directory that holds \
         etcd, kube-apiserver, kube-controller-manager, kube-scheduler and kubectl",
    )?;
    ensure!(
        output.status.success(),
        "`go version`: {}",
        String::from_utf8_lossy(&output.stderr)
    );
    Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

/// The object in a command's output; Go prints lines about downloads around it.
fn json_of(output: &str) -> Result<Value> {
    let start = output
        .find('{')
        .with_context(|| format!("go printed no object: {output}"))?;
    let mut objects = Deserializer::from_str(&output[start..]).into_iter();
    let first = objects
        .next()
        .with_context(|| format!("go printed no object: {output}"))?;
    first.with_context(|| format!("reading what go printed: {output}"))
}

/// Says what is here and that it is complete; written under another name first, so that it is never half there. What was
/// not built now is told as it was before.
fn write_manifest(
    version: Version,
    programs: &[Program],
    etcd: Option<String>,
    go: &str,
    directory: &Path,
) -> Result<()> {
    let before = fs::read(directory.join(MANIFEST)).unwrap_or_default();
    let before: Value = serde_json::from_slice(&before).unwrap_or_default();
    let etcd = etcd.filter(|_| programs.contains(&Program::Etcd));
    let etcd = etcd.map_or_else(|| before["etcd"].clone(), Value::from);
    let mut present: BTreeSet<&str> = programs.iter().map(|program| program.name()).collect();
    present.extend(
        before["programs"]
            .as_array()
            .into_iter()
            .flatten()
            .filter_map(Value::as_str),
    );
    let manifest = json!({
        "kubernetes": version.to_string(),
        "etcd": etcd,
        "go": go,
        "programs": present,
    });
    let partial = directory.join("manifest.part");
    fs::write(&partial, format!("{manifest:#}\n")).context("writing the manifest")?;
    fs::rename(partial, directory.join(MANIFEST)).context("writing the manifest")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_object_is_found_behind_chatter() {
        assert_eq!(
            json_of("go: downloading one\n{\"a\": 1}\ngo: two\n").unwrap(),
            json!({"a": 1})
        );
        assert!(json_of("go: no such module").is_err());
    }

    #[test]
    fn what_was_there_before_stays_in_the_manifest() {
        let directory = tempfile::tempdir().unwrap();
        let directory = directory.path();
        let version: Version = "1.36.4".parse().unwrap();
        write_manifest(version, &Program::ALL, Some("3.6.8".to_owned()), "go", directory).unwrap();
        write_manifest(version, &Program::ALL, None, "go", directory).unwrap();
        let manifest: Value = serde_json::from_slice(&fs::read(directory.join(MANIFEST)).unwrap()).unwrap();
        assert_eq!(manifest["etcd"], "3.6.8");
        let programs = manifest["programs"].as_array().unwrap();
        assert!(programs.contains(&json!("ignition-validate")), "{programs:?}");

        write_manifest(version, &Program::NODE, None, "go", directory).unwrap();
        let manifest: Value = serde_json::from_slice(&fs::read(directory.join(MANIFEST)).unwrap()).unwrap();
        assert_eq!(
            (&manifest["etcd"], manifest["programs"].as_array().unwrap().len()),
            (&json!("3.6.8"), Program::ALL.len() + Program::NODE.len())
        );
    }
}
