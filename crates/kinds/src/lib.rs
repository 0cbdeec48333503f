//! What the API server knows of each kind. One type, [`Resource`], describes a built-in kind and a custom resource
//! alike, so that the server has one path for both; [`Behaviour`] is what they do differently. Values in, values out:
//! knows no request, no store and no clock.

mod behaviour;
mod behaviour_of_row;
mod built_in;
mod cells;
mod complaints;
pub mod custom;
mod custom_columns;
mod defaults;
mod definitions;
mod human;
mod labels;
mod names;
pub mod protobuf;
mod quantity;
mod resource;
mod row;
mod types;
mod value;

pub use behaviour::{Behaviour, Malformed, Target};
pub use behaviour_of_row::token_request_types;
pub use built_in::built_in;
pub use definitions::definition;
pub use human::human_duration;
pub use quantity::{Quantity, QuantityError};
pub use resource::{Column, Propagation, Resource, ScalePaths, Scope, SelectableField, Subresource, Verb};
