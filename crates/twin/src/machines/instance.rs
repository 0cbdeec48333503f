//! One instance from the data that it boots with to its life as a node: where it is next, and what is due. Pure; time,
//! chance and faults are parameters.
//!
//! ```text
//!  Off ─► Booting ─► Fetching ─► Configured ─► Joining ─► Running (heard of, or silent)
//!   └──► Waking ───────┴─────────────┴─ Stuck ─┘             ▲
//!           └────────────────────────────────────────────────┘
//! ```

use std::time::Duration;

use jiff::Timestamp;

use super::settings::MachineSettings;
use crate::{faults::FaultKind, moment, settings::drawn};

/// How often it is looked for a certificate: often at first, more rarely the longer it takes.
const POLL: Duration = Duration::from_millis(500);
const LONGEST_POLL: Duration = Duration::from_secs(30);
/// How often it is looked whether a fault is over: faults change without an event.
const LOOK: Duration = Duration::from_secs(10);

/// Where an instance is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Phase {
    /// It waits for the data that it boots with.
    Off,
    /// It was there before this twin was: whether it has joined is asked.
    Waking {
        /// When to ask.
        again: Timestamp,
    },
    /// It starts.
    Booting {
        /// Since when.
        since: Timestamp,
    },
    /// It fetches its configuration.
    Fetching {
        /// When to try.
        again: Timestamp,
    },
    /// Its files are written, and its kubelet is about to start.
    Configured {
        /// Since when.
        since: Timestamp,
    },
    /// Its kubelet has asked for a certificate.
    Joining {
        /// Since when.
        since: Timestamp,
        /// When to look.
        again: Timestamp,
    },
    /// It is a node.
    Running {
        /// Since when.
        since: Timestamp,
    },
    /// It goes no further.
    Stuck {
        /// Why.
        why: String,
    },
}

/// What is to be done for an instance.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Due {
    /// Nothing, until something changes.
    Change,
    /// Nothing, until a moment.
    At(Timestamp),
    /// To ask whether it has joined before.
    Recall,
    /// To fetch its configuration.
    Fetch,
    /// To go on with joining.
    Join,
}

/// Why something did not work.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Trouble {
    /// The next attempt may.
    Again(String),
    /// No attempt will.
    Final(String),
}

/// What an instance is looked at with.
#[derive(Clone, Copy)]
pub(crate) struct Seen<'a> {
    /// The current time.
    pub(crate) now: Timestamp,
    /// Its namespace and name: what chance is drawn for.
    pub(crate) about: &'a str,
    /// Whether there is data to boot with.
    pub(crate) has_data: bool,
    /// Whether it was told before that it is there.
    pub(crate) was_up: bool,
    /// What goes wrong with it.
    pub(crate) faults: &'a [FaultKind],
    /// How long things take.
    pub(crate) settings: &'a MachineSettings,
    /// All chance follows from it.
    pub(crate) seed: u64,
}

impl Seen<'_> {
    fn drawn(&self, what: &str, longest: Duration) -> Duration {
        drawn(self.seed, &format!("machine/{}/{what}", self.about), longest)
    }

    /// When the instance has booted, of the moment at which it began.
    fn booted(&self, since: Timestamp) -> Timestamp {
        let slow = self.faults.iter().filter_map(|fault| match fault {
            FaultKind::SlowBoot(longer) => Some(*longer),
            _ => None,
        });
        let duration = self.drawn("boot", self.settings.boot).saturating_add(slow.sum());
        moment::after(since, duration)
    }
}

/// Where an instance is now, and what is due.
pub(crate) fn look(phase: Phase, seen: &Seen<'_>) -> (Phase, Due) {
    let now = seen.now;
    let again = |phase: Phase, at: Timestamp, due: Due| {
        let due = if at > now { Due::At(at) } else { due };
        (phase, due)
    };
    match phase {
        Phase::Off if !seen.has_data => (phase, Due::Change),
        Phase::Off if seen.was_up => (Phase::Waking { again: now }, Due::Recall),
        Phase::Off => look(Phase::Booting { since: now }, seen),
        Phase::Booting { .. } if seen.faults.contains(&FaultKind::NeverBoots) => {
            (phase, Due::At(moment::after(now, LOOK)))
        }
        Phase::Booting { since } => match seen.booted(since) {
            at if at > now => (phase, Due::At(at)),
            _ => look(Phase::Fetching { again: now }, seen),
        },
        Phase::Waking { again: at } => again(phase, at, Due::Recall),
        Phase::Fetching { again: at } => again(phase, at, Due::Fetch),
        Phase::Configured { .. } if seen.faults.contains(&FaultKind::NeverJoins) => {
            (phase, Due::At(moment::after(now, LOOK)))
        }
        Phase::Configured { since } => {
            let at = moment::after(since, seen.drawn("start", seen.settings.start));
            if at > now {
                (phase, Due::At(at))
            } else {
                look(Phase::Joining { since: now, again: now }, seen)
            }
        }
        Phase::Joining { again: at, .. } => again(phase, at, Due::Join),
        Phase::Running { .. } | Phase::Stuck { .. } => (phase, Due::Change),
    }
}

