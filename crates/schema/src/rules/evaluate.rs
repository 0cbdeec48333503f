//! Walks over an object and evaluates the rules that stand on the way, within a budget.

use serde_json::Value;

use super::report::Complaint;
use super::{Budget, MAX_MESSAGE_BYTES, Rule};
use crate::cel::{self, Answer, Input, Program};
use crate::correlate::{self, OldEntries};
use crate::field_error::{BadValue, FieldError, FieldErrorKind};
use crate::node::{Additional, Arena, Node, NodeId, Type};
use crate::path::Path;

/// What the rules of an object found.
#[derive(Debug, Default)]
pub(crate) struct Findings {
    /// Complaints.
    pub errors: Vec<FieldError>,
    /// Complaints about what was broken before and did not change: clients are told, and their writes go through.
    pub tolerated: Vec<FieldError>,
}

/// What all rules at and below the root of an object find.
pub(crate) fn evaluate(
    arena: &Arena,
    root: NodeId,
    value: &Value,
    old: Option<&Value>,
    budget: &mut Budget,
) -> Findings {
    let ratchet = Ratchet {
        current: old.map(|old| (root, value, old)),
        nearest: None,
    };
    evaluate_at(
        arena,
        root,
        Subject {
            value,
            old,
            is_resource: true,
        },
        ratchet,
        "",
        budget,
    )
}

/// Complaints of all rules at and below a part of an object that stands at `base`.
pub(crate) fn evaluate_part(
    arena: &Arena,
    id: NodeId,
    value: &Value,
    old: Option<&Value>,
    is_resource: bool,
    base: &str,
    budget: &mut Budget,
) -> Vec<FieldError> {
    evaluate_at(
        arena,
        id,
        Subject {
            value,
            old,
            is_resource,
        },
        Ratchet::default(),
        base,
        budget,
    )
    .errors
}

fn evaluate_at<'a>(
    arena: &'a Arena,
    id: NodeId,
    subject: Subject<'a>,
    ratchet: Ratchet<'a>,
    base: &str,
    budget: &mut Budget,
) -> Findings {
    let mut walk = Walk {
        arena,
        budget,
        findings: Findings::default(),
    };
    walk.value(id, subject, ratchet, &Path::Root(base));
    walk.findings
}

/// A value and what it was.
#[derive(Clone, Copy)]
struct Subject<'a> {
    value: &'a Value,
    old: Option<&'a Value>,
    is_resource: bool,
}

/// What decides whether a broken rule is tolerated: the value if it can be matched with an old one, or else the nearest
/// value around it that can.
#[derive(Clone, Copy, Default)]
struct Ratchet<'a> {
    current: Option<(NodeId, &'a Value, &'a Value)>,
    nearest: Option<(NodeId, &'a Value, &'a Value)>,
}

impl<'a> Ratchet<'a> {
    fn tolerates(&self, arena: &Arena) -> bool {
        let decides = self.current.or(self.nearest);
        decides.is_some_and(|(id, value, old)| correlate::is_equal(arena, id, value, old))
    }

    fn field(&self, arena: &Arena, name: &str) -> Self {
        let Some((id, value, old)) = self.current else {
            return *self;
        };
        // The version of an object is converted before it is compared, so its change cannot be seen.
        if self.nearest.is_none() && matches!(name, "apiVersion" | "kind") {
            return Self::default();
        }
        let child = arena[id].field(name);
        let current = match (child, value.get(name), old.get(name)) {
            (Some(child), Some(value), Some(old)) => Some((child, value, old)),
            _ => None,
        };
        Self {
            current,
            nearest: self.current,
        }
    }

    fn entry(&self, items: NodeId, value: &'a Value, old: Option<&'a Value>) -> Self {
        if self.current.is_none() {
            return *self;
        }
        let current = old.filter(|old| !old.is_null()).map(|old| (items, value, old));
        Self {
            current,
            nearest: self.current,
        }
    }
}

struct Walk<'a, 'b> {
    arena: &'a Arena,
    budget: &'b mut Budget,
    findings: Findings,
}

