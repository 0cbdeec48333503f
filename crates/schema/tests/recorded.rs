//! What a real API server 1.36 answered, recorded: definitions that it refused, objects that it judged, updates with what
//! it tolerated, expressions with their values, and estimated costs. The same questions must get the same answers here.

use std::fs;
use std::path::Path;

use hyperplane_schema::{FieldError, Schema, definition};
use serde_json::{Map, Value, json};

fn recorded(name: &str) -> Value {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/recorded").join(name);
    serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap()
}

fn cases(record: &Value) -> &[Value] {
    record["cases"].as_array().unwrap()
}

/// Said whenever a schema has rules and an object is too wrong for them; the recorded schemas stood among others with
/// rules, here they stand alone.
const RULES_NOT_CHECKED: &str = "Invalid value: null: some validation rules were not checked";

/// Field, reason and message, sorted.
fn causes(errors: &[FieldError]) -> Vec<[String; 3]> {
    let mut causes: Vec<_> = errors
        .iter()
        .map(|error| [error.field.clone(), error.kind.reason().to_owned(), error.body()])
        .collect();
    causes.sort();
    causes
}

/// A message that was not recorded matches any.
fn is_same(recorded: &Value, found: &[[String; 3]]) -> bool {
    let is_about_object =
        |message: Option<&str>| !message.is_some_and(|message| message.starts_with(RULES_NOT_CHECKED));
    let recorded: Vec<&Value> = recorded
        .as_array()
        .into_iter()
        .flatten()
        .filter(|cause| is_about_object(cause[2].as_str()))
        .collect();
    let found: Vec<&[String; 3]> = found
        .iter()
        .filter(|cause| is_about_object(Some(cause[2].as_str())))
        .collect();
    recorded.len() == found.len()
        && recorded.iter().zip(found).all(|(recorded, found)| {
            (0..3).all(|part| recorded[part].is_null() || recorded[part].as_str() == Some(found[part].as_str()))
        })
}

#[track_caller]
fn report(failures: &[String], count: usize, least: usize) {
    assert!(count >= least, "only {count} cases");
    assert!(
        failures.is_empty(),
        "{} of {count} differ:\n{}",
        failures.len(),
        failures.join("\n")
    );
}

#[test]
fn definitions_are_refused_for_the_same_causes() {
    let record = recorded("definitions.json");
    let mut failures = Vec::new();
    for case in cases(&record) {
        let mut definition = record["base"].clone();
        for change in case["set"].as_array().unwrap() {
            let deletes = change[2].as_bool().unwrap();
            set(
                &mut definition,
                change[0].as_str().unwrap(),
                (!deletes).then(|| change[1].clone()),
            );
        }
        definition::default(&mut definition);
        let found = causes(&definition::validate(&definition, None));
        if !is_same(&case["causes"], &found) {
            failures.push(format!(
                "{}\n  recorded {}\n  found {found:?}",
                case["set"], case["causes"]
            ));
        }
    }
    report(&failures, cases(&record).len(), 140);
}

/// Sets or removes what a dotted path names; a number is a place in a list.
fn set(value: &mut Value, path: &str, new: Option<Value>) {
    let (head, rest) = path
        .split_once('.')
        .map_or((path, None), |(head, rest)| (head, Some(rest)));
    match (value, rest) {
        (Value::Array(entries), Some(rest)) => set(&mut entries[head.parse::<usize>().unwrap()], rest, new),
        (Value::Array(entries), None) => {
            let place: usize = head.parse().unwrap();
            let new = new.unwrap();
            if place == entries.len() {
                entries.push(new);
            } else {
                entries[place] = new;
            }
        }
        (value, Some(rest)) => {
            if !value.is_object() {
                *value = Value::Object(Map::new());
            }
            set(&mut value[head], rest, new);
        }
        (value, None) => match new {
            Some(new) => value[head] = new,
            None => {
                value.as_object_mut().unwrap().remove(head);
            }
        },
    }
}

fn of_field(schema: &Value) -> Schema {
    let spec = json!({"type": "object", "properties": {"f": schema}});
    Schema::structural(&json!({"type": "object", "properties": {"spec": spec}})).unwrap()
}

fn object(value: &Value) -> Value {
    json!({"apiVersion": "example.com/v1", "kind": "Example", "metadata": {"name": "x"}, "spec": {"f": value}})
}

fn judge(schema: &Schema, object: &mut Value, old: Option<&Value>) -> Vec<[String; 3]> {
    schema.prune(object);
    schema.default(object);
    let mut errors = schema.validate(object, old);
    schema.rules_after(&mut errors, object, old);
    causes(&errors)
}

