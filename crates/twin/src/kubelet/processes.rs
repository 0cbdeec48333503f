//! Programs of our own that really run while their containers do. Owns which run; what they do is given from outside.

use std::{
    collections::BTreeMap,
    sync::{Mutex, MutexGuard, PoisonError},
};

use hyperplane_runtime::ObjectKey;
use tokio_util::sync::CancellationToken;

use crate::{
    settings::{Program, Programs},
    tasks::Tasks,
};

/// Every process.
pub(crate) struct Processes {
    tasks: Tasks,
    running: Mutex<BTreeMap<ObjectKey, BTreeMap<String, Process>>>,
}

/// The process of one container.
struct Process {
    /// The uid of the pod and the start of the container: another one is another process.
    incarnation: String,
    stop: CancellationToken,
}

impl Processes {
    pub(crate) fn new(tasks: Tasks) -> Self {
        Self {
            tasks,
            running: Mutex::default(),
        }
    }

    /// Lets exactly these containers of a pod have a process.
    pub(crate) fn keep(&self, pod: &ObjectKey, programs: &Programs, wanted: BTreeMap<String, (String, Program)>) {
        let mut running = self.running();
        let mut of_pod = running.remove(pod).unwrap_or_default();
        of_pod.retain(|container, process| {
            let stays = wanted
                .get(container)
                .is_some_and(|(incarnation, _)| *incarnation == process.incarnation);
            if !stays {
                process.stop.cancel();
            }
            stays
        });
        for (container, (incarnation, program)) in wanted {
            of_pod
                .entry(container)
                .or_insert_with(|| self.start(incarnation, programs, &program));
        }
        if !of_pod.is_empty() {
            running.insert(pod.clone(), of_pod);
        }
    }

    /// Ends what runs in a pod, where it stands.
    pub(crate) fn end(&self, pod: &ObjectKey) {
        for process in self.running().remove(pod).unwrap_or_default().into_values() {
            process.stop.cancel();
        }
    }

    fn start(&self, incarnation: String, programs: &Programs, program: &Program) -> Process {
        let stop = CancellationToken::new();
        if let Some(work) = programs.start(program) {
            let stopped = stop.clone();
            self.tasks.spawn(async move {
                stopped.run_until_cancelled(work).await;
            });
        }
        Process { incarnation, stop }
    }

    fn running(&self) -> MutexGuard<'_, BTreeMap<ObjectKey, BTreeMap<String, Process>>> {
        self.running.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    };

    use futures::FutureExt as _;
    use tokio::task::yield_now;

    use super::*;

    /// Counts itself while it lives.
    struct Alive(Arc<AtomicUsize>);

    impl Drop for Alive {
        fn drop(&mut self) {
            self.0.fetch_sub(1, Ordering::SeqCst);
        }
    }

    fn wanted(incarnation: &str) -> BTreeMap<String, (String, Program)> {
        let program = Program {
            pod: "one".to_owned(),
            namespace: "clusters-one".to_owned(),
            service_account: "default".to_owned(),
            arguments: vec!["pki-operator".to_owned()],
        };
        BTreeMap::from([("operator".to_owned(), (incarnation.to_owned(), program))])
    }

    #[tokio::test]
    async fn a_process_lives_as_long_as_its_container() {
        let (started, alive) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
        let (starts, lives) = (Arc::clone(&started), Arc::clone(&alive));
        let programs = Programs::default().run_by(move |program| {
            assert_eq!(program.arguments, ["pki-operator"]);
            starts.fetch_add(1, Ordering::SeqCst);
            lives.fetch_add(1, Ordering::SeqCst);
            let guard = Alive(Arc::clone(&lives));
            let work = async move {
                futures::future::pending::<()>().await;
                drop(guard);
            };
            Some(work.boxed())
        });
        let processes = Processes::new(Tasks::default());
        let pod = ObjectKey::namespaced("clusters-one", "one");
        let seen = async || {
            yield_now().await;
            yield_now().await;
            (started.load(Ordering::SeqCst), alive.load(Ordering::SeqCst))
        };
        processes.keep(&pod, &programs, wanted("1"));
        processes.keep(&pod, &programs, wanted("1"));
        assert_eq!(seen().await, (1, 1));
        processes.keep(&pod, &programs, wanted("2"));
        assert_eq!(seen().await, (2, 1), "a container that starts again is another process");
        processes.keep(&pod, &programs, BTreeMap::new());
        assert_eq!(seen().await, (2, 0));
        processes.keep(&pod, &programs, wanted("2"));
        processes.end(&pod);
        assert_eq!(seen().await, (3, 0));
    }
}
