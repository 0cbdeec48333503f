//! The kubelets: every pod on a node of the twin goes from its arrival to its end. Owns what is written about pods and
//! which hosted servers run; what a pod does next is decided in `advance`.

mod advance;
mod capabilities;
mod container;
mod environment;
mod facts;
mod files;
mod members;
mod processes;
mod world;

use std::{collections::BTreeMap, sync::Arc};

use hyperplane_runtime::{Context, EventType, Failure, Next, ObjectKey, Reconciler};
use k8s_openapi::api::core::v1::{Container, ContainerStatus, PersistentVolumeClaim, Pod};
use kube::ResourceExt;
use serde_json::json;

use self::{
    advance::{Advance, Course, advance, lost},
    facts::Facts,
};
pub(crate) use self::{
    environment::invocation,
    facts::Serving,
    files::References,
    world::{World, choose},
};
use crate::{
    hosted::{Blueprint, ManagerBlueprint},
    moment, nodes, pods,
    programs::{API_SERVER, CONTROLLER_MANAGER, ETCD, Flags, Invocation, OURS},
    settings::{Pace, Program},
    write,
};

/// Drives pods.
pub(crate) struct Kubelet {
    /// Everything that a pod may depend on.
    pub(crate) world: Arc<World>,
    /// The name of the twin.
    pub(crate) twin: String,
    /// How long things take.
    pub(crate) pace: Pace,
    /// All chance follows from it.
    pub(crate) seed: u64,
    /// Whether nobody else looks after pods whose nodes are gone.
    pub(crate) is_whole: bool,
    /// As whom it writes.
    pub(crate) voice: nodes::Voice,
}

impl Reconciler for Kubelet {
    type Object = Pod;

    const SWEEPS: bool = true;
    const SEES_DELETION: bool = true;

    async fn reconcile(&self, context: &Context, pod: Arc<Pod>) -> Result<Next, Failure> {
        let name = pods::node(&pod);
        if name.is_empty() {
            return self.without_node(context, &pod).await;
        }
        let Some(node) = self.world.nodes.get(&ObjectKey::cluster(name)) else {
            // The machine is gone, and whatever ran on it; nobody is left to say so.
            self.quit(&pod);
            if self.is_whole {
                write::remove(context, &pod).await?;
            }
            return Ok(Next::OnChange);
        };
        if !nodes::is_ours(&node, &self.twin) {
            return Ok(Next::OnChange);
        }
        if (self.world.is_silent)(name) {
            self.quit(&pod);
            if self.is_whole && pods::is_ready(&pod) {
                context.apply_status(pod.as_ref(), &lost(&pod, context.now())).await?;
            }
            // A machine that is heard of again before its node counted as gone changes nothing that would tell.
            return Ok(Next::After(nodes::LOOK));
        }
        self.host(&pod);
        self.mark_members(context, &pod).await?;
        let course = Course {
            pace: &self.pace,
            seed: self.seed,
            now: context.now(),
        };
        let next = advance(&pod, self.world.as_ref(), course);
        self.write(&(self.voice)(context, name), &pod, next, course).await
    }

    async fn sweep(&self, _: &Context, key: &ObjectKey) -> Result<(), Failure> {
        if self.world.pods.get(key).is_none() {
            self.world.hosted.stop(key);
            self.world.hosted.manage(key, None);
            self.world.processes.end(key);
            self.world.release(key);
        }
        Ok(())
    }
}

impl Kubelet {
    /// A pod that is deleted before it got a node has nothing that has to end.
    async fn without_node(&self, context: &Context, pod: &Pod) -> Result<Next, Failure> {
        if self.is_whole && pods::is_terminating(pod) {
            write::remove(context, pod).await?;
        }
        Ok(Next::OnChange)
    }

    async fn write(&self, context: &Context, pod: &Pod, next: Advance, course: Course<'_>) -> Result<Next, Failure> {
        for note in next.notes {
            let type_ = if note.is_warning {
                EventType::Warning
            } else {
                EventType::Normal
            };
            context.event(type_, note.reason, note.message);
        }
        context.apply_status(pod, &next.status).await?;
        if next.is_finished {
            self.quit(pod);
            write::remove(context, pod).await?;
            return Ok(Next::OnChange);
        }
        let wake = next.wake.map(|at| moment::until(at, course.now));
        Ok(wake.map_or(Next::OnChange, Next::After))
    }

