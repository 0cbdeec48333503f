//! The claim that nothing is written when nothing is to do.

use std::{collections::BTreeMap, time::Duration};

use super::{Claim, Evidence, Verdict};

pub(super) const CLAIMS: &[Claim] = &[Claim {
    id: "at-rest",
    sentence: |_| "At rest nothing is written.".to_owned(),
    how: |_| {
        "metadata.resourceVersion of every object of the cluster (its own, its pools', all of its control plane's but Events \
         and Leases, and its Nodes), listed twice with a pause between: all are equal, and none came or went."
            .to_owned()
    },
    judge: at_rest,
}];

/// The resourceVersions of objects, by kind and name.
pub(crate) type Revisions = BTreeMap<String, String>;

/// What was seen of a cluster that was left alone.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Rest {
    /// Objects before the last pause.
    pub(crate) before: Revisions,
    /// Objects after it.
    pub(crate) after: Revisions,
    /// How long the pause was.
    pub(crate) pause: Duration,
    /// How many pauses there were until nothing changed, or nobody waited any longer.
    pub(crate) pauses: usize,
}

impl Rest {
    /// Whether nothing changed in the last pause.
    pub(crate) fn is_calm(&self) -> bool {
        !self.before.is_empty() && self.before == self.after
    }
}

fn at_rest(evidence: &Evidence<'_>) -> Verdict {
    let Some(rest) = evidence.rest else {
        return Err("nobody looked: the story did not get so far".to_owned());
    };
    let seconds = rest.pause.as_secs_f64();
    if rest.is_calm() {
        return Ok(format!(
            "{} objects did not change in {seconds:.1} s",
            rest.before.len()
        ));
    }
    let keys = rest.before.keys().chain(rest.after.keys());
    let changed = keys.filter(|key| rest.before.get(*key) != rest.after.get(*key));
    let changed: std::collections::BTreeSet<&String> = changed.collect();
    Err(format!(
        "changed in the last {seconds:.1} s, after {} pauses: {changed:?}",
        rest.pauses
    ))
}

#[cfg(test)]
mod tests {
    use crate::claims::testing::{fails, whole};

    #[test]
    fn an_object_that_is_written_again_and_again_is_found() {
        let mut told = whole();
        told.rest.after.insert("nodes a".to_owned(), "8".to_owned());
        fails(&told, "at-rest", "nodes a");
        told.rest.after.remove("nodes a");
        fails(&told, "at-rest", "nodes a");
    }

    #[test]
    fn that_nothing_is_there_proves_nothing() {
        let mut told = whole();
        told.rest.before.clear();
        told.rest.after.clear();
        fails(&told, "at-rest", "changed in the last");
    }
}
