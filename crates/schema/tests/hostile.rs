//! Objects and schemas that were made to stall a server end in an answer, soon.

use hyperplane_schema::{Budget, FieldError, Schema, definition};
use serde_json::{Value, json};

#[allow(clippy::needless_pass_by_value, reason = "callers make the value for it")]
fn object(spec: Value) -> Value {
    json!({"apiVersion": "example.com/v1", "kind": "Example", "metadata": {"name": "x"}, "spec": spec})
}

fn schema(spec: &Value) -> Schema {
    Schema::structural(&json!({"type": "object", "properties": {"spec": spec}})).unwrap()
}

fn judge(schema: &Schema, object: &Value) -> Vec<FieldError> {
    let mut errors = schema.validate(object, None);
    schema.rules_after(&mut errors, object, None);
    errors
}

#[test]
fn deep_nesting_is_kept_or_dropped() {
    let mut deep = json!(1);
    for _ in 0..100 {
        deep = json!({"a": [deep]});
    }
    let keeping = schema(&json!({"type": "object", "x-kubernetes-preserve-unknown-fields": true}));
    let mut kept = object(deep.clone());
    assert_eq!(keeping.prune(&mut kept), Vec::<String>::new());
    assert_eq!(judge(&keeping, &kept), []);
    let dropping = schema(&json!({"type": "object", "properties": {"b": {"type": "string"}}}));
    let mut dropped = object(deep);
    assert_eq!(dropping.prune(&mut dropped), ["spec.a"]);
}

#[test]
fn a_million_mistakes_are_cut_short() {
    let numbers = schema(&json!({"type": "array", "items": {"type": "integer"}}));
    let list: Vec<Value> = vec![json!("x"); 1_000_000];
    assert_eq!(judge(&numbers, &object(Value::Array(list))).len(), 1000);
}

#[test]
fn large_sets_are_compared_in_one_pass() {
    let set = schema(&json!({"type": "array", "x-kubernetes-list-type": "set", "items": {"type": "integer"}}));
    let mut list: Vec<Value> = (0..200_000).map(Value::from).collect();
    list.push(json!(7));
    let errors = judge(&set, &object(Value::Array(list)));
    assert_eq!(errors.len(), 1);
    assert_eq!(errors[0].field, "spec[200000]");
}

#[test]
fn rules_stop_at_their_budget() {
    let quadratic = schema(&json!({
        "type": "array",
        "items": {"type": "string"},
        "x-kubernetes-validations": [{"rule": "self.all(x, self.exists_one(y, x == y))", "message": "unique"}],
    }));
    let list: Vec<Value> = (0..10_000).map(|index| json!(format!("entry-{index}"))).collect();
    let errors = judge(&quadratic, &object(Value::Array(list)));
    assert_eq!(
        errors.iter().map(FieldError::to_string).collect::<Vec<_>>(),
        [
            r#"spec: Invalid value: "array": 'operation cancelled: actual cost limit exceeded': no further validation rules will be run due to call cost exceeds limit for rule: unique"#
        ]
    );
}

#[test]
fn the_budget_of_an_object_is_shared() {
    let each = schema(&json!({
        "type": "array",
        "items": {
            "type": "string",
            "x-kubernetes-validations": [{"rule": "self.contains('xyz' + self)", "message": "contains"}],
        },
    }));
    let long = "y".repeat(3_000);
    let list: Vec<Value> = vec![json!(long); 2_000];
    let value = object(Value::Array(list));
    let mut budget = Budget::per_object();
    let errors = each.rules(&value, None, &mut budget);
    assert!(budget.left() < 0);
    let final_words = errors.last().unwrap().to_string();
    assert!(
        final_words.ends_with("running out of cost budget, no further validation rules will be run"),
        "{final_words}"
    );
    assert!(errors.len() < 2_000);
}

#[test]
fn texts_cannot_be_multiplied_without_end() {
    let growing = schema(&json!({
        "type": "object",
        "properties": {"a": {"type": "string"}, "b": {"type": "string"}},
        "x-kubernetes-validations": [
            {"rule": "self.a.replace('', self.b).size() > 0", "message": "replaced"},
            {"rule": "lists.range(9223372036854775807).size() > 0", "message": "ranged"},
        ],
    }));
    let text = "z".repeat(1_000_000);
    let errors = judge(&growing, &object(json!({"a": text, "b": text})));
    assert_eq!(errors.len(), 1);
    assert!(errors[0].detail.contains("call cost exceeds limit for rule: replaced"));
}

#[test]
fn expressions_that_are_too_deep_are_refused() {
    let rule = format!("{}true{}", "(".repeat(10_000), ")".repeat(10_000));
    let refused = Schema::structural(&json!({
        "type": "object",
        "x-kubernetes-validations": [{"rule": rule, "message": "deep"}],
    }));
    assert!(refused.unwrap_err()[0].detail.contains("recursion limit exceeded"));
    let long = vec!["true"; 20_000].join(" && ");
    let accepted = Schema::structural(&json!({
        "type": "object",
        "x-kubernetes-validations": [{"rule": long, "message": "long"}],
    }));
    assert_eq!(judge(&accepted.unwrap(), &object(json!({}))), []);
}

#[test]
fn a_definition_of_nonsense_is_refused_and_nothing_else() {
    for definition in [
        json!(null),
        json!([]),
        json!({}),
        json!({"spec": 5}),
        json!({"spec": {"versions": [null, 5, {}]}}),
    ] {
        let mut definition = definition;
        definition::default(&mut definition);
        assert!(!definition::validate(&definition, None).is_empty(), "{definition}");
    }
}
