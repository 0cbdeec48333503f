//! CEL rules of a schema: compiled once with it, evaluated at every value that has some, within a budget. An update
//! tolerates a rule that was broken before at a value that did not change.

mod evaluate;
mod report;

use serde_json::Value;

use crate::cel::{Gives, Program, Scope, Types};
use crate::field_error::FieldError;
use crate::field_path;
use crate::node::{Additional, Arena, NodeId};

pub(crate) use evaluate::{evaluate, evaluate_part};

/// What all rules of one object may cost together.
const MAX_OBJECT_COST: i64 = 10_000_000;
/// The longest message that an expression may make.
const MAX_MESSAGE_BYTES: usize = 5 * 1024;

/// One rule.
#[derive(Debug, Default)]
pub(crate) struct Rule {
    pub(crate) text: String,
    message: String,
    message_expression: String,
    reason: Option<String>,
    field_path: String,
    pub(crate) has_optional_old: Option<bool>,
    /// Where the complaint is placed, below the value.
    place: String,
    program: Option<Program>,
    message_program: Option<Program>,
}

impl Rule {
    pub(crate) fn new(rule: &Value) -> Self {
        let text = |name: &str| rule.get(name).and_then(Value::as_str).unwrap_or_default().to_owned();
        Self {
            text: text("rule"),
            message: text("message"),
            message_expression: text("messageExpression"),
            reason: rule.get("reason").and_then(Value::as_str).map(str::to_owned),
            field_path: text("fieldPath"),
            has_optional_old: rule.get("optionalOldSelf").and_then(Value::as_bool),
            ..Self::default()
        }
    }

    fn takes_optional_old(&self) -> bool {
        self.has_optional_old.unwrap_or_default()
    }

    /// What is said about a rule that could not be evaluated.
    fn words(&self) -> &str {
        if self.message.is_empty() {
            self.text.trim()
        } else {
            self.message.trim()
        }
    }

    fn default_message(&self) -> String {
        if self.message.is_empty() {
            format!("failed rule: {}", self.words())
        } else {
            self.words().to_owned()
        }
    }
}

/// What became of one rule when it was compiled.
#[derive(Debug, Default)]
pub(crate) struct Compiled {
    pub(crate) error: Option<String>,
    pub(crate) message_error: Option<String>,
    pub(crate) max_cost: u64,
    pub(crate) message_cost: Option<u64>,
    pub(crate) uses_old: bool,
}

/// Compiles all rules of a schema; complaints name the place of the rule in the schema.
pub(crate) fn compile(arena: &mut Arena, root: NodeId) -> Vec<FieldError> {
    let mut errors = Vec::new();
    let mut types = Types::default();
    for place in places(arena, root, &mut types) {
        let compiled = compile_node(arena, place.id, &types, place.scope);
        for (index, compiled) in compiled.into_iter().enumerate() {
            let path = format!("x-kubernetes-validations[{index}]");
            let path = if place.path.is_empty() {
                path
            } else {
                format!("{}.{path}", place.path)
            };
            let complaint = |name: &str, detail: String| FieldError::invalid(format!("{path}.{name}"), "", detail);
            errors.extend(compiled.error.map(|error| complaint("rule", error)));
            errors.extend(
                compiled
                    .message_error
                    .map(|error| complaint("messageExpression", error)),
            );
        }
    }
    errors
}

/// A node with rules.
struct Place {
    id: NodeId,
    scope: Scope,
    path: String,
}

/// The nodes with rules that values can reach and expressions can see.
fn places(arena: &Arena, root: NodeId, types: &mut Types) -> Vec<Place> {
    let mut found = Vec::new();
    let mut open = vec![(root, true, String::new())];
    while let Some((id, is_resource, path)) = open.pop() {
        let node = &arena[id];
        if !node.contents.rules {
            continue;
        }
        let Some(scope) = types.scope(arena, id, is_resource) else {
            continue;
        };
        let join = |name: &str| {
            if path.is_empty() {
                name.to_owned()
            } else {
                format!("{path}.{name}")
            }
        };
        for (name, child) in &node.properties {
            open.push((
                *child,
                arena[*child].embedded,
                format!("{}[{name}]", join("properties")),
            ));
        }
        if let Additional::Schema(child) = node.additional {
            open.push((child, arena[child].embedded, join("additionalProperties")));
        }
        if let Some(child) = node.items {
            open.push((child, arena[child].embedded, join("items")));
        }
        if !node.rules.is_empty() {
            found.push(Place { id, scope, path });
        }
    }
    found
}

/// Compiles the rules of one node and keeps those that are right.
pub(crate) fn compile_node(arena: &mut Arena, id: NodeId, types: &Types, scope: Scope) -> Vec<Compiled> {
    let mut rules = std::mem::take(&mut arena[id].rules);
    let reports = rules
        .iter_mut()
        .map(|rule| compile_rule(arena, id, rule, types, scope))
        .collect();
    arena[id].rules = rules;
    reports
}

fn compile_rule(arena: &Arena, id: NodeId, rule: &mut Rule, types: &Types, scope: Scope) -> Compiled {
    let mut report = Compiled::default();
    if rule.text.trim().is_empty() {
        return report;
    }
    match Program::compile(&rule.text, types, scope, rule.takes_optional_old(), Gives::Bool) {
        Ok(program) => {
            report.max_cost = program.max_cost;
            report.uses_old = program.uses_old;
            rule.program = Some(program);
        }
        Err(error) => {
            report.error = Some(error);
            return report;
        }
    }
    if !rule.message_expression.is_empty() {
        match Program::compile(
            &rule.message_expression,
            types,
            scope,
            rule.takes_optional_old(),
            Gives::String,
        ) {
            Ok(program) => {
                report.message_cost = Some(program.max_cost);
                rule.message_program = Some(program);
            }
            Err(error) => report.message_error = Some(error),
        }
    }
    if !rule.field_path.is_empty()
        && let Ok(found) = field_path::parse(arena, id, &rule.field_path, true)
    {
        rule.place = found.path;
    }
    report
}

/// What evaluating rules may still cost.
#[derive(Debug)]
pub struct Budget {
    left: i64,
}

impl Budget {
    /// The budget of one object.
    pub const fn per_object() -> Self {
        Self { left: MAX_OBJECT_COST }
    }

    /// Less than nothing is left when evaluation was cut off.
    pub const fn left(&self) -> i64 {
        self.left
    }

    fn take(&mut self, cost: u64) -> bool {
        match i64::try_from(cost) {
            Ok(cost) if cost <= self.left => {
                self.left -= cost;
                true
            }
            _ => {
                self.left = -1;
                false
            }
        }
    }
}
