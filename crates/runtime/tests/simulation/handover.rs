//! From one process to the next: leases, partitions, restarts. Without chance.

use std::time::Duration;

use http::Method;
use serde_json::Value;
use tokio::time::sleep;

use crate::world::{Process, World, running, seconds_until, simulate, spec};

#[test]
fn the_lease_moves_on_quickly_after_a_stop_and_in_time_after_a_crash() {
    simulate(async || {
        let mut world = World::new(5, 1);
        let first = world.start();
        sleep(Duration::from_secs(5)).await;
        let second = world.start();
        sleep(Duration::from_secs(30)).await;
        let lease = ("leases".to_owned(), "system".to_owned(), "runner".to_owned());
        let server = world.server.clone();
        let holder = || server.lock().state.objects[&lease]["spec"]["holderIdentity"].clone();
        assert_eq!(holder(), "host-1");
        let page = |process: &Process, path: &str| process.admin.respond(&Method::GET, path).into_body();
        let status = r#"leader_election_master_status{name="runner"}"#;
        assert!(page(&first, "/metrics").contains(&format!("{status} 1")));
        assert!(page(&second, "/metrics").contains(&format!("{status} 0")));
        assert_eq!(
            page(&second, "/readyz"),
            "ok\n",
            "a standby is ready, its caches are warm"
        );
        first.stop().await;
        assert_eq!(holder(), "", "released");
        assert!(seconds_until(|| holder() == "host-2").await <= 4);
        let third = world.start();
        sleep(Duration::from_secs(10)).await;
        second.crash().await;
        let waited = seconds_until(|| holder() == "host-3").await;
        assert!((8..=20).contains(&waited), "{waited} seconds");
        world.put("w", &spec(1, "red"));
        assert!(seconds_until(|| !world.get("configmaps", "w-0").is_null()).await <= 2);
        third.stop().await;
        assert_eq!(world.complaints(), Vec::<String>::new());
    });
}

#[test]
fn a_process_that_is_cut_off_ends_its_runs_and_writes_nothing_after_the_handover() {
    simulate(async || {
        let mut world = World::new(5, 1);
        world.put("hung", &spec(1, "hang"));
        let first = world.start();
        sleep(Duration::from_secs(5)).await;
        let second = world.start();
        let workers = |process: &Process| {
            let page = process.admin.respond(&Method::GET, "/metrics").into_body();
            let line = page
                .lines()
                .find(|line| line.starts_with("controller_runtime_active_workers"))
                .unwrap();
            line.ends_with(" 1")
        };
        assert!(workers(&first) && !workers(&second));
        world.server.lock().partitioned = Some("host-1".to_owned());
        let waited = seconds_until(|| !workers(&first)).await;
        assert!((7..=12).contains(&waited), "{waited} seconds");
        assert!(!workers(&second), "the other one still waits for the whole duration");
        assert!(seconds_until(|| workers(&second)).await <= 10);
        world.server.lock().partitioned = None;
        world.put("hung", &spec(1, "red"));
        sleep(Duration::from_mins(3)).await;
        assert!(world.complaints().is_empty(), "{:?}", world.complaints());
        first.stop().await;
        second.stop().await;
    });
}

#[test]
fn a_restart_writes_nothing() {
    simulate(async || {
        let widgets: Vec<(String, Value)> = (0..10).map(|number| (format!("w{number}"), spec(3, "red"))).collect();
        let widgets: Vec<(&str, Value)> = widgets
            .iter()
            .map(|(name, spec)| (name.as_str(), spec.clone()))
            .collect();
        let (mut world, process) = running(&widgets).await;
        sleep(Duration::from_mins(2)).await;
        process.crash().await;
        let (position, runs) = (world.trace_length(), world.run_count());
        let _process = world.start();
        sleep(Duration::from_mins(2)).await;
        assert_eq!(world.run_count() - runs, 10, "every object is looked at once");
        assert_eq!(world.writes_since(position), [], "and nothing is written");
    });
}
