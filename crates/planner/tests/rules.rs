//! Every rule as a named case: two states, and exactly what the check says of them. The cases are data, one file per
//! family; this only runs them and tells each that fails by its id.

use std::{collections::BTreeSet, fs, path::PathBuf};

use hyperplane_planner::{
    blocker::{Blocker, Moment, Report},
    check::{Choice, check},
    policy::{
        self,
        register::{self, Coverage},
    },
    state::State,
};
use serde::Deserialize;
use serde_json::Value;

use crate::schemas::Schema;

/// The files below tests/cases.
const FAMILIES: [&str; 10] = [
    "kubernetes",
    "transitions",
    "etcd",
    "kubeadm",
    "openshift",
    "hypershift",
    "acp",
    "cluster-api",
    "gardener",
    "prerequisites",
];

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Family {
    /// What judges where a case says nothing.
    #[serde(default)]
    policies: Vec<String>,
    /// States that cases begin with.
    #[serde(default)]
    bases: std::collections::BTreeMap<String, Value>,
    cases: Vec<Case>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Case {
    /// The rule that it is about.
    id: String,
    /// What it shows.
    name: String,
    /// What judges; the word `default` leaves it to the scheme.
    #[serde(default)]
    policies: Vec<String>,
    /// A base that both states are laid over.
    #[serde(default)]
    base: Option<String>,
    before: Value,
    #[serde(default)]
    after: Option<Value>,
    ok: bool,
    #[serde(default)]
    violations: Vec<Expected>,
    #[serde(default)]
    warnings: Vec<Expected>,
    #[serde(default)]
    unknown: Vec<Expected>,
}

#[derive(Clone, Deserialize, PartialEq, Eq, PartialOrd, Ord, Debug)]
#[serde(deny_unknown_fields)]
struct Expected {
    rule: String,
    subject: String,
    state: String,
}

impl Expected {
    fn of(blocker: &Blocker) -> Self {
        let state = match blocker.state {
            Moment::Before => "before",
            Moment::After => "after",
            Moment::Transition => "transition",
        };
        Self {
            rule: blocker.rule.to_owned(),
            subject: blocker.subject.clone(),
            state: state.to_owned(),
        }
    }
}

fn family(name: &str) -> Family {
    let directory = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/cases");
    let text = fs::read_to_string(directory.join(format!("{name}.yaml"))).unwrap();
    serde_saphyr::from_str(&text).unwrap_or_else(|error| panic!("{name}.yaml: {error}"))
}

/// Fields of the second over those of the first; lists and words replace each other.
fn overlay(base: &Value, over: &Value) -> Value {
    match (base, over) {
        (Value::Object(base), Value::Object(over)) => {
            let mut fields = base.clone();
            for (name, value) in over {
                let value = overlay(base.get(name).unwrap_or(&Value::Null), value);
                fields.insert(name.clone(), value);
            }
            Value::Object(fields)
        }
        (_, over) => over.clone(),
    }
}

fn report(family: &Family, case: &Case) -> Report {
    let nothing = Value::Null;
    let base = case.base.as_ref().map_or(&nothing, |name| &family.bases[name]);
    let read = |value: &Value, before: Option<&State>| {
        let value = overlay(base, value);
        let read = match before {
            Some(before) => State::read_after(&value, before),
            None => State::read(&value),
        };
        let (state, unread) = read.unwrap_or_else(|errors| panic!("{}: {errors:?}", case.name));
        assert!(unread.is_empty(), "{}: {unread:?} is not read", case.name);
        state
    };
    let before = read(&case.before, None);
    let after = case.after.as_ref().map(|after| read(after, Some(&before)));
    let names = if case.policies.is_empty() {
        &family.policies
    } else {
        &case.policies
    };
    let choice = if names.iter().any(|name| name == "default") {
        Choice::default_for(after.as_ref().unwrap_or(&before).distribution.scheme)
    } else {
        Choice::of(names.iter().map(|name| policy::named(name).unwrap()))
    };
    check(&before, after.as_ref(), &choice)
}

/// What is said and was not expected, and the other way round.
fn difference(title: &str, expected: &[Expected], found: &[Blocker]) -> Vec<String> {
    let mut wanted: Vec<Expected> = expected.to_vec();
    let mut lines = Vec::new();
    for blocker in found {
        let said = Expected::of(blocker);
        match wanted.iter().position(|one| *one == said) {
            Some(place) => {
                wanted.remove(place);
            }
            None => lines.push(format!(
                "  + {title} {{rule: {}, subject: {:?}, state: {}}} {}",
                said.rule, said.subject, said.state, blocker.message
            )),
        }
    }
    let missing = wanted.iter().map(|one| format!("  - {title} {one:?}"));
    lines.extend(missing);
    lines
}

/// Runs the cases of a file; every one is told by its id.
fn judge(name: &str) {
    let family = family(name);
    let mut failed = Vec::new();
    for case in &family.cases {
        let report = report(&family, case);
        let mut lines = difference("violations", &case.violations, &report.violations);
        lines.extend(difference("warnings", &case.warnings, &report.warnings));
        lines.extend(difference("unknown", &case.unknown, &report.unknown));
        if report.ok != case.ok {
            lines.push(format!("  ok is {}", report.ok));
        }
        let outcome = if lines.is_empty() { "ok" } else { "FAILED" };
        println!("case {} {} ... {outcome}", case.id, case.name);
        if !lines.is_empty() {
            failed.push(format!("{} {}\n{}", case.id, case.name, lines.join("\n")));
        }
    }
    assert!(
        failed.is_empty(),
        "{} of {} cases of {name} fail (+ is said, - is expected):\n{}",
        failed.len(),
        family.cases.len(),
        failed.join("\n")
    );
}

#[test]
fn kubernetes() {
    judge("kubernetes");
}

#[test]
fn transitions() {
    judge("transitions");
}

#[test]
fn etcd() {
    judge("etcd");
}

#[test]
fn kubeadm() {
    judge("kubeadm");
}

#[test]
fn openshift() {
    judge("openshift");
}

#[test]
fn hypershift() {
    judge("hypershift");
}

#[test]
fn acp() {
    judge("acp");
}

#[test]
fn cluster_api() {
    judge("cluster-api");
}

#[test]
fn gardener() {
    judge("gardener");
}

#[test]
fn prerequisites() {
    judge("prerequisites");
}

#[test]
fn every_judged_rule_has_a_case_and_no_other() {
    let families: Vec<Family> = FAMILIES.iter().map(|name| family(name)).collect();
    let ids: BTreeSet<&str> = families
        .iter()
        .flat_map(|family| family.cases.iter().map(|case| case.id.as_str()))
        .collect();
    let judged: BTreeSet<&str> = register::rules()
        .filter(|rule| rule.coverage == Coverage::Judged)
        .map(|rule| rule.id)
        .collect();
    let without: Vec<_> = judged.difference(&ids).collect();
    assert!(without.is_empty(), "rules without a case: {without:?}");
    let unknown: Vec<_> = ids.difference(&judged).collect();
    assert!(unknown.is_empty(), "cases without a judged rule: {unknown:?}");
}

#[test]
fn states_and_reports_are_as_documented() {
    let (states, reports) = (Schema::named("state"), Schema::named("report"));
    for name in FAMILIES {
        let family = family(name);
        for case in &family.cases {
            let nothing = Value::Null;
            let base = case.base.as_ref().map_or(&nothing, |name| &family.bases[name]);
            for state in [Some(&case.before), case.after.as_ref()].into_iter().flatten() {
                let errors = states.errors(&overlay(base, state));
                assert!(errors.is_empty(), "{}: {errors:#?}", case.name);
            }
            let errors = reports.errors(&serde_json::to_value(report(&family, case)).unwrap());
            assert!(errors.is_empty(), "{}: {errors:#?}", case.name);
        }
    }
    assert!(states.unmet().is_empty(), "{:?}", states.unmet());
    // A field of a finding counts wherever the finding stands.
    let unmet = reports.unmet();
    let lists = [".violations", ".warnings", ".unknown"];
    let suffixes = unmet.iter().filter_map(|field| field.strip_prefix(lists[0]));
    let nowhere = |suffix: &&str| lists.iter().all(|list| unmet.contains(&format!("{list}{suffix}")));
    assert_eq!(suffixes.filter(nowhere).collect::<Vec<_>>(), Vec::<&str>::new());
}

/// A judged rule that says nothing in any case would be judged in name only.
#[test]
fn findings_use_registered_rules_and_can_be_followed() {
    for name in FAMILIES {
        let family = family(name);
        for case in &family.cases {
            let report = report(&family, case);
            let mut names = BTreeSet::new();
            for finding in report.violations.iter().chain(&report.warnings).chain(&report.unknown) {
                let what = format!("{}: {}", case.name, finding.id);
                for id in finding.also.iter().chain([&finding.rule]) {
                    let rule = register::rule(id).unwrap_or_else(|| panic!("{what}: {id} is not registered"));
                    assert_eq!(rule.coverage, Coverage::Judged, "{what}");
                }
                assert!(names.insert(&finding.id), "{what} has no name of its own");
                assert!(!finding.message.is_empty() && !finding.message.ends_with('.'), "{what}");
                assert!(finding.remedy.ends_with('.'), "{what}: {}", finding.remedy);
            }
        }
    }
}

/// Also those that no case brings about.
#[test]
fn the_source_names_registered_rules_only() {
    let named = regex::Regex::new(r#""((?:K|KT|KA|E|O|H|A|C|G)-\d\db?|P\d\d)""#).unwrap();
    let mut directories = vec![PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("src")];
    let mut used = BTreeSet::new();
    while let Some(directory) = directories.pop() {
        for entry in fs::read_dir(directory).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                directories.push(path);
            } else if path.extension().is_some_and(|end| end == "rs") && !path.ends_with("register.rs") {
                let text = fs::read_to_string(path).unwrap();
                used.extend(named.captures_iter(&text).map(|found| found[1].to_owned()));
            }
        }
    }
    assert!(used.len() > 80, "the ids are written otherwise: {used:?}");
    for id in used {
        let rule = register::rule(&id).unwrap_or_else(|| panic!("{id} is not registered"));
        assert_eq!(rule.coverage, Coverage::Judged, "{id}");
    }
}

