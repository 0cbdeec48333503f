//! The end of a pool: its machines first, which are drained and taken down by who made them; then what they were made from.
//! What is left over from runs that were cut short is found and removed as well.

use hyperplane_api::{cluster_api::machine::Machine, hypershift::node_pool::NodePool};
use hyperplane_runtime::{Context, Failure};
use kube::ResourceExt;

use crate::{
    apply::{delete_all, resume},
    dereference::{Machines, Seen, secrets},
    names,
    status::drains,
    stores::Stores,
};

/// How many machines a text names before it counts the rest.
const MOST_NAMES: usize = 5;

/// What is next.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    /// Machines are to go, and this is waited for.
    Machines(String),
    /// Nothing has machines any more: everything else goes.
    Rest,
}

/// What is next, from what remains.
pub(crate) fn next(remains: &Machines) -> Step {
    if !remains.all.is_empty() {
        return Step::Machines(described(remains.all.iter().map(AsRef::as_ref)));
    }
    if remains.deployment.is_some() || !remains.sets.is_empty() {
        return Step::Machines("the MachineDeployment and its sets to be gone".to_owned());
    }
    Step::Rest
}

fn described<'a>(machines: impl Iterator<Item = &'a Machine> + Clone) -> String {
    let names: Vec<String> = machines.clone().map(ResourceExt::name_any).collect();
    let shown = names.iter().take(MOST_NAMES).map(String::as_str).collect::<Vec<_>>();
    let more = match names.len().saturating_sub(MOST_NAMES) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    let drains = drains(machines)
        .map(|drains| format!(" ({drains})"))
        .unwrap_or_default();
    format!("machines to be gone: {}{more}{drains}", shown.join(", "))
}

/// Takes everything of a pool away, as far as it can go now.
pub(crate) async fn take_away(context: &Context, stores: &Stores, pool: &NodePool, seen: &Seen) -> Result<(), Failure> {
    // Controllers leave paused machines alone, also those that are to go.
    resume(context, seen).await?;
    let remains = &seen.machines;
    // Without it, machines that are slow to go would be replaced.
    if let Some(check) = &remains.health_check {
        context.delete(check.as_ref()).await?;
    }
    if let Some(deployment) = &remains.deployment {
        context.delete(deployment.as_ref()).await?;
    } else {
        // What a deployment left behind has nobody else to take it down.
        delete_all(context, &remains.sets).await?;
        if remains.sets.is_empty() {
            delete_all(context, &remains.all).await?;
        }
    }
    if let Step::Machines(what) = next(remains) {
        return Err(Failure::wait(what));
    }
    rest(context, stores, pool, remains).await
}

/// What machines were made from. Nothing needs it once there are none.
async fn rest(context: &Context, stores: &Stores, pool: &NodePool, remains: &Machines) -> Result<(), Failure> {
    delete_all(context, &remains.kubevirt).await?;
    delete_all(context, &remains.agents).await?;
    let (tokens, user_data) = secrets(stores, pool, &names::control_plane_namespace(pool));
    delete_all(context, &tokens).await?;
    delete_all(context, &user_data).await
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use serde_json::json;

    use super::*;
    use crate::testing;

    #[test]
    fn machines_go_before_what_they_were_made_from() {
        let mut remains = Machines::default();
        assert_eq!(next(&remains), Step::Rest);
        remains.deployment = Some(Arc::new(testing::deployment(&json!({}))));
        assert!(matches!(next(&remains), Step::Machines(what) if what.contains("MachineDeployment")));
        let machine = |number: usize| Arc::new(testing::machine(&format!("m-{number}"), "1.36.4", "v1.36.4", true));
        remains.all = (0..7).map(machine).collect();
        let Step::Machines(what) = next(&remains) else {
            panic!("there are machines");
        };
        assert_eq!(what, "machines to be gone: m-0, m-1, m-2, m-3, m-4 and 2 more");
        remains.all = vec![Arc::new(testing::draining("m-0", "Pod a/b: PodDisruptionBudget c"))];
        let expected = "machines to be gone: m-0 (m-0: Pod a/b: PodDisruptionBudget c)";
        assert!(matches!(next(&remains), Step::Machines(what) if what == expected));
    }
}
