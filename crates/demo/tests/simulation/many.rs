//! Fleets.

use std::time::Duration;

use hyperplane_demo::{
    Ending,
    fleet::{FleetPlan, FleetStage, outcome_text, raise},
    render::Style,
};
use tokio_util::sync::CancellationToken;

use crate::ground::{Ground, PATIENCE};

#[tokio::test(start_paused = true)]
async fn a_fleet_comes_and_is_there_the_next_time() {
    let ground = Ground::instant(8).await;
    let stage = FleetStage {
        client: ground.client(),
        plan: FleetPlan::new(4, 2, 2).unwrap(),
        patience: PATIENCE,
    };
    let mut most = 0;
    let outcome = raise(&stage, &CancellationToken::new(), &mut |counts| {
        most = most.max(counts.asked - counts.done);
    })
    .await;
    let text = outcome_text(&outcome, Style::default());
    println!("{text}");
    assert!(outcome.is_success(), "{text}");
    assert!(most <= 2, "{most} at a time");
    let numbers = &outcome.numbers;
    assert_eq!((numbers.counts.nodes, numbers.were_there), (8, 0), "{text}");
    assert!(
        numbers.p50 > Duration::ZERO && numbers.p99 <= numbers.counts.took,
        "{text}"
    );
    let again = raise(&stage, &CancellationToken::new(), &mut |_| {}).await;
    assert!(again.is_success());
    assert_eq!(
        again.numbers.were_there,
        4,
        "{}",
        outcome_text(&again, Style::default())
    );
}

#[tokio::test(start_paused = true)]
async fn a_fleet_that_does_not_come_is_named() {
    let ground = Ground::without_operators(9, None).await;
    let stage = FleetStage {
        client: ground.client(),
        plan: FleetPlan::new(10, 1, 7).unwrap(),
        patience: Duration::from_mins(1),
    };
    let outcome = raise(&stage, &CancellationToken::new(), &mut |_| {}).await;
    let Ending::TimedOut { missing, .. } = &outcome.ending else {
        panic!("{:?}", outcome.ending);
    };
    assert!(missing[0].starts_with("cluster f000: 0 of 1 nodes"), "{missing:?}");
    assert_eq!(missing.last().unwrap(), "and 2 more");
    assert!(
        outcome.answers.asked > 50 && outcome.answers.failed == 0,
        "{:?}",
        outcome.answers
    );
    assert_eq!(outcome.numbers.counts.asked, 7);
}
