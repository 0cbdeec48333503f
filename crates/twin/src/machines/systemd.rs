//! What systemd does before a service of a host runs: what the service requires, and what runs before it. Pure.

use serde::Deserialize;

use super::{
    obey::{Files, text},
    script, unit,
};

/// The service that runs containers.
const CONTAINERD: &str = "containerd.service";
/// What it is configured by. Its packages bring one that serves no kubelet.
const CONTAINERD_CONFIGURATION: &str = "/etc/containerd/config.toml";
/// What is in it where it serves kubelets, by its versions 1 and 2.
const CONTAINERD_PLUGINS: [&str; 2] = ["io.containerd.grpc.v1.cri", "io.containerd.cri.v1"];
/// What turns that off again.
const DISABLED_PLUGINS: &str = "disabled_plugins";
/// The services that a plain host has. It has every target.
const OF_HOSTS: [&str; 3] = [CONTAINERD, "kubelet.service", "systemd-resolved.service"];
/// Where the programs are that a plain host has.
const PROGRAMS: [&str; 4] = ["/bin/", "/sbin/", "/usr/bin/", "/usr/sbin/"];
/// The shells among them.
const SHELLS: [&str; 4] = ["/bin/sh", "/usr/bin/sh", "/bin/bash", "/usr/bin/bash"];
/// What stands before a command that may fail, among other signs.
const SIGNS: [char; 5] = ['-', '@', ':', '+', '!'];

/// A unit as a payload has it.
#[derive(Deserialize)]
pub(super) struct Unit {
    /// Its name.
    pub(super) name: String,
    enabled: Option<bool>,
    mask: Option<bool>,
    contents: Option<String>,
    #[serde(default)]
    dropins: Vec<DropIn>,
}

#[derive(Deserialize)]
struct DropIn {
    name: String,
    contents: Option<String>,
}

impl Unit {
    /// Whether it runs once the host has started.
    pub(super) fn is_started(&self) -> bool {
        self.enabled == Some(true) && !self.is_masked()
    }

    fn is_masked(&self) -> bool {
        self.mask == Some(true)
    }

    /// Its text, and those of its drop-ins in order.
    pub(super) fn texts(&self) -> Vec<&str> {
        let mut dropins: Vec<&DropIn> = self.dropins.iter().collect();
        dropins.sort_by(|one, other| one.name.cmp(&other.name));
        let dropins = dropins.iter().map(|dropin| dropin.contents.as_deref());
        std::iter::once(self.contents.as_deref())
            .chain(dropins)
            .flatten()
            .collect()
    }
}

/// Does everything that comes before the command of a service. The error is what keeps the service from running.
pub(super) fn prepare(unit: &Unit, units: &[Unit], hostname: &str, files: &mut Files) -> Result<(), String> {
    for required in requirements(unit, units) {
        start(&required, units, files).map_err(|why| format!("a dependency failed: {required}: {why}"))?;
    }
    for line in unit::values(&unit.texts(), "Service", "ExecStartPre") {
        let command = line.trim_start_matches(SIGNS);
        let signs = &line[..line.len() - command.len()];
        match run(command, hostname, files) {
            Err(why) if !signs.contains('-') => return Err(format!("ExecStartPre={line}: {why}")),
            _ => {}
        }
    }
    Ok(())
}

/// The units without which a unit does not run: those that it names, and those that name it and are enabled.
fn requirements(unit: &Unit, units: &[Unit]) -> Vec<String> {
    let split = |values: Vec<String>| -> Vec<String> {
        let names = values.iter().flat_map(|value| value.split_whitespace());
        names.map(str::to_owned).collect()
    };
    let mut names = split(unit::values(&unit.texts(), "Unit", "Requires"));
    let others = units.iter().filter(|other| other.is_started());
    let others = others.filter(|other| {
        let required_by = split(unit::values(&other.texts(), "Install", "RequiredBy"));
        required_by.contains(&unit.name)
    });
    names.extend(others.map(|other| other.name.clone()));
    names
}

/// Whether a unit that is required starts.
fn start(name: &str, units: &[Unit], files: &Files) -> Result<(), String> {
    let known = units.iter().find(|unit| unit.name == name);
    if known.is_some_and(Unit::is_masked) {
        return Err("Unit is masked.".to_owned());
    }
    let is_of_payload = known.is_some_and(|unit| unit.contents.as_deref().is_some_and(|text| !text.is_empty()));
    let is_of_host = OF_HOSTS.contains(&name) || !name.ends_with(".service");
    if !is_of_payload && !is_of_host {
        return Err("Unit not found.".to_owned());
    }
    let texts = known.map(Unit::texts).unwrap_or_default();
    if is_of_payload && name.ends_with(".service") && unit::values(&texts, "Service", "ExecStart").is_empty() {
        return Err("Service has no ExecStart= setting, refusing".to_owned());
    }
    if name == CONTAINERD {
        is_configured(files)
    } else {
        Ok(())
    }
}

/// Whether containerd serves kubelets.
fn is_configured(files: &Files) -> Result<(), String> {
    let configuration = text(files, CONTAINERD_CONFIGURATION)?;
    let serves = CONTAINERD_PLUGINS.iter().any(|plugin| configuration.contains(plugin));
    let disabled = configuration
        .lines()
        .find(|line| line.trim().starts_with(DISABLED_PLUGINS));
    if !serves || disabled.is_some_and(|line| line.contains("cri")) {
        return Err(format!("{CONTAINERD_CONFIGURATION} has no plugin that serves kubelets"));
    }
    Ok(())
}

/// Runs a command that comes before that of the service.
fn run(command: &str, hostname: &str, files: &mut Files) -> Result<(), String> {
    let words = unit::words(command);
    match words.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
        [shell, "-c", line] if SHELLS.contains(shell) => script::run(line, hostname, files),
        [shell, path, ..] if SHELLS.contains(shell) => {
            let text = text(files, path)?;
            script::run(&text, hostname, files).map_err(|why| format!("{path}: {why}"))
        }
        [program, ..] if PROGRAMS.iter().any(|place| program.starts_with(place)) => Ok(()),
        [program, ..] => text(files, program).map(drop),
        [] => Err("there is no command".to_owned()),
    }
}
