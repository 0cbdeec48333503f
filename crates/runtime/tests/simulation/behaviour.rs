//! One promise of the runner per test, without chance: latencies, backoff, isolation, diagnostics.

use std::time::Duration;

use http::Method;
use serde_json::{Value, json};
use tokio::time::{Instant, sleep};

use crate::{
    widget::Widget,
    world::{World, id, running, seconds_until, simulate, spec},
};

#[test]
fn what_others_change_or_delete_is_restored_at_once() {
    simulate(async || {
        let (world, _process) = running(&[("w", spec(2, "red"))]).await;
        let child = id("configmaps", "w-0");
        let is_red = || world.get("configmaps", "w-0")["data"]["paint"] == "red";
        assert!(is_red());
        let edit = |live: &mut Value| live["data"]["paint"] = "graffiti".into();
        world
            .server
            .act("edit", &child, |state| state.edit(&child, edit))
            .unwrap();
        assert!(!is_red());
        assert!(seconds_until(is_red).await <= 2);
        world
            .server
            .act("delete", &child, |state| state.delete(&child, &Value::Null, ""))
            .unwrap();
        assert!(seconds_until(is_red).await <= 2);
        let label = |live: &mut Value| live["metadata"]["labels"] = json!({});
        world
            .server
            .act("edit", &child, |state| state.edit(&child, label))
            .unwrap();
        // Out of the selection it looks deleted, and a moment ago it was written: the runner may wait for the cache.
        let is_labelled = || world.get("configmaps", "w-0")["metadata"]["labels"]["app"] == "widget";
        assert!(seconds_until(is_labelled).await <= 40);
    });
}

#[test]
fn what_is_undone_before_the_caches_could_show_it_is_noticed() {
    simulate(async || {
        let (world, _process) = running(&[("w", spec(0, "red"))]).await;
        world.put("w", &spec(1, "red"));
        let child = id("configmaps", "w-0");
        // The history is forgotten in the same moment, so that no watch ever tells of the child.
        while world.get("configmaps", "w-0").is_null() {
            sleep(Duration::from_millis(1)).await;
        }
        world.server.act("delete", &child, |state| {
            state.delete(&child, &Value::Null, "").unwrap();
            state.compact();
        });
        assert!(seconds_until(|| !world.get("configmaps", "w-0").is_null()).await <= 60);
    });
}

