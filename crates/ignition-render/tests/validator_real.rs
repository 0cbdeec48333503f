//! Whether we judge configs as Ignition does. What Ignition refuses, we must refuse, or machines would never start; where we
//! refuse more, the table says why.

mod support;

use std::{
    io::Write as _,
    path::PathBuf,
    process::{Command, Stdio},
};

use hyperplane_ignition_render::{Problem, ignition::VERSIONS, validate::validate};
use hyperplane_testbed::assets::{Assets, Program};
use serde_json::{Value, json};
use support::{cases, corpus};

/// What we refuse and Ignition takes: what the problem says, and why that is so.
const STRICTER: &[(&str, &str)] = &[
    (
        "needs ignition.version",
        "Ignition would leave the field out, with a warning that nobody reads",
    ),
    ("must be the name of a user", "programs of the host would refuse it"),
    ("must be the name of a unit", "systemd would refuse it"),
    ("must be a file name that ends with .conf", "systemd would not read it"),
    ("must be one line of text", "it would break out of its place"),
    (
        "must be an absolute path",
        "the root cannot be a file, and Linux has no longer paths",
    ),
    ("lies in something that is a file or a link", "nothing can be in a file"),
    ("must be given", "a name without which nothing can refer to it"),
    (
        "must say where the link leads",
        "Ignition before 3.3.0 makes a link to nowhere",
    ),
    ("must say where it is", "Ignition 3.0.0 merges nothing"),
    ("must be a number of seconds", "no time is negative"),
    ("must be 0 or more", "no partition is"),
    (
        "must be a data:, https: or http: URL",
        "other sources need credentials that machines do not have",
    ),
    (
        "must be a URL with https: or http:",
        "programs differ in how they read such",
    ),
    (
        "is not the hash of the source",
        "Ignition sees it when the machine starts",
    ),
    ("must be sha512-", "digits are looked at, too"),
    ("whose base64 cannot be read", "bits that are left over must be zero"),
    (
        "is a data URL that does not begin",
        "quoted parameters have no escapes here",
    ),
    ("stands alone", "an empty custom pin is none"),
    ("line ", "a section ends in its line, and lines are measured whole"),
];

/// How many configs are drawn.
const DRAWN: u64 = 800;

/// Ignition's own judgement.
struct Validator(PathBuf);

impl Validator {
    fn locate() -> Self {
        let assets = Assets::locate().expect("the programs are there");
        Self(assets.path(Program::IgnitionValidator).expect("the validator is there"))
    }

    /// What it says of a config that it refuses; none of one that it takes.
    fn refusal(&self, config: &Value) -> Option<String> {
        let mut child = Command::new(&self.0)
            .arg("-")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the validator can be started");
        let mut input = child.stdin.take().expect("its input is a pipe");
        input
            .write_all(config.to_string().as_bytes())
            .expect("it reads its input");
        drop(input);
        let output = child.wait_with_output().expect("the validator ends");
        let text = [output.stdout, output.stderr].concat();
        (!output.status.success()).then(|| String::from_utf8_lossy(&text).into_owned())
    }
}

fn is_listed(problem: &Problem) -> bool {
    STRICTER.iter().any(|(text, _)| problem.problem.contains(text))
}

/// How the two differ over a config in a way that no line of the table allows.
fn difference(validator: &Validator, config: &Value) -> Option<String> {
    let ours = validate(config);
    match validator.refusal(config) {
        Some(why) if ours.is_empty() => Some(format!("Ignition refuses and we do not: {why}\n{config}")),
        None if !ours.iter().all(is_listed) => Some(format!("we refuse and Ignition does not: {ours:?}\n{config}")),
        Some(_) | None => None,
    }
}

#[test]
#[ignore = "needs a real control plane: cargo xtask test"]
fn payloads_are_taken_by_ignition_real() {
    let validator = Validator::locate();
    for (name, world) in cases() {
        assert_eq!(validator.refusal(&world.payload()), None, "{name}");
    }
    for (name, config) in corpus::good() {
        assert_eq!(validator.refusal(&config), None, "{name}");
        assert_eq!(validate(&config), [], "{name}");
    }
}

#[test]
#[ignore = "needs a real control plane: cargo xtask test"]
fn single_mistakes_are_judged_alike_real() {
    let validator = Validator::locate();
    let mut wrong = Vec::new();
    let mut refused = 0;
    for (name, config) in corpus::mistakes() {
        wrong.extend(difference(&validator, &config).map(|why| format!("{name}: {why}")));
        refused += usize::from(!validate(&config).is_empty());
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(refused > 100, "only {refused} are mistakes");
}

#[test]
#[ignore = "needs a real control plane: cargo xtask test"]
fn drawn_configs_are_judged_alike_real() {
    let validator = Validator::locate();
    let mut wrong = Vec::new();
    let (mut taken, mut refused) = (0, 0);
    for seed in 0..DRAWN {
        let config = corpus::drawn(seed);
        wrong.extend(difference(&validator, &config).map(|why| format!("seed {seed}: {why}")));
        if validate(&config).is_empty() {
            taken += 1;
        } else {
            refused += 1;
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(taken > 50 && refused > 300, "{taken} taken, {refused} refused");
}

/// The validator itself must tell good from bad, or everything above says nothing.
#[test]
#[ignore = "needs a real control plane: cargo xtask test"]
fn the_validator_refuses_what_is_no_config_real() {
    let validator = Validator::locate();
    for version in VERSIONS {
        assert_eq!(
            validator.refusal(&json!({"ignition": {"version": version}})),
            None,
            "{version}"
        );
    }
    assert!(validator.refusal(&json!({"ignition": {"version": "2.2.0"}})).is_some());
    let relative = json!({"ignition": {"version": "3.2.0"}, "storage": {"files": [{"path": "a"}]}});
    assert!(validator.refusal(&relative).is_some());
}
