//! Writers, readers and watchers on several threads at once: what one sees never contradicts what another saw.

use hyperplane_store::{AtError, FaultyDisk, Limits, Revision, Store, Watcher};
use tokio::task::JoinSet;

use crate::{
    running::{Running, delete, put},
    text::Text,
};

const COLLECTIONS: [&str; 2] = ["c", "d"];
const WRITERS: usize = 8;
const ROUNDS: usize = 80;

/// Writes and deletes names of its own; hands back how many operations that were.
async fn write(store: Store<Text>, writer: usize) -> u64 {
    let mut operations = 0;
    for round in 0..ROUNDS {
        let collection = COLLECTIONS[(writer + round) % 2];
        let name = format!("{writer}-{}", round / 4 % 5);
        let transaction = match round % 4 {
            0 | 1 => vec![put(collection, &name, &round.to_string())],
            2 => vec![
                put(collection, "shared", &round.to_string()),
                put(collection, &name, "last"),
            ],
            _ => vec![put(collection, &name, "gone"), delete(collection, &name)],
        };
        operations += transaction.len() as u64;
        let events = store.commit(transaction).await.unwrap();
        let last = events.last().unwrap().revision;
        assert!(
            store.snapshot().revision() >= last,
            "a writer does not see its own write"
        );
    }
    operations
}

/// Follows a collection to a revision, and looks back at each event at the state that it came from and led to.
async fn follow(store: Store<Text>, mut watcher: Watcher<Text>, until: Revision) -> Vec<Revision> {
    let mut seen = Vec::new();
    while watcher.revision() < until {
        let Some(event) = watcher.try_next().unwrap() else {
            tokio::task::yield_now().await;
            continue;
        };
        assert!(
            store.snapshot().revision() >= event.revision,
            "an event is seen before its state"
        );
        match store.at(Revision(event.revision.0 - 1)) {
            Ok(before) => {
                let revision = before.get(&event.entry.key).map(|entry| entry.revision);
                assert_eq!(revision, event.previous.as_ref().map(|entry| entry.revision));
            }
            Err(AtError::TooOld { oldest }) => assert!(oldest >= event.revision),
            Err(error) => panic!("{error}"),
        }
        seen.push(event.revision);
    }
    seen
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn nothing_is_missed_repeated_or_seen_too_early() {
    let limits = Limits {
        ring_events: WRITERS * ROUNDS * 2,
        segment_bytes: 32 << 10,
        sweep_bytes: 32 << 10,
        ..Limits::default()
    };
    let running = Running::on(FaultyDisk::new(), limits);
    let store = &running.store;
    let total = Revision((WRITERS * ROUNDS * 3 / 2) as u64);
    let mut followers = JoinSet::new();
    for collection in COLLECTIONS.into_iter().cycle().take(6) {
        let watcher = store.watch(collection, Revision(0)).unwrap();
        let following = follow(store.clone(), watcher, total);
        followers.spawn(async move { (collection, following.await) });
    }
    let mut writers = JoinSet::new();
    for writer in 0..WRITERS {
        writers.spawn(write(store.clone(), writer));
    }
    assert_eq!(writers.join_all().await.into_iter().sum::<u64>(), total.0);
    store.reached(total).await;
    let mut seen = followers.join_all().await;
    seen.sort_unstable();
    let (of_c, of_d) = seen.split_at(3);
    assert!(of_c.windows(2).all(|pair| pair[0] == pair[1]) && of_d.windows(2).all(|pair| pair[0] == pair[1]));
    let mut all: Vec<u64> = of_c[0].1.iter().chain(&of_d[0].1).map(|revision| revision.0).collect();
    assert!(of_c[0].1.is_sorted() && of_d[0].1.is_sorted());
    all.sort_unstable();
    assert_eq!(all, (1..=total.0).collect::<Vec<_>>());
}
