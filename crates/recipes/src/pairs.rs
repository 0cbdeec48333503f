//! Keys and values as flags have them: labels, annotations, selectors.

use std::collections::BTreeMap;

use hyperplane_schema::names;

use crate::judge::Judge;

/// Pairs such as key=value, of which each value of a flag holds one.
pub(crate) fn single(flag: &str, values: &[String], judge: &mut Judge) -> BTreeMap<String, String> {
    pairs(flag, values.iter().map(String::as_str), judge)
}

/// Pairs such as key=value, of which each value of a flag holds any number, with commas between.
pub(crate) fn many(flag: &str, values: &[String], judge: &mut Judge) -> BTreeMap<String, String> {
    pairs(flag, values.iter().flat_map(|value| value.split(',')), judge)
}

/// Labels: their keys and values must be what Kubernetes takes.
pub(crate) fn labels(flag: &str, values: &[String], judge: &mut Judge) -> BTreeMap<String, String> {
    let labels = many(flag, values, judge);
    for (key, value) in &labels {
        judge.complaints(flag, key, &names::qualified_name(key));
        judge.complaints(flag, value, &names::label_value(value));
    }
    labels
}

/// Annotations: their keys must be what Kubernetes takes.
pub(crate) fn annotations(flag: &str, values: &[String], judge: &mut Judge) -> BTreeMap<String, String> {
    let annotations = single(flag, values, judge);
    for key in annotations.keys() {
        // Upstream looks at annotations in lower case.
        judge.complaints(flag, key, &names::qualified_name(&key.to_lowercase()));
    }
    annotations
}

fn pairs<'a>(flag: &str, texts: impl Iterator<Item = &'a str>, judge: &mut Judge) -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    for text in texts {
        let Some((key, value)) = text.split_once('=').filter(|(key, _)| !key.is_empty()) else {
            judge.wrong(flag, format!("{text:?} is no pair: write key=value"));
            continue;
        };
        let before = found.insert(key.to_owned(), value.to_owned());
        if before.is_some_and(|before| before != value) {
            judge.wrong(flag, format!("{key:?} has two values: leave one of them"));
        }
    }
    found
}
