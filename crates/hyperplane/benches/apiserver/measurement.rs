//! What is measured, as values, and how much work there is. Measures nothing itself.

use std::{fmt, time::Duration};

use crate::common::{number, process::Memory};

/// How much of everything is done. Both servers get the same, so that their memory can be compared afterwards.
pub struct Sizes {
    /// Divides the numbers of operations.
    divisor: u64,
}

impl Sizes {
    /// For results.
    pub fn full() -> Self {
        Self { divisor: 1 }
    }

    /// For a quick look.
    pub fn quick() -> Self {
        Self { divisor: 10 }
    }

    /// Objects that are created over so many connections: seconds of work for kube-apiserver. With the most connections
    /// it is the list of ten thousand.
    pub fn objects(&self, connections: u64) -> u64 {
        let objects = match connections {
            1 => 2_000,
            16 => 8_000,
            _ => 10_000,
        };
        objects / self.divisor
    }

    /// Requests that read one object.
    pub fn gets(&self, connections: u64) -> u64 {
        self.objects(connections) * 2
    }

    /// Requests that list. A quick look takes as many: they are few.
    pub fn lists(connections: u64) -> u64 {
        (connections * 2).max(10)
    }

    /// Writes that a hundred watchers see.
    pub fn watched(&self, connections: u64) -> u64 {
        self.objects(connections) / 4
    }
}

/// What one operation took over some connections.
#[derive(Clone, Debug, Default)]
pub struct Measured {
    /// Operations.
    pub count: u64,
    /// From the first to the last.
    pub elapsed: Duration,
    /// The time that half of them took at most.
    pub median: Duration,
    /// The time that 99 of 100 took at most.
    pub p99: Duration,
    /// Watches that the server ended because they were too slow.
    pub cuts: u64,
    /// Processor time of the server's processes.
    pub server_time: Duration,
    /// Processor time of this process.
    pub client_time: Duration,
}

impl Measured {
    /// From the time that each of the operations took.
    pub fn new(mut latencies: Vec<Duration>, elapsed: Duration) -> Self {
        latencies.sort_unstable();
        let at = |hundredths: usize| latencies.get(latencies.len() * hundredths / 100).copied();
        Self {
            count: latencies.len() as u64,
            elapsed,
            median: at(50).unwrap_or_default(),
            p99: at(99).unwrap_or_default(),
            ..Self::default()
        }
    }

    /// Operations per second.
    pub fn rate(&self) -> f64 {
        number(self.count) / self.elapsed.as_secs_f64()
    }

    /// Processor time of the server per operation.
    pub fn server_time_each(&self) -> Duration {
        self.server_time.div_f64(number(self.count).max(1.0))
    }

    /// Processor time of this process per operation.
    pub fn client_time_each(&self) -> Duration {
        self.client_time.div_f64(number(self.count).max(1.0))
    }
}

impl fmt::Display for Measured {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            formatter,
            "{:.0}/s, p50 {:.2?}, p99 {:.2?}, server {:.1?} and client {:.1?} of processor each",
            self.rate(),
            self.median,
            self.p99,
            self.server_time_each(),
            self.client_time_each()
        )?;
        match self.cuts {
            0 => Ok(()),
            cuts => write!(formatter, ", {cuts} watches cut"),
        }
    }
}

/// A line of the result.
#[derive(Debug)]
pub struct Row {
    /// What was done.
    pub operation: &'static str,
    /// Over how many connections.
    pub connections: u64,
    /// What it took.
    pub measured: Measured,
}

/// All about one server.
#[derive(Debug, Default)]
pub struct Outcome {
    /// From nothing to the first answer.
    pub start: Duration,
    /// Memory before the load.
    pub empty: Memory,
    /// Memory after the load.
    pub loaded: Memory,
    /// The load.
    pub rows: Vec<Row>,
}