    /// Lets hosted servers run in the pods that have them, as far as their containers do.
    fn host(&self, pod: &Pod) {
        let key = ObjectKey::of(pod);
        let running = pods::containers(pod)
            .iter()
            .filter(|container| is_running(pod, &container.name));
        let (mut serves, mut manages, mut ours) = (false, None, BTreeMap::new());
        for container in running {
            let Some((invocation, flags)) = self.program(pod, container) else {
                continue;
            };
            let read = |path: &str| files::read(pod, container, path, self.world.as_ref());
            match invocation.program.as_str() {
                API_SERVER => {
                    let image = container.image.as_deref().unwrap_or_default();
                    let blueprint = Blueprint::read(&flags, image, &read);
                    self.world.hosted.serve(&key, &pod.uid().unwrap_or_default(), blueprint);
                    serves = true;
                }
                CONTROLLER_MANAGER if pods::is_ready(pod) && !pods::is_terminating(pod) => {
                    manages = Some(ManagerBlueprint::read(&flags, &read));
                }
                OURS if !pods::is_terminating(pod) => {
                    let program = Program {
                        pod: pod.name_any(),
                        namespace: pod.namespace().unwrap_or_default(),
                        service_account: pods::service_account(pod).to_owned(),
                        arguments: invocation.arguments,
                    };
                    let restarts = status(pod, &container.name).map_or(0, |status| status.restart_count);
                    ours.insert(container.name.clone(), (incarnation(pod, restarts), program));
                }
                _ => {}
            }
        }
        if !serves {
            self.world.hosted.stop(&key);
        }
        self.world.hosted.manage(&key, manages);
        self.world.processes.keep(&key, self.world.programs(), ours);
    }

    /// Writes down on the claims of a pod that etcd has run on their volumes: another pod will find its data there.
    async fn mark_members(&self, context: &Context, pod: &Pod) -> Result<(), Failure> {
        let namespace = pod.namespace().unwrap_or_default();
        for container in pods::containers(pod) {
            let claims = members::unmarked(pod, container, self.world.as_ref());
            let is_member = !claims.is_empty()
                && is_running(pod, &container.name)
                && self
                    .program(pod, container)
                    .is_some_and(|(invocation, _)| invocation.program == ETCD);
            for claim in claims.into_iter().filter(|_| is_member) {
                let change = json!({"metadata": {"annotations": {members::HOLDS_DATA: "true"}}});
                let key = ObjectKey::namespaced(namespace.clone(), claim);
                write::patch::<PersistentVolumeClaim>(context, &key, &change).await?;
            }
        }
        Ok(())
    }

    fn program(&self, pod: &Pod, container: &Container) -> Option<(Invocation, Flags)> {
        let invocation = invocation(pod, container, self.world.as_ref()).ok()?;
        let read = |path: &str| files::read(pod, container, path, self.world.as_ref());
        let flags = invocation.check(self.world.programs(), &read).ok()?;
        Some((invocation, flags))
    }

    fn quit(&self, pod: &Pod) {
        let key = ObjectKey::of(pod);
        self.world.hosted.stop(&key);
        self.world.hosted.manage(&key, None);
        self.world.processes.end(&key);
    }
}

/// What tells one run of a container from the next.
fn incarnation(pod: &Pod, restarts: i32) -> String {
    format!("{}/{restarts}", pod.uid().unwrap_or_default())
}

fn is_running(pod: &Pod, container: &str) -> bool {
    status(pod, container).is_some_and(container::is_running)
}

fn status<'a>(pod: &'a Pod, container: &str) -> Option<&'a ContainerStatus> {
    let statuses = pod.status.as_ref()?.container_statuses.as_ref()?;
    statuses.iter().find(|status| status.name == container)
}

/// What a container of a pod finds under a path.
pub(crate) fn content(pod: &Pod, container: &Container, path: &str, world: &World) -> crate::programs::Content {
    files::read(pod, container, path, world)
}
