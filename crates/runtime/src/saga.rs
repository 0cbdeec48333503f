//! Ordered teardown: named steps, each of which is either finished or waits for something. Owns the order and the
//! report; every step must be safe to repeat, since a saga begins anew in every run and passes what is finished.

use futures::future::BoxFuture;

use crate::failure::Failure;

/// The state of one step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// Nothing is left to do here.
    Finished,
    /// The next steps must not begin before this has happened.
    Waiting(String),
}

/// Where a saga stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Progress {
    /// All steps are finished.
    Finished,
    /// One step is not.
    Waiting {
        /// The name of the step.
        step: &'static str,
        /// What it waits for.
        on: String,
    },
}

impl Progress {
    /// Turns waiting into the failure that says so, for reconcilers that have nothing to add.
    pub fn into_result(self) -> Result<(), Failure> {
        match self {
            Self::Finished => Ok(()),
            Self::Waiting { step, on } => Err(Failure::wait(format!("{on} (step {step})"))),
        }
    }
}

/// A sequence of steps.
#[derive(Default)]
pub struct Saga<'a> {
    steps: Vec<(&'static str, BoxFuture<'a, Result<Step, Failure>>)>,
}

impl<'a> Saga<'a> {
    /// A saga without steps.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a step. It runs only when all before it are finished.
    pub fn step(mut self, name: &'static str, work: impl Future<Output = Result<Step, Failure>> + Send + 'a) -> Self {
        self.steps.push((name, Box::pin(work)));
        self
    }

    /// Runs the steps in order, up to the first that waits.
    pub async fn run(self) -> Result<Progress, Failure> {
        for (step, work) in self.steps {
            if let Step::Waiting(on) = work.await? {
                return Ok(Progress::Waiting { step, on });
            }
        }
        Ok(Progress::Finished)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use super::*;
    use crate::store::lock;

    #[tokio::test]
    async fn steps_run_in_order_up_to_the_first_that_waits() {
        let log = Mutex::new(Vec::new());
        let run = |name: &'static str, outcome: Step| {
            let log = &log;
            async move {
                lock(log).push(name);
                Ok(outcome)
            }
        };
        let waiting = || Step::Waiting("2 machines to be gone".to_owned());
        let saga = Saga::new()
            .step("pools", run("pools", Step::Finished))
            .step("machines", run("machines", waiting()))
            .step("namespace", run("namespace", Step::Finished));
        let progress = saga.run().await.unwrap();
        assert_eq!(*lock(&log), ["pools", "machines"]);
        let failure = progress.into_result().unwrap_err();
        assert_eq!(failure.to_string(), "waiting for 2 machines to be gone (step machines)");
        let finished = Saga::new().step("pools", run("pools", Step::Finished)).run().await;
        assert_eq!(finished.unwrap(), Progress::Finished);
    }

    #[tokio::test]
    async fn a_failing_step_ends_the_run() {
        let saga = Saga::new()
            .step("a", async { Err(Failure::wait("something")) })
            .step("b", async { panic!("must not run") });
        assert!(saga.run().await.is_err());
    }
}
