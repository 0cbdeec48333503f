//! Who holds a node up, in words of bounded length that do not change while nothing happens. Pure.

use std::collections::BTreeMap;

use hyperplane_runtime::ObjectKey;
use k8s_openapi::api::policy::v1::PodDisruptionBudget;
use kube::{
    ResourceExt,
    core::{Selector, SelectorExt as _},
};

/// How many pods are named; the rest is counted. Five lines are read, fifty are not.
const NAMED: usize = 5;

/// A pod that may not go.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Blocked {
    /// Which.
    pub(crate) pod: ObjectKey,
    /// The budgets that it belongs to, by name, in its namespace.
    pub(crate) budgets: Vec<String>,
    /// What the server said.
    pub(crate) answer: String,
}

/// A pod that is waited for, and for what.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Left {
    /// What it waits for.
    pub(crate) reason: LeftReason,
    /// Which.
    pub(crate) pod: ObjectKey,
}

/// Why a pod is still there although nobody holds it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum LeftReason {
    /// It is to finish its work first, as its label asks.
    Completing,
    /// It has been told to go.
    Ending,
    /// It changed when it was told to go, and is told again.
    Changed,
    /// Others go first.
    Queued,
}

impl Left {
    /// A pod that has been told to go.
    pub(crate) fn ending(pod: &ObjectKey) -> Self {
        Self {
            reason: LeftReason::Ending,
            pod: pod.clone(),
        }
    }

    /// A pod whose turn has not come.
    pub(crate) fn queued(pod: &ObjectKey) -> Self {
        Self {
            reason: LeftReason::Queued,
            pod: pod.clone(),
        }
    }

    /// A pod that changed when it was told to go.
    pub(crate) fn changed(pod: &ObjectKey) -> Self {
        Self {
            reason: LeftReason::Changed,
            pod: pod.clone(),
        }
    }
}

/// The budgets that a pod with these labels belongs to, by name.
pub(crate) fn budgets_of(labels: &BTreeMap<String, String>, budgets: &[PodDisruptionBudget]) -> Vec<String> {
    let covers = |budget: &&PodDisruptionBudget| {
        let selector = budget.spec.as_ref().and_then(|spec| spec.selector.clone());
        // None selects nothing, an empty one everything (policy/v1); one that cannot be read holds nobody.
        let selector = selector.and_then(|selector| Selector::try_from(selector).ok());
        selector.is_some_and(|selector| selector.matches(labels))
    };
    let mut names: Vec<String> = budgets.iter().filter(covers).map(ResourceExt::name_any).collect();
    names.sort();
    names
}

/// Which pods are left on a node: first those that are held, with who holds them.
pub(crate) fn describe(blocked: &[Blocked], left: &[Left]) -> String {
    let lines = blocked.iter().map(hold).chain(left.iter().map(state));
    let mut named: Vec<String> = lines.take(NAMED).collect();
    let more = (blocked.len() + left.len()).saturating_sub(NAMED);
    if more > 0 {
        let pods = if more == 1 { "pod" } else { "pods" };
        named.push(format!("and {more} more {pods}"));
    }
    named.join("; ")
}

fn hold(blocked: &Blocked) -> String {
    let Blocked { pod, budgets, answer } = blocked;
    let namespace = &pod.namespace;
    let titles: Vec<String> = budgets.iter().map(|name| format!("{namespace}/{name}")).collect();
    match titles.as_slice() {
        [] => format!("pod {pod} cannot be evicted: {answer}"),
        [budget] => format!("pod {pod} is held by PodDisruptionBudget {budget}"),
        // Kubernetes evicts no pod that two budgets select, whatever they allow.
        several => format!(
            "pod {pod} is held by PodDisruptionBudgets {}: a pod may belong to one only",
            several.join(" and ")
        ),
    }
}

fn state(left: &Left) -> String {
    let pod = &left.pod;
    match left.reason {
        LeftReason::Completing => format!("pod {pod} is to complete first"),
        LeftReason::Ending => format!("pod {pod} is ending"),
        LeftReason::Changed => format!("pod {pod} is told to go again"),
        LeftReason::Queued => format!("pod {pod} goes after the others"),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::{Value, json};

    use super::*;

    fn budget(name: &str, selector: &Value) -> PodDisruptionBudget {
        hyperplane_objects::read(json!({
            "metadata": {"name": name, "namespace": "shop"}, "spec": {"selector": selector, "maxUnavailable": 0},
        }))
        .unwrap()
    }

    #[test]
    fn budgets_are_found_by_their_selectors() {
        let labels = BTreeMap::from([("app".to_owned(), "db".to_owned())]);
        let in_set = json!({"matchExpressions": [{"key": "app", "operator": "In", "values": ["db", "web"]}]});
        let budgets = [
            budget("z-exact", &json!({"matchLabels": {"app": "db"}})),
            budget("in-set", &in_set),
            budget("all", &json!({})),
            budget("none", &Value::Null),
            budget("other", &json!({"matchLabels": {"app": "web"}})),
            budget(
                "broken",
                &json!({"matchExpressions": [{"key": "app", "operator": "Likes"}]}),
            ),
        ];
        assert_eq!(budgets_of(&labels, &budgets), ["all", "in-set", "z-exact"]);
    }

    fn blocked(name: &str, budgets: &[&str]) -> Blocked {
        Blocked {
            pod: ObjectKey::namespaced("shop", name),
            budgets: budgets.iter().map(|name| (*name).to_owned()).collect(),
            answer: "too many requests".to_owned(),
        }
    }

    #[test]
    fn each_hold_is_told_with_its_owner() {
        for (budgets, expected) in [
            (&["db"][..], "pod shop/db-0 is held by PodDisruptionBudget shop/db"),
            (
                &["db", "all"],
                "pod shop/db-0 is held by PodDisruptionBudgets shop/db and shop/all: a pod may belong to one only",
            ),
            (&[], "pod shop/db-0 cannot be evicted: too many requests"),
        ] {
            assert_eq!(describe(&[blocked("db-0", budgets)], &[]), expected);
        }
    }

    proptest! {
        #[test]
        fn only_a_few_are_named_and_none_is_lost(held in 0_usize..20, ending in 0_usize..20) {
            let held: Vec<Blocked> = (0..held).map(|number| blocked(&format!("h-{number}"), &["b"])).collect();
            let left: Vec<Left> = (0..ending)
                .map(|number| Left::ending(&ObjectKey::namespaced("shop", format!("e-{number}"))))
                .collect();
            let all = held.len() + left.len();
            let text = describe(&held, &left);
            let named = text.matches("pod shop/").count();
            prop_assert_eq!(named, all.min(NAMED));
            let rest = text.rsplit("and ").next().and_then(|rest| rest.split(' ').next()?.parse::<usize>().ok());
            prop_assert_eq!(if all > NAMED { rest.unwrap_or(0) } else { 0 }, all.saturating_sub(NAMED));
        }
    }
}
