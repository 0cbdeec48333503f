//! What ownership costs a write: microseconds, and the ratio to parsing and serialising the same object.

#![allow(clippy::disallowed_methods, reason = "a benchmark reads the clock")]

#[path = "../tests/fixtures/deployment.rs"]
mod deployment;

use std::{
    hint::black_box,
    time::{Duration, Instant},
};

use hyperplane_merge::{Author, ResetFields, Scope, Types, apply, update};
use serde_json::{Value, json};

const BATCHES: u32 = 200;
/// Few enough objects at a time that the memory they need stays warm.
const BATCH: u32 = 10;

fn main() {
    let types = Types::openapi(deployment::ROOT, &deployment::definitions());
    let lookup = |_: &str| Some(&types);
    let main_reset = ResetFields::none().exclude("apps/v1", &[&["status"]]);
    let status_reset = ResetFields::none().exclude("apps/v1", &[&["spec"], &["metadata", "labels"]]);
    let main_scope = Scope {
        types: &lookup,
        reset: &main_reset,
    };
    let status_scope = Scope {
        types: &lookup,
        reset: &status_reset,
    };
    let creator = author("kubectl", "", 0);
    let controller = author("controller", "status", 1);
    let applier = author("operator", "", 2);

    let plain = deployment::deployment(8);
    let created = update(None, plain.clone(), &creator, &main_scope);
    let live = update(
        Some(&created),
        changed(&created, "/status/readyReplicas", &json!(2)),
        &controller,
        &status_scope,
    );
    let body = serde_json::to_vec(&live).expect("a JSON value serialises");
    println!(
        "object without managedFields {} bytes, with them {} bytes",
        plain.to_string().len(),
        body.len()
    );

    let codec = measure("parse and serialise", f64::NAN, || {
        let object: Value = serde_json::from_slice(&body).expect("the body is JSON");
        serde_json::to_vec(&object).expect("a JSON value serialises")
    });
    measure("clone", codec, || live.clone());
    with_clone("create", codec, &plain, |new| update(None, new, &creator, &main_scope));
    let status = changed(&live, "/status/conditions/0/reason", &json!("Other"));
    with_clone("update of status", codec, &status, |new| {
        update(Some(&live), new, &controller, &status_scope)
    });
    let spec = changed(&live, "/spec/replicas", &json!(5));
    with_clone("update of spec", codec, &spec, |new| {
        update(Some(&live), new, &creator, &main_scope)
    });
    with_clone("update that changes nothing", codec, &live, |new| {
        update(Some(&live), new, &creator, &main_scope)
    });

    let mut intent = plain.clone();
    intent.as_object_mut().expect("an object").remove("status");
    let applied = apply(Some(&live), &intent, &applier, &main_scope, true).expect("a forced apply has no conflicts");
    measure("apply that changes nothing", codec, || {
        apply(Some(&applied), &intent, &applier, &main_scope, false)
    });
    let other = changed(
        &intent,
        "/spec/template/spec/containers/3/image",
        &json!("registry.test/other:v2"),
    );
    measure("apply that changes an image", codec, || {
        apply(Some(&applied), &other, &applier, &main_scope, true)
    });
    let mut less = intent.clone();
    less["spec"].as_object_mut().expect("an object").remove("replicas");
    measure("apply that drops a field", codec, || {
        apply(Some(&applied), &less, &applier, &main_scope, true)
    });
}

fn author<'a>(manager: &'a str, subresource: &'a str, second: i64) -> Author<'a> {
    let time = jiff::Timestamp::from_second(1_790_000_000 + second).expect("a second of this century");
    Author {
        manager,
        api_version: "apps/v1",
        subresource,
        time,
    }
}

fn changed(object: &Value, pointer: &str, value: &Value) -> Value {
    let mut object = object.clone();
    *object.pointer_mut(pointer).expect("the path exists") = value.clone();
    object
}

/// Measures a function that consumes an object, without the cost of copying it first and of dropping the result.
fn with_clone(name: &str, codec: f64, object: &Value, run: impl Fn(Value) -> Value) {
    let batch = || {
        let objects: Vec<Value> = (0..BATCH).map(|_| object.clone()).collect();
        let start = Instant::now();
        let results: Vec<Value> = objects.into_iter().map(&run).collect();
        let elapsed = start.elapsed();
        drop(black_box(results));
        elapsed
    };
    report(name, codec, batch);
}

fn measure<T>(name: &str, codec: f64, run: impl Fn() -> T) -> f64 {
    let batch = || {
        let start = Instant::now();
        for _ in 0..BATCH {
            black_box(run());
        }
        start.elapsed()
    };
    report(name, codec, batch)
}

/// The fastest batch counts: the others shared the machine with something else.
fn report(name: &str, codec: f64, batch: impl Fn() -> Duration) -> f64 {
    let fastest = (0..BATCHES).map(|_| batch()).min().unwrap_or_default();
    let microseconds = fastest.as_secs_f64() * 1e6 / f64::from(BATCH);
    let codec = if codec.is_nan() { microseconds } else { codec };
    println!("{name:32} {microseconds:8.1} us {:6.2} x", microseconds / codec);
    microseconds
}
