//! The rules of leader election, as a pure value: what to do next, given what was read and when. The rules are
//! client-go's (tools/leaderelection): only local time since a record was first seen counts, never the remote clock,
//! and every change is a compare-and-swap on the record's version.
//!
//! Safety: a leader counts from the start of the request that renewed, and stops at four fifths of the duration; a
//! follower counts from the moment at which it saw the record, which is later, and waits for the whole of it. So two
//! never lead at once, as long as their clocks run within a tenth of the same speed.

use std::time::Duration;

#[cfg(test)]
mod tests;

/// A lease record as it was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Record {
    pub(crate) version: String,
    /// Empty if it was released.
    pub(crate) holder: String,
    pub(crate) duration: Duration,
    pub(crate) transitions: i32,
}

/// The next move of a candidate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Move {
    Read,
    /// Create the record, holding it.
    Create,
    /// Replace the record of this version, holding it.
    Replace {
        version: String,
        transitions: i32,
    },
    /// Nothing to do before this much time has passed.
    Rest(Duration),
}

/// One candidate's knowledge. All times are local and monotonic.
#[derive(Clone, Debug)]
pub(crate) struct Election {
    identity: String,
    duration: Duration,
    seen: Option<(Record, Duration)>,
    is_absent: bool,
    must_read: bool,
    began: Duration,
    renewed: Option<Duration>,
    rest_until: Duration,
}

impl Election {
    pub(crate) fn new(identity: impl Into<String>, duration: Duration) -> Self {
        Self {
            identity: identity.into(),
            duration,
            seen: None,
            is_absent: false,
            must_read: true,
            began: Duration::ZERO,
            renewed: None,
            rest_until: Duration::ZERO,
        }
    }

    /// What to do, beginning at `now`; leadership that results from it counts from here.
    pub(crate) fn begin(&mut self, now: Duration) -> Move {
        self.began = now;
        self.next(now)
    }

    fn next(&self, now: Duration) -> Move {
        let rest = self.rest_until.saturating_sub(now);
        if !rest.is_zero() {
            return Move::Rest(rest);
        }
        if self.must_read {
            return Move::Read;
        }
        match &self.seen {
            _ if self.is_absent => Move::Create,
            Some((record, at)) if self.may_take(record, *at, now) => Move::Replace {
                version: record.version.clone(),
                transitions: record.transitions + i32::from(record.holder != self.identity),
            },
            _ => Move::Read,
        }
    }

    /// Notes what was read at `now`.
    pub(crate) fn read(&mut self, record: Option<Record>, now: Duration) {
        self.must_read = false;
        self.is_absent = record.is_none();
        let Some(record) = record else {
            self.seen = None;
            self.renewed = None;
            return;
        };
        if record.holder != self.identity {
            self.renewed = None;
        }
        let is_known = self.seen.as_ref().is_some_and(|(seen, _)| *seen == record);
        if !is_known {
            self.seen = Some((record, now));
        }
        let (record, at) = self.seen.as_ref().expect("it was just set");
        if self.may_take(record, *at, now) {
            self.rest_until = now;
        } else {
            self.must_read = true;
            self.rest_until = now + self.poll_interval();
        }
    }

    /// Notes that the write that was begun last succeeded.
    pub(crate) fn wrote(&mut self, record: Record) {
        self.is_absent = false;
        self.must_read = false;
        self.renewed = Some(self.began);
        self.rest_until = self.began + self.duration / 3;
        self.seen = Some((record, self.began));
    }

    /// Notes that a request failed or was refused: the record must be read before anything else.
    pub(crate) fn failed(&mut self, now: Duration) {
        self.must_read = true;
        self.rest_until = now + self.retry_interval();
    }

    /// Whether the record has been read at all.
    pub(crate) const fn is_informed(&self) -> bool {
        self.is_absent || self.seen.is_some()
    }

    /// Until when this candidate leads, if it does at `now`.
    pub(crate) fn leads_until(&self, now: Duration) -> Option<Duration> {
        let until = self.renewed? + self.duration * 4 / 5;
        (now < until).then_some(until)
    }

    /// The record that this candidate holds and would release, if any.
    pub(crate) fn held(&self) -> Option<&Record> {
        let (record, _) = self.seen.as_ref()?;
        (record.holder == self.identity).then_some(record)
    }

    fn may_take(&self, record: &Record, at: Duration, now: Duration) -> bool {
        let is_free = record.holder.is_empty() || record.holder == self.identity;
        is_free || now.saturating_sub(at) >= record.duration.max(self.duration)
    }

    /// How often a follower looks, so that a release is noticed soon.
    fn poll_interval(&self) -> Duration {
        self.duration / 6
    }

    fn retry_interval(&self) -> Duration {
        self.duration / 10
    }
}
