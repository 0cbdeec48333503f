//! The same seed lives the same life, request by request.

use hyperplane_twin::Pace;

use crate::{seeds::simulate, story::live, trace::Line};

/// Acts of the life that is lived twice.
const ACTS: usize = 1;

/// How long pods take is drawn by their names, and those of control planes end in hashes of certificates, whose keys no
/// seed decides: here they take no time.
fn life(seed: u64) -> Vec<String> {
    let lines = simulate(live(seed, ACTS, |twin| twin.pace = Pace::instant()));
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

#[test]
#[ignore = "soak: run by cargo xtask soak"]
fn soak_of_the_same_life_lived_twice() {
    let (first, second) = (life(7), life(7));
    let difference = first.iter().zip(&second).position(|(left, right)| left != right);
    let around = difference.map(|at| {
        let (from, to) = (at.saturating_sub(2), at + 2);
        (&first[from..to.min(first.len())], &second[from..to.min(second.len())])
    });
    assert_eq!(difference, None, "{around:#?}");
    assert_eq!(first.len(), second.len());
    assert!(first.len() > 300, "{} lines", first.len());
}
