//! Walks over typed values: check, compare, own, merge, remove, and fitting old sets to new types.
//! Pure functions of types, values and sets; nothing here knows managers or requests.

mod check;
mod compare;
mod keys;
mod merge;
mod own;
mod reconcile;
mod remove;
#[cfg(test)]
mod tests;

pub(crate) use check::{Duplicates, check};
pub(crate) use compare::{Changes, compare};
pub(crate) use merge::merge;
pub(crate) use own::owned;
pub(crate) use reconcile::{name_fields, reconcile};
pub(crate) use remove::{extract, remove};
