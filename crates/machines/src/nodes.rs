//! Nodes of hosted clusters: one shared list per cluster, and visits that change something there. Owns how often hosted
//! API servers are asked; what a Node means to a Machine is decided elsewhere.
//!
//! Hosted clusters announce nothing to the manager, so everybody asks again after a while. Whoever asks says how old an
//! answer may be; all machines of a cluster share the answer, so that a thousand of them cost one list. What is written
//! there does not make the answer void, or a thousand writes would cost as many lists: whoever writes looks at the one
//! node first.
//!
//! A server that lets everybody wait must not hold up the machines of other tenants, so that one at a time asks it, less
//! and less often, and all others are told at once that it is silent.

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
use tokio::time::Instant;

pub(crate) use self::{
    hosted::{Evicted, HostedCluster},
    list::{Found, NodeList, NodeView},
};

/// How long a hosted API server may take for one answer.
const PATIENCE: Duration = Duration::from_secs(10);
/// A failure that takes longer than this costs others their turn. One that comes at once, such as a refused connection,
/// costs nobody anything, and is tried again by whoever asks.
const SLOW: Duration = Duration::from_secs(1);
/// How long nobody asks after the first such failure; twice as long after each that follows.
const SHORTEST_REST: Duration = Duration::from_secs(5);
/// The longest that nobody asks.
const LONGEST_REST: Duration = Duration::from_mins(1);
/// A question that has been under way for so long was given up by who asked it.
const GIVEN_UP: Duration = Duration::from_mins(1);
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
    /// The same by a clock that never goes back.
    asked: Instant,
    /// When the cluster last answered, or was first asked.
    answered: Timestamp,
    looking: Looking,
    /// That it let somebody wait for nothing, since it last answered.
    silence: Option<Silence>,
}

/// A cluster that lets everybody wait.
#[derive(Clone)]
struct Silence {
    no_answer: NoAnswer,
    /// How long nobody asked for the last time.
    rest: Duration,
    /// Until when nobody asks.
    until: Instant,
}

impl Kept {
    /// What everybody is told who asks at this moment, where that is silence: nobody may ask yet, or somebody does.
    fn silence(&self, at: Instant) -> Option<&NoAnswer> {
        let silence = self.silence.as_ref()?;
        let is_under_way = self.looking.peek().is_none() && at < self.asked + GIVEN_UP;
        (at < silence.until || is_under_way).then_some(&silence.no_answer)
    }
}

/// What comes of a question.
enum Look {
    /// An answer, now or later.
    Shared(Looking),
    /// Nothing, as is known already.
    Silent(NoAnswer),
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
            kept.silence = None;
        }
    }

    /// Notes that somebody waited for nothing since `began`. Its rest begins now, at the end: while they waited, its answer
    /// would have become too old for everybody else.
    fn note_silence(&self, namespace: &str, no_answer: &NoAnswer, began: Instant) {
        let mut lists = self.lists();
        let Some(kept) = lists.get_mut(namespace) else {
            return;
        };
        let at = Instant::now();
        if at.duration_since(began) < SLOW {
            kept.silence = None;
            return;
        }
        let before = kept.silence.as_ref().filter(|before| at >= before.until);
        let rest = match (before, &kept.silence) {
            (Some(before), _) => (before.rest * 2).min(LONGEST_REST),
            // Several who waited at the same time have seen one silence.
            (None, Some(known)) => known.rest,
            (None, None) => SHORTEST_REST,
        };
        kept.silence = Some(Silence {
            no_answer: no_answer.clone(),
            rest,
            until: at + rest,
        });
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
        let (look, answered) = self.looking(namespace, now, oldest);
        let found = match look {
            Look::Shared(looking) => looking.await,
            Look::Silent(no_answer) => Err(no_answer),
        };
        found.map_err(|no_answer| NoAnswer {
            is_lasting: age(answered, now).is_some_and(|silence| silence >= SILENCE),
            ..no_answer
        })
    }

    /// A visit to a cluster, to look closer or to change something.
    pub(crate) async fn visit(&self, namespace: &str) -> Result<HostedCluster, NoAnswer> {
        let kubeconfig = self.kubeconfig(namespace)?;
        let client = self.nodes.0.reach.client(&kubeconfig.0).await;
        let client = client.map_err(|failure| NoAnswer::new(&failure.report()))?;
        let whose = Whose {
            nodes: self.nodes.clone(),
            namespace: namespace.to_owned(),
        };
        Ok(HostedCluster::new(&client, &self.fence, whose, kubeconfig))
    }

    /// The look under way or the last one, if it is young enough; a new one otherwise.
    fn looking(&self, namespace: &str, now: Timestamp, oldest: Duration) -> (Look, Timestamp) {
        let mut lists = self.nodes.lists();
        let (known, at) = (lists.get(namespace), Instant::now());
        if let Some(kept) = known {
            if let Some(no_answer) = kept.silence(at) {
                return (Look::Silent(no_answer.clone()), kept.answered);
            }
            let is_young = age(kept.began, now).is_some_and(|age| age <= oldest);
            if is_young && kept.silence.is_none() {
                return (Look::Shared(kept.looking.clone()), kept.answered);
            }
        }
        // The clock may have gone back since.
        let answered = known.map_or(now, |kept| kept.answered.min(now));
        let silence = known.and_then(|kept| kept.silence.clone());
        lists.retain(|_, kept| age(kept.began, now).is_some_and(|age| age <= KEPT));
        let looking = self.clone().look(namespace.to_owned(), now).boxed().shared();
        let kept = Kept {
            began: now,
            asked: at,
            answered,
            looking: looking.clone(),
            silence,
        };
        lists.insert(namespace.to_owned(), kept);
        (Look::Shared(looking), answered)
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

/// The nodes of one cluster, for those who visit it and find out that it is silent.
#[derive(Clone)]
struct Whose {
    nodes: Nodes,
    namespace: String,
}

impl Whose {
    fn note_silence(&self, no_answer: &NoAnswer, began: Instant) {
        self.nodes.note_silence(&self.namespace, no_answer, began);
    }

    /// Makes the next request begin with a connection of its own.
    fn forget(&self, kubeconfig: &ByteString) {
        self.nodes.0.reach.forget(&kubeconfig.0);
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
mod tests;
