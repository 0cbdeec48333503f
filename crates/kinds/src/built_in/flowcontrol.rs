//! FlowSchema and PriorityLevelConfiguration, which are stored and shown, and steer nothing.

use jiff::Timestamp;
use serde_json::Value;

use crate::{
    cells::{NONE, count, name, object_age, or},
    row::{AGE, CLUSTER, Generation, NAME, Row, STATUS},
    value::{at, list, text},
};

pub(super) const ROWS: &[Row] = &[
    Row {
        plural: "flowschemas",
        singular: "flowschema",
        kind: "FlowSchema",
        type_name: "flowcontrol.FlowSchema",
        columns: &[
            NAME,
            ("PriorityLevel", "string", 0),
            ("MatchingPrecedence", "string", 0),
            ("DistinguisherMethod", "string", 0),
            AGE,
            ("MissingPL", "string", 0),
        ],
        cells: schema_cells,
        ..FLOW_CONTROL
    },
    Row {
        plural: "prioritylevelconfigurations",
        singular: "prioritylevelconfiguration",
        kind: "PriorityLevelConfiguration",
        type_name: "flowcontrol.PriorityLevelConfiguration",
        columns: &[
            NAME,
            ("Type", "string", 0),
            ("NominalConcurrencyShares", "string", 0),
            ("Queues", "string", 0),
            ("HandSize", "string", 0),
            ("QueueLengthLimit", "string", 0),
            AGE,
        ],
        cells: level_cells,
        ..FLOW_CONTROL
    },
];

const FLOW_CONTROL: Row = Row {
    group: "flowcontrol.apiserver.k8s.io",
    subresources: &[STATUS],
    generation: Generation::Specification,
    ..CLUSTER
};

fn schema_cells(schema: &Value, now: Timestamp) -> Vec<Value> {
    let dangling = list(schema, "status.conditions")
        .iter()
        .find(|condition| text(condition, "type") == "Dangling");
    vec![
        name(schema),
        Value::from(text(schema, "spec.priorityLevelConfiguration.name")),
        count(schema, "spec.matchingPrecedence"),
        Value::from(or(text(schema, "spec.distinguisherMethod.type"), NONE)),
        object_age(schema, now),
        Value::from(dangling.map_or("?", |condition| text(condition, "status"))),
    ]
}

fn level_cells(level: &Value, now: Timestamp) -> Vec<Value> {
    let number = |path: &str| at(level, path).cloned().unwrap_or_else(|| Value::from(NONE));
    let queuing = at(level, "spec.limited.limitResponse.queuing");
    let queue = |field: &str| queuing.map_or_else(|| Value::from(NONE), |queuing| count(queuing, field));
    vec![
        name(level),
        Value::from(text(level, "spec.type")),
        number("spec.limited.nominalConcurrencyShares"),
        queue("queues"),
        queue("handSize"),
        queue("queueLengthLimit"),
        object_age(level, now),
    ]
}
