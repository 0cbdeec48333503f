//! What the router has done, as numbers for a reader of metrics. Owns the numbers and their names.

use std::{
    fmt::Write as _,
    sync::atomic::{AtomicU64, Ordering},
};

/// How a connection ended, or what became of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Outcome {
    /// Passed on, and both sides said goodbye.
    Finished,
    /// Passed on, and nobody said anything for too long.
    Silent,
    /// Passed on, and broken by one of both.
    Broken,
    /// The name is not known here.
    UnknownName,
    /// There was no name, or no TLS, or it did not come in time.
    NoName,
    /// Whoever the name leads to is not there.
    BackendAway,
}

impl Outcome {
    const ALL: [Self; 6] = [
        Self::Finished,
        Self::Silent,
        Self::Broken,
        Self::UnknownName,
        Self::NoName,
        Self::BackendAway,
    ];

    fn label(self) -> &'static str {
        match self {
            Self::Finished => "finished",
            Self::Silent => "silent",
            Self::Broken => "broken",
            Self::UnknownName => "unknown_name",
            Self::NoName => "no_name",
            Self::BackendAway => "backend_away",
        }
    }
}

/// All numbers.
#[derive(Debug, Default)]
pub(super) struct Counts {
    opened: AtomicU64,
    ended: [AtomicU64; Outcome::ALL.len()],
    reloads: AtomicU64,
    refused_reloads: AtomicU64,
}

impl Counts {
    /// A connection came in.
    pub(super) fn open(&self) {
        self.opened.fetch_add(1, Ordering::Relaxed);
    }

    /// A connection ended.
    pub(super) fn end(&self, outcome: Outcome) {
        self.ended[outcome as usize].fetch_add(1, Ordering::Relaxed);
    }

    /// The file changed.
    pub(super) fn reload(&self, is_used: bool) {
        let count = if is_used { &self.reloads } else { &self.refused_reloads };
        count.fetch_add(1, Ordering::Relaxed);
    }

    /// All numbers in the text format of Prometheus.
    pub(super) fn text(&self) -> String {
        let read = |count: &AtomicU64| count.load(Ordering::Relaxed);
        // Ended ones are read first, so that there are never more of them than were opened.
        let ended = self.ended.each_ref().map(read);
        let opened = read(&self.opened);
        let mut text = String::new();
        let mut line = |line: String| writeln!(text, "{line}").expect("writing to a string cannot fail");
        line("# TYPE hyperplane_router_connections gauge".to_owned());
        line(format!(
            "hyperplane_router_connections {}",
            opened - ended.iter().sum::<u64>()
        ));
        line("# TYPE hyperplane_router_connections_ended_total counter".to_owned());
        for outcome in Outcome::ALL {
            let (label, count) = (outcome.label(), ended[outcome as usize]);
            line(format!(
                "hyperplane_router_connections_ended_total{{outcome=\"{label}\"}} {count}"
            ));
        }
        line("# TYPE hyperplane_router_reloads_total counter".to_owned());
        for (label, count) in [("used", &self.reloads), ("refused", &self.refused_reloads)] {
            line(format!(
                "hyperplane_router_reloads_total{{outcome=\"{label}\"}} {}",
                read(count)
            ));
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_outcome_has_its_number() {
        let counts = Counts::default();
        for (index, outcome) in Outcome::ALL.into_iter().enumerate() {
            assert_eq!(outcome as usize, index);
            for _ in 0..=index {
                counts.open();
                counts.end(outcome);
            }
        }
        counts.open();
        counts.reload(true);
        counts.reload(false);
        let text = counts.text();
        for line in [
            "hyperplane_router_connections 1",
            "hyperplane_router_connections_ended_total{outcome=\"finished\"} 1",
            "hyperplane_router_connections_ended_total{outcome=\"backend_away\"} 6",
            "hyperplane_router_reloads_total{outcome=\"refused\"} 1",
        ] {
            assert!(text.lines().any(|found| found == line), "{line} in {text}");
        }
    }
}
