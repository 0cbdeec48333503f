//! JSON patches that users lay over virtual machines: those of the cluster first, then those of the pool.

use hyperplane_api::constants::annotations;
use json_patch::Patch;
use kube::Resource;
use serde_json::Value;

use crate::{
    machines::PoolFacts,
    problem::{Problem, Rule},
};

pub(super) const JSON_PATCH: Rule = Rule {
    name: "pool-kubevirt-json-patch",
    asks: "a JSON patch for virtual machines must fit the machine that it changes",
};

/// Changes the machine, and says what could not be changed.
pub(super) fn apply(facts: &PoolFacts<'_>, machine: &mut Value) -> Vec<Problem> {
    let of_cluster = one(facts.cluster, "the cluster", machine);
    let of_pool = one(facts.pool, "the pool", machine);
    of_cluster.into_iter().chain(of_pool).collect()
}

fn one<K: Resource>(object: &K, whose: &str, machine: &mut Value) -> Option<Problem> {
    let key = annotations::KUBEVIRT_VM_JSON_PATCH;
    let text = key.of(object)?;
    let problem = |what: String| {
        Problem::new(
            &JSON_PATCH,
            format!("metadata.annotations[{key}] of {whose}"),
            what,
            r#"write a list of operations such as [{"op": "add", "path": "/spec/template/spec/hostname", "value": "x"}]"#,
        )
    };
    let patch = match serde_json::from_str::<Patch>(text) {
        Ok(patch) => patch,
        Err(error) => return Some(problem(format!("it is no JSON patch: {error}"))),
    };
    // Applied to a copy: a patch that fails half way leaves the machine as it was.
    let mut changed = machine.clone();
    if let Err(error) = json_patch::patch(&mut changed, &patch.0) {
        return Some(problem(format!("it does not fit: {error}")));
    }
    if !changed.is_object() {
        return Some(problem("it leaves no machine behind".to_owned()));
    }
    *machine = changed;
    None
}