impl Phase {
    /// Whether the provider can say that the machine is there. Whether it becomes a node is another matter.
    pub(crate) const fn is_up(&self) -> bool {
        !matches!(self, Self::Off | Self::Booting { .. })
    }

    /// After it was asked whether the instance has joined before; without an answer it is asked again.
    pub(crate) fn after_recall(has_joined: Option<bool>, now: Timestamp, retry: Duration) -> Self {
        match has_joined {
            Some(true) => Self::Running { since: now },
            Some(false) => Self::Fetching { again: now },
            None => Self::Waking {
                again: moment::after(now, retry),
            },
        }
    }

    /// After it was tried to fetch the configuration and to obey it.
    pub(crate) fn after_fetch(trouble: Option<&Trouble>, now: Timestamp, retry: Duration) -> Self {
        match trouble {
            None => Self::Configured { since: now },
            Some(Trouble::Again(_)) => Self::Fetching {
                again: moment::after(now, retry),
            },
            Some(Trouble::Final(why)) => Self::Stuck { why: why.clone() },
        }
    }

    /// After a step of joining, which is over when it says so.
    pub(crate) fn after_join(self, outcome: &Result<bool, Trouble>, now: Timestamp) -> Self {
        let since = match self {
            Self::Joining { since, .. } => since,
            _ => now,
        };
        match outcome {
            Ok(true) => Self::Running { since: now },
            Ok(false) | Err(Trouble::Again(_)) => {
                let pause = (moment::until(now, since) / 4).clamp(POLL, LONGEST_POLL);
                Self::Joining {
                    since,
                    again: moment::after(now, pause),
                }
            }
            Err(Trouble::Final(why)) => Self::Stuck { why: why.clone() },
        }
    }
}

