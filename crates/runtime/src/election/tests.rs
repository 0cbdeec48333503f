//! Many candidates, one compare-and-swap register, arbitrary delays, losses and clock rates: never two leaders.

use proptest::prelude::*;

use super::*;

const DURATION: Duration = Duration::from_secs(15);

const fn seconds(count: u64) -> Duration {
    Duration::from_secs(count)
}

fn record(version: &str, holder: &str) -> Record {
    Record {
        version: version.to_owned(),
        holder: holder.to_owned(),
        duration: DURATION,
        transitions: 3,
    }
}

#[test]
fn a_free_lease_is_taken_and_renewed_at_a_third() {
    let mut election = Election::new("a", DURATION);
    assert_eq!(election.next(seconds(0)), Move::Read);
    election.read(None, seconds(0));
    assert_eq!(election.begin(seconds(0)), Move::Create);
    election.wrote(record("1", "a"));
    assert_eq!(election.leads_until(seconds(1)), Some(seconds(12)));
    assert_eq!(election.next(seconds(1)), Move::Rest(seconds(4)));
    let renewal = Move::Replace {
        version: "1".to_owned(),
        transitions: 3,
    };
    assert_eq!(election.next(seconds(5)), renewal);
    assert_eq!(election.leads_until(seconds(12)), None, "steps down before it expires");
}

#[test]
fn a_silent_leader_is_replaced_only_after_the_whole_duration_since_it_was_seen() {
    let mut election = Election::new("b", DURATION);
    election.read(Some(record("7", "a")), seconds(100));
    for second in 101..115 {
        assert!(matches!(election.next(seconds(second)), Move::Rest(_) | Move::Read));
        election.read(Some(record("7", "a")), seconds(second));
    }
    election.read(Some(record("7", "a")), seconds(115));
    let takeover = Move::Replace {
        version: "7".to_owned(),
        transitions: 4,
    };
    assert_eq!(election.next(seconds(115)), takeover);
}

#[test]
fn a_released_lease_is_taken_at_once_and_a_lost_one_is_given_up() {
    let mut election = Election::new("b", DURATION);
    election.read(Some(record("7", "")), seconds(1));
    assert!(matches!(election.begin(seconds(1)), Move::Replace { .. }));
    election.wrote(record("8", "b"));
    election.failed(seconds(6));
    assert!(election.leads_until(seconds(6)).is_some(), "one failure is no loss");
    election.read(Some(record("9", "a")), seconds(8));
    assert_eq!(election.leads_until(seconds(8)), None);
}

/// The server's register.
#[derive(Default)]
struct Server {
    record: Option<Record>,
    version: u64,
}

impl Server {
    fn put(&mut self, expected: Option<&str>, holder: &str, transitions: i32) -> Option<Record> {
        if self.record.as_ref().map(|record| record.version.as_str()) != expected {
            return None;
        }
        self.version += 1;
        self.record = Some(Record {
            transitions,
            ..record(&self.version.to_string(), holder)
        });
        self.record.clone()
    }
}

/// One candidate in real time, with a clock that runs at its own rate.
struct Candidate {
    election: Election,
    name: String,
    rate_percent: u32,
    wake: Duration,
    pending: Option<Pending>,
}

enum Pending {
    Request {
        action: Move,
        arrives: Duration,
        answers: Duration,
        is_lost: bool,
    },
    Answer {
        answer: Answer,
        arrives: Duration,
    },
}

enum Answer {
    Read(Option<Record>),
    Wrote(Record),
    Failed,
}

impl Candidate {
    fn local(&self, real: Duration) -> Duration {
        real * self.rate_percent / 100
    }

    fn leads(&self, real: Duration) -> bool {
        self.election.leads_until(self.local(real)).is_some()
    }

    fn next_event(&self) -> Duration {
        match &self.pending {
            None => self.wake,
            Some(Pending::Request { arrives, .. } | Pending::Answer { arrives, .. }) => *arrives,
        }
    }

    fn advance(&mut self, real: Duration, server: &mut Server, delays: (u64, u64, bool)) {
        match self.pending.take() {
            None => match self.election.begin(self.local(real)) {
                Move::Rest(pause) => self.wake = real + pause * 100 / self.rate_percent + Duration::from_millis(1),
                action => {
                    let arrives = real + Duration::from_millis(delays.0);
                    self.pending = Some(Pending::Request {
                        action,
                        arrives,
                        answers: arrives + Duration::from_millis(delays.1),
                        is_lost: delays.2,
                    });
                }
            },
            Some(Pending::Request {
                action,
                answers,
                is_lost,
                ..
            }) => {
                let answer = match action {
                    Move::Read => Answer::Read(server.record.clone()),
                    Move::Create => server.put(None, &self.name, 0).map_or(Answer::Failed, Answer::Wrote),
                    Move::Replace { version, transitions } => server
                        .put(Some(&version), &self.name, transitions)
                        .map_or(Answer::Failed, Answer::Wrote),
                    Move::Rest(_) => unreachable!("a rest is not sent"),
                };
                let answer = if is_lost { Answer::Failed } else { answer };
                self.pending = Some(Pending::Answer {
                    answer,
                    arrives: answers,
                });
            }
            Some(Pending::Answer { answer, .. }) => {
                let now = self.local(real);
                match answer {
                    Answer::Read(record) => self.election.read(record, now),
                    Answer::Wrote(record) => self.election.wrote(record),
                    Answer::Failed => self.election.failed(now),
                }
                self.wake = real;
            }
        }
    }
}

/// Request, answer, and whether the answer is lost; in milliseconds.
type Delays = (u64, u64, bool);

/// Plays one move per entry of `delays`; hands back, per move, how many lead then.
fn play(rates: &[u32], delays: impl IntoIterator<Item = Delays>) -> Vec<usize> {
    let mut server = Server::default();
    let new = |(number, rate): (usize, &u32)| Candidate {
        election: Election::new(number.to_string(), DURATION),
        name: number.to_string(),
        rate_percent: *rate,
        wake: Duration::from_millis(number as u64 * 700),
        pending: None,
    };
    let mut candidates: Vec<Candidate> = rates.iter().enumerate().map(new).collect();
    let mut leaders = Vec::new();
    for delays in delays {
        let next = candidates.iter_mut().min_by_key(|candidate| candidate.next_event());
        let Some(next) = next else { break };
        let real = next.next_event();
        next.advance(real, &mut server, delays);
        leaders.push(candidates.iter().filter(|candidate| candidate.leads(real)).count());
    }
    leaders
}

#[test]
fn on_a_good_network_somebody_leads_all_the_time() {
    let leaders = play(&[95, 100, 105], (0..400).map(|step| (step % 90, step % 70, false)));
    assert!(leaders[..10].contains(&1), "one leads from the start");
    assert!(leaders[10..].iter().all(|count| *count == 1), "and nothing ends it");
}

proptest! {
    #[test]
    fn never_two_leaders(
        rates in proptest::collection::vec(91u32..110, 2..5),
        delays in proptest::collection::vec((0u64..20_000, 0u64..20_000, proptest::bool::weighted(0.2)), 50..400),
        quick in 0usize..10,
    ) {
        // Some short delays, so that somebody gets to lead, and some absurd ones.
        let delays = delays.into_iter().enumerate().map(|(step, (request, answer, is_lost))| {
            let scale = if step % 10 < quick { 100 } else { 1 };
            (request / scale, answer / scale, is_lost)
        });
        let leaders = play(&rates, delays);
        prop_assert!(leaders.iter().all(|count| *count <= 1), "{leaders:?}");
    }
}
