//! The result as a table that fits into eighty columns, and as JSON. Measures nothing.

use std::{collections::BTreeMap, fmt::Write as _, fs, time::Duration};

use serde_json::{Value, json};

use crate::{
    common::{number, process::Memory},
    measurement::{Measured, Outcome},
    server::Ground,
};

/// A number of an outcome.
type Take = fn(&Outcome) -> f64;

/// What was done over how many connections, and what it took on each server.
struct Line<'a> {
    operation: &'static str,
    connections: u64,
    embedded: Option<&'a Measured>,
    real: Option<&'a Measured>,
}

/// Everything that was measured.
pub struct Report {
    /// By server.
    pub outcomes: BTreeMap<Ground, Outcome>,
    machine: String,
    is_quick: bool,
}

impl Report {
    /// A report without results.
    pub fn new(is_quick: bool) -> Self {
        Self {
            outcomes: BTreeMap::new(),
            machine: machine(),
            is_quick,
        }
    }

    /// The table.
    pub fn table(&self) -> String {
        let mut text = format!("{}\n", self.machine);
        if self.is_quick {
            text.push_str("Quick: a tenth of the work; these numbers are rough.\n");
        }
        self.operations(&mut text).expect("a string takes everything");
        self.costs(&mut text).expect("a string takes everything");
        self.whole(&mut text).expect("a string takes everything");
        text
    }

    fn operations(&self, text: &mut String) -> std::fmt::Result {
        writeln!(text, "\n{:<16}{:^26}{:^26}", "", "embedded", "kube-apiserver + etcd")?;
        writeln!(
            text,
            "{:<7}{:>9}{:>10}{:>8}{:>8}{:>10}{:>8}{:>8}{:>8}",
            "", "connect.", "per s", "p50 ms", "p99 ms", "per s", "p50 ms", "p99 ms", "ratio"
        )?;
        for line in self.lines() {
            let Line {
                operation,
                connections,
                embedded,
                real,
            } = line;
            write!(text, "{operation:<7}{connections:>9}")?;
            for measured in [embedded, real] {
                match measured {
                    Some(it) => write!(
                        text,
                        "{:>10.0}{:>8}{:>8}",
                        it.rate(),
                        milliseconds(it.median),
                        milliseconds(it.p99)
                    )?,
                    None => write!(text, "{:>10}{:>8}{:>8}", "", "", "")?,
                }
            }
            let ratio = embedded.zip(real).map(|(embedded, real)| embedded.rate() / real.rate());
            writeln!(text, "{:>8}", times(ratio))?;
        }
        for (ground, outcome) in &self.outcomes {
            let cuts: u64 = outcome.rows.iter().map(|row| row.measured.cuts).sum();
            if cuts > 0 {
                writeln!(
                    text,
                    "{}: {cuts} watches were too slow, ended, and taken up again",
                    ground.name()
                )?;
            }
        }
        Ok(())
    }

    /// Where the processor time goes.
    fn costs(&self, text: &mut String) -> std::fmt::Result {
        writeln!(text, "\nProcessor time per operation, in microseconds")?;
        writeln!(
            text,
            "{:<7}{:>9}{:>14}{:>14}{:>18}{:>18}",
            "", "connect.", "embedded", "real", "client/embedded", "client/real"
        )?;
        for line in self.lines() {
            let Line {
                operation,
                connections,
                embedded,
                real,
            } = line;
            write!(text, "{operation:<7}{connections:>9}")?;
            for (width, time) in [
                (14, embedded.map(Measured::server_time_each)),
                (14, real.map(Measured::server_time_each)),
                (18, embedded.map(Measured::client_time_each)),
                (18, real.map(Measured::client_time_each)),
            ] {
                write!(
                    text,
                    "{:>width$}",
                    time.map_or_else(String::new, |time| time.as_micros().to_string())
                )?;
            }
            writeln!(text)?;
        }
        Ok(())
    }

