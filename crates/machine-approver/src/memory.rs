//! What this process has just done and said, until the caches show it. Without it, two requests for one machine that come
//! together would both be approved. Nothing here goes through everything that is remembered: a whole pool may ask at once.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use k8s_openapi::api::certificates::v1::CertificateSigningRequest;
use kube::ResourceExt as _;

/// Approvals that were given, and refusals that were told. Both are forgotten with their requests.
#[derive(Debug, Default)]
pub struct Memory(Mutex<Remembered>);

#[derive(Debug, Default)]
struct Remembered {
    /// Requests that were approved, by the node that each is for and its own name.
    given: BTreeMap<(String, String), Arc<CertificateSigningRequest>>,
    /// For which node that is, by the name of the request.
    nodes: BTreeMap<String, String>,
    /// What was said of a request, by its name.
    said: BTreeMap<String, String>,
}

impl Memory {
    /// Notes an approval that is about to be given.
    pub fn give(&self, node: &str, request: &Arc<CertificateSigningRequest>) {
        let name = request.name_any();
        let mut remembered = self.lock();
        remembered
            .given
            .insert((node.to_owned(), name.clone()), Arc::clone(request));
        remembered.nodes.insert(name, node.to_owned());
    }

    /// The requests that were approved for a node.
    pub fn given(&self, node: &str) -> Vec<Arc<CertificateSigningRequest>> {
        let remembered = self.lock();
        let found = remembered.given.range((node.to_owned(), String::new())..);
        let found = found.take_while(|((known, _), _)| known == node);
        found.map(|(_, request)| Arc::clone(request)).collect()
    }

    /// Notes what is said of a request, and tells whether it is new.
    pub fn say(&self, request: &str, what: &str) -> bool {
        let before = self.lock().said.insert(request.to_owned(), what.to_owned());
        before.is_none_or(|before| before != what)
    }

    /// Forgets a request: it is decided, and the caches show that, or it is gone.
    pub fn forget(&self, request: &str) {
        let mut remembered = self.lock();
        remembered.said.remove(request);
        if let Some(node) = remembered.nodes.remove(request) {
            remembered.given.remove(&(node, request.to_owned()));
        }
    }

    /// Forgets another request that had the name of this one.
    pub fn forget_namesake(&self, request: &CertificateSigningRequest) {
        let name = request.name_any();
        let remembered = self.lock();
        let node = remembered.nodes.get(&name).cloned();
        let known = node.and_then(|node| remembered.given.get(&(node, name.clone())).cloned());
        drop(remembered);
        if known.is_some_and(|known| known.metadata.uid != request.metadata.uid) {
            self.forget(&name);
        }
    }

    fn lock(&self) -> MutexGuard<'_, Remembered> {
        // What it guards is valid after every statement, or too much for one request.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn request(name: &str, uid: &str) -> Arc<CertificateSigningRequest> {
        let object = json!({
            "metadata": {"name": name, "uid": uid}, "spec": {"request": "", "signerName": "example.com/one"},
        });
        Arc::new(hyperplane_objects::read(&object).unwrap())
    }

    fn names(memory: &Memory, node: &str) -> Vec<String> {
        memory.given(node).iter().map(|request| request.name_any()).collect()
    }

    #[test]
    fn approvals_are_known_by_their_nodes_until_they_are_forgotten() {
        let memory = Memory::default();
        for (node, name) in [("a", "one"), ("a", "two"), ("a.internal", "three"), ("b", "four")] {
            memory.give(node, &request(name, name));
        }
        assert_eq!(names(&memory, "a"), ["one", "two"]);
        assert_eq!(names(&memory, "a.internal"), ["three"]);
        assert_eq!(names(&memory, "c"), Vec::<String>::new());
        memory.forget("one");
        memory.forget("never");
        assert_eq!(names(&memory, "a"), ["two"]);
        memory.forget_namesake(&request("two", "two"));
        assert_eq!(names(&memory, "a"), ["two"], "it is the same");
        memory.forget_namesake(&request("two", "another"));
        assert_eq!(names(&memory, "a"), Vec::<String>::new());
    }

    #[test]
    fn a_refusal_is_told_once() {
        let memory = Memory::default();
        assert!(memory.say("one", "no machine"));
        assert!(!memory.say("one", "no machine"));
        assert!(memory.say("one", "another"));
        memory.forget("one");
        assert!(memory.say("one", "another"));
    }
}
