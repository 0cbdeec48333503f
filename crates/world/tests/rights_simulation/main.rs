//! Rights as tight as they are used: whole lives of clusters on virtual time, in which every right that anybody asks for is
//! noted, beside the rules that each account has. Nobody is refused, and no rule is there that nobody uses.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails where it stands")]

mod exceptions;
mod granted;
#[path = "../simulation/ground.rs"]
#[allow(dead_code, unused_imports, reason = "each simulation takes the part that it needs")]
mod ground;
mod lives;
#[path = "../simulation/look.rs"]
#[allow(dead_code, reason = "each simulation takes the part that it needs")]
mod look;
#[path = "../both/manifests.rs"]
#[allow(dead_code, reason = "each simulation takes the part that it needs")]
mod manifests;
mod record;
#[path = "../../../api/tests/support/samples.rs"]
mod samples;
mod site;
#[path = "../simulation/trace.rs"]
#[allow(dead_code, reason = "each simulation takes the part that it needs")]
mod trace;
#[path = "../simulation/trouble.rs"]
#[allow(dead_code, reason = "each simulation takes the part that it needs")]
mod trouble;

use std::panic::AssertUnwindSafe;

use futures::FutureExt as _;

use crate::{exceptions::EXCEPTIONS, record::Record};

/// As in the program: the system's allocator takes a fifth of a simulation's time.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

#[tokio::test(start_paused = true)]
async fn nobody_is_refused_and_no_rule_is_unused() {
    let record = Record::default();
    let lives = [
        ("pools", lives::of_pools(&record).boxed_local()),
        ("changes", lives::of_changes(&record).boxed_local()),
        ("members", lives::of_members(&record).boxed_local()),
        ("agents", lives::of_agents(&record).boxed_local()),
        ("one process", lives::of_one_process(&record).boxed_local()),
        ("Cluster API", lives::of_cluster_api(&record).boxed_local()),
    ];
    // A life that fails for want of a right is told together with that right.
    let mut failed = Vec::new();
    for (name, life) in lives {
        if AssertUnwindSafe(life).catch_unwind().await.is_err() {
            failed.push(format!("the life of {name} failed"));
        }
    }
    let (unused, needless) = exceptions::judge(&record.unused(), EXCEPTIONS);
    let told = [
        ("Lives that failed", failed),
        ("Rights that were refused", record.refused()),
        (
            "Rules that nobody used: take them away, or say in the table of exceptions why they stay",
            unused,
        ),
        ("Exceptions for what is used, or is no rule", needless),
    ];
    let told = told.iter().filter(|(_, lines)| !lines.is_empty());
    let told: Vec<String> = told
        .map(|(title, lines)| format!("{title}:\n  {}", lines.join("\n  ")))
        .collect();
    assert!(told.is_empty(), "{}", told.join("\n"));
}
