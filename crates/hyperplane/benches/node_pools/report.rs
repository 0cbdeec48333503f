//! The result as a table that fits into eighty columns, and as JSON. Measures nothing.

use std::{fmt::Write as _, time::Duration};

use serde_json::{Value, json};

use crate::{common::number, management::audit::Count};

/// What one thing cost that was done to all machines.
#[derive(Debug, Default)]
pub struct Step {
    /// From the request until all machines were there, or none.
    pub wall: Duration,
    /// Processor time of the operators until nothing is written any more.
    pub cpu: Duration,
    /// Their requests until then.
    pub requests: Count,
}

impl Step {
    fn json(&self) -> Value {
        json!({
            "wallSeconds": self.wall.as_secs_f64(),
            "processorSeconds": self.cpu.as_secs_f64(),
            "requests": self.requests.json(),
        })
    }
}

/// What a pool of so many machines costs.
#[derive(Debug, Default)]
pub struct Row {
    /// How many.
    pub machines: usize,
    /// From nothing to all of them.
    pub created: Step,
    /// Requests at rest, with all of them there.
    pub at_rest: Count,
    /// From one version to the next.
    pub rolled: Step,
    /// From all of them to nothing.
    pub removed: Step,
    /// Resident memory of the operators before the first machine.
    pub resident_before: u64,
    /// Their resident memory with all machines.
    pub resident: u64,
}

impl Row {
    fn each(&self, value: f64) -> f64 {
        value / number(u64::try_from(self.machines).unwrap_or(u64::MAX)).max(1.0)
    }

    /// Name and value of everything that is told per machine.
    fn costs(&self) -> Vec<(String, f64)> {
        let mut costs = Vec::new();
        for (name, step) in [
            ("created", &self.created),
            ("rolled", &self.rolled),
            ("removed", &self.removed),
        ] {
            costs.extend([
                (
                    format!("{name}: wall time, ms"),
                    self.each(step.wall.as_secs_f64() * 1e3),
                ),
                (
                    format!("{name}: processor, ms"),
                    self.each(step.cpu.as_secs_f64() * 1e3),
                ),
                (format!("{name}: requests"), self.each(number(step.requests.all()))),
                (format!("{name}: writes"), self.each(number(step.requests.writes))),
            ]);
        }
        let resident = self.resident.saturating_sub(self.resident_before);
        costs.push((
            "resident memory, KiB".to_owned(),
            self.each(number(resident) / f64::from(1 << 10)),
        ));
        costs
    }
}

/// Everything that was measured.
pub struct Report {
    /// By number of machines.
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
            text.push_str("Quick: few machines, short rests; these numbers are rough.\n\n");
        }
        self.costs(&mut text).expect("a string takes everything");
        self.writes(&mut text).expect("a string takes everything");
        text
    }

    fn costs(&self, text: &mut String) -> std::fmt::Result {
        self.head(text, "per machine, with this many", "    ratio")?;
        let columns: Vec<_> = self.rows.iter().map(Row::costs).collect();
        let Some(first) = columns.first() else { return Ok(()) };
        for (index, (name, one)) in first.iter().enumerate() {
            write!(text, "{name:<36}")?;
            for column in &columns {
                write!(text, "{:>11.2}", column[index].1)?;
            }
            let last = columns.last().map_or(*one, |column| column[index].1);
            let ratio = if *one > 0.0 {
                format!("{:.2}x", last / one)
            } else {
                String::new()
            };
            writeln!(text, "{ratio:>9}")?;
        }
        Ok(())
    }

    fn writes(&self, text: &mut String) -> std::fmt::Result {
        text.push('\n');
        self.head(text, "of all machines together", "")?;
        let name = format!("writes at rest, in {} s", self.rest.as_secs());
        write!(text, "{name:<36}")?;
        for row in &self.rows {
            write!(text, "{:>11}", row.at_rest.writes)?;
        }
        writeln!(text)
    }

    fn head(&self, text: &mut String, what: &str, last: &str) -> std::fmt::Result {
        write!(text, "{what:<36}")?;
        for row in &self.rows {
            write!(text, "{:>11}", row.machines)?;
        }
        writeln!(text, "{last}")
    }

    /// The same as JSON.
    pub fn json(&self) -> Value {
        let rows = self.rows.iter().map(|row| {
            json!({
                "machines": row.machines,
                "created": row.created.json(),
                "atRest": row.at_rest.json(),
                "rolled": row.rolled.json(),
                "removed": row.removed.json(),
                "residentBytesBefore": row.resident_before,
                "residentBytes": row.resident,
            })
        });
        json!({"isQuick": self.is_quick, "restSeconds": self.rest.as_secs(), "results": rows.collect::<Vec<_>>()})
    }
}
