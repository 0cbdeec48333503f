//! Answers are shared, and silence is: a server that lets everybody wait is asked by one at a time.

use std::convert::Infallible;

use hyperplane_runtime::{Clock, Settings};
use jiff::SignedDuration;
use kube::{Client, client::Body};

use super::*;

#[test]
fn ages_are_never_negative() {
    let at = |second| Timestamp::constant(second, 0);
    assert_eq!(age(at(10), at(15)), Some(Duration::from_secs(5)));
    assert_eq!(age(at(15), at(15)), Some(Duration::ZERO));
    assert_eq!(age(at(16), at(15)), None, "the clock went back");
    assert!(age(Timestamp::MIN, at(0)).is_some_and(|age| age > KEPT));
}

#[test]
fn long_answers_are_cut_at_a_character() {
    assert_eq!(bounded("short"), "short");
    let cut = bounded(&"ä".repeat(LONGEST_ANSWER + 1));
    assert_eq!(cut.chars().count(), LONGEST_ANSWER + 1);
    assert!(cut.ends_with('…'));
    assert_eq!(bounded(&"ä".repeat(LONGEST_ANSWER)).chars().count(), LONGEST_ANSWER);
}

/// A manager that is never run: its caches stay empty, and nothing is asked.
fn manager() -> Manager {
    let service =
        tower::service_fn(|_: http::Request<Body>| async { Ok::<_, Infallible>(http::Response::new(Body::empty())) });
    let clock = Clock::reading(|| Timestamp::constant(0, 0));
    Manager::new(
        Client::new(service, "default"),
        Settings::new("hyperplane", "test", clock, 1),
    )
}

#[tokio::test(start_paused = true)]
async fn silence_lasts_from_the_last_answer_or_the_first_question() {
    let nodes = Nodes::new(Reach::sockets());
    let hosted = nodes.for_controller(&manager(), &Scope::Everywhere);
    let start = Timestamp::constant(1_800_000_000, 0);
    let oldest = Duration::from_secs(5);
    for (seconds, expected) in [(0, false), (60, false), (299, false), (300, true)] {
        let now = start + SignedDuration::from_secs(seconds);
        let silence = hosted.list("cp", now, oldest).await.unwrap_err();
        assert_eq!(silence.is_lasting, expected, "{now}");
        assert!(silence.message.contains(kubeconfigs::SERVICE_NETWORK_ADMIN));
    }
    nodes.note_answer("cp", start + SignedDuration::from_secs(300));
    let now = start + SignedDuration::from_secs(310);
    assert!(!hosted.list("cp", now, oldest).await.unwrap_err().is_lasting);
    assert!(!hosted.list("other", now, oldest).await.unwrap_err().is_lasting);
}

#[tokio::test(start_paused = true)]
async fn a_look_is_shared_until_it_is_too_old() {
    let nodes = Nodes::new(Reach::sockets());
    let hosted = nodes.for_controller(&manager(), &Scope::Everywhere);
    let start = Timestamp::constant(1_800_000_000, 0);
    let began = || nodes.lists().get("cp").map(|kept| kept.began);
    for (seconds, oldest, expected) in [(0, 5, 0), (4, 5, 0), (4, 3, 4), (9, 5, 4), (10, 5, 10), (2, 5, 2)] {
        let now = start + SignedDuration::from_secs(seconds);
        let _silence = hosted.list("cp", now, Duration::from_secs(oldest)).await;
        assert_eq!(began(), Some(start + SignedDuration::from_secs(expected)), "{seconds}");
    }
}

impl HostedClusters {
    /// A look of somebody who found the kubeconfig.
    async fn ask(&self, now: Timestamp) -> Result<Arc<NodeList>, NoAnswer> {
        self.list("cp", now, Duration::from_secs(5)).await
    }
}

#[tokio::test(start_paused = true)]
async fn silence_rests_from_its_end_and_longer_each_time() {
    let nodes = Nodes::new(Reach::sockets());
    let hosted = nodes.for_controller(&manager(), &Scope::Everywhere);
    let start = Timestamp::constant(1_800_000_000, 0);
    let _first = hosted.ask(start).await;
    let silence = NoAnswer::new("nothing within 10 seconds");
    let mut rests = Vec::new();
    for _ in 0..6 {
        let began = Instant::now();
        tokio::time::advance(PATIENCE).await;
        nodes.note_silence("cp", &silence, began);
        // Those who waited beside it have seen the same silence.
        nodes.note_silence("cp", &silence, began);
        let until = nodes.lists()["cp"]
            .silence
            .as_ref()
            .map(|silence| silence.until)
            .unwrap();
        rests.push(until.duration_since(Instant::now()).as_secs());
        assert_eq!(
            hosted.ask(start).await.unwrap_err().message,
            silence.message,
            "told at once"
        );
        tokio::time::sleep_until(until).await;
    }
    assert_eq!(rests, [5, 10, 20, 40, 60, 60]);
    nodes.note_silence("cp", &silence, Instant::now());
    assert!(
        nodes.lists()["cp"].silence.is_none(),
        "what fails at once costs nobody anything"
    );
}

#[tokio::test(start_paused = true)]
async fn one_at_a_time_asks_a_silent_cluster() {
    let nodes = Nodes::new(Reach::sockets());
    let hosted = nodes.for_controller(&manager(), &Scope::Everywhere);
    let start = Timestamp::constant(1_800_000_000, 0);
    let _first = hosted.ask(start).await;
    let silence = NoAnswer::new("nothing within 10 seconds");
    let began = Instant::now();
    tokio::time::advance(PATIENCE).await;
    nodes.note_silence("cp", &silence, began);
    tokio::time::advance(SHORTEST_REST).await;
    let (look, _) = hosted.looking("cp", start, Duration::ZERO);
    assert!(matches!(look, Look::Shared(_)), "somebody has to ask");
    let (beside, _) = hosted.looking("cp", start, Duration::ZERO);
    assert!(matches!(beside, Look::Silent(_)), "nobody else waits for that");
    tokio::time::advance(GIVEN_UP).await;
    let (after, _) = hosted.looking("cp", start, Duration::ZERO);
    assert!(matches!(after, Look::Shared(_)), "who asked is gone");
}
