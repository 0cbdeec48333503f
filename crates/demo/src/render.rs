//! Showing a story: plain lines for pipes, a block that is drawn in place for terminals, and the end as text. Everything
//! fits into eighty columns. What is shown is decided by pure functions; only the outer ones write.

mod live;
mod outcome;
mod plain;
mod text;

pub(crate) use self::text::{bar, fit, paragraph, seconds};
pub use self::{
    live::Live,
    outcome::text as outcome_text,
    plain::Plain,
    text::{Style, WIDTH},
};
