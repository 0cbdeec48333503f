use proptest::prelude::*;

use super::*;

const MINUTE: Duration = Duration::from_mins(1);

fn at(second: i64) -> Timestamp {
    Timestamp::from_second(second).unwrap()
}

fn condition(type_: &str, status: &str, since: i64) -> ObservedCondition {
    ObservedCondition {
        type_: type_.to_owned(),
        status: status.to_owned(),
        since: at(since),
    }
}

fn bad(type_: &str, status: &str, timeout: Duration) -> BadCondition {
    BadCondition {
        type_: type_.to_owned(),
        status: status.to_owned(),
        timeout,
    }
}

fn policy() -> Policy {
    Policy {
        node_startup_timeout: Some(10 * MINUTE),
        node_conditions: vec![bad("Ready", "False", 5 * MINUTE), bad("Ready", "Unknown", 5 * MINUTE)],
        machine_conditions: vec![bad("Disk", "True", MINUTE)],
        trigger: Trigger::Always,
    }
}

fn target(node: NodeFacts) -> Target {
    Target {
        name: "machine".to_owned(),
        startup_since: at(0),
        node,
        machine_conditions: Vec::new(),
        is_asked: false,
        was_unhealthy: false,
    }
}

fn ready(status: &str, since: i64) -> NodeFacts {
    NodeFacts::Present(vec![condition("Ready", status, since)])
}

/// The reason for which the machine is unhealthy, and after how many seconds it is looked at again.
fn check(target: &Target, now: i64, expected: (Option<&str>, Option<u64>)) {
    let judgement = judge(&policy(), std::slice::from_ref(target), at(now));
    let reason = judgement.unhealthy.get("machine").map(Cause::reason);
    let next = judgement.next.map(|next| next.as_secs());
    assert_eq!((reason, next), expected, "{target:?} at {now}");
    assert_eq!(judgement.healthy, u32::from(reason.is_none()));
}

#[test]
fn a_machine_has_its_time_to_become_a_node() {
    check(&target(NodeFacts::Awaited), 0, (None, Some(600)));
    check(&target(NodeFacts::Awaited), 599, (None, Some(1)));
    check(&target(NodeFacts::Awaited), 600, (Some("NodeStartupTimeout"), None));
}

#[test]
fn a_clock_that_was_set_back_makes_nobody_ill() {
    check(&target(NodeFacts::Awaited), -1_000_000, (None, Some(1_000_600)));
    check(&target(ready("False", 5_000)), 100, (None, Some(5_200)));
}

#[test]
fn conditions_have_to_last() {
    check(&target(ready("True", 0)), 10_000, (None, None));
    check(&target(ready("False", 100)), 399, (None, Some(1)));
    check(&target(ready("False", 100)), 400, (Some("UnhealthyNode"), None));
    check(&target(ready("Unknown", 100)), 400, (Some("UnhealthyNode"), None));
    let mut full = target(NodeFacts::Awaited);
    full.machine_conditions = vec![condition("Disk", "True", 0)];
    check(&full, 59, (None, Some(1)));
    check(&full, 60, (Some("UnhealthyMachine"), None));
}

#[test]
fn some_signs_need_no_time() {
    check(&target(NodeFacts::Gone), 0, (Some("NodeDeleted"), None));
    let asked = Target {
        is_asked: true,
        ..target(NodeFacts::Gone)
    };
    check(&asked, 0, (Some("HasRemediateAnnotation"), None));
}

#[test]
fn a_cluster_that_does_not_answer_changes_no_verdict() {
    check(&target(NodeFacts::Unseen), 100_000, (None, None));
    let ill = Target {
        was_unhealthy: true,
        ..target(NodeFacts::Unseen)
    };
    check(&ill, 100_000, (Some("HealthCheckUnknown"), None));
}

/// Ten machines, some of which are ill.
fn many(ill: usize, trigger: Trigger) -> Judgement {
    let targets: Vec<Target> = (0..10)
        .map(|number| Target {
            name: format!("machine-{number}"),
            is_asked: number < ill,
            ..target(ready("True", 0))
        })
        .collect();
    judge(&Policy { trigger, ..policy() }, &targets, at(0))
}

#[test]
fn too_many_are_left_alone() {
    let range = || Trigger::Within { least: 2, most: 3 };
    for (ill, trigger, may, allowed) in [
        (10, Trigger::Always, true, 0),
        (0, Trigger::Always, true, 10),
        (2, Trigger::AtMost(Amount::Count(2)), true, 0),
        (3, Trigger::AtMost(Amount::Count(2)), false, 0),
        (3, Trigger::AtMost(Amount::Percent(39)), true, 0),
        (4, Trigger::AtMost(Amount::Percent(39)), false, 0),
        (1, Trigger::AtMost(Amount::Percent(40)), true, 3),
        (1, range(), false, 0),
        (2, range(), true, 1),
        (3, range(), true, 0),
        (4, range(), false, 0),
    ] {
        let judgement = many(ill, trigger.clone());
        assert_eq!(judgement.may_remediate, may, "{ill} by {trigger:?}");
        assert_eq!(judgement.remediations_allowed, allowed, "{ill} by {trigger:?}");
        assert_eq!(judgement.refusal.is_none(), may);
        assert_eq!(judgement.expected, 10);
    }
}

proptest! {
    #[test]
    fn the_next_look_comes_neither_too_early_nor_too_late(
        since in proptest::collection::vec((0_i64..1000, 0_u8..4), 1..6), now in 0_i64..1000,
    ) {
        let targets: Vec<Target> = since.iter().enumerate().map(|(number, (since, shape))| Target {
            name: number.to_string(),
            startup_since: at(*since),
            ..target(match shape {
                0 => NodeFacts::Awaited,
                1 => ready("False", *since),
                2 => ready("True", *since),
                _ => NodeFacts::Unseen,
            })
        }).collect();
        let judgement = judge(&policy(), &targets, at(now));
        if let Some(next) = judgement.next {
            prop_assert!(!next.is_zero());
            let before = judge(&policy(), &targets, at(now) + next.checked_sub(Duration::from_millis(1)).unwrap());
            prop_assert_eq!(&before.unhealthy, &judgement.unhealthy);
            let after = judge(&policy(), &targets, at(now) + next);
            prop_assert!(after.unhealthy != judgement.unhealthy || after.next != judgement.next);
        } else {
            let later = judge(&policy(), &targets, at(now + 1_000_000));
            prop_assert_eq!(later, judgement);
        }
    }
}
