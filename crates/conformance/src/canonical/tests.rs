//! That replacing keeps what shall be compared, so that a difference that matters still shows.

use serde_json::json;

use super::*;

const ONE: &str = "11111111-1111-1111-1111-111111111111";
const TWO: &str = "22222222-2222-2222-2222-222222222222";

fn canonical() -> Canonical {
    Canonical::new(serde_json::from_value(table()).unwrap()).unwrap()
}

fn table() -> Value {
    json!({
        "headers": [{"header": "date", "reason": "r"}],
        "fields": [
            {"field": "metadata.resourceVersion", "beside": "items", "as": "presence", "reason": "r"},
            {"field": "object.metadata.resourceVersion", "beside": "type=BOOKMARK", "as": "presence", "reason": "r"},
            {"field": "metadata.resourceVersion", "as": "rank", "reason": "r"},
            {"field": "metadata.creationTimestamp", "as": "time", "reason": "r"},
            {"field": "metadata.gone", "as": "nothing", "reason": "r"},
        ],
        "texts": [
            {"text": "uid", "reason": "r"},
            {"text": "current: [0-9]+", "replacement": "current: N", "reason": "r"},
        ],
        "orders": [{"list": "metadata.managers", "by": ["operation", "name"], "reason": "r"}],
    })
}

fn json_answer(value: Value) -> Answer {
    Answer {
        status: 200,
        headers: BTreeMap::new(),
        content: Content::Json(value),
    }
}

fn bodies(values: &[Value]) -> Vec<Value> {
    let answers: Vec<_> = values.iter().cloned().map(json_answer).collect();
    let replaced = canonical().answers(&answers);
    replaced.iter().flat_map(|it| values_of(&it.content)).collect()
}

fn values_of(content: &Content) -> Vec<Value> {
    values(content).to_vec()
}

fn object(uid: &str, revision: &str) -> Value {
    json!({"metadata": {"uid": uid, "resourceVersion": revision, "creationTimestamp": "2026-01-01T00:00:00Z"}})
}

#[test]
fn two_servers_with_other_uids_and_revisions_are_equal() {
    let real = bodies(&[object(ONE, "90"), object(TWO, "100"), object(ONE, "90")]);
    let embedded = bodies(&[object(TWO, "3"), object(ONE, "4"), object(TWO, "3")]);
    assert_eq!(real, embedded);
    assert_eq!(real[1]["metadata"]["uid"], "${uid:2}");
    assert_eq!(real[1]["metadata"]["resourceVersion"], "${rv:2}");
    assert_eq!(real[0]["metadata"]["creationTimestamp"], "${time}");
}

#[test]
fn order_and_identity_still_count() {
    let expected = bodies(&[object(ONE, "90"), object(ONE, "100")]);
    assert_ne!(bodies(&[object(ONE, "100"), object(ONE, "90")]), expected, "order");
    assert_ne!(bodies(&[object(ONE, "90"), object(ONE, "90")]), expected, "no change");
    assert_ne!(
        bodies(&[object(ONE, "90"), object(TWO, "100")]),
        expected,
        "another object"
    );
}

#[test]
fn what_is_no_time_or_no_revision_stays_visible() {
    let seen = bodies(&[json!({"metadata": {"resourceVersion": "x", "creationTimestamp": null}})]);
    assert_eq!(
        seen,
        [json!({"metadata": {"resourceVersion": "x", "creationTimestamp": null}})]
    );
}

#[test]
fn entries_hold_only_where_they_say() {
    let seen = bodies(&[
        json!({"items": [object(ONE, "5")], "metadata": {"resourceVersion": "7"}}),
        json!({"type": "BOOKMARK", "object": {"metadata": {"resourceVersion": "8"}}}),
        json!({"type": "ADDED", "object": {"metadata": {"resourceVersion": "6", "gone": 1}}}),
    ]);
    assert_eq!(seen[0]["metadata"]["resourceVersion"], "${any}");
    assert_eq!(seen[0]["items"][0]["metadata"]["resourceVersion"], "${rv:1}");
    assert_eq!(seen[1]["object"]["metadata"]["resourceVersion"], "${any}");
    assert_eq!(seen[2]["object"]["metadata"], json!({"resourceVersion": "${rv:2}"}));
}

#[test]
fn texts_and_headers_are_replaced_too() {
    let headers = [("date", "now"), ("warning", ONE)].map(|(name, value)| (name.to_owned(), vec![value.to_owned()]));
    let answer = Answer {
        status: 200,
        headers: headers.into(),
        content: Content::Text(format!("{ONE} current: 57")),
    };
    let replaced = canonical().answers(&[answer]).remove(0);
    assert_eq!(replaced.content, Content::Text("${uid:1} current: N".to_owned()));
    let expected = [("warning".to_owned(), vec!["${uid:1}".to_owned()])];
    assert_eq!(replaced.headers, expected.into());
}

#[test]
fn only_named_lists_are_put_in_order() {
    let item = |operation: &str, name: &str| json!({"operation": operation, "name": name});
    let list = json!([item("b", "x"), item("a", "z"), item("a", "y")]);
    let sorted = json!([item("a", "y"), item("a", "z"), item("b", "x")]);
    let content = Content::Events(vec![
        json!({"object": {"metadata": {"managers": list, "others": list}}}),
    ]);
    let expected = Content::Events(vec![
        json!({"object": {"metadata": {"managers": sorted, "others": list}}}),
    ]);
    assert_eq!(canonical().in_order(content), expected);
}
