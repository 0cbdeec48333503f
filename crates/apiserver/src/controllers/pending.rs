//! Names of what has to be looked at, each once, in order. Observers add, one loop takes.

use std::{
    collections::BTreeSet,
    sync::{Mutex, MutexGuard, PoisonError},
};

use tokio::sync::Notify;

/// A queue of names.
#[derive(Debug)]
pub(crate) struct Pending<T> {
    names: Mutex<BTreeSet<T>>,
    wake: Notify,
}

impl<T> Default for Pending<T> {
    fn default() -> Self {
        Self {
            names: Mutex::default(),
            wake: Notify::new(),
        }
    }
}

impl<T: Ord> Pending<T> {
    /// Adds a name.
    pub(crate) fn add(&self, name: T) {
        self.extend([name]);
    }

    /// Adds names.
    pub(crate) fn extend(&self, names: impl IntoIterator<Item = T>) {
        let mut all = self.names();
        all.extend(names);
        if !all.is_empty() {
            self.wake.notify_one();
        }
    }

    /// Takes the first name; waits for one.
    pub(crate) async fn next(&self) -> T {
        loop {
            let woken = self.wake.notified();
            if let Some(name) = self.names().pop_first() {
                return name;
            }
            woken.await;
        }
    }

    fn names(&self) -> MutexGuard<'_, BTreeSet<T>> {
        self.names.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
