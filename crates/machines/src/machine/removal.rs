//! Carries out the step that a deletion is at, and tells how far it has come. Which step it is, is decided elsewhere;
//! one run takes one step, and may be dropped at any await.

use std::{sync::Arc, time::Duration};

use hyperplane_api::{
    cluster_api::machine::Machine,
    constants::{conditions::machine as types, reasons},
};
use hyperplane_runtime::{Context, EventType, Failure};
use kube::ResourceExt as _;

use super::{
    Machines,
    deletion::{
        Ending, Stage, drain_given_up, ending, is_drain_begun, is_removal_over, is_turn_of_volumes, next_look, stage,
    },
    facts::{Facts, Infrastructure, NodeFacts},
    status::{paused_status, status},
};
use crate::{
    drain::{Drained, Leaving, drain, volumes_left},
    nodes::{Found, NoAnswer},
};

/// How a run of a deletion ends.
enum Progress {
    /// Nothing is left.
    Done,
    /// Something is waited for, until the next look at the latest.
    Waiting(Ending, Duration),
}

impl Machines {
    /// One run of a deletion; only its last one succeeds.
    pub(super) async fn remove(&self, context: &Context, machine: Arc<Machine>) -> Result<(), Failure> {
        let mut facts = self.look(context, machine).await;
        if facts.is_paused() {
            let status = paused_status(&facts);
            context.apply_status(facts.machine.as_ref(), &status).await?;
            return Err(Failure::wait("the pause to end"));
        }
        self.confirm(context, &mut facts).await?;
        match self.advance(context, &facts).await? {
            Progress::Done => Ok(()),
            Progress::Waiting(ending, after) => {
                let status = status(&facts, Some(&ending));
                context.apply_status(facts.machine.as_ref(), &status).await?;
                Err(Failure::wait_until(ending.what, after))
            }
        }
    }

    async fn advance(&self, context: &Context, facts: &Facts) -> Result<Progress, Failure> {
        let mut current = self.step(facts, false).await;
        if let Stage::Drain(node) = &current {
            if let NodeFacts::Unseen(no_answer) = &facts.node {
                // Each of its machines would wait for nothing, and hold up those of others.
                return Ok(silent(facts, &current, no_answer));
            }
            self.begin_drain(context, facts, &current).await?;
            match self.empty(facts, node).await {
                Ok(Drained::Empty) => current = self.step(facts, true).await,
                Ok(Drained::Waiting { message, is_blocked }) => {
                    let progress = waiting(facts, &current, Some(&message), is_blocked);
                    if is_blocked && is_news(facts, &progress) {
                        let words = format!("Node {node} cannot be emptied: {message}");
                        context.event(EventType::Warning, "FailedDrainNode", words);
                    }
                    return Ok(progress);
                }
                Err(no_answer) => return Ok(silent(facts, &current, &no_answer)),
            }
        } else {
            tell_of_given_up_drain(context, facts);
        }
        let node = match &current {
            Stage::Node(node) => Some(node.name().to_owned()),
            Stage::Done => self.latecomer(facts).await,
            _ => None,
        };
        match (&current, &facts.infrastructure, node) {
            (.., Some(node)) => Ok(self.end_node(facts, node).await),
            (Stage::Done, ..) => Ok(Progress::Done),
            (Stage::Instance, Infrastructure::Present(kind, instance), None) => {
                self.instances.delete(context, *kind, instance).await?;
                Ok(waiting(facts, &current, None, true))
            }
            _ => Ok(waiting(facts, &current, None, true)),
        }
    }

    /// Tells that a drain begins before the first pod is told to go: its limit counts from there, and a run that is cut
    /// short in the middle of it must not begin anew each time.
    async fn begin_drain(&self, context: &Context, facts: &Facts, stage: &Stage) -> Result<(), Failure> {
        if is_drain_begun(facts) {
            return Ok(());
        }
        let status = status(facts, Some(&ending(facts, stage, None)));
        context.apply_status(facts.machine.as_ref(), &status).await.map(drop)
    }

