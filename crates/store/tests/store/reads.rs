//! Snapshots: order, pages, the past, and waiting for the future.

use hyperplane_store::{AtError, Limits, Memory, Revision, Snapshot};

use crate::{
    running::{Running, key, put},
    text::Text,
};

fn names<'s>(
    snapshot: &'s Snapshot<Text>,
    collection: &str,
    namespace: Option<&str>,
    after: Option<(&str, &str)>,
) -> Vec<&'s str> {
    snapshot
        .range(collection, namespace, after)
        .map(|entry| &*entry.key.name)
        .collect()
}

#[tokio::test]
async fn ranges_are_ordered_by_namespace_and_name() {
    let running = Running::in_memory();
    for name in ["b/2", "a/9", "cluster", "b/1", "ab/5", "a/10"] {
        running.put("c", name, "").await;
    }
    running.put("c.other", "a/other", "").await;
    let snapshot = running.store.snapshot();
    assert_eq!(names(&snapshot, "c", None, None), ["cluster", "10", "9", "5", "1", "2"]);
    assert_eq!(names(&snapshot, "c", Some("a"), None), ["10", "9"]);
    assert_eq!(names(&snapshot, "c", Some("b"), None), ["1", "2"]);
    assert_eq!(names(&snapshot, "c", Some(""), None), ["cluster"]);
    assert_eq!(names(&snapshot, "c", Some("nowhere"), None), [""; 0]);
    assert_eq!(names(&snapshot, "nothing", None, None), [""; 0]);
    assert_eq!(names(&snapshot, "c", None, Some(("a", "10"))), ["9", "5", "1", "2"]);
    assert_eq!(
        names(&snapshot, "c", None, Some(("a", "2"))),
        ["9", "5", "1", "2"],
        "the place need not be taken"
    );
    assert_eq!(names(&snapshot, "c", Some("a"), Some(("a", "10"))), ["9"]);
    assert_eq!(
        names(&snapshot, "c", Some("b"), Some(("a", "10"))),
        ["1", "2"],
        "a place before the namespace"
    );
    assert_eq!(
        names(&snapshot, "c", Some("a"), Some(("b", "1"))),
        [""; 0],
        "a place after the namespace"
    );
    assert_eq!(
        (
            snapshot.count("c"),
            snapshot.count("c.other"),
            snapshot.count("nothing")
        ),
        (6, 1, 0)
    );
    assert_eq!(
        snapshot.collections().map(|name| &**name).collect::<Vec<_>>(),
        ["c", "c.other"]
    );
    running.delete("c.other", "a/other").await;
    assert_eq!(running.store.snapshot().collections().count(), 1);
    assert_eq!(snapshot.count("c.other"), 1, "a snapshot does not change");
}

#[tokio::test]
async fn the_past_can_be_read_revision_by_revision() {
    let running = Running::in_memory();
    running
        .store
        .commit(vec![put("c", "a", "1"), put("d", "b", "2"), put("c", "a", "3")])
        .await
        .unwrap();
    running.delete("d", "b").await;
    let past = [None, Some("1"), Some("1"), Some("3"), Some("3")];
    for (revision, text) in (0..).zip(past) {
        let snapshot = running.store.at(Revision(revision)).unwrap();
        assert_eq!(snapshot.revision(), Revision(revision));
        assert_eq!(snapshot.get(&key("c", "a")).map(|entry| entry.payload.0.as_str()), text);
        assert_eq!(snapshot.count("d"), usize::from((2..4).contains(&revision)));
    }
    assert_eq!(
        running.store.at(Revision(5)).unwrap_err(),
        AtError::Future { current: Revision(4) }
    );
}

#[tokio::test]
async fn pages_stay_readable_after_events_are_gone() {
    let limits = Limits {
        ring_events: 2,
        pinned_snapshots: 2,
        pinned_revisions: 20,
        ..Limits::default()
    };
    let running = Running::on(Memory, limits);
    running.put("c", "a", "1").await;
    let first_page = running.store.snapshot();
    running.store.pin(&first_page);
    for text in 2..10 {
        running.put("c", "a", &text.to_string()).await;
    }
    assert_eq!(
        running
            .store
            .at(Revision(1))
            .unwrap()
            .get(&key("c", "a"))
            .unwrap()
            .payload
            .0,
        "1"
    );
    assert_eq!(
        running.store.at(Revision(5)).unwrap_err(),
        AtError::TooOld { oldest: Revision(7) }
    );
    assert_eq!(
        running
            .store
            .at(Revision(7))
            .unwrap()
            .get(&key("c", "a"))
            .unwrap()
            .payload
            .0,
        "7"
    );
    // Looking at a third state gives up the one that was not used for longest.
    running.store.at(Revision(8)).unwrap();
    assert!(matches!(running.store.at(Revision(1)), Err(AtError::TooOld { .. })));
    // And none is kept for ever.
    for text in 10..40 {
        running.put("c", "a", &text.to_string()).await;
    }
    assert!(matches!(running.store.at(Revision(8)), Err(AtError::TooOld { .. })));
}

#[tokio::test]
async fn who_waits_for_a_revision_sees_it() {
    let running = Running::in_memory();
    running.store.reached(Revision(0)).await;
    let store = running.store.clone();
    let waiting = tokio::spawn(async move {
        store.reached(Revision(2)).await;
        store.snapshot().revision()
    });
    running.put("c", "a", "1").await;
    tokio::task::yield_now().await;
    assert!(!waiting.is_finished());
    running.put("c", "a", "2").await;
    assert_eq!(waiting.await.unwrap(), Revision(2));
}
