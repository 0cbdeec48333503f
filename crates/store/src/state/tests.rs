//! The map against the standard library's, and its weight against a count from scratch.

use std::{borrow::Cow, collections::BTreeMap};

use proptest::prelude::*;

use super::*;
use crate::{entry::DecodeError, key::Revision};

struct Bytes(usize);

impl Payload for Bytes {
    fn encode(&self) -> Cow<'_, [u8]> {
        vec![0; self.0].into()
    }

    fn decode(_key: &Key, bytes: &[u8]) -> Result<Self, DecodeError> {
        Ok(Self(bytes.len()))
    }

    fn weight(&self) -> usize {
        self.0
    }
}

fn key() -> impl Strategy<Value = Key> {
    ("[ab]{1,2}", "[ab]{0,1}", "[abc]{1,2}")
        .prop_map(|(collection, namespace, name)| Key::new(collection, namespace, name))
}

proptest! {
    #[test]
    fn a_state_is_an_ordered_map_that_knows_its_weight(
        changes in prop::collection::vec((key(), prop::option::of(0..100_usize)), 0..80),
        probe in key(),
    ) {
        let mut state = State::default();
        let mut model = BTreeMap::new();
        for (key, change) in changes {
            let (previous, expected) = match change {
                Some(length) => {
                    let entry = Entry { key: key.clone(), revision: Revision(1), payload: Bytes(length) };
                    (state.put(Arc::new(entry)), model.insert(key, length))
                }
                None => (state.remove(&key), model.remove(&key)),
            };
            prop_assert_eq!(previous.map(|entry| entry.payload.0), expected);
        }
        let found: Vec<&Key> = state.entries_after(None).map(|entry| &entry.key).collect();
        prop_assert_eq!(found, model.keys().collect::<Vec<_>>());
        let later: Vec<&Key> = state.entries_after(Some(&probe)).map(|entry| &entry.key).collect();
        prop_assert_eq!(later, model.keys().filter(|key| **key > probe).collect::<Vec<_>>());
        let weight: usize = state.entries_after(None).map(|entry| entry.weight()).sum();
        prop_assert_eq!(state.weight(), weight);
    }
}
