//! Which tokens had a good signature, so that each is verified once and not with every request. It says nothing of
//! whether they are still valid.

use std::{
    collections::{BTreeMap, VecDeque},
    sync::{Arc, Mutex, PoisonError},
};

use super::Claims;

/// As many as the service accounts of a big cluster use at a time; about a megabyte when full.
const CAPACITY: usize = 4096;

/// Good tokens by their digest, the oldest forgotten first.
#[derive(Default)]
pub(super) struct Cache {
    entries: Mutex<Entries>,
}

#[derive(Default)]
struct Entries {
    by_digest: BTreeMap<Box<[u8]>, Arc<Claims>>,
    order: VecDeque<Box<[u8]>>,
}

impl Cache {
    pub fn get(&self, digest: &[u8]) -> Option<Arc<Claims>> {
        self.lock().by_digest.get(digest).cloned()
    }

    pub fn put(&self, digest: &[u8], claims: Arc<Claims>) {
        let mut entries = self.lock();
        if entries.by_digest.insert(digest.into(), claims).is_none() {
            entries.order.push_back(digest.into());
        }
        if entries.order.len() > CAPACITY
            && let Some(oldest) = entries.order.pop_front()
        {
            entries.by_digest.remove(&oldest);
        }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Entries> {
        self.entries.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_oldest_is_forgotten_first() {
        let cache = Cache::default();
        let claims = Arc::new(Claims::from_value(&json!({})));
        for number in 0..=CAPACITY {
            cache.put(&number.to_be_bytes(), claims.clone());
        }
        assert_eq!(cache.get(&0_usize.to_be_bytes()), None);
        assert_eq!(cache.get(&1_usize.to_be_bytes()), Some(claims.clone()));
        assert_eq!(cache.get(&CAPACITY.to_be_bytes()), Some(claims));
        assert_eq!(cache.lock().by_digest.len(), CAPACITY);
    }
}