    /// The step that a deletion is at. Where it is the turn of volumes, the hosted cluster is asked which there are; that it
    /// does not tell is no reason to go on.
    async fn step(&self, facts: &Facts, is_drained: bool) -> Stage {
        let NodeFacts::Present(node) = &facts.node else {
            return stage(facts, is_drained);
        };
        if !is_turn_of_volumes(facts, is_drained) {
            return stage(facts, is_drained);
        }
        let namespace = facts.machine.namespace().unwrap_or_default();
        let left = async { volumes_left(&self.hosted.visit(&namespace).await?, node, facts.now).await };
        match left.await {
            Ok(left) => stage(&facts.with_volumes(&left), is_drained),
            Err(no_answer) => {
                tracing::info!(machine = facts.name(), error = %no_answer, "Volumes of the node are not known.");
                Stage::Volumes(None)
            }
        }
    }

    async fn empty(&self, facts: &Facts, node: &str) -> Result<Drained, NoAnswer> {
        let namespace = facts.machine.namespace().unwrap_or_default();
        let hosted = self.hosted.visit(&namespace).await?;
        let machine = Leaving {
            name: facts.name(),
            provider_id: facts.provider_id(),
        };
        drain(&hosted, node, machine, facts.now).await
    }

    /// The Node of a machine that never had one, as far as was known: it may have joined while its instance went. Such
    /// machines are few, and are worth a list of their own.
    async fn latecomer(&self, facts: &Facts) -> Option<String> {
        let is_unknown = facts.node == NodeFacts::Missing && facts.known_node().is_none();
        let provider_id = facts.provider_id().filter(|_| is_unknown)?;
        let namespace = facts.machine.namespace().unwrap_or_default();
        let nodes = self.hosted.list(&namespace, facts.now, Duration::ZERO).await.ok()?;
        match nodes.find(provider_id, None) {
            Found::One(node) => Some(node.name().to_owned()),
            Found::None | Found::Several(_) => None,
        }
    }

    /// The last step: the Node object. It is given up when its time is over, though never before it was tried.
    async fn end_node(&self, facts: &Facts, node: String) -> Progress {
        match self.remove_node(facts, &node).await {
            Ok(()) => Progress::Done,
            Err(_) if is_removal_over(facts) => Progress::Done,
            Err(no_answer) => silent(facts, &Stage::NodeUnseen(node), &no_answer),
        }
    }

    /// Removes the Node as it is this moment, if it is still that of the machine.
    async fn remove_node(&self, facts: &Facts, node: &str) -> Result<(), NoAnswer> {
        let namespace = facts.machine.namespace().unwrap_or_default();
        let hosted = self.hosted.visit(&namespace).await?;
        match hosted.node(node).await? {
            Some(fresh) if fresh.spec.provider_id.as_deref() == facts.provider_id() => hosted.delete_node(&fresh).await,
            _ => Ok(()),
        }
    }
}

fn waiting(facts: &Facts, stage: &Stage, detail: Option<&str>, is_blocked: bool) -> Progress {
    Progress::Waiting(ending(facts, stage, detail), next_look(facts, stage, is_blocked))
}

/// The words of the failure go to the log: in a status each of them would be a write.
fn silent(facts: &Facts, stage: &Stage, no_answer: &NoAnswer) -> Progress {
    tracing::info!(machine = facts.name(), error = %no_answer, "The deletion waits for the hosted cluster.");
    let detail = "the API server of the hosted cluster does not answer";
    waiting(facts, stage, Some(detail), true)
}

/// Whether the status does not say the same already: each event is a write.
fn is_news(facts: &Facts, progress: &Progress) -> bool {
    let mut conditions = facts.conditions().iter();
    let before = conditions.find(|condition| condition.type_ == types::DELETING.as_str());
    match progress {
        Progress::Done => false,
        Progress::Waiting(ending, _) => before.is_none_or(|before| before.message != ending.message()),
    }
}

/// A drain that is given up is told once, with what was left: the status of the run before says both.
fn tell_of_given_up_drain(context: &Context, facts: &Facts) {
    let mut conditions = facts.conditions().iter();
    let Some(before) = conditions.find(|condition| condition.type_ == types::DELETING.as_str()) else {
        return;
    };
    let was_draining = before.reason == reasons::DRAINING_NODE.as_str();
    if let Some(limit) = drain_given_up(facts).filter(|_| was_draining) {
        let words = format!(
            "The drain was given up after nodeDrainTimeoutSeconds of {}, in this state: {}",
            limit.as_secs(),
            before.message
        );
        context.event(EventType::Warning, "DrainTimedOut", words);
    }
}
