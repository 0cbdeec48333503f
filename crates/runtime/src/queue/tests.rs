//! The queue against a simple model, and its promises one by one.

use proptest::prelude::*;

use super::*;

fn queue() -> Queue<u8> {
    Queue::new(Random::seeded(7))
}

const fn seconds(count: u64) -> Duration {
    Duration::from_secs(count)
}

#[test]
fn a_key_added_often_runs_once() {
    let mut queue = queue();
    for _ in 0..5 {
        queue.add(1, Priority::Related, seconds(0));
    }
    assert_eq!(queue.pop(seconds(1)).unwrap().key, 1);
    queue.done(&1, Outcome::Again(seconds(3600)), seconds(1));
    assert_eq!(queue.pop(seconds(2)), None);
    assert_eq!(queue.next_due(), Some(seconds(3601)));
}

#[test]
fn an_addition_during_a_run_is_not_lost() {
    let mut queue = queue();
    queue.add(1, Priority::Related, seconds(0));
    assert!(queue.pop(seconds(0)).is_some());
    queue.add(1, Priority::Related, seconds(1));
    assert_eq!(queue.pop(seconds(1)), None, "one key never runs twice at a time");
    queue.done(&1, Outcome::Again(seconds(3600)), seconds(2));
    assert_eq!(queue.pop(seconds(2)).unwrap().key, 1);
}

#[test]
fn an_addition_during_the_last_run_of_a_gone_key_is_not_lost() {
    let mut queue = queue();
    queue.add(1, Priority::Edited, seconds(0));
    queue.pop(seconds(0)).unwrap();
    queue.add(1, Priority::Edited, seconds(1));
    queue.done(&1, Outcome::Gone, seconds(2));
    assert_eq!(queue.pop(seconds(2)).unwrap().key, 1);
    queue.done(&1, Outcome::Gone, seconds(3));
    assert_eq!(queue.states().count(), 0);
    assert!(queue.history.is_empty());
}

#[test]
fn backoff_doubles_up_to_its_limit() {
    let mut queue = queue();
    let mut now = seconds(0);
    queue.add(1, Priority::Related, now);
    for expected in [5, 10, 20, 40, 80, 160, 300, 300, 300] {
        now = now.max(queue.next_due().unwrap());
        queue.pop(now).unwrap();
        queue.done(&1, Outcome::Backoff, now);
        let delay = queue.next_due().unwrap().saturating_sub(now);
        assert!(delay >= seconds(expected) * 80 / 100, "{delay:?} for {expected}");
        assert!(delay <= seconds(expected) * 121 / 100, "{delay:?} for {expected}");
    }
}

#[test]
fn an_edit_forgets_failures_and_runs_at_once_while_a_related_change_waits_a_little() {
    let mut queue = queue();
    queue.add(1, Priority::Related, seconds(0));
    queue.pop(seconds(0)).unwrap();
    queue.done(&1, Outcome::Backoff, seconds(0));
    queue.pop(seconds(100)).unwrap();
    queue.done(&1, Outcome::Backoff, seconds(100));
    queue.add(1, Priority::Related, seconds(101));
    assert_eq!(queue.next_due(), Some(seconds(105)));
    queue.add(1, Priority::Edited, seconds(102));
    assert_eq!(queue.pop(seconds(102)).unwrap().key, 1);
    assert_eq!(queue.states().next().unwrap().failures, 0);
}

#[test]
fn a_key_with_a_gap_waits_for_it_unless_it_is_edited() {
    let mut queue = queue();
    let ran = |queue: &mut Queue<u8>, at: u64| {
        let is_run = queue.pop(seconds(at)).is_some();
        queue.space(&1, seconds(10));
        queue.done(&1, Outcome::Again(seconds(3600)), seconds(at));
        is_run
    };
    queue.add(1, Priority::Related, seconds(0));
    assert!(ran(&mut queue, 0));
    queue.add(1, Priority::Related, seconds(1));
    assert_eq!(queue.next_due(), Some(seconds(10)));
    assert!(ran(&mut queue, 10));
    queue.add(1, Priority::Related, seconds(11));
    queue.add(1, Priority::Edited, seconds(12));
    assert_eq!(queue.next_due(), Some(seconds(12)));
}

#[test]
fn edits_overtake_a_resync_but_do_not_starve_it() {
    let mut queue = queue();
    queue.ramp([1], seconds(0));
    queue.add(2, Priority::Edited, seconds(10));
    assert_eq!(queue.pop(seconds(10)).unwrap().key, 2);
    queue.add(3, Priority::Edited, seconds(40));
    assert_eq!(
        queue.pop(seconds(40)).unwrap().key,
        1,
        "waited longer than its handicap"
    );
}

