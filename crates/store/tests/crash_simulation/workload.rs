//! Transactions from a seed: few keys, so that they meet; all sizes, so that frames and segments end anywhere.

use hyperplane_store::{Change, Expect, Key, Operation};
use rand::{RngExt, SeedableRng, rngs::SmallRng};

use crate::{
    model::{Model, Transaction},
    text::Text,
};

pub const COLLECTIONS: [&str; 3] = ["apples", "apples.core", "pears"];
const NAMESPACES: [&str; 3] = ["", "north", "south"];
const NAMES: usize = 3;

/// Makes transactions.
pub struct Workload(SmallRng);

impl Workload {
    pub fn new(seed: u64) -> Self {
        Self(SmallRng::seed_from_u64(seed))
    }

    pub fn below(&mut self, bound: usize) -> usize {
        self.0.random_range(0..bound)
    }

    pub fn number(&mut self) -> u64 {
        self.0.random()
    }

    /// Some transactions that are sent at once. Many expect what is there, some do not.
    pub fn round(&mut self, model: &Model) -> Vec<Transaction> {
        let transactions = 1 + self.below(5);
        (0..transactions).map(|_| self.transaction(model)).collect()
    }

    fn transaction(&mut self, model: &Model) -> Transaction {
        let operations = if self.below(3) == 0 { 1 + self.below(4) } else { 1 };
        (0..operations).map(|_| self.operation(model)).collect()
    }

    fn operation(&mut self, model: &Model) -> Operation<Text> {
        let key = Key::new(
            COLLECTIONS[self.below(COLLECTIONS.len())],
            NAMESPACES[self.below(NAMESPACES.len())],
            format!("name-{}", self.below(NAMES)),
        );
        let current = model.entries.get(&key).map(|(revision, _)| *revision);
        let expect = match (self.below(8), current) {
            (0..3, _) => Expect::Any,
            (4, Some(revision)) => Expect::Revision(revision.next()),
            (3, _) | (_, None) => Expect::Absent,
            (_, Some(revision)) => Expect::Revision(revision),
        };
        let change = if self.below(3) == 0 {
            Change::Delete
        } else {
            Change::Put(self.text())
        };
        Operation { key, expect, change }
    }

    fn text(&mut self) -> Text {
        let length = match self.below(10) {
            0 => 0,
            1 => 600 + self.below(3000),
            _ => self.below(200),
        };
        let letter = char::from(b'a' + u8::try_from(self.below(26)).unwrap());
        Text(letter.to_string().repeat(length))
    }
}
