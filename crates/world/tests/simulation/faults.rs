//! What goes wrong: processes that die wherever they stand, connections that break, watches that end, answers that never
//! come. Whatever happens, it ends with the same objects, and then nothing is written.

use std::{collections::BTreeMap, sync::OnceLock, time::Duration};

use hyperplane_api::hypershift::hosted_cluster::HostedCluster;
use hyperplane_runtime::Random;
use kube::{ResourceExt as _, api::ListParams};
use serde_json::{Value, json};
use tokio::time::sleep;

use crate::{
    ground::{Ground, NEW, Process, USERS, merge, single},
    life::kept,
};

/// Seeds of the slice that runs every time.
const SLICE: std::ops::Range<u64> = 1..2;
/// Seeds of a soak, unless HYPERPLANE_SOAK_SEEDS says otherwise.
const SOAK: u64 = 100;
/// How often a process dies in each act.
const CRASHES: usize = 12;
/// How long requests go wrong in each act.
const TROUBLE: Duration = Duration::from_mins(4);
/// Of a hundred requests, how many go wrong.
const PERCENT: u64 = 8;

/// What the cluster makes of what operators write.
const OF_OTHERS: [&str; 5] = [
    "controllerrevisions",
    "endpointslices",
    "persistentvolumeclaims",
    "pods",
    "replicasets",
];

/// The acts of every world: a cluster is made, and goes to a newer release; in between it settles.
async fn play(ground: &Ground, disturb: impl AsyncFn()) -> BTreeMap<String, Value> {
    let mut manifest = json!({"spec": {"release": {"image": "hyperplane.dev/kubernetes:v1.36.3"}}});
    merge(&mut manifest, &single());
    ground.cluster("one", manifest).await;
    disturb().await;
    ground.until_version("one", "1.36.3").await;
    // Where nothing was told from inside yet, a version counts as reached once the control plane has it.
    ground.until_told("one", "1.36.3").await;
    ground.change("one", json!({"spec": {"release": {"image": NEW}}})).await;
    disturb().await;
    ground.until_version("one", "1.36.4").await;
    ground.until_condition("one", "Available", "True").await;
    sleep(Duration::from_mins(5)).await;
    let mark = ground.written();
    sleep(Duration::from_mins(5)).await;
    assert_eq!(ground.since(mark), [], "seed {}", ground.seed);
    comparable(ground).await
}

/// What operators wrote, without what differs from one world to the next.
async fn comparable(ground: &Ground) -> BTreeMap<String, Value> {
    let clusters = ground
        .api::<HostedCluster>(Some(USERS))
        .list(&ListParams::default())
        .await
        .unwrap();
    let mut own = Vec::new();
    for cluster in clusters {
        own.extend(cluster.uid());
        own.extend(cluster.spec.infra_id.as_ref().map(|id| id.as_str().to_owned()));
        own.extend(cluster.spec.cluster_id.as_ref().map(|id| id.as_str().to_owned()));
    }
    let mut all = BTreeMap::new();
    for (name, mut object) in ground.everything().await {
        let is_ours = object["metadata"]["labels"]["app.kubernetes.io/managed-by"] == "hyperplane";
        let is_made_of_others = OF_OTHERS.iter().any(|kind| name.starts_with(&format!("{kind} ")));
        if !is_ours || is_made_of_others {
            continue;
        }
        // What runs reports about itself is the twin's story.
        if !object["apiVersion"]
            .as_str()
            .is_some_and(|version| version.starts_with("hypershift."))
        {
            object["status"] = Value::Null;
        }
        scrub(&mut object);
        let mut texts = [name, object.to_string()];
        for (number, id) in own.iter().enumerate() {
            texts = texts.map(|text| text.replace(id, &format!("id-{number}")));
        }
        let [name, object] = texts;
        all.insert(name, serde_json::from_str(&object).unwrap());
    }
    all
}

