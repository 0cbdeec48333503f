//! Whether the programs of Kubernetes and etcd understand what is rendered for them: each is given its arguments, and
//! asked for help in the end, which it gives only if it has understood all of them.

mod support;

use std::{collections::BTreeSet, process::Command};

use hyperplane_components::Workload;
use hyperplane_testbed::assets::{Assets, Program};
use serde_json::Value;
use support::{
    World,
    choices::{choices, chosen},
    release, rendered_text,
};

const PROGRAMS: &[Program] = &[Program::ApiServer, Program::ControllerManager, Program::Scheduler];

#[test]
#[ignore = "needs the programs of a real control plane: cargo xtask test"]
fn programs_take_their_arguments_real() {
    let assets = Assets::locate().expect("the programs are there");
    assert_arguments("1.36", &assets);
    assert_settings("1.36", &assets);
}

#[test]
#[ignore = "needs the programs of a real control plane: cargo xtask test"]
fn programs_of_the_minor_before_take_their_arguments_real() {
    let assets = Assets::locate_previous().expect("the programs are there");
    assert_arguments("1.35", &assets);
    // One etcd serves both.
    let etcd = Assets::locate().expect("the programs are there");
    assert_settings("1.35", &etcd);
}

/// Every program of Kubernetes understands its arguments.
fn assert_arguments(minor: &str, assets: &Assets) {
    for world in worlds(minor) {
        for program in PROGRAMS {
            let path = assets.path(*program).expect("the program is there");
            let arguments = arguments(&world.rendered(program.name()).workload, program.name());
            let output = Command::new(path).args(&arguments).arg("--help").output();
            let output = output.expect("the program can be started");
            let complaint = String::from_utf8_lossy(&output.stderr);
            assert!(output.status.success(), "{} {minor}: {complaint}", program.name());
        }
    }
}

/// etcd has a flag for every setting in its configuration file.
fn assert_settings(minor: &str, assets: &Assets) {
    let path = assets.path(Program::Etcd).expect("etcd is there");
    let output = Command::new(path).arg("--help").output().expect("etcd can be started");
    // Which of the two it writes to depends on its version.
    let help = [output.stdout, output.stderr].concat();
    let help = String::from_utf8_lossy(&help);
    let words = help.split(|one: char| one.is_whitespace() || one == '=' || one == '\'');
    let known: BTreeSet<&str> = words.filter_map(|word| word.strip_prefix("--")).collect();
    let rendered = chosen(&[], release(minor)).rendered("etcd");
    for setting in settings(rendered_text(&rendered, "etcd-template", "etcd.yaml")) {
        assert!(known.contains(setting.as_str()), "etcd {minor} has no {setting}");
    }
}

/// The usual control plane, and one for every choice.
fn worlds(minor: &str) -> Vec<World> {
    let mut worlds = vec![chosen(&[], release(minor))];
    worlds.extend(
        choices()
            .iter()
            .map(|one| chosen(std::slice::from_ref(one), release(minor))),
    );
    worlds
}

fn arguments(workload: &Workload, container: &str) -> Vec<String> {
    let container = workload.containers().find(|one| one.name == container);
    container
        .and_then(|one| one.args.clone())
        .expect("the container has arguments")
}

/// The settings of a configuration file by the names of flags: those of a section have its name before theirs.
fn settings(text: &str) -> Vec<String> {
    let file: Value = serde_saphyr::from_str(text).expect("the file is YAML");
    let mut settings = Vec::new();
    for (key, value) in file.as_object().expect("the file is a map") {
        let prefix = match key.as_str() {
            "client-transport-security" => "",
            "peer-transport-security" => "peer-",
            _ => {
                settings.push(key.clone());
                continue;
            }
        };
        let section = value.as_object().expect("a section is a map");
        settings.extend(section.keys().map(|key| format!("{prefix}{key}")));
    }
    settings
}
