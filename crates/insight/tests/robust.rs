//! Whatever is missing of a situation: nothing panics, lines fit, and what was taken away is never told as good.

use hyperplane_insight::{
    Kind, Outcome, Place, Scene, cluster_rows, cluster_status, explain_cluster, explain_pool,
    render::{self, Look, NARROW, Style, WIDE},
};
use jiff::Timestamp;
use proptest::{prelude::*, sample::Index};
use serde_json::{Value, json};

use crate::support::{CLUSTERS, CONTROL_PLANE, names, situation};

/// What is done to an object.
#[derive(Clone, Debug)]
enum Damage {
    /// It is taken away.
    Object(Index),
    /// One of its fields is taken away, or becomes something else.
    Field(Index, Vec<Index>, Value),
}

fn anything() -> impl Strategy<Value = Value> {
    prop_oneof![
        Just(Value::Null),
        Just(json!(-1)),
        Just(json!([])),
        Just(json!({})),
        Just(json!([1, "a", {"type": "Ready"}])),
        "\\PC{0,200}".prop_map(Value::from),
        Just(json!("a\nb\u{1b}[31m")),
    ]
}

fn damage() -> impl Strategy<Value = Damage> {
    let steps = proptest::collection::vec(any::<Index>(), 1..6);
    prop_oneof![
        any::<Index>().prop_map(Damage::Object),
        (any::<Index>(), steps, anything()).prop_map(|(object, steps, value)| Damage::Field(object, steps, value)),
    ]
}

/// Walks into a value and replaces what is at the end of the way.
fn replace(value: &mut Value, steps: &[Index], new: &Value) {
    let Some((step, rest)) = steps.split_first() else {
        *value = new.clone();
        return;
    };
    match value {
        Value::Object(fields) if !fields.is_empty() => {
            let key = fields.keys().nth(step.index(fields.len())).unwrap().clone();
            replace(&mut fields[&key], rest, new);
        }
        Value::Array(items) if !items.is_empty() => {
            let place = step.index(items.len());
            replace(&mut items[place], rest, new);
        }
        other => *other = new.clone(),
    }
}

fn harm(objects: &mut Vec<Value>, damage: &Damage) {
    match damage {
        _ if objects.is_empty() => {}
        Damage::Object(which) => {
            let place = which.index(objects.len());
            objects.remove(place);
        }
        Damage::Field(which, steps, new) => {
            let place = which.index(objects.len());
            replace(&mut objects[place], steps, new);
        }
    }
}

/// How many columns a line takes, at least: every letter has one.
fn columns(line: &str) -> usize {
    line.chars().count()
}

fn check_lines(text: &str, most: usize) {
    for line in text.lines() {
        assert!(columns(line) <= most, "{line:?}");
        assert!(!line.chars().any(char::is_control), "{line:?}");
    }
}

fn check_all(scene: &Scene) {
    let looks = [(false, NARROW), (true, WIDE)];
    for (is_wide, most) in looks {
        let look = Look {
            style: Style::Plain,
            is_wide,
        };
        if let Some(status) = cluster_status(scene, CLUSTERS, "blue") {
            check_lines(&render::status(&status, scene.now, look), most);
            serde_json::to_string(&status).unwrap();
        }
        let explanations = [
            explain_cluster(scene, CLUSTERS, "blue"),
            explain_pool(scene, CLUSTERS, "web"),
        ];
        for explanation in explanations.into_iter().flatten() {
            check_lines(&render::explanation(&explanation, scene.now, look), most);
            serde_json::to_string(&explanation).unwrap();
        }
        check_lines(&render::summary(scene, look), most);
        check_lines(&render::clusters(&cluster_rows(scene), scene.now, look), most);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    #[test]
    fn damage_is_survived(which: Index, damages in proptest::collection::vec(damage(), 0..30), second in -9_000_000_000_i64..9_000_000_000) {
        let names = names();
        let mut situation = situation(&names[which.index(names.len())]);
        for damage in &damages {
            harm(&mut situation.objects, damage);
        }
        situation.now = Timestamp::from_second(second).unwrap_or(situation.now);
        check_all(&situation.scene());
    }

    #[test]
    fn a_list_that_was_not_read_never_makes_it_better(which: Index, kind: Index, is_inside: bool) {
        let names = names();
        let situation = situation(&names[which.index(names.len())]);
        let mut scene = situation.scene();
        let before = explain_cluster(&scene, CLUSTERS, "blue");
        let place = if is_inside { Place::inside(CONTROL_PLANE) } else { Place::namespace(CONTROL_PLANE) };
        scene.add_unread(Kind::ALL[kind.index(Kind::ALL.len())], place, "forbidden");
        let after = explain_cluster(&scene, CLUSTERS, "blue");
        if let (Some(before), Some(after)) = (before, after) {
            let is_good = |outcome: Outcome| outcome == Outcome::Nothing;
            prop_assert!(is_good(before.outcome) || !is_good(after.outcome), "{after:?}");
        }
    }
}

#[test]
fn what_was_looked_at_must_be_read_to_be_good() {
    let situation = situation("healthy");
    let looked = explain_cluster(&situation.scene(), CLUSTERS, "blue").unwrap().looked;
    assert!(looked.len() > 5, "{looked:?}");
    let others = looked.iter().filter(|looked| looked.kind != Kind::HostedCluster);
    for looked in others {
        let place = if looked.kind == Kind::NodePool {
            CLUSTERS
        } else {
            CONTROL_PLANE
        };
        let mut scene = situation.scene();
        scene.add_unread(looked.kind, Place::namespace(place), "forbidden");
        let explanation = explain_cluster(&scene, CLUSTERS, "blue").unwrap();
        assert_eq!(explanation.outcome, Outcome::Unknown, "{:?}", looked.kind);
        assert!(explanation.unread.iter().any(|unread| unread.kind == looked.kind));
    }
}
