//! Labels and taints that nodes are born with: that what carries them, a Machine, can have them.

use hyperplane_api::{constants::labels, hypershift::node_pool::NodePool};
use hyperplane_platforms::{Problem, Rule};

use super::Case;

const LABEL_KEY: Rule = Rule {
    name: "pool-label-key",
    asks: "the key of a node label must be one, and leave room for the prefix by which a Machine carries it",
};
const LABEL_VALUE: Rule = Rule {
    name: "pool-label-value",
    asks: "the value of a node label must be one",
};
const TAINT_TWICE: Rule = Rule {
    name: "pool-taint-twice",
    asks: "a taint with a key and an effect stands once",
};

const TAINT_VALUE: Rule = Rule {
    name: "pool-taint-value",
    asks: "the value of a taint must be one, which is shorter than the schema of a pool lets it be",
};

pub(super) const RULES: &[Rule] = &[LABEL_KEY, LABEL_VALUE, TAINT_TWICE, TAINT_VALUE];

/// The longest name in a key and the longest value, by Kubernetes' own rule.
const LONGEST: usize = 63;
/// The longest DNS name before the slash of a key.
const LONGEST_DOMAIN: usize = 253;

pub(super) fn judge(case: &Case<'_>, problems: &mut Vec<Problem>) {
    problems.extend(labels_of(case.pool));
    problems.extend(taints_of(case.pool));
}

/// Whether machines can carry the labels that a pool has for nodes.
pub(crate) fn has_labels(pool: &NodePool) -> bool {
    labels_of(pool).is_empty()
}

/// Whether nodes can have the taints of a pool.
pub(crate) fn has_taints(pool: &NodePool) -> bool {
    taints_of(pool).is_empty()
}

fn labels_of(pool: &NodePool) -> Vec<Problem> {
    let mut problems = Vec::new();
    for (key, value) in &pool.spec.node_labels {
        let field = format!("spec.nodeLabels[{key}]");
        if !is_key(key) || !is_key(&labels::MANAGED_NODE_LABEL.key(key)) {
            let what = format!(
                "it is no key of a label, or too long with {} in front",
                labels::MANAGED_NODE_LABEL
            );
            let remedy = "choose a shorter one of letters, digits, dashes and dots";
            problems.push(Problem::new(&LABEL_KEY, field.clone(), what, remedy));
        }
        if !value.is_empty() && !is_name(value) {
            let remedy = "write at most 63 letters, digits, dashes, dots and underscores";
            problems.push(Problem::new(
                &LABEL_VALUE,
                field,
                "its value is none of a label",
                remedy,
            ));
        }
    }
    problems
}

fn taints_of(pool: &NodePool) -> Vec<Problem> {
    let mut problems = Vec::new();
    let taints = &pool.spec.taints;
    for (place, taint) in taints.iter().enumerate() {
        let value = taint.value.as_ref().map_or("", |value| value.as_str());
        if !value.is_empty() && !is_name(value) {
            problems.push(Problem::new(
                &TAINT_VALUE,
                format!("spec.taints[{place}].value"),
                "no node can have it",
                "write at most 63 letters, digits, dashes, dots and underscores",
            ));
        }
        let mut before = taints[..place].iter();
        if before.any(|other| other.key == taint.key && other.effect == taint.effect) {
            problems.push(Problem::new(
                &TAINT_TWICE,
                format!("spec.taints[{place}]"),
                format!("{} with {} is there already", taint.key, taint.effect),
                "take one of them away",
            ));
        }
    }
    problems
}

fn is_key(key: &str) -> bool {
    match key.split_once('/') {
        None => is_name(key),
        Some((domain, name)) => is_domain(domain) && is_name(name),
    }
}

fn is_name(name: &str) -> bool {
    let is_end = |one: char| one.is_ascii_alphanumeric();
    (1..=LONGEST).contains(&name.len())
        && name.starts_with(is_end)
        && name.ends_with(is_end)
        && name.chars().all(|one| is_end(one) || matches!(one, '-' | '_' | '.'))
}

fn is_domain(domain: &str) -> bool {
    let is_part = |part: &str| {
        let is_end = |one: char| one.is_ascii_lowercase() || one.is_ascii_digit();
        part.starts_with(is_end) && part.ends_with(is_end) && part.chars().all(|one| is_end(one) || one == '-')
    };
    domain.len() <= LONGEST_DOMAIN && domain.split('.').all(is_part)
}
