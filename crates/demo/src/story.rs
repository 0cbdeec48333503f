//! The steps of the story as data: what people would type, what is asked of the API, and until when is waited. Pure.

use std::time::Duration;

use serde::Serialize;
use serde_json::Value;

use crate::{
    json::condition,
    manifests::{self, to_release},
    picture::Picture,
    plan::{Plan, PoolPlan, Version},
    until,
};

/// How long is looked on while nothing may happen: as long as it takes to read why.
const LOOK_ON: Duration = Duration::from_millis(1200);

/// Which step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum StepId {
    /// What an earlier run left is removed.
    Clear,
    /// A cluster and two pools are asked for, and the control plane comes.
    Create,
    /// Machines become nodes.
    Join,
    /// The control plane goes up by a minor.
    Upgrade,
    /// One pool follows.
    Roll,
    /// The other pool is asked to go ahead of the control plane.
    Ahead,
    /// It is asked to stay where it is.
    Back,
    /// Nothing is under way any more.
    Rest,
}

/// One step.
#[derive(Clone, Debug)]
pub(crate) struct Step {
    pub(crate) id: StepId,
    /// What happens, for people.
    pub(crate) title: String,
    /// What people would type to do the same, a line each.
    pub(crate) commands: Vec<String>,
    pub(crate) act: Act,
    /// What is still missing; nothing when the step is over.
    pub(crate) until: fn(&Picture, &Plan) -> Vec<String>,
    /// How long is looked on after that, at usual speed.
    pub(crate) look_on: Duration,
    /// What is told of it when it is over.
    pub(crate) tells: fn(&Picture, &Plan) -> Option<String>,
}

/// What is asked of the API.
#[derive(Clone, Debug)]
pub(crate) enum Act {
    /// Nothing.
    Watch,
    /// That these objects are there.
    Apply(Vec<Value>),
    /// That the cluster changes.
    ChangeCluster(Value),
    /// That a pool changes.
    ChangePool(String, Value),
}

/// The steps of a story, in order, from where nothing is left of an earlier one.
pub(crate) fn steps(plan: &Plan, file: &str) -> Vec<Step> {
    let [from, to, ahead] =
        [&plan.versions.from, &plan.versions.to, &plan.versions.ahead].map(|one| one.number.as_str());
    let (web, batch) = (&plan.web, &plan.batch);
    vec![
        Step {
            commands: vec![format!("kubectl apply -f {file}")],
            act: Act::Apply(manifests::all(plan)),
            ..step(
                StepId::Create,
                format!("Create cluster {} at {from}", plan.cluster),
                until::created,
            )
        },
        Step {
            commands: inside(plan),
            ..step(
                StepId::Join,
                format!("{} machines boot and become nodes", plan.nodes()),
                until::joined,
            )
        },
        Step {
            commands: move_cluster(plan, &plan.versions.to),
            act: Act::ChangeCluster(to_release(&plan.versions.to)),
            ..step(
                StepId::Upgrade,
                format!("Upgrade the control plane to {to}; nodes stay"),
                until::upgraded,
            )
        },
        Step {
            commands: move_pool(plan, web, &plan.versions.to),
            act: Act::ChangePool(web.name.clone(), to_release(&plan.versions.to)),
            ..step(
                StepId::Roll,
                format!("Roll pool {} to {to}: new nodes come before old ones go", web.title),
                until::rolled,
            )
        },
        Step {
            commands: move_pool(plan, batch, &plan.versions.ahead),
            act: Act::ChangePool(batch.name.clone(), to_release(&plan.versions.ahead)),
            look_on: LOOK_ON,
            tells: reason,
            ..step(
                StepId::Ahead,
                format!("Ask pool {} to go ahead of the control plane, to {ahead}", batch.title),
                until::refused,
            )
        },
        Step {
            commands: move_pool(plan, batch, &plan.versions.from),
            act: Act::ChangePool(batch.name.clone(), to_release(&plan.versions.from)),
            ..step(
                StepId::Back,
                format!("Put pool {} back to {from}", batch.title),
                until::put_back,
            )
        },
    ]
}

fn step(id: StepId, title: String, until: fn(&Picture, &Plan) -> Vec<String>) -> Step {
    Step {
        id,
        title,
        commands: Vec::new(),
        act: Act::Watch,
        until,
        look_on: Duration::ZERO,
        tells: |_, _| None,
    }
}

/// Why the pool that asked for more does not get it.
fn reason(now: &Picture, plan: &Plan) -> Option<String> {
    let found = condition(now.pool(&plan.batch), "SupportedVersionSkew")?;
    Some(format!("pool {} is refused: {}", plan.batch.title, found.message))
}

/// How to look into the hosted cluster.
fn inside(plan: &Plan) -> Vec<String> {
    vec![
        format!(
            "kubectl -n {} get secret {} \\",
            plan.namespace,
            plan.kubeconfig_secret()
        ),
        "  -o jsonpath='{.data.kubeconfig}' | base64 -d > hosted.kubeconfig".to_owned(),
        "kubectl --kubeconfig hosted.kubeconfig get nodes".to_owned(),
    ]
}

fn move_cluster(plan: &Plan, version: &Version) -> Vec<String> {
    move_object(
        &format!("-n {} patch hostedcluster {}", plan.namespace, plan.cluster),
        version,
    )
}

fn move_pool(plan: &Plan, pool: &PoolPlan, version: &Version) -> Vec<String> {
    move_object(&format!("-n {} patch nodepool {}", plan.namespace, pool.name), version)
}

fn move_object(what: &str, version: &Version) -> Vec<String> {
    vec![
        format!("kubectl {what} --type merge \\"),
        format!("  -p '{}'", to_release(version)),
    ]
}

/// What removes a cluster with everything that is its own.
pub(crate) fn removal(plan: &Plan) -> Vec<String> {
    vec![format!(
        "kubectl -n {} delete hostedcluster {}",
        plan.namespace, plan.cluster
    )]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_say_what_is_done() {
        let plan = Plan::new("demo").unwrap();
        for step in steps(&plan, "demo.yaml") {
            let command = step.commands.join("\n");
            let told = match step.act {
                Act::Watch => continue,
                Act::Apply(_) => "apply -f demo.yaml".to_owned(),
                Act::ChangeCluster(change) => format!("hostedcluster demo --type merge \\\n  -p '{change}'"),
                Act::ChangePool(name, change) => format!("nodepool {name} --type merge \\\n  -p '{change}'"),
            };
            assert!(command.contains(&told), "{command}");
        }
    }

    #[test]
    fn steps_come_in_the_order_of_their_names() {
        let ids: Vec<StepId> = steps(&Plan::new("demo").unwrap(), "")
            .iter()
            .map(|step| step.id)
            .collect();
        assert!(ids.is_sorted() && ids.first() == Some(&StepId::Create) && ids.last() == Some(&StepId::Back));
    }
}
