use serde_json::json;

use super::*;
use crate::samples;

fn style(include: IncludeObject) -> TableStyle {
    TableStyle {
        version: MetaVersion::V1,
        include,
        now: "2026-01-01T00:00:10Z".parse().unwrap(),
    }
}

fn object() -> Value {
    json!({
        "apiVersion": "x.test/v1",
        "kind": "Foo",
        "metadata": {"name": "a", "resourceVersion": "7", "creationTimestamp": "2026-01-01T00:00:00Z"},
        "spec": {"text": "t"},
    })
}

#[test]
fn a_list_becomes_rows_with_metadata() {
    let meta = ListMeta {
        resource_version: "9",
        continue_token: "next",
        remaining_item_count: Some(1),
    };
    let table = list_table(&samples::foo(), [&object()], meta, style(IncludeObject::Metadata));
    assert_eq!(
        table,
        json!({
            "kind": "Table",
            "apiVersion": "meta.k8s.io/v1",
            "metadata": {"resourceVersion": "9", "continue": "next", "remainingItemCount": 1},
            "columnDefinitions": [
                {"name": "Name", "type": "string", "format": "name", "description": "The Name.", "priority": 0},
                {"name": "Age", "type": "date", "format": "", "description": "The Age.", "priority": 0},
            ],
            "rows": [{
                "cells": ["a", "10s"],
                "object": {
                    "kind": "PartialObjectMetadata",
                    "apiVersion": "meta.k8s.io/v1",
                    "metadata": object()["metadata"],
                },
            }],
        })
    );
}

#[test]
fn rows_carry_what_is_asked_for() {
    let row = |include| object_table(&samples::foo(), &object(), style(include))["rows"][0]["object"].clone();
    assert_eq!(row(IncludeObject::Object), object());
    assert_eq!(row(IncludeObject::None), Value::Null);
    assert_eq!(row(IncludeObject::Metadata)["metadata"], object()["metadata"]);
    assert_eq!(IncludeObject::parse("a=b&includeObject=None"), Ok(IncludeObject::None));
    assert_eq!(IncludeObject::parse("includeObject="), Ok(IncludeObject::Metadata));
    assert_eq!(IncludeObject::parse("includeObject=Object"), Ok(IncludeObject::Object));
    assert_eq!(
        IncludeObject::parse("includeObject=x").unwrap_err().message,
        "Unable to convert to Table as requested: includeObject: Invalid value: \"x\": must be 'Metadata', 'Object', \
         'None', or empty"
    );
}

#[test]
fn only_the_first_event_has_columns() {
    let table = |is_first| event_table(&samples::foo(), &object(), is_first, style(IncludeObject::Metadata));
    assert!(table(true)["columnDefinitions"].is_array());
    assert_eq!(table(false)["columnDefinitions"], Value::Null);
    assert_eq!(table(false)["metadata"], json!({"resourceVersion": "7"}));
}

#[test]
fn a_bookmark_is_a_row_without_cells() {
    let bookmark = json!({
        "kind": "Foo",
        "metadata": {"resourceVersion": "9", "annotations": {"k8s.io/initial-events-end": "true"}},
    });
    let table = bookmark_table(&samples::foo(), &bookmark, false, style(IncludeObject::None));
    assert_eq!(table["metadata"], json!({"resourceVersion": "9"}));
    assert_eq!(
        table["rows"],
        json!([{
            "cells": ["", null],
            "object": {
                "kind": "PartialObjectMetadata",
                "apiVersion": "meta.k8s.io/v1",
                "metadata": bookmark["metadata"],
            },
        }])
    );
}

#[test]
fn lists_are_reduced_to_metadata() {
    let meta = ListMeta {
        resource_version: "9",
        ..ListMeta::default()
    };
    let list = partial_object_metadata_list([&object()], meta, MetaVersion::V1Beta1);
    assert_eq!(list["apiVersion"], "meta.k8s.io/v1beta1");
    assert_eq!(list["metadata"], json!({"resourceVersion": "9"}));
    assert_eq!(list["items"][0]["kind"], "PartialObjectMetadata");
    assert_eq!(list["items"][0]["metadata"]["name"], "a");
    assert!(list["items"][0].get("spec").is_none());
    assert_eq!(list_is_no_object("FooList").code, 406);
    assert_eq!(object_is_no_list("Foo").code, 406);
}
