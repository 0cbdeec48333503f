//! PodDisruptionBudget.

use jiff::Timestamp;
use serde_json::Value;

use super::policy_rules::validate;
use crate::{
    cells::{count, name, object_age, shown},
    row::{AGE, Generation, NAME, NAMESPACED, Row, STATUS},
    value::at,
};

pub(super) const ROWS: &[Row] = &[Row {
    group: "policy",
    plural: "poddisruptionbudgets",
    singular: "poddisruptionbudget",
    kind: "PodDisruptionBudget",
    type_name: "policy.PodDisruptionBudget",
    short_names: &["pdb"],
    subresources: &[STATUS],
    columns: &[
        NAME,
        ("Min Available", "string", 0),
        ("Max Unavailable", "string", 0),
        ("Allowed Disruptions", "integer", 0),
        AGE,
    ],
    cells,
    generation: Generation::Specification,
    allows_unconditional_update: false,
    validate,
    ..NAMESPACED
}];

fn cells(budget: &Value, now: Timestamp) -> Vec<Value> {
    let share = |path: &str| Value::from(at(budget, path).map_or_else(|| "N/A".to_owned(), shown));
    vec![
        name(budget),
        share("spec.minAvailable"),
        share("spec.maxUnavailable"),
        count(budget, "status.disruptionsAllowed"),
        object_age(budget, now),
    ]
}