/// Takes out what the server, chance or time chose.
fn scrub(object: &mut Value) {
    const CHOSEN: [&str; 14] = [
        "hyperplane.dev/copied-from",
        "uid",
        "resourceVersion",
        "creationTimestamp",
        "managedFields",
        "generation",
        "observedGeneration",
        "lastTransitionTime",
        "lastUpdateTime",
        "lastReleaseImageTransitionTime",
        "startedTime",
        "completionTime",
        "clusterIP",
        "clusterIPs",
    ];
    match object {
        Value::Object(fields) => {
            fields
                .retain(|key, _| !CHOSEN.contains(&key.as_str()) && !key.ends_with("-hash") && !key.ends_with("Port"));
            for (key, value) in fields {
                if matches!(key.as_str(), "data" | "binaryData") {
                    let keys: Vec<String> = value
                        .as_object()
                        .into_iter()
                        .flatten()
                        .map(|(key, _)| key.clone())
                        .collect();
                    *value = json!(keys);
                }
                scrub(value);
            }
        }
        Value::Array(items) => items.iter_mut().for_each(scrub),
        _ => {}
    }
}

/// How every world ends in which nothing goes wrong, whatever its seed.
fn undisturbed() -> &'static BTreeMap<String, Value> {
    static EXPECTED: OnceLock<BTreeMap<String, Value>> = OnceLock::new();
    EXPECTED.get_or_init(|| {
        simulate(async {
            let ground = Ground::new(0).await;
            let operators = ground.start().await;
            let objects = play(&ground, async || {}).await;
            operators.stop().await;
            objects
        })
    })
}

/// A process that is replaced by another whenever it dies, which is soon.
async fn crash_again_and_again(ground: &Ground, random: &mut Random, mut process: Process) -> Process {
    for _ in 0..CRASHES {
        let pause = random.up_to(Duration::from_secs(5));
        process = ground.crash(process, random, sleep(pause)).await;
    }
    process
}

async fn crashes(seed: u64, expected: &BTreeMap<String, Value>) {
    let ground = Ground::new(seed).await;
    let before = kept(&ground).await;
    let state = tokio::sync::Mutex::new((Some(ground.start().await), Random::named(seed, "crashes")));
    let disturb = async || {
        let (process, random) = &mut *state.lock().await;
        *process = Some(crash_again_and_again(&ground, random, process.take().unwrap()).await);
    };
    let objects = play(&ground, &disturb).await;
    same(&objects, expected, seed);
    ground.delete("one").await;
    disturb().await;
    ground.until_gone("one").await;
    sleep(Duration::from_mins(5)).await;
    let after = kept(&ground).await;
    assert_eq!(
        after.difference(&before).collect::<Vec<_>>(),
        Vec::<&String>::new(),
        "seed {seed}"
    );
}

async fn trouble(seed: u64, expected: &BTreeMap<String, Value>) {
    let ground = Ground::new(seed).await;
    let operators = ground.start().await;
    let disturb = async || {
        ground.trouble.set(PERCENT);
        sleep(TROUBLE).await;
        ground.trouble.set(0);
    };
    let objects = play(&ground, disturb).await;
    same(&objects, expected, seed);
    operators.stop().await;
}

fn same(found: &BTreeMap<String, Value>, expected: &BTreeMap<String, Value>, seed: u64) {
    let names = |objects: &BTreeMap<String, Value>| objects.keys().cloned().collect::<Vec<_>>();
    assert_eq!(names(found), names(expected), "seed {seed}");
    let differing: Vec<_> = found
        .iter()
        .filter(|(name, object)| *object != &expected[*name])
        .collect();
    for (name, object) in &differing {
        println!("{name}:\n{object}\n{}", expected[*name]);
    }
    assert_eq!(differing.len(), 0, "seed {seed}");
}

/// Runs one world to its end on a runtime of its own.
pub fn simulate<T>(world: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .start_paused(true)
        .build();
    runtime.unwrap().block_on(world)
}

#[test]
fn a_process_may_die_anywhere() {
    for seed in SLICE {
        simulate(crashes(seed, undisturbed()));
    }
}

#[test]
fn whatever_happens_to_requests_it_converges() {
    for seed in SLICE {
        simulate(trouble(seed, undisturbed()));
    }
}

#[test]
#[ignore = "soak: run by cargo xtask soak"]
#[allow(clippy::disallowed_methods, reason = "a soak is told its length by the environment")]
fn soak_of_processes_that_die_and_requests_that_go_wrong() {
    let seeds = std::env::var("HYPERPLANE_SOAK_SEEDS")
        .ok()
        .and_then(|text| text.parse().ok())
        .unwrap_or(SOAK);
    for seed in 1000..1000 + seeds {
        simulate(crashes(seed, undisturbed()));
        simulate(trouble(seed, undisturbed()));
    }
}
