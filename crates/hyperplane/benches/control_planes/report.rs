//! The result as a table that fits into eighty columns, and as JSON. Measures nothing.

use std::{collections::BTreeSet, fmt::Write as _, time::Duration};

use serde_json::{Value, json};

use crate::{common::number, management::audit::Count};

/// A number of a row.
type Take = fn(&Row) -> u64;

/// What so many clusters cost.
#[derive(Debug, Default)]
pub struct Row {
    /// How many.
    pub clusters: usize,
    /// From the first creation until all are complete.
    pub wall: Duration,
    /// Processor time of the operators until nothing is written any more.
    pub cpu: Duration,
    /// Their requests until then.
    pub requests: Count,
    /// Their resident memory before the first cluster.
    pub resident_before: u64,
    /// Their resident memory with all clusters.
    pub resident: u64,
    /// Requests at rest.
    pub at_rest: Count,
    /// Requests after every cluster was touched.
    pub after_touch: Count,
    /// Requests after a restart of the operators.
    pub after_restart: Count,
}

impl Row {
    fn each(&self, value: f64) -> f64 {
        value / number(u64::try_from(self.clusters).unwrap_or(u64::MAX)).max(1.0)
    }

    fn memory_each(&self) -> f64 {
        self.each(number(self.resident.saturating_sub(self.resident_before)) / f64::from(1 << 10))
    }

    /// Name and value of everything that is told per cluster.
    fn costs(&self, verbs: &BTreeSet<&str>) -> Vec<(String, f64)> {
        let mut costs = vec![
            ("wall time, s".to_owned(), self.each(self.wall.as_secs_f64())),
            ("processor time, s".to_owned(), self.each(self.cpu.as_secs_f64())),
            ("resident memory, KiB".to_owned(), self.memory_each()),
            ("requests".to_owned(), self.each(number(self.requests.all()))),
        ];
        for verb in verbs {
            let count = self.requests.verbs.get(*verb).copied().unwrap_or_default();
            costs.push((format!("  {verb}"), self.each(number(count))));
        }
        costs
    }
}

/// Everything that was measured.
pub struct Report {
    /// By number of clusters.
    pub rows: Vec<Row>,
    rest: Duration,
    is_quick: bool,
}

impl Report {
    /// A report without results.
    pub fn new(is_quick: bool, rest: Duration) -> Self {
        Self {
            rows: Vec::new(),
            rest,
            is_quick,
        }
    }

    /// The table.
    pub fn table(&self) -> String {
        let mut text = String::new();
        if self.is_quick {
            text.push_str("Quick: few clusters, short rests; these numbers are rough.\n\n");
        }
        self.costs(&mut text).expect("a string takes everything");
        self.writes(&mut text).expect("a string takes everything");
        text
    }

    fn costs(&self, text: &mut String) -> std::fmt::Result {
        self.head(text, "per cluster, with this many", "    ratio")?;
        let verbs: BTreeSet<&str> = self
            .rows
            .iter()
            .flat_map(|row| row.requests.verbs.keys().map(String::as_str))
            .collect();
        let columns: Vec<_> = self.rows.iter().map(|row| row.costs(&verbs)).collect();
        let Some(first) = columns.first() else { return Ok(()) };
        for (index, (name, one)) in first.iter().enumerate() {
            write!(text, "{name:<36}")?;
            for column in &columns {
                write!(text, "{:>11.2}", column[index].1)?;
            }
            let last = columns.last().map_or(*one, |column| column[index].1);
            writeln!(
                text,
                "{:>9}",
                if *one > 0.0 {
                    format!("{:.2}x", last / one)
                } else {
                    String::new()
                }
            )?;
        }
        Ok(())
    }

    fn writes(&self, text: &mut String) -> std::fmt::Result {
        text.push('\n');
        self.head(text, "writes of all clusters together", "")?;
        let rest = format!("at rest, in {} s", self.rest.as_secs());
        let lines: [(&str, Take); 5] = [
            (&rest, |row| row.at_rest.writes),
            ("  requests for the lease meanwhile", |row| row.at_rest.leases),
            ("after a touch of every cluster", |row| row.after_touch.writes),
            ("after a restart of the operators", |row| row.after_restart.writes),
            ("  requests that read meanwhile", |row| {
                row.after_restart.all() - row.after_restart.writes
            }),
        ];
        for (name, take) in lines {
            write!(text, "{name:<36}")?;
            for row in &self.rows {
                write!(text, "{:>11}", take(row))?;
            }
            writeln!(text)?;
        }
        Ok(())
    }

    fn head(&self, text: &mut String, what: &str, last: &str) -> std::fmt::Result {
        write!(text, "{what:<36}")?;
        for row in &self.rows {
            write!(text, "{:>11}", row.clusters)?;
        }
        writeln!(text, "{last}")
    }

    /// The same as JSON.
    pub fn json(&self) -> Value {
        let rows = self.rows.iter().map(|row| {
            json!({
                "clusters": row.clusters,
                "wallSeconds": row.wall.as_secs_f64(),
                "processorSeconds": row.cpu.as_secs_f64(),
                "residentBytesBefore": row.resident_before,
                "residentBytes": row.resident,
                "requests": row.requests.json(),
                "atRest": row.at_rest.json(),
                "afterTouch": row.after_touch.json(),
                "afterRestart": row.after_restart.json(),
            })
        });
        json!({"isQuick": self.is_quick, "restSeconds": self.rest.as_secs(), "results": rows.collect::<Vec<_>>()})
    }
}