    /// Start and memory.
    fn whole(&self, text: &mut String) -> std::fmt::Result {
        writeln!(text, "\n{:<34}{:>14}{:>14}{:>10}", "", "embedded", "real", "ratio")?;
        let [embedded, real] = Ground::ALL.map(|ground| self.outcomes.get(&ground));
        let start = |outcome: &Outcome| outcome.start.as_secs_f64() * 1e3;
        line(
            text,
            "cold start to first answer, ms",
            embedded.map(start),
            real.map(start),
        )?;
        let memory: [(&str, Take); 4] = [
            ("resident memory, empty, MiB", |outcome| {
                mebibytes(outcome.empty.resident)
            }),
            ("proportional memory, empty, MiB", |outcome| {
                mebibytes(outcome.empty.proportional)
            }),
            ("resident memory, after load, MiB", |outcome| {
                mebibytes(outcome.loaded.resident)
            }),
            ("proportional, after load, MiB", |outcome| {
                mebibytes(outcome.loaded.proportional)
            }),
        ];
        for (label, take) in memory {
            line(text, label, embedded.map(take), real.map(take))?;
        }
        Ok(())
    }

    fn lines(&self) -> Vec<Line<'_>> {
        let mut keys = Vec::new();
        for row in self.outcomes.values().flat_map(|outcome| &outcome.rows) {
            if !keys.contains(&(row.operation, row.connections)) {
                keys.push((row.operation, row.connections));
            }
        }
        let lines = keys.into_iter().map(|(operation, connections)| Line {
            operation,
            connections,
            embedded: self.measured(Ground::Embedded, operation, connections),
            real: self.measured(Ground::Real, operation, connections),
        });
        lines.collect()
    }

    fn measured(&self, ground: Ground, operation: &str, connections: u64) -> Option<&Measured> {
        let mut rows = self.outcomes.get(&ground)?.rows.iter();
        let row = rows.find(|row| row.operation == operation && row.connections == connections)?;
        Some(&row.measured)
    }

    /// The same as JSON.
    pub fn json(&self) -> Value {
        let servers: BTreeMap<&str, Value> = self
            .outcomes
            .iter()
            .map(|(ground, outcome)| (ground.name(), outcome_json(outcome)))
            .collect();
        json!({"machine": self.machine, "isQuick": self.is_quick, "servers": servers})
    }
}

fn outcome_json(outcome: &Outcome) -> Value {
    let rows = outcome.rows.iter().map(|row| {
        json!({
            "operation": row.operation,
            "connections": row.connections,
            "count": row.measured.count,
            "cutWatches": row.measured.cuts,
            "perSecond": row.measured.rate(),
            "p50Microseconds": micros(row.measured.median),
            "p99Microseconds": micros(row.measured.p99),
            "serverMicroseconds": micros(row.measured.server_time_each()),
            "clientMicroseconds": micros(row.measured.client_time_each()),
        })
    });
    json!({
        "startMicroseconds": micros(outcome.start),
        "empty": memory_json(outcome.empty),
        "loaded": memory_json(outcome.loaded),
        "operations": rows.collect::<Vec<_>>(),
    })
}

fn memory_json(memory: Memory) -> Value {
    json!({"residentBytes": memory.resident, "proportionalBytes": memory.proportional})
}

fn micros(time: Duration) -> f64 {
    time.as_secs_f64() * 1e6
}

fn line(text: &mut String, label: &str, embedded: Option<f64>, real: Option<f64>) -> std::fmt::Result {
    let whole = |value: Option<f64>| value.map_or_else(String::new, |value| format!("{value:.0}"));
    let ratio = embedded.zip(real).map(|(embedded, real)| real / embedded);
    writeln!(
        text,
        "{label:<34}{:>14}{:>14}{:>10}",
        whole(embedded),
        whole(real),
        times(ratio)
    )
}

fn times(ratio: Option<f64>) -> String {
    ratio.map_or_else(String::new, |ratio| format!("{ratio:.1}x"))
}

fn milliseconds(time: Duration) -> String {
    let milliseconds = time.as_secs_f64() * 1e3;
    if milliseconds < 100.0 {
        format!("{milliseconds:.2}")
    } else {
        format!("{milliseconds:.0}")
    }
}

fn mebibytes(bytes: u64) -> f64 {
    number(bytes) / f64::from(1 << 20)
}

/// What this machine is.
fn machine() -> String {
    let information = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = information.lines().find_map(|line| line.strip_prefix("model name"));
    let model = model.map_or("unknown processor", |model| model.trim_start_matches([' ', '\t', ':']));
    let cores = std::thread::available_parallelism().map_or(0, usize::from);
    let kernel = fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
    format!("{cores} cores, {model}, Linux {}", kernel.trim())
}
