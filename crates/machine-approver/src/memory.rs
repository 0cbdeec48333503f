//! What this process has just done and said, until the caches show it. Without it, two requests for one machine that come
//! together would both be approved.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use k8s_openapi::api::certificates::v1::CertificateSigningRequest;
use kube::ResourceExt as _;

/// Approvals that were given, and refusals that were told. Both are forgotten with their requests.
#[derive(Debug, Default)]
pub struct Memory {
    /// By uid: the node that the request was for, and the request.
    given: Mutex<BTreeMap<String, (String, Arc<CertificateSigningRequest>)>>,
    /// By uid: the name of the request, and what was said.
    said: Mutex<BTreeMap<String, (String, String)>>,
}

impl Memory {
    /// Notes an approval that is about to be given.
    pub fn give(&self, uid: &str, node: &str, request: &Arc<CertificateSigningRequest>) {
        lock(&self.given).insert(uid.to_owned(), (node.to_owned(), Arc::clone(request)));
    }

    /// The requests that were approved for a node.
    pub fn given(&self, node: &str) -> Vec<Arc<CertificateSigningRequest>> {
        let given = lock(&self.given);
        let found = given.values().filter(|(known, _)| known == node);
        found.map(|(_, request)| Arc::clone(request)).collect()
    }

    /// Notes what is said of a request, and tells whether it is new.
    pub fn say(&self, uid: &str, request: &str, what: &str) -> bool {
        let said = (request.to_owned(), what.to_owned());
        let before = lock(&self.said).insert(uid.to_owned(), said);
        before.is_none_or(|(_, before)| before != what)
    }

    /// Forgets all requests but those that are undecided. Each is known by its uid and its name.
    pub fn retain(&self, is_undecided: impl Fn(&str, &str) -> bool) {
        lock(&self.given).retain(|uid, (_, request)| is_undecided(uid, &request.name_any()));
        lock(&self.said).retain(|uid, (name, _)| is_undecided(uid, name));
    }
}

fn lock<T>(map: &Mutex<T>) -> MutexGuard<'_, T> {
    map.lock().unwrap_or_else(PoisonError::into_inner)
}
