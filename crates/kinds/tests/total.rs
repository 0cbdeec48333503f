//! Whatever a client sends, no kind panics; and what is done twice is done once.

use hyperplane_kinds::{Target, built_in};
use jiff::Timestamp;
use proptest::prelude::*;
use serde_json::{Map, Value, json};

/// Names that rules look for, so that random objects reach them.
const NAMES: [&str; 40] = [
    "apiVersion",
    "kind",
    "metadata",
    "spec",
    "status",
    "data",
    "name",
    "namespace",
    "labels",
    "annotations",
    "template",
    "selector",
    "matchLabels",
    "matchExpressions",
    "containers",
    "initContainers",
    "volumes",
    "ports",
    "port",
    "rules",
    "subjects",
    "roleRef",
    "webhooks",
    "type",
    "conditions",
    "replicas",
    "strategy",
    "schedule",
    "jobTemplate",
    "metrics",
    "resources",
    "limits",
    "requests",
    "cpu",
    "storage",
    "accessModes",
    "endpoints",
    "addresses",
    "stringData",
    "uid",
];

fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(|number| json!(number)),
        prop::sample::select(vec![
            "",
            "1",
            "25%",
            "a",
            "Always",
            "None",
            "1Gi",
            "é",
            "2024-01-02T03:04:05Z"
        ])
        .prop_map(Value::from),
        "\\PC{0,8}".prop_map(Value::from),
    ];
    leaf.prop_recursive(6, 64, 6, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::btree_map(prop::sample::select(NAMES.to_vec()), inner, 0..6).prop_map(|map| map
                .into_iter()
                .map(|(name, value)| (name.to_owned(), value))
                .collect::<Map<_, _>>()
                .into()),
        ]
    })
}

proptest! {
    #[test]
    fn no_body_makes_a_kind_panic(body in value(), old in value(), position in any::<prop::sample::Index>()) {
        let resources = built_in();
        let resource = &resources[position.index(resources.len())];
        let behaviour = &resource.behaviour;
        for target in [Target::Main, Target::Status, Target::Subresource("approval"), Target::Subresource("resize"), Target::Subresource("ephemeralcontainers")] {
            // What the server never hands on unread is survived too.
            for is_read in [false, true] {
                let (mut object, mut before) = (body.clone(), old.clone());
                if is_read && (behaviour.read(&mut object).is_err() || behaviour.read(&mut before).is_err()) {
                    continue;
                }
                behaviour.default(&mut object);
                behaviour.prepare_update(&mut object, &before, target);
                behaviour.stamp(&mut object, Some(&before), target, Timestamp::UNIX_EPOCH);
                let _complaints = behaviour.validate(&object, Some(&before), target);
                behaviour.prepare_create(&mut object);
                let _complaints = behaviour.validate(&object, None, target);
                let _warnings = behaviour.warnings(&object, Some(&before));
                let _cells = behaviour.cells(&object, Timestamp::UNIX_EPOCH);
                behaviour.to_stored(&mut object);
                behaviour.from_stored(&mut object);
            }
        }
    }

    #[test]
    fn reading_and_defaulting_twice_is_doing_it_once(body in value(), position in any::<prop::sample::Index>()) {
        let resources = built_in();
        let resource = &resources[position.index(resources.len())];
        let mut object = json!({ "apiVersion": resource.api_version(), "kind": resource.kind, "spec": body.clone(), "status": body });
        if resource.behaviour.read(&mut object).is_ok() {
            resource.behaviour.default(&mut object);
            let once = object.clone();
            prop_assert_eq!(resource.behaviour.read(&mut object), Ok(Vec::new()));
            resource.behaviour.default(&mut object);
            prop_assert_eq!(object, once);
        }
    }
}
