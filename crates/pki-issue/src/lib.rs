//! The certificates of a hosted control plane: which authorities and leaves there are, when each is issued anew, and the
//! kubeconfigs made of them. Who reads and writes the Secrets is not known here; time is a parameter, and key material is
//! the only thing that is not a function of the parameters.
//!
//! ```text
//!  Wanted (facts) ──► rows of table.rs ─┐
//!  Existing (Secrets, ConfigMaps) ──────┼─► plan ─► Plan: keep, issue, waiting, problems, next look
//!  now ─────────────────────────────────┘                      │
//!                                                              ▼
//!                                              issue ─► Write, one after the other
//! ```
//!
//! Adding a certificate is one row in `table.rs`.

mod authority;
mod bundle;
mod existing;
mod inspect;
mod issue;
mod judge;
mod key;
mod kubeconfig;
mod kubeconfigs;
mod lifetime;
mod names;
mod object_names;
mod plan;
mod planner;
mod reason;
pub mod service_account;
mod serving;
mod table;
mod wanted;

pub use self::{
    existing::Existing,
    issue::{Issuance, IssueError, Write, issue},
    key::{KeyAlgorithm, UnknownKeyAlgorithm},
    lifetime::{InvalidLifetime, Lifetime},
    names::{Host, InvalidHost, InvalidNetwork, first_address},
    object_names::{authority_names, object_names},
    plan::{Plan, Problem, Step, plan},
    reason::Reason,
    serving::standing_api_server_names,
    wanted::{Etcd, Published, SecretKey, ServiceAccount, ServiceAccountKey, Wanted},
};
