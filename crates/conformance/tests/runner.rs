//! The runner against a server of a few lines: a table that holds passes, and each way in which an answer can be wrong
//! is found. It needs no real server.

use std::{
    convert::Infallible,
    fs,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
};

use http::{Request, Response};
use hyperplane_conformance::{
    suite::{Judgement, Suite},
    target::{Caller, Error, Target},
};
use kube::{Client, client::Body};
use tempfile::TempDir;
use tower::service_fn;

const IGNORED: &str = "
headers: []
fields: [{field: metadata.resourceVersion, as: rank, reason: r}]
texts: [{text: uid, reason: r}]
";

/// A server that counts its answers, so that no two are alike where they should not be.
struct Counter {
    asked: Arc<AtomicUsize>,
    color: &'static str,
}

impl Counter {
    fn of_color(color: &'static str) -> Self {
        Self {
            asked: Arc::default(),
            color,
        }
    }
}

impl Target for Counter {
    fn name(&self) -> &'static str {
        "counter"
    }

    fn prepare(&self, _: &Caller, _: &mut Request<Body>) -> Result<Client, Error> {
        let (asked, color) = (self.asked.clone(), self.color);
        let service = service_fn(move |request: Request<Body>| {
            let count = asked.fetch_add(1, Ordering::Relaxed) + 1;
            let body = match request.uri().path() {
                "/watch" | "/cached" => format!("{{\"type\":\"ADDED\",\"count\":{count}}}\n"),
                _ => format!(r#"{{"metadata":{{"resourceVersion":"{count}"}},"color":"{color}"}}"#),
            };
            // The cache of this path is full at the third look.
            let is_early = request.uri().path() == "/cached" && count < 3;
            let response = Response::builder()
                .status(if is_early { 429 } else { 200 })
                .header("x-color", color);
            let body = if is_early {
                r#"{"message":"storage is (re)initializing"}"#.to_owned()
            } else {
                body
            };
            async move { Ok::<_, Infallible>(response.body(Body::from(body.into_bytes())).unwrap()) }
        });
        Ok(Client::new(service, "default"))
    }
}

fn suite(directory: &TempDir, steps: &str) -> Suite {
    let cases = directory.path().join("cases");
    fs::create_dir_all(&cases).unwrap();
    fs::create_dir_all(directory.path().join("recorded")).unwrap();
    fs::write(directory.path().join("ignored.yaml"), IGNORED).unwrap();
    fs::write(
        cases.join("file.yaml"),
        format!("cases: [{{id: case, rule: r, {steps}}}]"),
    )
    .unwrap();
    Suite::read(directory.path()).unwrap()
}

async fn run(steps: &str) -> Vec<Judgement> {
    let directory = TempDir::new().unwrap();
    let suite = suite(&directory, steps);
    suite.run(&Counter::of_color("red"), |_| true).await
}

async fn failures(steps: &str) -> Vec<String> {
    let judgements = run(steps).await;
    let failures = judgements.iter().flat_map(|it| &it.failures);
    failures
        .map(|it| format!("{}: {}", it.step, it.reasons.join(" ")))
        .collect()
}

#[tokio::test]
async fn what_is_as_expected_passes() {
    let steps = "steps: [
        {do: GET /, status: 200, answer: {x-color: red}, expect: {color: red, metadata: {resourceVersion: '${rv:a}'}}},
        {do: GET /, expect: {metadata: {resourceVersion: '${newer:a}'}}},
        {do: GET /watch, open: w, events: [{type: ADDED}]},
        {on: w, end: true, events: []}]";
    assert_eq!(failures(steps).await, [""; 0]);
}

#[tokio::test]
async fn each_wrong_part_is_found() {
    let table = [
        ("steps: [{do: GET /, status: 404}]", "status"),
        ("steps: [{do: GET /, answer: {x-color: blue}}]", "header x-color"),
        ("steps: [{do: GET /, answer: {x-color: '${absent}'}}]", "header x-color"),
        ("steps: [{do: GET /, expect: {color: blue}}]", "color"),
        ("steps: [{do: GET /watch, events: [{type: DELETED}]}]", "[0].type"),
        ("steps: [{do: GET /watch, events: [{}, {}]}]", "ended after 1 events"),
        ("steps: [{do: GET /watch, end: true, events: []}]", "(whole)"),
        ("steps: [{on: nothing, events: [{}]}]", "no step opened"),
        ("steps: [{do: nonsense}]", "is no request"),
        ("setup: [{do: GET /, expect: {color: blue}}], steps: []", "setup 1"),
    ];
    for (steps, expected) in table {
        let found = failures(steps).await;
        assert!(found.len() == 1 && found[0].contains(expected), "{steps}: {found:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn what_takes_time_is_asked_again() {
    let until_third = "steps: [{do: GET /, eventually: true, expect: {metadata: {resourceVersion: '3'}}}]";
    assert_eq!(failures(until_third).await, [""; 0]);
    let never = "steps: [{do: GET /, eventually: true, expect: {color: blue}}]";
    assert_eq!(failures(never).await.len(), 1);
}

/// The real server's watch cache of a new definition is not always there when a case opens its watch.
#[tokio::test(start_paused = true)]
async fn a_server_whose_cache_is_not_full_yet_is_asked_again() {
    let unexpecting = "steps: [{do: GET /cached}]";
    assert_eq!(run(unexpecting).await[0].answers[0].status, 200);
    let expecting = "steps: [{do: GET /cached, status: 200, open: w, events: [{}]}]";
    assert_eq!(failures(expecting).await, [""; 0]);
}

#[tokio::test]
async fn answers_are_compared_with_the_recording() {
    let directory = TempDir::new().unwrap();
    let steps = "steps: [{do: GET /, status: 200}]";
    let first = suite(&directory, steps);
    let recorded = first.run(&Counter::of_color("red"), |_| true).await;
    first.record(directory.path(), &recorded).unwrap();

    let second = suite(&directory, steps);
    for (color, expected) in [("red", 0), ("blue", 1)] {
        let mut judgements = second.run(&Counter::of_color(color), |_| true).await;
        second.compare_with_recording(&mut judgements);
        assert_eq!(judgements[0].failures.len(), expected, "{color}");
    }
    let mut judgements = first.run(&Counter::of_color("red"), |_| true).await;
    first.compare_with_recording(&mut judgements);
    assert_eq!(
        judgements[0].failures.len(),
        1,
        "nothing was recorded when the first was read"
    );
}
