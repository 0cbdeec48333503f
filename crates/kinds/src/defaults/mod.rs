//! What the server fills in, per type, as upstream's defaulting functions do. Each runs wherever its type occurs, so a
//! pod template has the same defaults in every kind. Constants that the types themselves declare are in the table.

mod admission;
mod apps;
mod batch;
mod core;
mod images;
mod pods;
mod small;

use std::collections::BTreeMap;

use crate::types::DefaultFunction;

/// Every function, by the name of its type in the table.
pub(crate) fn functions() -> BTreeMap<&'static str, DefaultFunction> {
    [
        admission::FUNCTIONS,
        apps::FUNCTIONS,
        batch::FUNCTIONS,
        core::FUNCTIONS,
        pods::FUNCTIONS,
        small::FUNCTIONS,
    ]
    .into_iter()
    .flatten()
    .copied()
    .collect()
}
