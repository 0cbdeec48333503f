//! What probes are told. Opens no socket: the binary binds it where it likes.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use http::{Method, Response, StatusCode};
use hyperplane_runtime::Admin;

/// Answers `/healthz` and `/readyz`. Cheap to clone.
///
/// Whoever waits for machines or for a kubeconfig is well: only a loop that does not go round any more is not. Nobody
/// sends requests here, so that ready says no more than that.
#[derive(Clone, Default)]
pub struct Health(Arc<Mutex<Option<Admin>>>);

impl Health {
    /// The answer to a request for a path.
    pub fn respond(&self, method: &Method, path: &str) -> Response<String> {
        match (path, self.at_work()) {
            ("/healthz" | "/readyz", Some(admin)) => admin.respond(method, "/healthz"),
            ("/healthz" | "/readyz", None) => Response::new("ok\n".to_owned()),
            _ => {
                let mut answer = Response::new("try /healthz or /readyz\n".to_owned());
                *answer.status_mut() = StatusCode::NOT_FOUND;
                answer
            }
        }
    }

    /// Asks those who work, for as long as the guard lives.
    pub(crate) fn watch(&self, admin: Admin) -> Watched<'_> {
        *self.lock() = Some(admin);
        Watched(self)
    }

    fn at_work(&self) -> Option<Admin> {
        self.lock().clone()
    }

    fn lock(&self) -> MutexGuard<'_, Option<Admin>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// While it lives, somebody works.
pub(crate) struct Watched<'a>(&'a Health);

impl Drop for Watched<'_> {
    fn drop(&mut self) {
        *self.0.lock() = None;
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use hyperplane_runtime::{Clock, Manager, Settings};
    use kube::{Client, Config};

    use super::*;

    fn manager() -> Manager {
        let client = Client::try_from(Config::new("http://127.0.0.1:1".parse().unwrap())).unwrap();
        let clock = Clock::anchored("2026-01-01T12:00:00Z".parse().unwrap());
        Manager::new(client, Settings::new("hyperplane", "test", clock, 1))
    }

    fn code(health: &Health, path: &str) -> u16 {
        health.respond(&Method::GET, path).status().as_u16()
    }

    #[tokio::test(start_paused = true)]
    async fn whoever_waits_is_well_and_whoever_is_stuck_is_not() {
        let health = Health::default();
        let codes = |expected: u16| {
            for path in ["/healthz", "/readyz"] {
                assert_eq!(code(&health, path), expected, "{path}");
            }
        };
        codes(200);
        let mut manager = manager();
        let machines = manager.store(hyperplane_runtime::Watch::all());
        crate::approver::register(&mut manager, &machines, &Arc::default());
        let watched = health.watch(manager.admin());
        codes(200);
        // Nobody lets it go round.
        tokio::time::advance(Duration::from_mins(2)).await;
        codes(503);
        drop(watched);
        codes(200);
        assert_eq!(code(&health, "/metrics"), 404);
    }
}
