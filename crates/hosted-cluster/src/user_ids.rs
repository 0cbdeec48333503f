//! Which user the pods of a control plane run as, where the management cluster assigns none: each control plane has one
//! that no other has, from its first day to its last.

use std::{
    collections::BTreeMap,
    ops::Range,
    sync::{Mutex, PoisonError},
};

use hyperplane_api::constants::annotations;
use hyperplane_runtime::Failure;
use k8s_openapi::api::core::v1::Namespace;
use thiserror::Error;

use crate::stores::Stores;

/// The users that are given away. Those below belong to images.
const USERS: Range<i64> = 1_001..11_001;

#[derive(Debug, Error)]
#[error("all of the {} users for control planes are taken", USERS.end - USERS.start)]
struct NoneLeft;

/// Users that were chosen and that the caches may not show yet, by the namespace that they are for.
#[derive(Debug, Default)]
pub(crate) struct UserIds(Mutex<BTreeMap<String, i64>>);

impl UserIds {
    /// The user of a namespace: the one that it has, or one that nobody has.
    pub(crate) fn of(&self, stores: &Stores, namespace: &str, live: Option<&Namespace>) -> Result<i64, Failure> {
        let present = live.and_then(|live| annotations::DEFAULT_SECURITY_CONTEXT_UID.of(live));
        let mut chosen = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(user) = present.and_then(|text| text.parse().ok()) {
            chosen.remove(namespace);
            return Ok(user);
        }
        if let Some(user) = chosen.get(namespace) {
            return Ok(*user);
        }
        let is_free = |user: &i64| !stores.is_user_taken(*user) && !chosen.values().any(|other| other == user);
        let user = USERS.clone().find(is_free).ok_or_else(|| Failure::fatal(NoneLeft))?;
        chosen.insert(namespace.to_owned(), user);
        Ok(user)
    }

    /// Gives back what a namespace that is gone had chosen.
    pub(crate) fn forget(&self, namespace: &str) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).remove(namespace);
    }
}
