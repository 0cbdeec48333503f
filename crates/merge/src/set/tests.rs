//! The algebra of sets against a plain model: a set of lists of texts.

use std::collections::BTreeSet;

use proptest::prelude::*;
use serde_json::{Value, json};

use super::{Set, decode, encode};

type Model = BTreeSet<Vec<String>>;

const KEYS: [&str; 6] = ["f:a", "f:b", "k:{\"n\":\"x\"}", "k:{\"n\":10}", "v:2", "v:10"];

fn model() -> impl Strategy<Value = Model> {
    let path = proptest::collection::vec(proptest::sample::select(&KEYS[..]).prop_map(str::to_owned), 1..4);
    proptest::collection::btree_set(path, 0..12)
}

fn document(model: &Model) -> Value {
    let mut document = json!({});
    for path in model {
        let mut node = &mut document;
        for key in path {
            node = &mut node[key];
            if node.is_null() {
                *node = json!({});
            }
        }
        node["."] = json!({});
    }
    document
}

fn paths(set: &Set<'_>) -> Model {
    fn collect(prefix: &[String], set: &Set<'_>, paths: &mut Model) {
        for node in &set.nodes {
            let mut path = prefix.to_vec();
            let mut key = String::new();
            node.element.write(&mut key);
            path.push(key);
            collect(&path, &node.children, paths);
            if node.member {
                paths.insert(path);
            }
        }
    }
    let mut paths = Model::new();
    collect(&[], set, &mut paths);
    paths
}

fn is_sound(set: &Set<'_>) -> bool {
    set.nodes.windows(2).all(|pair| pair[0].element < pair[1].element)
        && set
            .nodes
            .iter()
            .all(|node| (node.member || !node.children.is_empty()) && is_sound(&node.children))
}

fn leads_to(path: &[String], prefixes: &Model) -> bool {
    (1..=path.len()).any(|length| prefixes.contains(&path[..length]))
}

proptest! {
    #[test]
    fn documents_survive_a_round_trip(model in model()) {
        let document = document(&model);
        let set = decode(&document).unwrap().set;
        prop_assert!(is_sound(&set));
        prop_assert_eq!(paths(&set), model.clone());
        let written = encode(&set);
        let again = decode(&written).unwrap();
        prop_assert!(again.canonical);
        prop_assert_eq!(paths(&again.set), model);
        prop_assert_eq!(encode(&again.set), written.clone());
    }

    #[test]
    fn union_has_the_paths_of_both(left in model(), right in model()) {
        let documents = [document(&left), document(&right)];
        let [set, other] = [0, 1].map(|index: usize| decode(&documents[index]).unwrap().set);
        let union = set.union(other);
        prop_assert!(is_sound(&union));
        prop_assert_eq!(paths(&union), &left | &right);
    }

    #[test]
    fn intersection_has_the_paths_that_are_in_both(left in model(), right in model()) {
        let documents = [document(&left), document(&right)];
        let [set, other] = [0, 1].map(|index: usize| decode(&documents[index]).unwrap().set);
        let intersection = set.intersection(&other);
        prop_assert!(is_sound(&intersection));
        prop_assert_eq!(paths(&intersection), &left & &right);
    }

    #[test]
    fn subtracting_takes_the_paths_and_leaves_what_is_under_them(left in model(), right in model()) {
        let documents = [document(&left), document(&right)];
        let [mut set, other] = [0, 1].map(|index: usize| decode(&documents[index]).unwrap().set);
        let changed = set.subtract(&other);
        prop_assert!(is_sound(&set));
        prop_assert_eq!(changed, !left.is_disjoint(&right));
        prop_assert_eq!(paths(&set), &left - &right);
    }

    #[test]
    fn subtracting_trees_takes_all_that_is_under_a_path(left in model(), right in model()) {
        let documents = [document(&left), document(&right)];
        let [mut set, other] = [0, 1].map(|index: usize| decode(&documents[index]).unwrap().set);
        let changed = set.subtract_trees(&other);
        let expected: Model = left.iter().filter(|path| !leads_to(path, &right)).cloned().collect();
        prop_assert!(is_sound(&set));
        prop_assert_eq!(changed, expected != left);
        prop_assert_eq!(paths(&set), expected);
    }

    #[test]
    fn a_set_is_a_subset_when_its_paths_are(left in model(), right in model()) {
        let documents = [document(&left), document(&right)];
        let [left_set, right_set] = [0, 1].map(|index: usize| decode(&documents[index]).unwrap().set);
        prop_assert_eq!(left_set.is_subset(&right_set), left.is_subset(&right));
        prop_assert!(left_set.is_subset(&left_set.clone().union(right_set)));
    }
}

#[test]
fn texts_that_cannot_be_read_make_a_document_unreadable() {
    for document in [
        json!(1),
        json!([]),
        json!({"a": {}}),
        json!({"f:a": []}),
        json!({"k:{": {}}),
        json!({"f:a": {"v:": {}}}),
    ] {
        assert!(decode(&document).is_none(), "{document}");
    }
}

#[test]
fn other_forms_of_a_document_are_read_and_told_apart() {
    for (document, canonical) in [
        (json!({"f:a": {}, "f:b": {".": {}, "f:c": {}}}), true),
        (json!({"f:a": {".": {}}}), false),
        (json!({"f:a": null}), false),
        (json!({"f:a": {}, "z:later": {"anything": 1}}), false),
        (json!({"v:1.0": {}}), false),
        (json!({"v:1": {}, "v:1.0": {}}), false),
        (json!({"v:10": {}, "v:9": {}}), true),
    ] {
        let decoded = decode(&document).unwrap();
        assert!(is_sound(&decoded.set));
        assert_eq!(
            (decoded.canonical, encode(&decoded.set) == document),
            (canonical, canonical),
            "{document}"
        );
    }
}

#[test]
fn paths_are_listed_level_by_level() {
    let document =
        json!({"f:a": {".": {}, "f:x": {}}, "f:b": {}, "f:l": {"k:{\"n\":1}": {".": {}, "f:n": {}}, "v:true": {}}});
    let paths = decode(&document).unwrap().set.describe();
    assert_eq!(paths, [".a", ".b", ".a.x", ".l[n=1]", ".l[=true]", ".l[n=1].n"]);
}
