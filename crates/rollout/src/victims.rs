//! Which machines go when there are too many: those that are going already, then marked ones, then those that do not
//! work, then as the user prefers; by name where all else is equal, so that two runs choose the same. `step` counts on
//! this order.

use jiff::Timestamp;

/// One machine that could go.
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(
    clippy::struct_excessive_bools,
    reason = "each is a fact of its own that machines report"
)]
pub struct Candidate {
    /// Its name.
    pub name: String,
    /// When it was made.
    pub created: Timestamp,
    /// It is being deleted already.
    pub is_deleting: bool,
    /// Somebody asked that it go first.
    pub is_marked: bool,
    /// It has become a node.
    pub has_node: bool,
    /// Its node is in order.
    pub is_healthy: bool,
    /// It counts as available.
    pub is_available: bool,
}

/// Which machines go first among those that work equally well.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Order {
    /// Any; in fact by name, so that it does not change from one look to the next.
    #[default]
    Random,
    /// The youngest.
    Newest,
    /// The oldest.
    Oldest,
}

/// The names of the machines to delete so that `excess` fewer are left. Those that are being deleted already count, and
/// are not named again.
pub fn victims(candidates: &[Candidate], excess: usize, order: Order) -> Vec<&str> {
    let mut sorted: Vec<&Candidate> = candidates.iter().collect();
    sorted.sort_by_cached_key(|candidate| (rank(candidate), age(candidate, order), &candidate.name));
    sorted
        .into_iter()
        .take(excess)
        .filter(|candidate| !candidate.is_deleting)
        .map(|candidate| &*candidate.name)
        .collect()
}

/// How readily a machine goes; the lowest first.
const fn rank(candidate: &Candidate) -> u8 {
    if candidate.is_deleting {
        return 0;
    }
    let health = if candidate.is_available {
        4
    } else if !candidate.has_node {
        1
    } else if !candidate.is_healthy {
        2
    } else {
        3
    };
    if candidate.is_marked { health } else { health + 4 }
}

fn age(candidate: &Candidate, order: Order) -> i64 {
    let second = candidate.created.as_second();
    match order {
        Order::Random => 0,
        Order::Newest => -second,
        Order::Oldest => second,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// A machine from its name and letters: d deleting, m marked, n node, h healthy, a available.
    fn candidate(name: &str, letters: &str, second: i64) -> Candidate {
        Candidate {
            name: name.to_owned(),
            created: Timestamp::from_second(second).unwrap(),
            is_deleting: letters.contains('d'),
            is_marked: letters.contains('m'),
            has_node: letters.contains('n'),
            is_healthy: letters.contains('h'),
            is_available: letters.contains('a'),
        }
    }

    #[test]
    fn the_worst_go_first() {
        let candidates = [
            candidate("works", "nha", 0),
            candidate("young", "nh", 0),
            candidate("ill", "n", 0),
            candidate("booting", "", 0),
            candidate("marked", "mnha", 0),
            candidate("marked-ill", "mn", 0),
            candidate("going", "dnha", 0),
        ];
        let order = victims(&candidates, 7, Order::Random);
        assert_eq!(order, ["marked-ill", "marked", "booting", "ill", "young", "works"]);
        assert!(victims(&candidates, 1, Order::Random).is_empty(), "one goes already");
    }

    #[test]
    fn the_user_chooses_among_equals() {
        let candidates = [
            candidate("b", "nha", 1),
            candidate("a", "nha", 3),
            candidate("c", "nha", 2),
        ];
        for (order, expected) in [
            (Order::Random, ["a", "b", "c"]),
            (Order::Newest, ["a", "c", "b"]),
            (Order::Oldest, ["b", "c", "a"]),
        ] {
            assert_eq!(victims(&candidates, 3, order), expected, "{order:?}");
        }
    }

    #[test]
    fn equal_ages_are_ordered_by_name() {
        let candidates = [candidate("b", "nha", 1), candidate("a", "nha", 1)];
        for order in [Order::Random, Order::Newest, Order::Oldest] {
            assert_eq!(victims(&candidates, 1, order), ["a"]);
        }
    }

    proptest! {
        #[test]
        fn the_order_in_which_machines_are_found_does_not_matter(
            letters in proptest::collection::vec("d?m?n?h?a?", 0..8), excess in 0_usize..10, turn in 0_usize..8,
        ) {
            let mut candidates: Vec<Candidate> = letters
                .iter()
                .enumerate()
                .map(|(number, letters)| candidate(&format!("m{number}"), letters, 0))
                .collect();
            let before: Vec<String> =
                victims(&candidates, excess, Order::Oldest).into_iter().map(str::to_owned).collect();
            let turn = turn.min(candidates.len());
            candidates.rotate_left(turn);
            let after: Vec<String> =
                victims(&candidates, excess, Order::Oldest).into_iter().map(str::to_owned).collect();
            prop_assert_eq!(&before, &after);
            let going = candidates.iter().filter(|candidate| candidate.is_deleting).count();
            prop_assert!(before.len() <= excess.saturating_sub(going.min(excess)));
        }
    }
}
