//! Nodes of hosted clusters: one shared list per cluster, and visits that change something there. Owns how often hosted
//! API servers are asked; what a Node means to a Machine is decided elsewhere.
//!
//! Hosted clusters announce nothing to the manager, so everybody asks again after a while. Whoever asks says how old an
//! answer may be; all machines of a cluster share the answer, so that a thousand of them cost one list. What is written
//! there does not make the answer void, or a thousand writes would cost as many lists: whoever writes looks at the one
//! node first.

mod hosted;
mod list;

use std::{
    collections::BTreeMap,
    fmt,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use futures::{
    FutureExt as _,
    future::{BoxFuture, Shared},
};
use hyperplane_api::constants::{
    objects::{keys, kubeconfigs},
    ours,
};
use hyperplane_runtime::{Fence, Manager, Reach, Scope, Store};
use jiff::Timestamp;
use k8s_openapi::{ByteString, api::core::v1::Secret};
use thiserror::Error;

pub(crate) use self::{
    hosted::{Evicted, HostedCluster},
    list::{Found, NodeList, NodeView},
};

/// How long a hosted API server may take for one answer.
const PATIENCE: Duration = Duration::from_secs(10);
/// For how long silence is taken to pass: what was known of nodes stands for this time.
const SILENCE: Duration = Duration::from_mins(5);
/// For how long the answer of a cluster that nobody asks for is kept.
const KEPT: Duration = Duration::from_mins(10);
/// The longest text that is repeated from an answer: a tenant may have written it, and it ends up in statuses.
const LONGEST_ANSWER: usize = 300;

/// Why nothing can be said of the nodes of a hosted cluster. It passes, or the cluster goes: never a reason to give up.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("the API server of the hosted cluster does not answer: {message}")]
pub(crate) struct NoAnswer {
    /// What came instead of an answer, of bounded length.
    pub(crate) message: String,
    /// It has been so for so long that what was known before stands no more.
    pub(crate) is_lasting: bool,
}

impl NoAnswer {
    /// Silence that has just begun, as far as is known.
    pub(crate) fn new(message: &str) -> Self {
        Self {
            message: bounded(message),
            is_lasting: false,
        }
    }

    fn of(error: kube::Error) -> Self {
        match error {
            kube::Error::Api(status) => Self::new(&status.message),
            other => Self::new(&hyperplane_runtime::Failure::from(other).report()),
        }
    }
}

/// The nodes of all hosted clusters. Cheap to clone; clones share what is known.
#[derive(Clone)]
pub(crate) struct Nodes(Arc<Inner>);

struct Inner {
    reach: Reach,
    /// By the namespace of the control plane.
    lists: Mutex<BTreeMap<String, Kept>>,
}

type Looking = Shared<BoxFuture<'static, Result<Arc<NodeList>, NoAnswer>>>;

/// The last look at the nodes of a cluster; it may still be under way.
struct Kept {
    began: Timestamp,
    /// When the cluster last answered, or was first asked.
    answered: Timestamp,
    looking: Looking,
}

impl Nodes {
    /// Nodes that are reached in this way.
    pub(crate) fn new(reach: Reach) -> Self {
        Self(Arc::new(Inner {
            reach,
            lists: Mutex::default(),
        }))
    }

    /// The same for a controller of this manager: with the kubeconfigs that it finds, and the right to write that it
    /// has.
    pub(crate) fn for_controller(&self, manager: &Manager, scope: &Scope) -> HostedClusters {
        HostedClusters {
            nodes: self.clone(),
            secrets: manager.store(scope.watch::<Secret>().labels(&ours::selector())),
            fence: manager.fence(),
        }
    }

    fn lists(&self) -> MutexGuard<'_, BTreeMap<String, Kept>> {
        // What it guards is valid after every statement.
        self.0.lists.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn note_answer(&self, namespace: &str, at: Timestamp) {
        if let Some(kept) = self.lists().get_mut(namespace) {
            kept.answered = kept.answered.max(at);
        }
    }
}

impl fmt::Debug for Nodes {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Nodes")
    }
}

/// Hosted clusters as one controller sees them. Cheap to clone.
#[derive(Clone)]
pub(crate) struct HostedClusters {
    nodes: Nodes,
    secrets: Store<Secret>,
    fence: Fence,
}

impl HostedClusters {
    /// The Secrets that kubeconfigs are found in, for the controller to wait for.
    pub(crate) const fn secrets(&self) -> &Store<Secret> {
        &self.secrets
    }

    /// The nodes of the cluster whose control plane is in this namespace, as they were at most `oldest` ago.
    pub(crate) async fn list(
        &self,
        namespace: &str,
        now: Timestamp,
        oldest: Duration,
    ) -> Result<Arc<NodeList>, NoAnswer> {
        let (looking, answered) = self.looking(namespace, now, oldest);
        looking.await.map_err(|no_answer| NoAnswer {
            is_lasting: age(answered, now).is_some_and(|silence| silence >= SILENCE),
            ..no_answer
        })
    }

    /// A visit to a cluster, to look closer or to change something.
    pub(crate) async fn visit(&self, namespace: &str) -> Result<HostedCluster, NoAnswer> {
        let kubeconfig = self.kubeconfig(namespace)?;
        let client = self.nodes.0.reach.client(&kubeconfig.0).await;
        let client = client.map_err(|failure| NoAnswer::new(&failure.report()))?;
        let reach = self.nodes.0.reach.clone();
        Ok(HostedCluster::new(&client, &self.fence, reach, kubeconfig))
    }

