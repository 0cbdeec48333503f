//! The requests of one user, counted in the audit log of an API server.

use std::{
    collections::BTreeMap,
    fs::File,
    io::{BufRead as _, BufReader, Seek as _, SeekFrom},
    path::PathBuf,
};

use anyhow::{Context as _, Result};
use serde_json::{Value, json};

/// The verbs that change nothing.
const READS: &[&str] = &["get", "list", "watch"];

/// Requests of one user.
#[derive(Clone, Debug, Default)]
pub struct Count {
    /// By verb; those of leases are apart.
    pub verbs: BTreeMap<String, u64>,
    /// Requests that change something other than a lease.
    pub writes: u64,
    /// Requests about leases: who has one says so all the time.
    pub leases: u64,
    /// The writes by verb, path and who they are for, with how often.
    pub lines: BTreeMap<String, u64>,
}

impl Count {
    /// All of them.
    pub fn all(&self) -> u64 {
        self.verbs.values().sum()
    }

    /// Adds others.
    pub fn add(&mut self, other: Self) {
        for (verb, count) in other.verbs {
            *self.verbs.entry(verb).or_default() += count;
        }
        for (line, count) in other.lines {
            *self.lines.entry(line).or_default() += count;
        }
        self.writes += other.writes;
        self.leases += other.leases;
    }

    /// As JSON.
    pub fn json(&self) -> Value {
        json!({"byVerb": self.verbs, "writes": self.writes, "leases": self.leases})
    }

    fn note(&mut self, event: &Value) {
        let text = |path: &str| event.pointer(path).and_then(Value::as_str).unwrap_or_default();
        if text("/objectRef/resource") == "leases" {
            self.leases += 1;
            return;
        }
        let verb = text("/verb");
        *self.verbs.entry(verb.to_owned()).or_default() += 1;
        if !READS.contains(&verb) {
            self.writes += 1;
            let user = text("/impersonatedUser/username");
            let line = format!("{verb} {} {user}", text("/requestURI"));
            *self.lines.entry(line).or_default() += 1;
        }
    }
}

/// The log, read as it grows.
pub struct Audit {
    path: PathBuf,
    user: String,
    offset: u64,
}

impl Audit {
    /// The requests of a user in a log.
    pub fn new(path: PathBuf, user: String) -> Self {
        Self { path, user, offset: 0 }
    }

    /// What came since the last look.
    pub fn take(&mut self) -> Result<Count> {
        let mut file = File::open(&self.path).context("the API server has no audit log")?;
        file.seek(SeekFrom::Start(self.offset))?;
        let mut reader = BufReader::new(file);
        let (mut line, mut count) = (String::new(), Count::default());
        loop {
            line.clear();
            let length = reader.read_line(&mut line)?;
            // The last line may be half written.
            if !line.ends_with('\n') {
                return Ok(count);
            }
            self.offset += u64::try_from(length)?;
            let event: Value = serde_json::from_str(&line).context("reading the audit log")?;
            if event["user"]["username"] == self.user.as_str() && is_counted(&event) {
                count.note(&event);
            }
        }
    }
}

/// A watch is counted when it begins, everything else when it ends.
fn is_counted(event: &Value) -> bool {
    let stage = if event["verb"] == "watch" {
        "ResponseStarted"
    } else {
        "ResponseComplete"
    };
    event["stage"] == stage
}
