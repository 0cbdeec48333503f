//! Transactions: revisions, conditions, limits, and what a store says when it cannot.

use std::sync::{Arc, Mutex, OnceLock};

use hyperplane_store::{
    CommitError, Event, Expect, Fault, FaultyDisk, Limits, Memory, Observer, Revision, Snapshot, Store,
};

use crate::{
    running::{Running, delete, expecting, key, put, told},
    text::Text,
};

#[tokio::test]
async fn every_operation_gets_the_next_revision() {
    let running = Running::in_memory();
    let events = running
        .store
        .commit(vec![put("c", "a", "1"), put("c", "b", "2"), put("c", "a", "3")])
        .await;
    assert_eq!(
        told(&events.unwrap()),
        ["Created a=1 at 1", "Created b=2 at 2", "Updated a=3 at 3"]
    );
    assert_eq!(running.delete("c", "a").await, Revision(4));
    let events = running
        .store
        .commit(vec![delete("c", "b"), put("c", "b", "5")])
        .await
        .unwrap();
    assert_eq!(told(&events), ["Deleted b=2 at 5", "Created b=5 at 6"]);
    assert_eq!(
        events[0].entry.revision,
        Revision(2),
        "a deleted entry keeps the revision that wrote it"
    );
    assert_eq!(events[0].previous.as_ref().unwrap().revision, Revision(2));
    assert!(events[1].previous.is_none());
    assert!(running.store.commit(Vec::new()).await.unwrap().is_empty());
    assert_eq!(running.store.snapshot().revision(), Revision(6));
}

#[tokio::test]
async fn conditions_are_judged_one_after_the_other_and_a_conflict_leaves_no_trace() {
    let running = Running::in_memory();
    running.put("c", "a", "1").await;
    let cases = [
        (vec![expecting(Expect::Absent, put("c", "a", "2"))], 0, Some(1)),
        (
            vec![expecting(Expect::Revision(Revision(7)), put("c", "a", "2"))],
            0,
            Some(1),
        ),
        (
            vec![expecting(Expect::Revision(Revision(1)), put("c", "x", "2"))],
            0,
            None,
        ),
        (vec![delete("c", "x")], 0, None),
        (
            vec![
                put("c", "b", "2"),
                put("c", "a", "3"),
                expecting(Expect::Absent, put("c", "b", "4")),
            ],
            2,
            Some(2),
        ),
        (vec![delete("c", "a"), delete("c", "a")], 1, None),
        (
            vec![
                delete("c", "a"),
                expecting(Expect::Revision(Revision(1)), put("c", "a", "2")),
            ],
            1,
            None,
        ),
    ];
    for (operations, at, met) in cases {
        let error = running.store.commit(operations).await.unwrap_err();
        let CommitError::Conflict { operation, current } = error else {
            panic!("{error}")
        };
        assert_eq!((operation, current.map(|entry| entry.revision.0)), (at, met));
        let snapshot = running.store.snapshot();
        assert_eq!((snapshot.revision(), snapshot.entries().count()), (Revision(1), 1));
        assert_eq!(snapshot.get(&key("c", "a")).unwrap().payload.0, "1");
    }
    let chained = vec![
        expecting(Expect::Revision(Revision(1)), put("c", "a", "2")),
        expecting(Expect::Revision(Revision(2)), put("c", "a", "3")),
        expecting(Expect::Revision(Revision(3)), delete("c", "a")),
        expecting(Expect::Absent, put("c", "a", "4")),
    ];
    assert_eq!(running.store.commit(chained).await.unwrap().len(), 4);
}

#[tokio::test]
async fn transactions_of_one_batch_see_each_other_and_share_one_synchronisation() {
    let disk = FaultyDisk::new();
    let (store, writer) = Store::open(disk.clone(), Limits::default(), Vec::new()).unwrap();
    let tasks: Vec<_> = (0..100)
        .map(|index| {
            let store = store.clone();
            tokio::spawn(async move {
                store
                    .commit(vec![expecting(Expect::Absent, put("c", "a", &index.to_string()))])
                    .await
            })
        })
        .collect();
    tokio::task::yield_now().await;
    let before = disk.steps();
    tokio::spawn(writer.run());
    let mut won = Vec::new();
    for (index, task) in tasks.into_iter().enumerate() {
        match task.await.unwrap() {
            Ok(_) => won.push(index),
            Err(error) => assert!(matches!(
                error,
                CommitError::Conflict {
                    operation: 0,
                    current: Some(_)
                }
            )),
        }
    }
    assert_eq!(won, [0]);
    let steps = disk.steps() - before;
    assert!(
        steps <= 6,
        "a new segment is four calls, a batch two, but there were {steps}"
    );
}

