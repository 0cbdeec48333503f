//! Watchers: order, resumption, bookmarks, and being cut off.

use hyperplane_store::{FaultyDisk, Lagged, Limits, Memory, Revision, TooOld, Watcher};

use crate::{
    running::{Running, put, told},
    text::Text,
};

async fn next(watcher: &mut Watcher<Text>, count: usize) -> Vec<String> {
    let mut events = Vec::new();
    while events.len() < count {
        events.push(watcher.next().await.unwrap());
    }
    assert!(watcher.try_next().unwrap().is_none(), "there is more than expected");
    told(&events)
}

#[tokio::test]
async fn a_watcher_is_told_everything_after_its_revision_in_order() {
    let running = Running::in_memory();
    running.put("c", "a", "1").await;
    running
        .store
        .commit(vec![put("c", "a", "2"), put("d", "x", "3"), put("c", "b", "4")])
        .await
        .unwrap();
    let mut watcher = running.store.watch("c", Revision(1)).unwrap();
    assert_eq!(next(&mut watcher, 2).await, ["Updated a=2 at 2", "Created b=4 at 4"]);
    running.delete("c", "a").await;
    assert_eq!(next(&mut watcher, 1).await, ["Deleted a=2 at 5"]);
    let mut from_the_start = running.store.watch("c", Revision(0)).unwrap();
    assert_eq!(next(&mut from_the_start, 4).await.len(), 4);
}

#[tokio::test]
async fn a_waiting_watcher_is_woken() {
    let running = Running::in_memory();
    let mut watchers: Vec<_> = (0..100)
        .map(|_| running.store.watch("c", Revision(0)).unwrap())
        .collect();
    let tasks: Vec<_> = watchers
        .drain(..)
        .map(|mut watcher| tokio::spawn(async move { next(&mut watcher, 2).await }))
        .collect();
    tokio::task::yield_now().await;
    running.put("d", "x", "").await;
    running
        .store
        .commit(vec![put("c", "a", "1"), put("c", "a", "2")])
        .await
        .unwrap();
    for task in tasks {
        assert_eq!(task.await.unwrap(), ["Created a=1 at 2", "Updated a=2 at 3"]);
    }
}

#[tokio::test]
async fn a_dropped_wait_loses_nothing() {
    let running = Running::in_memory();
    let mut watcher = running.store.watch("c", Revision(0)).unwrap();
    {
        let mut waiting = Box::pin(watcher.next());
        let poll = std::future::poll_fn(|context| std::task::Poll::Ready(waiting.as_mut().poll(context).is_pending()));
        assert!(poll.await);
        running.put("c", "a", "1").await;
    }
    assert_eq!(next(&mut watcher, 1).await, ["Created a=1 at 1"]);
}

#[tokio::test]
async fn a_bookmark_moves_with_other_collections_but_never_over_an_event() {
    let running = Running::in_memory();
    let mut watcher = running.store.watch("c", Revision(0)).unwrap();
    assert_eq!(watcher.revision(), Revision(0));
    running.put("d", "x", "1").await;
    running.put("d", "x", "2").await;
    assert_eq!(watcher.revision(), Revision(2));
    running.put("c", "a", "3").await;
    running.put("d", "x", "4").await;
    assert_eq!(watcher.revision(), Revision(2), "the event at 3 was not handed out");
    running
        .store
        .commit(vec![put("c", "a", "5"), put("d", "x", "6"), put("c", "a", "7")])
        .await
        .unwrap();
    watcher.next().await.unwrap();
    assert_eq!(watcher.revision(), Revision(4), "the next event is at 5");
    next(&mut watcher, 2).await;
    assert_eq!(watcher.revision(), Revision(7));
    let ahead = running.store.watch("c", Revision(9)).unwrap();
    assert_eq!(ahead.revision(), Revision(9), "a watcher from the future stays there");
}

#[tokio::test]
async fn who_falls_behind_is_cut_and_holds_up_nobody() {
    for limits in [
        Limits {
            ring_events: 3,
            ..Limits::default()
        },
        Limits {
            ring_bytes: 3 * 1200,
            ..Limits::default()
        },
    ] {
        let running = Running::on(Memory, limits);
        let text = "x".repeat(1000);
        running.put("c", "a", &text).await;
        let mut slow = running.store.watch("c", Revision(0)).unwrap();
        let mut other = running.store.watch("d", Revision(0)).unwrap();
        for _ in 0..9 {
            running.put("c", "a", &text).await;
        }
        assert_eq!(slow.next().await.unwrap_err(), Lagged);
        assert_eq!(slow.try_next().unwrap_err(), Lagged, "and stays cut");
        assert_eq!(
            slow.revision(),
            Revision(0),
            "a bookmark claims nothing that was missed"
        );
        assert_eq!(
            running.store.watch("c", Revision(6)).unwrap_err(),
            TooOld { oldest: Revision(7) }
        );
        assert_eq!(
            next(&mut running.store.watch("c", Revision(7)).unwrap(), 3).await.len(),
            3
        );
        running.put("d", "x", "").await;
        assert_eq!(next(&mut other, 1).await.len(), 1, "other collections are not affected");
    }
}

#[tokio::test]
async fn a_watcher_goes_on_after_a_restart() {
    let disk = FaultyDisk::new();
    let running = Running::on(disk.clone(), Limits::default());
    running.put("c", "a", "1").await;
    running.put("c", "a", "2").await;
    running.delete("c", "a").await;
    running.close().await;
    let running = Running::on(disk, Limits::default());
    let mut watcher = running.store.watch("c", Revision(1)).unwrap();
    running.put("c", "a", "4").await;
    assert_eq!(
        next(&mut watcher, 3).await,
        ["Updated a=2 at 2", "Deleted a=2 at 3", "Created a=4 at 4"]
    );
}
