//! The whole table on a server: cases side by side, answers compared with recordings, and a report for people. It knows
//! no server by name.

use std::{collections::BTreeMap, fmt, path::Path};

use futures::{StreamExt as _, stream};
use serde_json::json;
use thiserror::Error;

use crate::{
    answer::Answer,
    canonical::{self, Canonical},
    difference,
    recording::{self, Recording},
    run::{self, Failure},
    table::{self, Case, Step, Table},
    target::Target,
};

/// How many cases run at once. A case mostly waits, for a server that has few cores.
const CONCURRENCY: usize = 24;

/// The tables of this crate, ready to be run.
pub struct Suite {
    /// The cases.
    pub table: Table,
    canonical: Canonical,
    recorded: BTreeMap<String, Recording>,
}

/// What became of one case on one server.
#[derive(Debug)]
pub struct Judgement {
    /// The id of the case.
    pub id: String,
    /// The answers, with what varies replaced.
    pub answers: Vec<Answer>,
    /// What was not as expected, or not as recorded.
    pub failures: Vec<Failure>,
}

/// Why the suite cannot be read.
#[derive(Debug, Error)]
pub enum Error {
    /// A table is unusable.
    #[error(transparent)]
    Table(#[from] table::Error),
    /// The table of ignored fields is unusable.
    #[error(transparent)]
    Ignored(#[from] canonical::Error),
    /// A recording is unusable.
    #[error(transparent)]
    Recording(#[from] recording::Error),
}

impl Suite {
    /// Reads the tables of this crate's directory.
    pub fn read(directory: &Path) -> Result<Self, Error> {
        let table = Table::read(&directory.join("cases"))?;
        let mut recorded = BTreeMap::new();
        for name in table.files.keys() {
            let path = directory.join("recorded").join(format!("{name}.json"));
            recorded.insert(name.clone(), recording::read(&path)?);
        }
        Ok(Self {
            table,
            canonical: Canonical::read(&directory.join("ignored.yaml"))?,
            recorded,
        })
    }

    /// All recorded answers by the id of their case.
    pub fn recorded(&self) -> BTreeMap<&str, &[Answer]> {
        let files = self.recorded.values().flatten();
        files.map(|(id, answers)| (id.as_str(), answers.as_slice())).collect()
    }

    /// Makes the objects that all cases share.
    pub async fn prepare(&self, target: &dyn Target) -> Judgement {
        let mut steps = Vec::new();
        for definition in &self.table.definitions {
            let name = definition.object["metadata"]["name"].as_str().unwrap_or_default();
            steps.push(Step {
                request: format!("POST {}", definition.path),
                body: Some(definition.object.clone()),
                ..Step::default()
            });
            steps.push(Step {
                request: format!("GET {}/{name}", definition.path),
                expect: Some(
                    json!({"status": {"conditions": {"${some}": [{"type": "Established", "status": "True"}]}}}),
                ),
                eventually: true,
                ..Step::default()
            });
            steps.extend(definition.collections().map(|path| Step {
                request: format!("GET {path}"),
                status: Some(200),
                eventually: true,
                ..Step::default()
            }));
        }
        let case = Case {
            id: "definitions".to_owned(),
            rule: String::new(),
            controllers: true,
            setup: steps,
            steps: Vec::new(),
            cleanup: Vec::new(),
        };
        let outcome = run::case(target, &self.canonical, &case).await;
        Judgement {
            id: case.id,
            answers: Vec::new(),
            failures: outcome.failures,
        }
    }

    /// Runs all cases that pass the filter, and judges them by the table alone; answers have what varies replaced.
    pub async fn run(&self, target: &dyn Target, wanted: impl Fn(&Case) -> bool) -> Vec<Judgement> {
        stream::iter(self.table.cases().filter(|case| wanted(case)))
            .map(|case| self.judge(target, case))
            .buffer_unordered(CONCURRENCY)
            .collect()
            .await
    }

    async fn judge(&self, target: &dyn Target, case: &Case) -> Judgement {
        let outcome = run::case(target, &self.canonical, case).await;
        let mut answers = outcome.answers;
        // What is not compared must not count among the revisions of what is.
        for (answer, step) in answers.iter_mut().zip(&case.steps) {
            if step.loose.is_some() {
                *answer = status_alone(answer);
            }
        }
        Judgement {
            id: case.id.clone(),
            answers: self.canonical.answers(&answers),
            failures: outcome.failures,
        }
    }

    /// Adds to each judgement where its answers differ from the recorded ones.
    pub fn compare_with_recording(&self, judgements: &mut [Judgement]) {
        let recorded = self.recorded();
        for judgement in judgements {
            let found = match recorded.get(judgement.id.as_str()) {
                Some(recorded) => differences(recorded, &judgement.answers, "recorded"),
                None => vec![Failure {
                    step: "recording".to_owned(),
                    reasons: vec!["there is none: run conformance_real with HYPERPLANE_BLESS=1".to_owned()],
                }],
            };
            judgement.failures.extend(found);
        }
    }

    /// Writes the answers of these judgements as the recordings of their files, in place of what was there.
    pub fn record(&self, directory: &Path, judgements: &[Judgement]) -> Result<(), Error> {
        for (name, cases) in &self.table.files {
            let mut recording = self.recorded.get(name).cloned().unwrap_or_default();
            recording.retain(|id, _| cases.iter().any(|case| case.id == *id));
            for judgement in judgements {
                if cases.iter().any(|case| case.id == judgement.id) {
                    recording.insert(judgement.id.clone(), judgement.answers.clone());
                }
            }
            recording::write(&directory.join("recorded").join(format!("{name}.json")), &recording)?;
        }
        Ok(())
    }
}

/// The differences between what two servers answered to the same case.
pub fn differences(expected: &[Answer], actual: &[Answer], whose: &str) -> Vec<Failure> {
    let mut failures = Vec::new();
    if expected.len() != actual.len() {
        failures.push(Failure {
            step: format!("compared with {whose}"),
            reasons: vec![format!("{} answers instead of {}", actual.len(), expected.len())],
        });
    }
    for (index, (expected, actual)) in expected.iter().zip(actual).enumerate() {
        let found = difference::between(&json!(expected), &json!(actual));
        if !found.is_empty() {
            failures.push(Failure {
                step: format!("step {} compared with {whose}", index + 1),
                reasons: found.iter().map(ToString::to_string).collect(),
            });
        }
    }
    failures
}

fn status_alone(answer: &Answer) -> Answer {
    Answer {
        status: answer.status,
        ..Answer::default()
    }
}

impl fmt::Display for Judgement {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(formatter, "{}", self.id)?;
        for failure in &self.failures {
            writeln!(formatter, "  {}", failure.step)?;
            for reason in &failure.reasons {
                writeln!(formatter, "    - {reason}")?;
            }
        }
        Ok(())
    }
}
