//! Programs of our own that really run while their containers do. Owns which run; what they do is given from outside.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError},
};

use hyperplane_runtime::ObjectKey;
use tokio_util::sync::CancellationToken;

use super::facts::Progress;
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
    /// How it ended; none where nothing is to be seen of the program.
    end: Option<Arc<OnceLock<Result<(), String>>>>,
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

    /// How far the process of a container is.
    pub(crate) fn progress(&self, pod: &ObjectKey, container: &str, incarnation: &str) -> Progress {
        let running = self.running();
        let process = running.get(pod).and_then(|of_pod| of_pod.get(container));
        match process.filter(|process| process.incarnation == incarnation) {
            None => Progress::Starting,
            Some(Process { end: None, .. }) => Progress::Unseen,
            Some(Process { end: Some(end), .. }) => match end.get() {
                None => Progress::Running,
                Some(result) => Progress::Ended(result.clone()),
            },
        }
    }

    fn start(&self, incarnation: String, programs: &Programs, program: &Program) -> Process {
        let stop = CancellationToken::new();
        let end = programs.start(program).map(|work| {
            let end = Arc::new(OnceLock::new());
            let (stopped, ended) = (stop.clone(), Arc::clone(&end));
            self.tasks.spawn(async move {
                if let Some(result) = stopped.run_until_cancelled(work).await {
                    ended.get_or_init(|| result);
                }
            });
            end
        });
        Process { incarnation, stop, end }
    }

    fn running(&self) -> MutexGuard<'_, BTreeMap<ObjectKey, BTreeMap<String, Process>>> {
        self.running.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

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
                Ok(())
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
    #[tokio::test]
    async fn what_a_process_comes_to_is_known_of_its_container_alone() {
        let processes = Processes::new(Tasks::default());
        let pod = ObjectKey::namespaced("clusters-one", "one");
        let far = |incarnation: &str| processes.progress(&pod, "operator", incarnation);
        assert_eq!(far("1"), Progress::Starting);
        processes.keep(&pod, &Programs::default(), wanted("1"));
        assert_eq!(far("1"), Progress::Unseen);
        let programs = Programs::default().run_by(|_| {
            let work = async {
                yield_now().await;
                Err("no".to_owned())
            };
            Some(work.boxed())
        });
        processes.keep(&pod, &programs, wanted("2"));
        assert_eq!((far("1"), far("2")), (Progress::Starting, Progress::Running));
        while far("2") == Progress::Running {
            yield_now().await;
        }
        assert_eq!(far("2"), Progress::Ended(Err("no".to_owned())));
    }
}
