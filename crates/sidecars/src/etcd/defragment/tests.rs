//! The choice as a table, and what must hold of every other row.

use proptest::prelude::*;

use super::*;

const LIMITS: Thresholds = Thresholds {
    unused_percent: 45,
    database_bytes: 100,
};

/// The member, its leader, its bytes, and those in use.
type Numbers = (u64, u64, u64, u64);

fn status((member, leader, database_bytes, used_bytes): Numbers) -> Status {
    Status {
        member,
        leader,
        database_bytes,
        used_bytes,
    }
}

#[test]
fn followers_come_first_and_the_leader_last() {
    let cases: [(&str, &[Numbers], Option<usize>); 12] = [
        ("nobody", &[], None),
        ("a single one leads itself", &[(1, 1, 200, 10)], Some(0)),
        ("all full", &[(1, 1, 200, 190), (2, 1, 200, 190)], None),
        ("a follower", &[(1, 1, 200, 190), (2, 1, 200, 10)], Some(1)),
        ("the leader alone", &[(1, 1, 200, 10), (2, 1, 200, 190)], Some(0)),
        ("both: the follower", &[(1, 1, 200, 10), (2, 1, 200, 10)], Some(1)),
        (
            "two followers: the first",
            &[(1, 3, 200, 10), (2, 3, 900, 10), (3, 3, 900, 10)],
            Some(0),
        ),
        ("exactly at both limits", &[(1, 1, 100, 55)], Some(0)),
        ("one byte too much in use", &[(1, 1, 1000, 551)], None),
        ("one byte too small", &[(1, 1, 99, 0)], None),
        ("no leader", &[(1, 0, 200, 10), (2, 0, 200, 10)], None),
        ("two leaders", &[(1, 1, 200, 10), (2, 2, 200, 10)], None),
    ];
    for (name, members, expected) in cases {
        let members: Vec<_> = members.iter().copied().map(status).collect();
        assert_eq!(choose(&members, LIMITS), expected, "{name}");
    }
}

#[test]
fn the_limits_are_those_of_upstream() {
    assert_eq!(
        Thresholds::default(),
        Thresholds {
            unused_percent: 45,
            database_bytes: 100_000_000
        }
    );
}

#[test]
fn only_the_program_beside_the_leader_acts() {
    let member = |id, name: &str| Member {
        id,
        name: name.to_owned(),
        ..Member::default()
    };
    let members = [member(1, "etcd-0"), member(2, "etcd-1")];
    let statuses = [status((1, 2, 0, 0)), status((2, 2, 0, 0))];
    let who: Vec<_> = ["etcd-0", "etcd-1", "etcd-2"]
        .map(|name| leads(name, &members, &statuses))
        .to_vec();
    assert_eq!(who, [false, true, false]);
}

proptest! {
    #[test]
    fn what_is_chosen_is_worth_it_and_the_leader_never_goes_before_a_follower(
        sizes in prop::collection::vec((0_u64..u64::MAX, 0_u64..u64::MAX), 1..6),
        leader in 0_usize..6,
    ) {
        let leader = u64::try_from(leader % sizes.len()).unwrap() + 1;
        let members: Vec<_> = sizes
            .iter()
            .zip(1_u64..)
            .map(|((database, used), member)| status((member, leader, *database, *used)))
            .collect();
        let worthy: Vec<_> = members.iter().filter(|status| LIMITS.are_reached_by(status)).collect();
        match choose(&members, LIMITS) {
            None => prop_assert!(worthy.is_empty()),
            Some(index) => {
                let chosen = &members[index];
                prop_assert!(LIMITS.are_reached_by(chosen));
                prop_assert!(chosen.member != leader || worthy.len() == 1);
            }
        }
    }
}