impl<'a> Walk<'a, '_> {
    /// False when nothing more may be evaluated.
    fn value(&mut self, id: NodeId, subject: Subject<'a>, ratchet: Ratchet<'a>, path: &Path<'_>) -> bool {
        let node = &self.arena[id];
        if !node.contents.rules || subject.value.is_null() {
            return true;
        }
        if !node.rules.is_empty() && !self.rules(id, subject, ratchet, path) {
            return false;
        }
        match subject.value {
            Value::Object(_) => self.object(node, subject, ratchet, path),
            Value::Array(entries) => self.array(node, entries, subject, ratchet, path),
            _ => true,
        }
    }

    fn object(&mut self, node: &'a Node, subject: Subject<'a>, ratchet: Ratchet<'a>, path: &Path<'_>) -> bool {
        let Value::Object(fields) = subject.value else {
            return true;
        };
        fields.iter().all(|(name, value)| {
            let (child, path) = match (node.properties.get(name), node.additional) {
                (Some(child), _) => (*child, Path::Field(path, name)),
                (None, Additional::Schema(child)) => (child, Path::Key(path, name)),
                _ => return true,
            };
            if !self.arena[child].contents.rules {
                return true;
            }
            let subject = Subject {
                value,
                old: subject.old.and_then(|old| old.get(name)),
                is_resource: self.arena[child].embedded,
            };
            self.value(child, subject, ratchet.field(self.arena, name), &path)
        })
    }

    fn array(
        &mut self,
        node: &'a Node,
        entries: &'a [Value],
        subject: Subject<'a>,
        ratchet: Ratchet<'a>,
        path: &Path<'_>,
    ) -> bool {
        let Some(items) = node.items.filter(|items| self.arena[*items].contents.rules) else {
            return true;
        };
        let old_entries = OldEntries::new(node, subject.old);
        let ratcheted = OldEntries::new(node, ratchet.current.map(|(_, _, old)| old));
        entries.iter().enumerate().all(|(index, value)| {
            let subject = Subject {
                value,
                old: old_entries.get(value),
                is_resource: self.arena[items].embedded,
            };
            let ratchet = ratchet.entry(items, value, ratcheted.get(value));
            self.value(items, subject, ratchet, &Path::Index(path, index))
        })
    }

    fn rules(&mut self, id: NodeId, subject: Subject<'a>, ratchet: Ratchet<'a>, path: &Path<'_>) -> bool {
        let arena = self.arena;
        let node = &arena[id];
        let complaint = Complaint {
            kind: type_name(node),
            path,
        };
        if self.budget.left <= 0 {
            self.budget.left = -1;
            self.findings.errors.push(complaint.out_of_budget());
            return false;
        }
        let old = subject.old.filter(|old| !old.is_null());
        for rule in &node.rules {
            let Some(program) = &rule.program else { continue };
            if program.uses_old && old.is_none() && !rule.takes_optional_old() {
                continue;
            }
            let input = Input {
                arena,
                id,
                is_resource: subject.is_resource,
                current: subject.value,
                old: old.filter(|_| program.uses_old),
                has_optional_old: rule.takes_optional_old(),
            };
            let (answer, cost) = cel::evaluate(program, input);
            if !self.budget.take(cost) {
                self.findings.errors.push(complaint.out_of_budget());
                return false;
            }
            let holds = match answer {
                Answer::Bool(holds) => holds,
                Answer::TooCostly => {
                    self.findings.errors.push(complaint.too_costly(rule.words()));
                    self.budget.left = -1;
                    return false;
                }
                Answer::Error(error) => {
                    self.findings.errors.push(complaint.failed(&error, rule.words()));
                    continue;
                }
                Answer::String(_) => false,
            };
            if !holds
                && !self.broken(
                    rule,
                    program,
                    Input {
                        old,
                        has_optional_old: false,
                        ..input
                    },
                    ratchet,
                    &complaint,
                )
            {
                return false;
            }
        }
        true
    }

    /// Complains about a broken rule.
    fn broken(
        &mut self,
        rule: &Rule,
        program: &Program,
        input: Input<'_>,
        ratchet: Ratchet<'a>,
        complaint: &Complaint<'_>,
    ) -> bool {
        let place = if rule.place.is_empty() {
            complaint.path.text()
        } else {
            Path::Field(complaint.path, &rule.place).text()
        };
        let (detail, goes_on) = match self.message(rule, input) {
            Ok(message) => (message.unwrap_or_else(|| rule.default_message()), true),
            Err(detail) => (detail, false),
        };
        let value = match (goes_on, self.arena[input.id].kind) {
            (false, kind) => BadValue::from(kind.name()),
            (true, Type::Object | Type::Array) => BadValue::Omitted,
            (true, _) => BadValue::from(input.current.clone()),
        };
        let kind = if goes_on {
            kind_of(rule)
        } else {
            FieldErrorKind::Invalid
        };
        let detail = if kind == FieldErrorKind::Duplicate {
            String::new()
        } else {
            detail
        };
        let error = FieldError::new(kind, place, value, detail);
        if !program.uses_old && ratchet.tolerates(self.arena) {
            self.findings.tolerated.push(error);
        } else {
            self.findings.errors.push(error);
        }
        goes_on
    }

    /// The message of a broken rule, if an expression makes one; an error when the budget is gone.
    fn message(&mut self, rule: &Rule, input: Input<'_>) -> Result<Option<String>, String> {
        let Some(program) = &rule.message_program else {
            return Ok(None);
        };
        let (answer, cost) = cel::evaluate(program, input);
        if !self.budget.take(cost) {
            return Err("messageExpression evaluation failed due to running out of cost budget, no further validation rules will be run".to_owned());
        }
        match answer {
            Answer::String(text) => Ok(usable(text.trim())),
            Answer::TooCostly => {
                self.budget.left = -1;
                let expression = crate::go_text::quote(&rule.message_expression);
                Err(format!(
                    "no further validation rules will be run due to call cost exceeds limit for messageExpression: {expression}"
                ))
            }
            Answer::Bool(_) | Answer::Error(_) => Ok(None),
        }
    }
}

/// A message must be one line that is neither empty nor huge; otherwise the default is used.
fn usable(text: &str) -> Option<String> {
    let is_usable = !text.is_empty() && text.len() <= MAX_MESSAGE_BYTES && !text.contains('\n');
    is_usable.then(|| text.to_owned())
}

fn kind_of(rule: &Rule) -> FieldErrorKind {
    match rule.reason.as_deref() {
        Some("FieldValueForbidden") => FieldErrorKind::Forbidden,
        Some("FieldValueRequired") => FieldErrorKind::Required,
        Some("FieldValueDuplicate") => FieldErrorKind::Duplicate,
        _ => FieldErrorKind::Invalid,
    }
}

/// The type as the schema writes it, which has none for an int-or-string.
fn type_name(node: &Node) -> &'static str {
    match node.kind {
        Type::IntegerOrString => "",
        kind => kind.name(),
    }
}
