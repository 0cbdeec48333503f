//! A manager that runs beside a test on a real server, and what can be seen of it.

#![allow(dead_code, reason = "each test binary uses a part of it")]

use anyhow::Result;
use hyperplane_runtime::{Admin, Clock, Manager, ManagerError, Metrics};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

/// A manager at work.
pub struct Running {
    admin: Admin,
    metrics: Metrics,
    stop: CancellationToken,
    task: JoinHandle<Result<(), ManagerError>>,
}

impl Running {
    /// Sets a manager to work.
    pub fn start(manager: Manager) -> Self {
        let (admin, metrics, stop) = (manager.admin(), manager.metrics(), CancellationToken::new());
        let task = tokio::spawn(manager.run(stop.clone()));
        Self {
            admin,
            metrics,
            stop,
            task,
        }
    }

    /// What the runner itself says about its watches and objects.
    pub fn state(&self) -> String {
        self.admin.respond(&http::Method::GET, "/debug/state").into_body()
    }

    /// The value of a counter, over all lines with this text among their labels.
    pub fn counter(&self, name: &str, label: &str) -> usize {
        let page = self.metrics.render();
        let lines = page
            .lines()
            .filter(|line| line.starts_with(&format!("{name}{{")) && line.contains(label));
        lines
            .filter_map(|line| line.rsplit(' ').next()?.parse::<usize>().ok())
            .sum()
    }

    /// How many writes ended in this way.
    pub fn writes(&self, result: &str) -> usize {
        self.counter("hyperplane_runtime_writes_total", result)
    }

    /// Stops the manager in order.
    pub async fn end(self) -> Result<()> {
        self.stop.cancel();
        Ok(self.task.await??)
    }
}

/// Wall time: a real server lives in it.
#[expect(clippy::disallowed_methods, reason = "a real server lives in real time")]
pub fn clock() -> Clock {
    Clock::reading(jiff::Timestamp::now)
}