    /// The look under way or the last one, if it is young enough; a new one otherwise. Only this takes the lock.
    fn looking(&self, namespace: &str, now: Timestamp, oldest: Duration) -> (Looking, Timestamp) {
        let mut lists = self.nodes.lists();
        let known = lists.get(namespace);
        if let Some(kept) = known
            && age(kept.began, now).is_some_and(|age| age <= oldest)
        {
            return (kept.looking.clone(), kept.answered);
        }
        // The clock may have gone back since.
        let answered = known.map_or(now, |kept| kept.answered.min(now));
        lists.retain(|_, kept| age(kept.began, now).is_some_and(|age| age <= KEPT));
        let looking = self.clone().look(namespace.to_owned(), now).boxed().shared();
        let kept = Kept {
            began: now,
            answered,
            looking: looking.clone(),
        };
        lists.insert(namespace.to_owned(), kept);
        (looking, answered)
    }

    async fn look(self, namespace: String, now: Timestamp) -> Result<Arc<NodeList>, NoAnswer> {
        let list = self.visit(&namespace).await?.list_nodes().await?;
        self.nodes.note_answer(&namespace, now);
        Ok(Arc::new(list))
    }

    fn kubeconfig(&self, namespace: &str) -> Result<ByteString, NoAnswer> {
        let secret = self
            .secrets
            .namespace(namespace)
            .get(kubeconfigs::SERVICE_NETWORK_ADMIN);
        let kubeconfig = secret.and_then(|secret| secret.data.as_ref()?.get(keys::KUBECONFIG).cloned());
        let missing = || {
            NoAnswer::new(&format!(
                "Secret {} is not there yet",
                kubeconfigs::SERVICE_NETWORK_ADMIN
            ))
        };
        kubeconfig.ok_or_else(missing)
    }
}

/// How long ago something was; none if the clock says that it is yet to come, so that nothing is known.
pub(crate) fn age(then: Timestamp, now: Timestamp) -> Option<Duration> {
    Duration::try_from(now.duration_since(then)).ok()
}

/// A text that is cut where it is too long, at a character.
pub(crate) fn bounded(text: &str) -> String {
    match text.char_indices().nth(LONGEST_ANSWER) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use hyperplane_runtime::{Clock, Settings};
    use jiff::SignedDuration;
    use kube::{Client, client::Body};

    use super::*;

    #[test]
    fn ages_are_never_negative() {
        let at = |second| Timestamp::constant(second, 0);
        assert_eq!(age(at(10), at(15)), Some(Duration::from_secs(5)));
        assert_eq!(age(at(15), at(15)), Some(Duration::ZERO));
        assert_eq!(age(at(16), at(15)), None, "the clock went back");
        assert!(age(Timestamp::MIN, at(0)).is_some_and(|age| age > KEPT));
    }

    #[test]
    fn long_answers_are_cut_at_a_character() {
        assert_eq!(bounded("short"), "short");
        let cut = bounded(&"ä".repeat(LONGEST_ANSWER + 1));
        assert_eq!(cut.chars().count(), LONGEST_ANSWER + 1);
        assert!(cut.ends_with('…'));
        assert_eq!(bounded(&"ä".repeat(LONGEST_ANSWER)).chars().count(), LONGEST_ANSWER);
    }
    /// A manager that is never run: its caches stay empty, and nothing is asked.
    fn manager() -> Manager {
        let service = tower::service_fn(|_: http::Request<Body>| async {
            Ok::<_, Infallible>(http::Response::new(Body::empty()))
        });
        let clock = Clock::reading(|| Timestamp::constant(0, 0));
        Manager::new(
            Client::new(service, "default"),
            Settings::new("hyperplane", "test", clock, 1),
        )
    }

    #[tokio::test(start_paused = true)]
    async fn silence_lasts_from_the_last_answer_or_the_first_question() {
        let nodes = Nodes::new(Reach::sockets());
        let hosted = nodes.for_controller(&manager(), &Scope::Everywhere);
        let start = Timestamp::constant(1_800_000_000, 0);
        let oldest = Duration::from_secs(5);
        for (seconds, expected) in [(0, false), (60, false), (299, false), (300, true)] {
            let now = start + SignedDuration::from_secs(seconds);
            let silence = hosted.list("cp", now, oldest).await.unwrap_err();
            assert_eq!(silence.is_lasting, expected, "{now}");
            assert!(silence.message.contains(kubeconfigs::SERVICE_NETWORK_ADMIN));
        }
        nodes.note_answer("cp", start + SignedDuration::from_secs(300));
        let now = start + SignedDuration::from_secs(310);
        assert!(!hosted.list("cp", now, oldest).await.unwrap_err().is_lasting);
        assert!(!hosted.list("other", now, oldest).await.unwrap_err().is_lasting);
    }

    #[tokio::test(start_paused = true)]
    async fn a_look_is_shared_until_it_is_too_old() {
        let nodes = Nodes::new(Reach::sockets());
        let hosted = nodes.for_controller(&manager(), &Scope::Everywhere);
        let start = Timestamp::constant(1_800_000_000, 0);
        let began = || nodes.lists().get("cp").map(|kept| kept.began);
        for (seconds, oldest, expected) in [(0, 5, 0), (4, 5, 0), (4, 3, 4), (9, 5, 4), (10, 5, 10), (2, 5, 2)] {
            let now = start + SignedDuration::from_secs(seconds);
            let _silence = hosted.list("cp", now, Duration::from_secs(oldest)).await;
            assert_eq!(began(), Some(start + SignedDuration::from_secs(expected)), "{seconds}");
        }
    }
}