#[test]
fn a_wide_fan_out_is_spread_and_a_narrow_one_is_not() {
    let mut queue = queue();
    queue.add_related((0..50).collect(), seconds(0));
    assert_eq!(queue.depth(seconds(0)), 50);
    queue.add_related((100..151).collect(), seconds(0));
    assert!(queue.depth(seconds(0)) < 70);
    assert_eq!(queue.depth(FAN_OUT_WINDOW), 101);
}

#[test]
fn the_ramp_lets_fifty_start_a_second() {
    let mut queue = queue();
    queue.ramp(0..200, seconds(0));
    assert_eq!(queue.depth(Duration::from_millis(999)), 50);
    assert_eq!(queue.depth(seconds(4)), 200);
}

#[test]
fn a_run_cut_short_comes_back() {
    let mut queue = queue();
    queue.add(1, Priority::Edited, seconds(0));
    queue.pop(seconds(0)).unwrap();
    queue.put_back(&1, seconds(1));
    assert_eq!(queue.pop(seconds(1)).unwrap().key, 1);
}

#[derive(Clone, Debug)]
enum Action {
    Add(u8, Priority),
    Pop,
    Finish(u8, u8),
    Advance(u16),
}

fn action() -> impl Strategy<Value = Action> {
    let priority = prop_oneof![Just(Priority::Resync), Just(Priority::Related), Just(Priority::Edited)];
    prop_oneof![
        (0u8..6, priority).prop_map(|(key, priority)| Action::Add(key, priority)),
        Just(Action::Pop),
        (0u8..6, 0u8..4).prop_map(|(key, outcome)| Action::Finish(key, outcome)),
        (0u16..20_000).prop_map(Action::Advance),
    ]
}

/// The model: a key owes a run since the moment of its addition, until a run begins after that.
#[derive(Default)]
struct Model {
    owed: BTreeSet<u8>,
    running: BTreeSet<u8>,
}

fn outcome(choice: u8) -> Outcome {
    match choice {
        0 => Outcome::Again(seconds(3600)),
        1 => Outcome::Again(seconds(1)),
        2 => Outcome::Backoff,
        _ => Outcome::Gone,
    }
}

proptest! {
    #[test]
    fn no_run_is_lost_doubled_or_overlapping(actions in proptest::collection::vec(action(), 0..200)) {
        let (mut queue, mut model, mut now) = (queue(), Model::default(), seconds(0));
        for step in actions {
            match step {
                Action::Add(key, priority) => {
                    queue.add(key, priority, now);
                    model.owed.insert(key);
                }
                Action::Pop => {
                    if let Some(popped) = queue.pop(now) {
                        prop_assert!(model.running.insert(popped.key), "overlapping runs");
                        model.owed.remove(&popped.key);
                    }
                }
                Action::Finish(key, choice) => {
                    if model.running.remove(&key) {
                        queue.done(&key, outcome(choice), now);
                    }
                }
                Action::Advance(milliseconds) => now += Duration::from_millis(milliseconds.into()),
            }
            for key in &model.owed {
                let state = queue.states().find(|state| state.key == *key);
                let due = state.and_then(|state| state.due);
                prop_assert!(due.is_some(), "a lost run of {}", key);
                prop_assert!(due.unwrap() <= now + BACKOFF_BASE, "a run of {} put off too far", key);
            }
            prop_assert_eq!(queue.pending.len(), queue.waiting.len() + queue.ready.len());
        }
    }

    #[test]
    fn nobody_starves_beside_a_failing_and_an_ever_changing_key(seed: u64, busy in 1u64..20) {
        let mut queue = Queue::new(Random::seeded(seed));
        let mut last_run = BTreeMap::from([(2u8, seconds(0)), (3, seconds(0))]);
        for step in 0..3000 {
            let now = Duration::from_millis(step * 50);
            queue.add(0, Priority::Edited, now);
            queue.add(1, Priority::Related, now);
            if step % busy == 0 {
                queue.add(2, Priority::Related, now);
                queue.add(3, Priority::Resync, now);
            }
            if let Some(popped) = queue.pop(now) {
                last_run.insert(popped.key, now);
                let ending = if popped.key == 1 { Outcome::Backoff } else { Outcome::Again(seconds(3600)) };
                queue.done(&popped.key, ending, now);
            }
            for key in [2, 3] {
                let idle = now.saturating_sub(last_run[&key]);
                prop_assert!(idle <= seconds(40), "key {} idle for {:?}", key, idle);
            }
        }
    }
}