#[tokio::test]
async fn what_is_too_large_or_too_much_is_refused_at_once() {
    let limits = Limits {
        transaction_operations: 2,
        transaction_bytes: 4000,
        queue_transactions: 3,
        queue_bytes: 5000,
        ..Limits::default()
    };
    // The writer does not run yet.
    let (store, writer) = Store::<Text>::open(Memory, limits, Vec::new()).unwrap();
    let many = vec![put("c", "a", ""), put("c", "b", ""), put("c", "c", "")];
    assert!(matches!(store.commit(many).await, Err(CommitError::TooLarge)));
    let long = "x".repeat(4000);
    assert!(matches!(
        store.commit(vec![put("c", "a", &long)]).await,
        Err(CommitError::TooLarge)
    ));

    let send = |text: String| {
        let store = store.clone();
        tokio::spawn(async move { store.commit(vec![put("c", "a", &text)]).await })
    };
    let heavy = [send("x".repeat(3000)), send("x".repeat(3000))];
    tokio::task::yield_now().await;
    let light = [send(String::new()), send(String::new()), send(String::new())];
    tokio::task::yield_now().await;
    tokio::spawn(writer.run());
    let mut outcomes = Vec::new();
    for task in heavy.into_iter().chain(light) {
        outcomes.push(match task.await.unwrap() {
            Ok(_) => "done",
            Err(CommitError::Overloaded) => "overloaded",
            Err(_) => "else",
        });
    }
    assert_eq!(
        outcomes,
        ["done", "overloaded", "done", "done", "overloaded"],
        "by bytes, then by number"
    );
    assert!(
        store.commit(vec![put("c", "a", "later")]).await.is_ok(),
        "the queue is free again"
    );
}

#[tokio::test]
async fn a_closed_store_finishes_what_waits_and_takes_no_more() {
    let disk = FaultyDisk::new();
    let (store, writer) = Store::open(disk, Limits::default(), Vec::new()).unwrap();
    let waiting = {
        let store = store.clone();
        tokio::spawn(async move { store.commit(vec![put("c", "a", "1")]).await })
    };
    tokio::task::yield_now().await;
    store.close();
    assert!(matches!(
        store.commit(vec![put("c", "b", "2")]).await,
        Err(CommitError::Closed)
    ));
    writer.run().await.unwrap();
    assert!(waiting.await.unwrap().is_ok());
    assert!(matches!(
        store.commit(vec![put("c", "b", "2")]).await,
        Err(CommitError::Closed)
    ));
    assert_eq!(store.snapshot().count("c"), 1, "reads go on");
}

#[tokio::test]
async fn a_writer_ends_when_every_handle_is_gone() {
    let running = Running::in_memory();
    running.put("c", "a", "1").await;
    drop(running.store);
    running.writer.await.unwrap().unwrap();
}

#[tokio::test]
async fn a_dropped_commit_happens_all_the_same() {
    let running = Running::in_memory();
    let mut commit = Box::pin(running.store.commit(vec![put("c", "a", "1"), put("c", "b", "2")]));
    let is_pending = std::future::poll_fn(|context| std::task::Poll::Ready(commit.as_mut().poll(context).is_pending()));
    assert!(is_pending.await);
    drop(commit);
    running.put("c", "c", "3").await;
    assert_eq!(running.store.snapshot().revision(), Revision(3));
}

#[tokio::test]
async fn a_disk_failure_poisons_the_store_but_not_its_readers() {
    for fault in [Fault::NoSpace, Fault::Refuse] {
        let disk = FaultyDisk::new();
        let running = Running::on(disk.clone(), Limits::default());
        running.put("c", "a", "1").await;
        disk.fail_after(0, fault);
        assert!(matches!(
            running.store.commit(vec![put("c", "a", "2")]).await,
            Err(CommitError::Failed)
        ));
        assert!(matches!(
            running.store.commit(vec![put("c", "a", "3")]).await,
            Err(CommitError::Failed)
        ));
        assert_eq!(running.store.snapshot().get(&key("c", "a")).unwrap().payload.0, "1");
        let error = running.writer.await.unwrap().unwrap_err();
        assert!(error.to_string().contains("start again"), "{error}");
    }
}

/// Notes what it is told, and what readers could see at that moment.
#[derive(Default)]
struct Notes {
    store: OnceLock<Store<Text>>,
    lines: Mutex<Vec<String>>,
}

impl Observer<Text> for Notes {
    fn reset(&self, snapshot: &Snapshot<Text>) {
        let entries = snapshot.entries().count();
        self.lines
            .lock()
            .unwrap()
            .push(format!("reset to {entries} at {}", snapshot.revision()));
    }

    fn committed(&self, events: &[Arc<Event<Text>>]) {
        let seen = self.store.get().unwrap().snapshot().revision();
        self.lines
            .lock()
            .unwrap()
            .push(format!("{} events, readers see {seen}", events.len()));
    }
}

#[tokio::test]
async fn observers_are_told_before_readers() {
    let disk = FaultyDisk::new();
    let running = Running::on(disk.clone(), Limits::default());
    running.put("c", "a", "1").await;
    running.close().await;
    let notes = Arc::new(Notes::default());
    let running = Running::observed(
        disk,
        Limits::default(),
        vec![Arc::clone(&notes) as Arc<dyn Observer<Text>>],
    );
    assert!(notes.store.set(running.store.clone()).is_ok());
    running
        .store
        .commit(vec![put("c", "b", "2"), put("c", "c", "3")])
        .await
        .unwrap();
    running.delete("c", "a").await;
    let lines = notes.lines.lock().unwrap().clone();
    assert_eq!(
        lines,
        ["reset to 1 at 1", "2 events, readers see 1", "1 events, readers see 3"]
    );
}