#[test]
fn a_watch_whose_version_is_forgotten_lists_again() {
    for is_gone_an_answer in [false, true] {
        simulate(async || {
            let (world, process) = running(&[("w", spec(1, "red"))]).await;
            world.server.lock().is_gone_an_answer = is_gone_an_answer;
            // Watches end after 290 seconds and get their last bookmark half a minute before that.
            sleep(Duration::from_secs(270)).await;
            let other = id("others", "x");
            let object = json!({"metadata": {}});
            world
                .server
                .act("create", &other, |state| state.create(&other, object))
                .unwrap();
            // The open streams have passed this version, but their clients have not heard of it.
            sleep(Duration::from_secs(1)).await;
            world.server.act("compact", &other, crate::state::State::compact);
            sleep(Duration::from_secs(30)).await;
            world.put("w", &spec(1, "blue"));
            let is_blue = || world.get("configmaps", "w-0")["data"]["paint"] == "blue";
            assert!(seconds_until(is_blue).await <= 5, "{is_gone_an_answer}");
            let page = process.admin.respond(&Method::GET, "/metrics").into_body();
            assert!(
                page.contains(r#"hyperplane_runtime_watch_restarts_total{kind="Widget"} 1"#),
                "{page}"
            );
        });
    }
}

#[test]
fn a_related_change_finds_its_objects_through_the_index() {
    simulate(async || {
        let mixed = json!({"children": 1, "color": "red", "palette": "p0"});
        let (world, _process) = running(&[("w", mixed), ("other", spec(1, "blue"))]).await;
        assert!(world.get("configmaps", "w-0").is_null(), "it waits for its palette");
        let others = world.runs_of("other").len();
        let palette = id("secrets", "p0");
        let secret = json!({"apiVersion": "v1", "kind": "Secret", "metadata": {}, "stringData": {"tone": "dark"}});
        world
            .server
            .act("create", &palette, |state| state.create(&palette, secret))
            .unwrap();
        let paint = || world.get("configmaps", "w-0")["data"]["paint"].clone();
        assert!(seconds_until(|| paint() == "dark-red").await <= 2);
        let retone = |live: &mut Value| live["stringData"]["tone"] = "pale".into();
        world
            .server
            .act("edit", &palette, |state| state.edit(&palette, retone))
            .unwrap();
        assert!(seconds_until(|| paint() == "pale-red").await <= 2);
        assert_eq!(world.runs_of("other").len(), others, "it refers to no palette");
    });
}

#[test]
fn failures_follow_the_table() {
    simulate(async || {
        let colors = ["retry", "invalid", "panic", "red"];
        let widgets: Vec<(&str, Value)> = colors.iter().map(|color| (*color, spec(1, color))).collect();
        let (world, process) = running(&widgets).await;
        sleep(Duration::from_mins(30)).await;
        let retries = world.runs_of("retry").len();
        // 5, 10, 20, 40, 80, 160 seconds, then every five minutes.
        assert!((9..=14).contains(&retries), "{retries} retries in half an hour");
        // Only an edit helps, and their own finalizer was one.
        for name in ["invalid", "panic"] {
            assert_eq!(world.runs_of(name).len(), 2, "{name}");
        }
        assert_eq!(
            world.get("configmaps", "red-0")["data"]["paint"],
            "red",
            "nobody else is concerned"
        );
        let events: Vec<Value> = {
            let inner = world.server.lock();
            let events = inner.state.objects.iter().filter(|(id, _)| id.0 == "events");
            events.map(|(_, event)| event.clone()).collect()
        };
        let reasons: Vec<&str> = events.iter().filter_map(|event| event["reason"].as_str()).collect();
        assert_eq!(events.len(), 3, "one event per object and reason: {reasons:?}");
        for reason in ["ReconcileRetry", "InvalidConfiguration", "ReconcileError"] {
            assert!(reasons.contains(&reason), "{reason} is missing among {reasons:?}");
        }
        let page = process.admin.respond(&Method::GET, "/metrics").into_body();
        assert!(
            page.contains(r#"controller_runtime_reconcile_panics_total{controller="widget"} 2"#),
            "{page}"
        );
        world.put("invalid", &spec(1, "green"));
        assert!(seconds_until(|| !world.get("configmaps", "invalid-0").is_null()).await <= 2);
    });
}

#[test]
fn a_hung_run_loses_its_slot_after_the_deadline_and_an_edit_is_seen_then() {
    simulate(async || {
        let mut world = World::new(5, 1);
        (world.has_lease, world.concurrency) = (false, 1);
        world.put("hung", &spec(1, "hang"));
        let _process = world.start();
        sleep(Duration::from_secs(5)).await;
        world.put("late", &spec(1, "red"));
        world.put("hung", &spec(1, "blue"));
        let waited = seconds_until(|| !world.get("configmaps", "late-0").is_null()).await;
        assert!((100..130).contains(&waited), "{waited} seconds");
        assert!(seconds_until(|| !world.get("configmaps", "hung-0").is_null()).await <= 10);
    });
}

#[test]
fn nobody_starves_beside_a_failing_and_an_ever_changing_object() {
    simulate(async || {
        let mut world = World::new(5, 1);
        (world.has_lease, world.concurrency) = (false, 2);
        let names: Vec<String> = (0..20).map(|number| format!("w{number}")).collect();
        for name in &names {
            world.put(name, &spec(1, "red"));
        }
        world.put("failing", &spec(1, "retry"));
        let _process = world.start();
        sleep(Duration::from_mins(1)).await;
        for round in 0..10_u32 {
            let edited = Instant::now();
            for name in &names {
                world.put(name, &spec(1 + round % 2, ["green", "blue"][(round % 2) as usize]));
            }
            for step in 0..200_u32 {
                world.put("busy", &spec(1, &format!("shade-{round}-{step}")));
                sleep(Duration::from_millis(50)).await;
            }
            for name in &names {
                let runs = world.runs_of(name);
                let first = runs.iter().find(|at| **at >= edited);
                let waited = first.map(|at| at.duration_since(edited));
                assert!(
                    waited.is_some_and(|waited| waited < Duration::from_secs(5)),
                    "{name} waited {waited:?}"
                );
            }
        }
        let busy = world.runs_of("busy").len();
        assert!((100..=1100).contains(&busy), "{busy} runs of the busy one");
    });
}

#[test]
fn a_wide_fan_out_is_spread_over_half_a_minute() {
    simulate(async || {
        let palette = id("secrets", "p0");
        let mixed = json!({"children": 1, "color": "red", "palette": "p0"});
        let names: Vec<String> = (0..80).map(|number| format!("w{number}")).collect();
        let widgets: Vec<(&str, Value)> = names.iter().map(|name| (name.as_str(), mixed.clone())).collect();
        let (world, _process) = running(&widgets).await;
        let secret = json!({"apiVersion": "v1", "kind": "Secret", "metadata": {}, "stringData": {"tone": "dark"}});
        world
            .server
            .act("create", &palette, |state| state.create(&palette, secret))
            .unwrap();
        let painted = || {
            names
                .iter()
                .filter(|name| !world.get("configmaps", &format!("{name}-0")).is_null())
                .count()
        };
        sleep(Duration::from_secs(5)).await;
        assert!((3..40).contains(&painted()), "{} after five seconds", painted());
        assert!(seconds_until(|| painted() == 80).await <= 35);
    });
}

#[test]
fn health_and_diagnostics_tell_the_truth() {
    simulate(async || {
        let mut world = World::new(5, 1);
        world.put("good", &spec(1, "red"));
        world.put("bad", &spec(1, "retry"));
        world.put("ugly", &Value::from("garbage"));
        let process = world.start();
        let get = |path: &str| process.admin.respond(&Method::GET, path);
        assert_eq!(get("/readyz").status(), 503);
        assert!(get("/readyz").body().contains("widgets has no first list"));
        assert_eq!(get("/healthz").status(), 200);
        sleep(Duration::from_secs(10)).await;
        assert_eq!(get("/readyz").body(), "ok\n");
        let state: Value = serde_json::from_str(get("/debug/state").body()).unwrap();
        assert_eq!(state["leadership"]["state"], "leader");
        let objects = &state["controllers"][0]["objects"];
        assert_eq!(objects[0]["object"], "a/bad");
        assert!(objects[0]["failures"].as_u64() >= Some(1), "{state:#}");
        assert_eq!(objects[0]["lastFailure"], "will be retried: the paint has not dried");
        assert_eq!(objects[1]["failures"], 0);
        assert_eq!(objects[1]["lastFailure"], Value::Null);
        let widgets = state["watches"]
            .as_array()
            .unwrap()
            .iter()
            .find(|watch| watch["watch"] == "/apis/example.test/v1/widgets");
        assert_eq!(widgets.unwrap()["objects"], 2);
        assert!(
            widgets.unwrap()["malformed"][0]
                .as_str()
                .unwrap()
                .starts_with("a/ugly: "),
            "{state:#}"
        );
        assert_eq!(get("/nothing").status(), 404);
        assert_eq!(process.admin.respond(&Method::POST, "/metrics").status(), 405);
        process.stop().await;
    });
}

#[test]
fn deletion_waits_for_the_cleanup_and_the_cleanup_for_the_children() {
    simulate(async || {
        let (world, _process) = running(&[("w", spec(3, "red"))]).await;
        let widget = id("widgets", "w");
        let parsed: Widget = hyperplane_objects::read(world.get("widgets", "w")).unwrap();
        assert_eq!(parsed.metadata.finalizers.unwrap(), [crate::widget::FINALIZER]);
        world
            .server
            .act("delete", &widget, |state| {
                state.delete(&widget, &Value::Null, "2026-01-01T00:00:00Z")
            })
            .unwrap();
        assert!(!world.get("widgets", "w").is_null());
        assert!(seconds_until(|| world.get("widgets", "w").is_null()).await <= 40);
        assert!(world.get("configmaps", "w-0").is_null());
    });
}
