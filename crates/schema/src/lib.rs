//! Structural schemas as the API server applies them: prune, default, validate with upstream's paths and messages, and
//! evaluate CEL rules; and the checks of a CustomResourceDefinition itself. Values in, values out; knows no request.
//!
//! Where this differs from upstream: a rule that names a time zone by a city, or makes a protocol buffer message, is
//! refused when it is registered; syntax errors of rules point to the same place in fewer words; unknown fields of built-in
//! kinds are named in the order of their names, because objects do not remember the order in which they were written; and
//! complaints about one object end after a thousand.

mod builder;
mod cel;
mod correlate;
mod decode;
mod default;
pub mod definition;
mod embedded;
pub mod expression;
mod field_error;
mod field_path;
mod formats;
pub mod go_json;
mod go_net;
mod go_regex;
pub mod go_text;
mod go_time;
pub mod json_path;
mod lists;
pub mod names;
mod node;
pub mod object_meta;
mod openapi;
mod path;
mod prune;
mod quantity;
mod rules;
mod schema;
mod structural;
mod validate;

pub use field_error::{BadValue, FieldError, FieldErrorKind, ROOT_PATH};
pub use openapi::{Definitions, DefinitionsError};
pub use rules::Budget;
pub use schema::Schema;
