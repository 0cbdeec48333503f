//! The same seed lives the same life, request by request.

use crate::{
    disturbances::Disturbance,
    seeds::simulate,
    story::{Act, Script, live},
    trace::Line,
};

/// A life that is lived twice every time: nodes roll, and processes die meanwhile.
const ACTS: &[(Act, Disturbance)] = &[(Act::Config, Disturbance::Crashes)];

/// Lines on both sides of a difference that are told.
const AROUND: usize = 8;

fn life(seed: u64, script: Script<'_>) -> Vec<String> {
    let lines = simulate(live(seed, script, |_| {}));
    lines.iter().map(told).collect()
}

/// A request without what is a hash of a certificate.
fn told(line: &Line) -> String {
    let is_member = line
        .name
        .rsplit_once('-')
        .is_some_and(|(_, last)| last.parse::<u32>().is_ok());
    let name = match line.resource.as_str() {
        "replicasets" | "controllerrevisions" => without_last_word(&line.name),
        "pods" if !is_member => without_last_word(without_last_word(&line.name)),
        // What it tells of may be such a pod.
        "events" => line.name.split_once('.').map_or("", |(_, rest)| rest),
        _ => &line.name,
    };
    let Line {
        received,
        verb,
        resource,
        subresource,
        namespace,
        user,
        code,
        ..
    } = line;
    format!("{received} {verb} {resource}/{subresource} {namespace}/{name} by {user}: {code}")
}

fn without_last_word(name: &str) -> &str {
    name.rsplit_once('-').map_or(name, |(rest, _)| rest)
}

fn same_twice(seed: u64, script: Script<'_>) {
    let (first, second) = (life(seed, script), life(seed, script));
    let difference = first.iter().zip(&second).position(|(left, right)| left != right);
    let around = difference.map(|at| {
        let (from, to) = (at.saturating_sub(AROUND), at + AROUND);
        (&first[from..to.min(first.len())], &second[from..to.min(second.len())])
    });
    assert_eq!(difference, None, "{around:#?}");
    assert_eq!(first.len(), second.len());
    assert!(first.len() > 300, "{} lines", first.len());
}

#[test]
fn the_same_seed_lives_the_same_life() {
    same_twice(7, Script::Given(ACTS));
}

#[test]
#[ignore = "soak: run by cargo xtask soak"]
fn soak_of_the_same_life_lived_twice() {
    same_twice(8, Script::Drawn(usize::MAX));
}