#[test]
fn ids_are_unique_and_policies_are_there() {
    let mut ids = BTreeSet::new();
    for rule in register::rules() {
        assert!(ids.insert(rule.id), "{} is there twice", rule.id);
        assert!(policy::named(rule.policy).is_some(), "{}", rule.policy);
    }
    for policy in policy::ALL {
        assert!(register::rule(policy.first_rule).is_some(), "{}", policy.name);
        for skew in policy.skews {
            let mixed = skew.mixed.iter().flat_map(|(old, new)| [old, new]);
            for named in [&skew.too_old, &skew.too_new].into_iter().chain(mixed) {
                for id in named.also.iter().chain([&named.rule]) {
                    assert!(register::rule(id).is_some(), "{}: {id}", policy.name);
                }
            }
        }
    }
}

#[test]
fn the_document_is_written_from_the_register() {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../docs/rules.md");
    #[expect(
        clippy::disallowed_methods,
        reason = "the one switch between checking and writing golden files"
    )]
    if std::env::var_os("HYPERPLANE_BLESS").is_some() {
        fs::write(&path, register::markdown()).unwrap();
    }
    let text = fs::read_to_string(&path).unwrap_or_default();
    assert_eq!(text, register::markdown(), "docs/rules.md is old: `cargo xtask bless`");
}