/// Since when nothing is heard of an instance that joined at a moment, by its faults and when each was first seen; none
/// while it is heard of. What goes wrong with a node that runs goes wrong from then on, and not since it joined.
pub(crate) fn silent_since(joined: Timestamp, faults: &[(FaultKind, Timestamp)], now: Timestamp) -> Option<Timestamp> {
    let silences = faults.iter().filter_map(|(fault, seen)| match fault {
        FaultKind::Silent { from, until } => {
            let base = joined.max(*seen);
            let begin = moment::after(base, *from);
            let is_over = until.is_some_and(|until| moment::after(base, until) <= now);
            (begin <= now && !is_over).then_some(begin)
        }
        _ => None,
    });
    silences.min()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const SEED: u64 = 7;

    const RETRY: Duration = Duration::from_secs(5);

    fn start() -> Timestamp {
        "2026-01-02T03:04:05Z".parse().unwrap()
    }

    fn at(seconds: u64) -> Timestamp {
        moment::after(start(), Duration::from_secs(seconds))
    }

    fn instant() -> MachineSettings {
        MachineSettings::kubevirt().instant()
    }

    fn seen<'a>(now: Timestamp, faults: &'a [FaultKind], settings: &'a MachineSettings) -> Seen<'a> {
        Seen {
            now,
            about: "clusters-a/one",
            has_data: true,
            was_up: false,
            faults,
            settings,
            seed: SEED,
        }
    }

    #[test]
    fn an_instance_goes_on_when_its_time_has_come() {
        let settings = instant();
        let since = start();
        let joining = |again| Phase::Joining { since, again };
        let (booting, fetching) = (Phase::Booting { since }, Phase::Fetching { again: since });
        let never_boots = [FaultKind::NeverBoots];
        let slow = [FaultKind::SlowBoot(Duration::from_mins(1))];
        let never_joins = [FaultKind::NeverJoins];
        let configured = Phase::Configured { since };
        let cases: Vec<(Phase, &[FaultKind], u64, Phase, Due)> = vec![
            (Phase::Off, &[], 0, fetching.clone(), Due::Fetch),
            (booting.clone(), &never_boots, 900, booting.clone(), Due::At(at(910))),
            (booting.clone(), &slow, 59, booting.clone(), Due::At(at(60))),
            (booting, &slow, 60, Phase::Fetching { again: at(60) }, Due::Fetch),
            (
                Phase::Fetching { again: at(5) },
                &[],
                4,
                Phase::Fetching { again: at(5) },
                Due::At(at(5)),
            ),
            (configured.clone(), &[], 0, joining(since), Due::Join),
            (configured.clone(), &never_joins, 5, configured, Due::At(at(15))),
            (joining(at(3)), &[], 2, joining(at(3)), Due::At(at(3))),
            (joining(at(3)), &[], 3, joining(at(3)), Due::Join),
            (Phase::Running { since }, &[], 99, Phase::Running { since }, Due::Change),
        ];
        for (phase, faults, seconds, expected, due) in cases {
            let found = look(phase.clone(), &seen(at(seconds), faults, &settings));
            assert_eq!(found, (expected, due), "{phase:?} after {seconds} s");
        }
    }

    #[test]
    fn nothing_begins_without_data() {
        let settings = instant();
        let without = Seen {
            has_data: false,
            ..seen(start(), &[], &settings)
        };
        assert_eq!(look(Phase::Off, &without), (Phase::Off, Due::Change));
        assert!(!Phase::Off.is_up());
    }

    #[test]
    fn one_that_was_there_before_is_asked_about_first() {
        let settings = instant();
        let known = Seen {
            was_up: true,
            ..seen(start(), &[], &settings)
        };
        let (phase, due) = look(Phase::Off, &known);
        assert_eq!((phase.is_up(), due), (true, Due::Recall));
        for (answer, expected) in [
            (Some(true), Phase::Running { since: start() }),
            (Some(false), Phase::Fetching { again: start() }),
            (None, Phase::Waking { again: at(5) }),
        ] {
            assert_eq!(Phase::after_recall(answer, start(), RETRY), expected);
        }
    }

    #[test]
    fn what_cannot_work_is_not_tried_again() {
        let stuck = Phase::Stuck { why: "no".to_owned() };
        let (again, last) = (Trouble::Again("later".to_owned()), Trouble::Final("no".to_owned()));
        assert_eq!(
            Phase::after_fetch(Some(&again), start(), RETRY),
            Phase::Fetching { again: at(5) }
        );
        assert_eq!(Phase::after_fetch(Some(&last), start(), RETRY), stuck);
        let joining = Phase::Joining {
            since: start(),
            again: start(),
        };
        assert_eq!(joining.clone().after_join(&Err(last), start()), stuck);
        assert_eq!(
            joining.clone().after_join(&Ok(true), at(9)),
            Phase::Running { since: at(9) }
        );
        for (now, pause) in [(0, 500), (40, 10_000), (4_000, 30_000)] {
            let Phase::Joining { again, .. } = joining.clone().after_join(&Ok(false), at(now)) else {
                panic!("it goes on to join");
            };
            let expected = moment::after(at(now), Duration::from_millis(pause));
            assert_eq!(again, expected, "after {now} s");
        }
    }

    #[test]
    fn silence_has_a_beginning_and_perhaps_an_end() {
        let silent = |from, until: Option<u64>| FaultKind::Silent {
            from: Duration::from_secs(from),
            until: until.map(Duration::from_secs),
        };
        let early = |fault: FaultKind| (fault, start());
        let late = |fault: FaultKind| (fault, at(1_000));
        let cases = [
            (vec![early(silent(10, Some(20)))], 9, None),
            (vec![early(silent(10, Some(20)))], 10, Some(10)),
            (vec![early(silent(10, Some(20)))], 20, None),
            (vec![early(silent(10, None))], 9_000, Some(10)),
            (vec![early(silent(30, None)), early(silent(10, None))], 40, Some(10)),
            (vec![early(FaultKind::NodeGone)], 40, None),
            (vec![late(silent(0, Some(20)))], 1_000, Some(1_000)),
            (vec![late(silent(10, Some(20)))], 1_009, None),
            (vec![late(silent(10, Some(20)))], 1_020, None),
            (
                vec![late(silent(0, None)), early(silent(0, Some(20)))],
                1_001,
                Some(1_000),
            ),
        ];
        for (faults, now, expected) in cases {
            let found = silent_since(start(), &faults, at(now));
            assert_eq!(found, expected.map(at), "{faults:?} after {now} s");
        }
    }

    proptest! {
        /// Driven by its own wishes, an instance whose exchanges work becomes a node in bounded time, by the same times
        /// for the same seed.
        #[test]
        fn an_instance_without_faults_becomes_a_node(seed: u64, name in "[a-z]{1,8}", failures in 0_u8..4) {
            let run = || {
                let settings = MachineSettings::kubevirt();
                let (mut phase, mut now, mut left) = (Phase::Off, start(), failures);
                for _ in 0..64 {
                    let seen = Seen { about: &name, seed, ..seen(now, &[], &settings) };
                    let (next, due) = look(phase, &seen);
                    let fails = left > 0;
                    let trouble = Trouble::Again("later".to_owned());
                    phase = match due {
                        Due::Change => return (next, now),
                        Due::At(at) => { now = at; next }
                        Due::Recall => Phase::after_recall(Some(false), now, RETRY),
                        Due::Fetch => { left = left.saturating_sub(1); Phase::after_fetch(fails.then_some(&trouble), now, RETRY) }
                        Due::Join => { left = left.saturating_sub(1); next.after_join(&Ok(!fails), now) }
                    };
                }
                (phase, now)
            };
            let (phase, now) = run();
            prop_assert!(matches!(phase, Phase::Running { .. }), "{phase:?}");
            prop_assert!(now <= at(40 + 10 + 4 * 30));
            prop_assert_eq!(run(), (phase, now));
        }
    }
}
