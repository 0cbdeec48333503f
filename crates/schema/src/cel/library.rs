//! The functions of expressions. Types were checked before, but dynamic values can still bring wrong ones: then there is
//! no such overload.

pub(super) mod convert;
pub(super) mod cost;
mod format;
mod kubernetes;
mod lists;
mod network;
mod operators;
pub(super) mod semver;
mod strings;
pub(super) mod time;

use super::value::{Failure, Outcome, Value};

/// A function over values, the target first.
pub(super) type Native = for<'a> fn(&[Value<'a>]) -> Outcome<Value<'a>>;

/// Texts and lists that grow beyond this are refused: an expression is small, but what it multiplies is not.
pub(super) const MAX_RESULT: usize = 16 * 1024 * 1024;

/// The function of that name.
pub(super) fn native(function: &str) -> Option<Native> {
    operators::native(function)
        .or_else(|| convert::native(function))
        .or_else(|| strings::native(function))
        .or_else(|| lists::native(function))
        .or_else(|| time::native(function))
        .or_else(|| network::native(function))
        .or_else(|| kubernetes::native(function))
}

/// The arguments did not fit.
fn no_overload<'a>() -> Outcome<Value<'a>> {
    Err(Failure::no_overload())
}

/// A length as a value.
fn count<'a>(length: usize) -> Value<'a> {
    Value::Int(i64::try_from(length).unwrap_or(i64::MAX))
}
