//! Aggregation, checked through random histories.

use std::collections::BTreeSet;

use proptest::prelude::*;

use super::*;

fn note(object: u8, reason: &'static str) -> Note {
    Note {
        about: ObjectReference {
            name: Some(format!("object-{object}")),
            namespace: Some("n".to_owned()),
            uid: Some(object.to_string()),
            ..ObjectReference::default()
        },
        type_: EventType::Warning,
        reason,
        message: "text".to_owned(),
    }
}

fn at(second: i64) -> Timestamp {
    Timestamp::constant(second, 0)
}

fn name(write: &EventWrite) -> String {
    match write {
        EventWrite::Create(event) | EventWrite::Count(event) => event.metadata.name.clone().unwrap(),
    }
}

#[test]
fn repetitions_are_counted_and_written_once_a_minute() {
    let mut series = Aggregator::new("test", "a");
    let created = series.take(note(1, "Failed"), at(0)).unwrap();
    assert!(matches!(created, EventWrite::Create(_)));
    for second in 1..60 {
        assert_eq!(series.take(note(1, "Failed"), at(second)), None);
    }
    let Some(EventWrite::Count(event)) = series.take(note(1, "Failed"), at(60)) else {
        panic!("a minute has passed");
    };
    assert_eq!(event.count, Some(61));
    assert_eq!(event.metadata.name, Some(name(&created)));
}

#[test]
fn the_last_repetitions_are_flushed_and_old_series_end() {
    let mut series = Aggregator::new("test", "a");
    series.take(note(1, "Failed"), at(0));
    series.take(note(1, "Failed"), at(5));
    assert!(series.flush(at(30)).is_empty());
    assert_eq!(series.flush(at(61)).len(), 1);
    assert!(series.flush(at(200)).is_empty(), "nothing new to say");
    series.flush(at(4000));
    assert!(series.series.is_empty());
    assert!(matches!(
        series.take(note(1, "Failed"), at(4001)),
        Some(EventWrite::Create(_))
    ));
}

#[test]
fn names_are_valid_whatever_the_object_is_called() {
    for name in [
        "system:node:A_b",
        "-",
        "",
        &"x".repeat(253),
        &format!("{}.y", "x".repeat(199)),
    ] {
        let mut series = Aggregator::new("test", "Host_1");
        let mut note = note(1, "Failed");
        note.about.name = Some(name.to_owned());
        let Some(EventWrite::Create(event)) = series.take(note, at(1_800_000_000)) else {
            panic!("the first is created");
        };
        let name = event.metadata.name.unwrap();
        assert!(name.len() <= 253, "{name}");
        let is_label = |part: &str| {
            let inner = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
            !part.is_empty() && !part.starts_with('-') && !part.ends_with('-') && part.bytes().all(inner)
        };
        assert!(name.split('.').all(is_label), "{name}");
    }
}

#[test]
fn memory_is_bounded() {
    let mut series = Aggregator::new("test", "a");
    for number in 0..SERIES_LIMIT + 10 {
        let mut note = note(1, "Failed");
        note.about.uid = Some(number.to_string());
        series.take(note, at(i64::try_from(number).unwrap()));
    }
    assert_eq!(series.series.len(), SERIES_LIMIT);
}

proptest! {
    #[test]
    fn counts_add_up_names_are_unique_and_writes_are_rare(
        steps in proptest::collection::vec((0u8..3, any::<bool>(), 0i64..50), 1..200)
    ) {
        let mut series = Aggregator::new("test", "a");
        let (mut now, mut names) = (0, BTreeSet::new());
        let mut told: BTreeMap<String, i32> = BTreeMap::new();
        let mut last_write: BTreeMap<String, i64> = BTreeMap::new();
        let total = i32::try_from(steps.len()).unwrap();
        for (object, other_reason, pause) in steps {
            now += pause;
            let reason = if other_reason { "Failed" } else { "Waiting" };
            if let Some(write) = series.take(note(object, reason), at(now)) {
                let name = name(&write);
                match write {
                    EventWrite::Create(event) => {
                        prop_assert!(names.insert(name.clone()));
                        told.insert(name.clone(), event.count.unwrap());
                    }
                    EventWrite::Count(event) => {
                        prop_assert!(now - last_write[&name] >= 60);
                        told.insert(name.clone(), event.count.unwrap());
                    }
                }
                last_write.insert(name, now);
            }
        }
        for write in series.flush(at(now + 60)) {
            if let EventWrite::Count(event) = &write {
                told.insert(name(&write), event.count.unwrap());
            }
        }
        prop_assert_eq!(told.values().sum::<i32>(), total);
    }
}
