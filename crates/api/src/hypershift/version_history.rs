//! How the history of a cluster's versions goes on. Whoever tells the version of a whole cluster tells it from here.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;

use super::version_status::{ClusterVersionUpdate, UpdateState};

/// The most entries that a history keeps, of a cluster and of a control plane.
pub const MOST_HISTORY: usize = 100;

/// The history after a look: an entry begins when another image is wanted, which ends the one before, and is complete once
/// everything has reached it. What was complete once stays so. The time is in whole seconds, as the wire carries it.
pub fn advance(
    mut history: Vec<ClusterVersionUpdate>,
    image: &str,
    version: Option<&str>,
    is_complete: bool,
    now: &Time,
) -> Vec<ClusterVersionUpdate> {
    if history.first().is_none_or(|newest| newest.image != image) {
        if let Some(newest) = history.first_mut() {
            newest.completion_time.get_or_insert_with(|| now.clone());
        }
        history.insert(
            0,
            ClusterVersionUpdate {
                state: UpdateState::Partial,
                version: version.map(str::to_owned),
                image: image.to_owned(),
                started_time: now.clone(),
                completion_time: None,
                verified: false,
                accepted_risks: None,
            },
        );
        history.truncate(MOST_HISTORY);
    }
    if let Some(newest) = history.first_mut()
        && is_complete
        && newest.state != UpdateState::Completed
    {
        newest.state = UpdateState::Completed;
        newest.completion_time = Some(now.clone());
    }
    history
}

#[cfg(test)]
mod tests {
    use jiff::Timestamp;

    use super::*;

    fn at(second: i64) -> Time {
        Time(Timestamp::constant(second, 0))
    }

    fn told(history: &[ClusterVersionUpdate]) -> Vec<(String, bool, i64, Option<i64>)> {
        let seconds = |time: &Time| time.0.as_second();
        let told = history.iter().map(|update| {
            let is_complete = update.state == UpdateState::Completed;
            let ended = update.completion_time.as_ref().map(seconds);
            (update.image.clone(), is_complete, seconds(&update.started_time), ended)
        });
        told.collect()
    }

    #[test]
    fn history_tells_what_began_and_what_ended() {
        let first = advance(Vec::new(), "a", Some("1.0.0"), false, &at(10));
        assert_eq!(told(&first), [("a".to_owned(), false, 10, None)]);
        let same = advance(first.clone(), "a", Some("1.0.0"), false, &at(20));
        assert_eq!(same, first);
        let complete = advance(same, "a", Some("1.0.0"), true, &at(30));
        assert_eq!(told(&complete), [("a".to_owned(), true, 10, Some(30))]);
        let again = advance(complete.clone(), "a", Some("1.0.0"), false, &at(40));
        assert_eq!(again, complete, "what was reached once stays reached");
        let next = advance(again, "b", Some("1.0.1"), false, &at(50));
        let over = advance(next, "c", Some("1.0.2"), true, &at(60));
        assert_eq!(
            told(&over),
            [
                ("c".to_owned(), true, 60, Some(60)),
                ("b".to_owned(), false, 50, Some(60)),
                ("a".to_owned(), true, 10, Some(30)),
            ]
        );
    }

    #[test]
    fn history_has_an_end() {
        let mut history = Vec::new();
        for number in 0..150_i64 {
            history = advance(history, &number.to_string(), Some("1.0.0"), true, &at(number));
        }
        assert_eq!(history.len(), MOST_HISTORY);
        assert_eq!(history[0].image, "149");
    }
}
