//! How fast a durable store is on this machine, beside what its disk can do at best. Run with
//! `cargo bench -p hyperplane-store --bench store`; it writes below the target directory, or into the directory that it is given.
#![allow(
    clippy::disallowed_methods,
    clippy::cast_precision_loss,
    reason = "a benchmark reads the clock, and its numbers are printed, not kept"
)]

use std::{
    borrow::Cow,
    fs::{self, File},
    io::Write,
    path::{Path, PathBuf},
    sync::Arc,
    thread,
    time::{Duration, Instant},
};

use hyperplane_store::{
    Change, DecodeError, Directory, Expect, Key, Limits, Memory, Operation, Payload, Store, Writer, fsck,
};
use tokio::runtime;

/// Bytes of an object: about a Deployment.
const OBJECT_BYTES: usize = 2 << 10;
/// Objects in the large store.
const OBJECTS: usize = 100_000;

struct Object(Box<[u8]>);

impl Payload for Object {
    fn encode(&self) -> Cow<'_, [u8]> {
        (&*self.0).into()
    }

    fn decode(_key: &Key, bytes: &[u8]) -> Result<Self, DecodeError> {
        Ok(Self(bytes.into()))
    }

    fn weight(&self) -> usize {
        self.0.len()
    }
}

fn main() {
    let given = std::env::args().skip(1).find(|argument| !argument.starts_with('-'));
    let base = given.map_or_else(|| PathBuf::from(env!("CARGO_TARGET_TMPDIR")), PathBuf::from);
    let directory = base.join("store-bench");
    discard(&directory);
    fs::create_dir_all(&directory).expect("the directory can be made");
    let floor = synchronisation(&directory);
    println!("append and fdatasync of {OBJECT_BYTES} bytes, growing file: {floor:?}");
    for writers in [1, 16, 128] {
        let path = directory.join("commits");
        let rate = commits(&path, writers, 300 * writers.max(20));
        println!(
            "{writers:>4} writers: {:>8.0} commits/s, {:.2} times what one synchronisation per commit allows",
            rate,
            rate * floor.as_secs_f64()
        );
        discard(&path);
    }
    for writers in [1, 128] {
        println!(
            "{writers:>4} writers in memory: {:>8.0} commits/s",
            in_memory(writers, 200_000)
        );
    }
    large(&directory.join("large"));
    discard(&directory);
}

fn discard(path: &Path) {
    if path.exists() {
        fs::remove_dir_all(path).expect("the directory is ours");
    }
}

/// The median time to append an object to a file and synchronise it.
fn synchronisation(directory: &Path) -> Duration {
    let mut file = File::create(directory.join("floor")).expect("a file can be made");
    let bytes = vec![7; OBJECT_BYTES];
    let mut times: Vec<Duration> = (0..1000)
        .map(|_| {
            let start = Instant::now();
            file.write_all(&bytes)
                .and_then(|()| file.sync_data())
                .expect("the disk has space");
            start.elapsed()
        })
        .collect();
    times.sort_unstable();
    times[times.len() / 2]
}

/// A store with its writer on a thread of its own, as a server runs it.
struct Running {
    store: Store<Object>,
    writer: thread::JoinHandle<()>,
}

fn run((store, writer): (Store<Object>, Writer<Object>)) -> Running {
    let writer = thread::spawn(|| {
        let runtime = runtime::Builder::new_current_thread()
            .build()
            .expect("a runtime can be made");
        runtime.block_on(writer.run()).expect("the disk works");
    });
    Running { store, writer }
}

fn open(path: &Path) -> (Store<Object>, Writer<Object>) {
    let disk = Directory::open(path).expect("the directory is free");
    Store::open(disk, Limits::default(), Vec::new()).expect("the store is sound")
}

impl Running {
    fn end(self) {
        self.store.close();
        self.writer.join().expect("the writer ends well");
    }
}

fn operation(index: usize) -> Operation<Object> {
    Operation {
        key: Key::new(
            "deployments.apps",
            format!("namespace-{}", index % 100),
            format!("name-{index}"),
        ),
        expect: Expect::Any,
        change: Change::Put(Object(vec![b'x'; OBJECT_BYTES].into())),
    }
}

/// Commits of one operation each by that many tasks at once; hands back the rate and the slowest commit.
fn write(store: &Store<Object>, writers: usize, total: usize, objects: usize) -> (f64, Duration) {
    let runtime = runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .build()
        .expect("a runtime can be made");
    let start = Instant::now();
    let tasks: Vec<_> = (0..writers)
        .map(|writer| {
            let store = store.clone();
            runtime.spawn(async move {
                let mut slowest = Duration::ZERO;
                for index in (writer..total).step_by(writers) {
                    let start = Instant::now();
                    // A stride without common factors spreads the writes over all keys.
                    store
                        .commit(vec![operation(index * 7919 % objects)])
                        .await
                        .expect("the disk works");
                    slowest = slowest.max(start.elapsed());
                }
                slowest
            })
        })
        .collect();
    let slowest = runtime.block_on(async {
        let mut slowest = Duration::ZERO;
        for task in tasks {
            slowest = slowest.max(task.await.expect("no task panics"));
        }
        slowest
    });
    (total as f64 / start.elapsed().as_secs_f64(), slowest)
}

fn commits(path: &Path, writers: usize, total: usize) -> f64 {
    let running = run(open(path));
    let (rate, _) = write(&running.store, writers, total, 10_000);
    running.end();
    rate
}

fn in_memory(writers: usize, total: usize) -> f64 {
    let opened = Store::open(Memory, Limits::default(), Vec::new()).expect("memory does not fail");
    let running = run(opened);
    let (rate, _) = write(&running.store, writers, total, 10_000);
    running.end();
    rate
}

/// A large store: how it fills, lives under churn, and comes back.
fn large(path: &Path) {
    let running = run(open(path));
    let (rate, slowest) = write(&running.store, 128, OBJECTS, OBJECTS);
    println!("{OBJECTS} objects filled at {rate:.0} commits/s, slowest {slowest:?}");
    let (rate, slowest) = write(&running.store, 16, 2 * OBJECTS, OBJECTS);
    println!(
        "{} updates of them at {rate:.0} commits/s, slowest {slowest:?}",
        2 * OBJECTS
    );
    let live = (OBJECTS * OBJECT_BYTES) as f64;
    let bytes: u64 = fs::read_dir(path)
        .expect("it is there")
        .map(|entry| entry.and_then(|entry| entry.metadata()).expect("it is ours").len())
        .sum();
    println!("on disk: {:.2} times the live bytes", bytes as f64 / live);
    running.end();
    let start = Instant::now();
    let (store, writer) = open(path);
    println!(
        "recovered {} objects in {:?}",
        store.snapshot().count("deployments.apps"),
        start.elapsed()
    );
    let start = Instant::now();
    let snapshot = store.snapshot();
    let bytes: usize = snapshot
        .range("deployments.apps", None, None)
        .map(|entry| entry.payload.weight())
        .sum();
    println!("walked {bytes} bytes of payloads in {:?}", start.elapsed());
    drop((Arc::new(snapshot), store, writer));
    let start = Instant::now();
    let report = fsck(&mut Directory::open(path).expect("nobody has it"));
    println!("checked in {:?}: {report}", start.elapsed());
}
