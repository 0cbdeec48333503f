//! Who a request comes from and what it may do, as pure functions of objects, credentials and time: authentication,
//! RBAC and node authorization, the checks of NodeRestriction, the reviews of access, tokens, the signing of
//! certificates, audit lines. Does no I/O, reads no clock, and knows nothing of HTTP or of how objects are stored.

pub mod admission;
mod aggregate;
mod attributes;
pub mod audit;
pub mod authenticate;
pub mod bootstrap;
mod cover;
pub mod names;
mod object;
mod pem;
mod policy;
mod references;
mod refusal;
pub mod reviews;
mod rule;
pub mod signing;
mod text;
pub mod tokens;
mod user;

pub use self::{
    aggregate::aggregate,
    attributes::{Attributes, Decision, FieldRequirement, forbidden, forbidden_message},
    object::Objects,
    policy::{Policy, Witness},
    refusal::{Cause, Refusal, Subject},
    rule::Rule,
    user::User,
};