#[test]
fn objects_are_judged_and_filled_in_the_same_way() {
    let record = recorded("objects.json");
    let mut failures = Vec::new();
    for case in cases(&record) {
        let schema = of_field(&case["schema"]);
        let mut object = object(&case["value"]);
        let found = judge(&schema, &mut object, None);
        let is_right = if case.get("causes").is_some() {
            is_same(&case["causes"], &found)
        } else {
            let result = object["spec"].get("f");
            found.is_empty()
                && result.is_some() == case["kept"].as_bool().unwrap()
                && same_json(result, &case["result"])
        };
        if !is_right {
            failures.push(format!("{case}\n  found {found:?} {}", object["spec"]));
        }
    }
    report(&failures, cases(&record).len(), 300);
}

/// Numbers are compared as JSON writes them: the server gives 1.0 back as 1.
fn same_json(found: Option<&Value>, recorded: &Value) -> bool {
    let found = found.unwrap_or(&Value::Null);
    hyperplane_schema::go_text::json(found) == hyperplane_schema::go_text::json(recorded)
}

#[test]
fn updates_tolerate_the_same_mistakes() {
    let record = recorded("updates.json");
    let mut failures = Vec::new();
    for case in cases(&record) {
        let schema = of_field(&case["schema"]);
        let found = judge(&schema, &mut object(&case["new"]), Some(&object(&case["old"])));
        if !is_same(&case["causes"], &found) {
            failures.push(format!("{case}\n  found {found:?}"));
        }
    }
    report(&failures, cases(&record).len(), 100);
}

fn with_rules(properties: &Value, rules: &Value) -> Value {
    let spec = json!({"type": "object", "properties": properties, "x-kubernetes-validations": rules});
    json!({"type": "object", "properties": {"spec": spec}})
}

#[test]
fn expressions_have_the_same_values() {
    let record = recorded("expressions.json");
    let object = json!({
        "apiVersion": "example.com/v1", "kind": "Example", "metadata": {"name": "x"}, "spec": record["object"],
    });
    let mut failures = Vec::new();
    for case in cases(&record) {
        let expression = case["expression"].as_str().unwrap();
        let rule = json!({"rule": "!(true)", "messageExpression": format!("'%s'.format([{expression}])")});
        let failing = json!({"rule": format!("[dyn({expression})].size() == 2")});
        let found = match (case.get("value"), case.get("error")) {
            (Some(_), _) => outcome(&with_rules(&record["properties"], &json!([rule])), &object),
            (_, Some(_)) => outcome(&with_rules(&record["properties"], &json!([failing])), &object),
            _ => outcome(&with_rules(&record["properties"], &json!([rule])), &object),
        };
        let is_right = match (case.get("value"), case.get("error"), &found) {
            (Some(value), _, Ok(found)) => Some(found.as_str()) == value.as_str(),
            (_, Some(error), Ok(found)) => found.trim_start_matches('\'').starts_with(error.as_str().unwrap()),
            (None, None, Err(words)) => case["refused"].as_str().is_none_or(|refused| words.ends_with(refused)),
            _ => false,
        };
        if !is_right {
            failures.push(format!("{case}\n  found {found:?}"));
        }
    }
    report(&failures, cases(&record).len(), 450);
}

/// The detail of the only complaint, or why the rule does not compile.
fn outcome(schema: &Value, object: &Value) -> Result<String, String> {
    let schema = Schema::structural(schema).map_err(|errors| errors[0].detail.clone())?;
    let mut errors = schema.validate(object, None);
    schema.rules_after(&mut errors, object, None);
    Ok(errors
        .iter()
        .map(|error| error.detail.as_str())
        .collect::<Vec<_>>()
        .join("; "))
}

#[test]
fn costs_are_estimated_to_the_same_number() {
    let record = recorded("costs.json");
    let mut failures = Vec::new();
    for case in cases(&record) {
        let items = json!({
            "type": "object",
            "properties": record["properties"],
            "x-kubernetes-validations": [{"rule": case["rule"]}],
        });
        let list = json!({"type": "array", "maxItems": case["maxItems"], "items": items});
        let mut definition = json!({
            "apiVersion": "apiextensions.k8s.io/v1",
            "kind": "CustomResourceDefinition",
            "metadata": {"name": "examples.example.com"},
            "spec": {
                "group": "example.com",
                "scope": "Cluster",
                "names": {"plural": "examples", "kind": "Example"},
                "versions": [{
                    "name": "v1",
                    "served": true,
                    "storage": true,
                    "schema": {"openAPIV3Schema": {"type": "object", "properties": {"list": list}}},
                }],
            },
        });
        definition::default(&mut definition);
        let found: Vec<String> = definition::validate(&definition, None)
            .iter()
            .map(|error| error.detail.clone())
            .collect();
        let factor = format!(
            "estimated rule cost exceeds budget by factor of {} (",
            case["factor"].as_str().unwrap()
        );
        if !found.iter().any(|detail| detail.starts_with(&factor)) {
            failures.push(format!("{case}\n  found {found:?}"));
        }
    }
    report(&failures, cases(&record).len(), 150);
}
