//! The same seed gives the same story, request by request.

use hyperplane_twin::Pace;

use crate::{
    faults::simulate,
    ground::{Ground, single},
    trace::Line,
};

/// A cluster is made and goes. How long pods take is drawn by their names, and those end in hashes of certificates, whose
/// keys no seed decides: here they take no time.
async fn story(seed: u64) -> Vec<String> {
    let ground = Ground::with(seed, |twin| twin.pace = Pace::instant()).await;
    let operators = ground.start().await;
    ground.cluster("one", single()).await;
    ground.until_version("one", "1.36.4").await;
    ground.delete("one").await;
    ground.until_gone("one").await;
    operators.stop().await;
    ground.since(0).iter().map(told).collect()
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
fn the_same_seed_gives_the_same_trace() {
    let first = simulate(story(41));
    let second = simulate(story(41));
    let difference = first.iter().zip(&second).position(|(left, right)| left != right);
    assert_eq!(
        difference,
        None,
        "{:#?}",
        difference.map(|at| (&first[at - 1..at + 2], &second[at - 1..at + 2]))
    );
    assert_eq!(first.len(), second.len());
    assert!(first.len() > 300, "{} lines", first.len());
}
