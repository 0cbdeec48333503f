//! Event, of which two groups show the same objects under different names of fields.

use jiff::Timestamp;
use serde_json::{Map, Value};

use super::event_rules::validate;
use crate::{
    cells::or,
    human::age,
    row::{NAMESPACED, Row},
    value::{at, number, text},
};

pub(super) const CORE: &[Row] = &[Row {
    type_name: "core.Event",
    fields: &[
        ("involvedObject.apiVersion", &["involvedObject.apiVersion"], ""),
        ("involvedObject.fieldPath", &["involvedObject.fieldPath"], ""),
        ("involvedObject.kind", &["involvedObject.kind"], ""),
        ("involvedObject.name", &["involvedObject.name"], ""),
        ("involvedObject.namespace", &["involvedObject.namespace"], ""),
        (
            "involvedObject.resourceVersion",
            &["involvedObject.resourceVersion"],
            "",
        ),
        ("involvedObject.uid", &["involvedObject.uid"], ""),
        ("reason", &["reason"], ""),
        ("reportingComponent", &["reportingComponent"], ""),
        ("source", &["source.component", "reportingComponent"], ""),
        ("type", &["type"], ""),
    ],
    ..EVENT
}];

pub(super) const EVENTS: &[Row] = &[Row {
    group: "events.k8s.io",
    type_name: "events.Event",
    // Selectors are matched on the form of this group; the labels are its own and those of the core group.
    fields: &[
        ("reason", &["reason"], ""),
        ("regarding.apiVersion", &["regarding.apiVersion"], ""),
        ("regarding.fieldPath", &["regarding.fieldPath"], ""),
        ("regarding.kind", &["regarding.kind"], ""),
        ("regarding.name", &["regarding.name"], ""),
        ("regarding.namespace", &["regarding.namespace"], ""),
        ("regarding.resourceVersion", &["regarding.resourceVersion"], ""),
        ("regarding.uid", &["regarding.uid"], ""),
        ("reportingController", &["reportingController"], ""),
        ("type", &["type"], ""),
    ],
    cells: |event, now| {
        let mut stored = event.clone();
        to_core(&mut stored);
        cells(&stored, now)
    },
    to_stored: to_core,
    from_stored: from_core,
    ..EVENT
}];

const EVENT: Row = Row {
    plural: "events",
    singular: "event",
    kind: "Event",
    short_names: &["ev"],
    columns: &[
        ("Last Seen", "string", 0),
        ("Type", "string", 0),
        ("Reason", "string", 0),
        ("Object", "string", 0),
        ("Subobject", "string", 1),
        ("Source", "string", 1),
        ("Message", "string", 0),
        ("First Seen", "string", 1),
        ("Count", "string", 1),
        ("Name", "string", 1),
    ],
    cells,
    collection: "events",
    storage_version: "v1",
    creates_on_update: true,
    create: |_| {},
    update: |_, _, _| {},
    validate,
    ..NAMESPACED
};

/// What a field is called in the core group, and in the other.
const NAMES: [(&str, &str); 7] = [
    ("involvedObject", "regarding"),
    ("message", "note"),
    ("source", "deprecatedSource"),
    ("firstTimestamp", "deprecatedFirstTimestamp"),
    ("lastTimestamp", "deprecatedLastTimestamp"),
    ("count", "deprecatedCount"),
    ("reportingComponent", "reportingController"),
];

fn to_core(event: &mut Value) {
    let Some(map) = event.as_object_mut() else { return };
    for (core, other) in NAMES {
        rename(map, other, core);
    }
    for (name, empty) in [("reportingComponent", ""), ("reportingInstance", "")] {
        map.entry(name).or_insert_with(|| Value::from(empty));
    }
}

fn from_core(event: &mut Value) {
    let Some(map) = event.as_object_mut() else { return };
    for (core, other) in NAMES {
        rename(map, core, other);
    }
    for name in ["reportingController", "reportingInstance"] {
        if map.get(name).is_some_and(|value| value == "") {
            map.remove(name);
        }
    }
}

fn rename(map: &mut Map<String, Value>, from: &str, to: &str) {
    if let Some(value) = map.remove(from) {
        map.insert(to.to_owned(), value);
    }
}

fn cells(event: &Value, now: Timestamp) -> Vec<Value> {
    let time = |path: &str| at(event, path).filter(|time| time.is_string());
    let first = time("firstTimestamp").or_else(|| time("eventTime"));
    let last = time("series.lastObservedTime")
        .or_else(|| time("lastTimestamp"))
        .or(first);
    let count = match (at(event, "series"), number(event, "count")) {
        (Some(series), _) => number(series, "count").unwrap_or_default(),
        (None, None | Some(0)) => 1,
        (None, Some(count)) => count,
    };
    let kind = text(event, "involvedObject.kind").to_lowercase();
    let object = match text(event, "involvedObject.name") {
        "" => kind,
        name => format!("{kind}/{name}"),
    };
    vec![
        Value::from(age(last, now)),
        Value::from(text(event, "type")),
        Value::from(text(event, "reason")),
        Value::from(object),
        Value::from(text(event, "involvedObject.fieldPath")),
        Value::from(source(event)),
        Value::from(text(event, "message").trim()),
        Value::from(age(first, now)),
        Value::from(count),
        Value::from(text(event, "metadata.name")),
    ]
}

fn source(event: &Value) -> String {
    let component = or(text(event, "source.component"), text(event, "reportingComponent"));
    match or(text(event, "source.host"), text(event, "reportingInstance")) {
        "" => component.to_owned(),
        instance => format!("{component}, {instance}"),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_two_views_are_one_event() {
        let core = json!({
            "involvedObject": { "kind": "Pod" }, "message": "m", "source": {}, "firstTimestamp": null,
            "lastTimestamp": null, "count": 2, "reportingComponent": "c", "reportingInstance": "i",
        });
        let mut event = core.clone();
        from_core(&mut event);
        assert_eq!(event["regarding"]["kind"], "Pod");
        assert_eq!(event["note"], "m");
        assert_eq!(event["deprecatedCount"], 2);
        assert_eq!(event["reportingController"], "c");
        to_core(&mut event);
        assert_eq!(event, core);
    }
}
