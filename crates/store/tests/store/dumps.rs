//! Dumps and what is made of them.

use std::borrow::Cow;

use hyperplane_store::{
    AtError, Change, DecodeError, Expect, Fault, FaultyDisk, FormatError, Key, Limits, OpenError, Operation, Payload,
    RestoreError, Restored, Revision, Store, dump, fsck, restore,
};

use crate::{
    running::{Running, key},
    text::Text,
};

async fn example() -> String {
    let running = Running::in_memory();
    running.put("c", "n/a", "{\"kind\":\"Pod\"}\n\u{1F980}").await;
    running.put("c", "gone", "").await;
    running.put("d", "b", "").await;
    running.delete("c", "gone").await;
    let mut lines = Vec::new();
    dump(&running.store.snapshot(), &mut lines).unwrap();
    String::from_utf8(lines).unwrap()
}

#[tokio::test]
async fn a_dump_is_lines_of_json_in_order() {
    let expected = concat!(
        r#"{"format":1,"revision":4}"#,
        "\n",
        r#"{"collection":"c","namespace":"n","name":"a","revision":1,"payload":"{\"kind\":\"Pod\"}\n🦀"}"#,
        "\n",
        r#"{"collection":"d","namespace":"","name":"b","revision":3,"payload":""}"#,
        "\n",
        r#"{"entries":2}"#,
        "\n",
    );
    assert_eq!(example().await, expected);
}

#[tokio::test]
async fn a_restored_store_is_the_dumped_one_and_counts_on() {
    let text = example().await;
    let disk = FaultyDisk::new();
    let restored = restore(disk.clone(), text.as_bytes()).unwrap();
    assert_eq!(
        restored,
        Restored {
            revision: Revision(4),
            entries: 2
        }
    );
    assert!(fsck(&mut disk.clone()).is_clean());
    let running = Running::on(disk.clone(), Limits::default());
    let snapshot = running.store.snapshot();
    assert_eq!(snapshot.revision(), Revision(4));
    assert_eq!(snapshot.get(&key("c", "n/a")).unwrap().revision, Revision(1));
    let too_old = AtError::TooOld { oldest: Revision(4) };
    assert_eq!(
        running.store.at(Revision(3)).unwrap_err(),
        too_old,
        "nobody knows what was before"
    );
    let mut again = Vec::new();
    dump(&snapshot, &mut again).unwrap();
    assert_eq!(String::from_utf8(again).unwrap(), text);
    assert!(
        running.store.watch("c", Revision(3)).is_err(),
        "what was before the dump is not known event by event"
    );
    assert_eq!(running.put("c", "new", "").await, Revision(5));
    running.close().await;
    assert!(matches!(
        restore(disk, text.as_bytes()),
        Err(RestoreError::Format(FormatError::Occupied))
    ));
}

#[test]
fn a_dump_that_is_not_whole_is_refused_and_leaves_nothing_that_opens() {
    let head = r#"{"format":1,"revision":4}"#;
    let entry = r#"{"collection":"c","namespace":"","name":"a","revision":1,"payload":"x"}"#;
    let later = r#"{"collection":"c","namespace":"","name":"a","revision":5,"payload":"x"}"#;
    let binary = r#"{"collection":"c","namespace":"","name":"b","revision":1,"base64":"?"}"#;
    let end = r#"{"entries":1}"#;
    let cases = [
        (vec![], "cut off"),
        (vec![head], "cut off"),
        (vec![head, entry], "cut off"),
        (
            vec![r#"{"format":1,"revision":18446744073709551615}"#, end],
            "no room to count on",
        ),
        (vec![entry, end], "line 1 of the dump makes no sense"),
        (
            vec![r#"{"format":2,"revision":4}"#, end],
            "line 1 of the dump is wrong: this release",
        ),
        (
            vec![head, entry, entry, end],
            "line 3 of the dump is wrong: it is out of order",
        ),
        (vec![head, later, end], "line 2 of the dump is wrong: its revision"),
        (vec![head, binary, end], "line 2 of the dump is wrong: its payload"),
        (vec![head, end], "line 2 of the dump is wrong: it counts"),
        (vec![head, entry, end, entry], "line 4 of the dump is wrong: it follows"),
        (
            vec![head, r#"{"collection":"c"}"#, end],
            "line 2 of the dump makes no sense",
        ),
    ];
    for (lines, expected) in cases {
        let disk = FaultyDisk::new();
        let error = restore(disk.clone(), lines.join("\n").as_bytes()).unwrap_err();
        assert!(error.to_string().contains(expected), "{lines:?}: {error}");
        let opened = Store::<Text>::open(disk.clone(), Limits::default(), Vec::new());
        assert!(
            matches!(opened, Err(OpenError::Format(FormatError::Restoring))),
            "{lines:?}"
        );
        assert!(!fsck(&mut disk.clone()).is_clean());
    }
}

#[tokio::test]
async fn a_restore_that_is_interrupted_anywhere_never_opens_half() {
    let text = example().await;
    for step in 0.. {
        for seed in 0..8 {
            let disk = FaultyDisk::new();
            disk.fail_after(step, Fault::Crash);
            let is_done = restore(disk.clone(), text.as_bytes()).is_ok();
            disk.lose_power(seed);
            match Store::<Text>::open(disk, Limits::default(), Vec::new()) {
                Ok((store, _)) => {
                    let (revision, count) = (store.snapshot().revision().0, store.snapshot().entries().count());
                    let is_whole = (revision, count) == (4, 2);
                    let is_untouched = (revision, count) == (0, 0) && !is_done;
                    assert!(is_whole || is_untouched, "step {step}, seed {seed}");
                }
                Err(error) => assert!(matches!(error, OpenError::Format(FormatError::Restoring)) && !is_done),
            }
            if is_done && seed == 7 {
                assert!(step > 10);
                return;
            }
        }
    }
}

/// A payload that is no text.
struct Bytes(Vec<u8>);

impl Payload for Bytes {
    fn encode(&self) -> Cow<'_, [u8]> {
        (&*self.0).into()
    }

    fn decode(_key: &Key, bytes: &[u8]) -> Result<Self, DecodeError> {
        Ok(Self(bytes.to_vec()))
    }

    fn weight(&self) -> usize {
        self.0.len()
    }
}

#[tokio::test]
async fn a_payload_that_is_no_text_is_dumped_in_base64() {
    let disk = FaultyDisk::new();
    let (store, writer) = Store::open(disk, Limits::default(), Vec::new()).unwrap();
    tokio::spawn(writer.run());
    let change = Change::Put(Bytes(vec![0xFF, 0x00, 0xFE]));
    let operation = Operation {
        key: key("c", "a"),
        expect: Expect::Any,
        change,
    };
    store.commit(vec![operation]).await.unwrap();
    let mut lines = Vec::new();
    dump(&store.snapshot(), &mut lines).unwrap();
    assert!(String::from_utf8(lines.clone()).unwrap().contains(r#""base64":"/wD+""#));
    let copy = FaultyDisk::new();
    restore(copy.clone(), &*lines).unwrap();
    let (store, _) = Store::<Bytes>::open(copy.clone(), Limits::default(), Vec::new()).unwrap();
    assert_eq!(
        store.snapshot().get(&key("c", "a")).unwrap().payload.0,
        [0xFF, 0x00, 0xFE]
    );
    let opened = Store::<Text>::open(copy, Limits::default(), Vec::new());
    let error = opened.unwrap_err();
    let source = std::error::Error::source(&error).unwrap().to_string();
    assert_eq!(source, "c//a at revision 1 cannot be decoded");
}
