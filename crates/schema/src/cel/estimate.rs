//! What an expression can cost at worst, from the sizes that the schema allows (cel-go, checker/cost.go). Whether a
//! definition is accepted depends on these numbers, so they are upstream's to the last unit.

use std::collections::BTreeMap;

use super::ast::{Expr, ExprId, Fold, FoldKind, Literal};
use super::check::Checked;
use super::declared::{Declarations, DeclaredId, Shape};
use super::types::Type;

mod calls;
mod range;

pub(super) use range::{Range, scale};

/// What reading a string once costs per character.
pub(super) const TRAVERSAL: f64 = 0.1;
/// What matching costs per character of the pattern and of the text that is read.
pub(super) const REGEX: f64 = 0.25;
/// What making a list costs.
pub(super) const LIST: u64 = 10;
/// What making a map costs.
pub(super) const MAP: u64 = 30;

/// The highest cost of an expression whose `self` is declared.
pub(super) fn estimate(checked: &Checked, declarations: &Declarations, root: DeclaredId) -> u64 {
    let mut estimator = Estimator {
        checked,
        declarations,
        root,
        paths: BTreeMap::new(),
        locals: Vec::new(),
        sizes: BTreeMap::new(),
        entries: BTreeMap::new(),
    };
    estimator.cost(checked.ast.root).max
}

/// Sizes of the keys and values of a list or map.
#[derive(Clone, Copy, Debug)]
struct Entries {
    is_list: bool,
    key: Range,
    value: Range,
}

impl Entries {
    fn union(first: Option<Self>, second: Option<Self>) -> Option<Self> {
        let (first, second) = (first?, second?);
        Some(Self {
            is_list: first.is_list,
            key: first.key.union(second.key),
            value: first.value.union(second.value),
        })
    }
}

/// A variable of a comprehension.
struct Local {
    name: String,
    path: Vec<String>,
    size: Option<Range>,
    entries: Option<Entries>,
}

struct Estimator<'a> {
    checked: &'a Checked,
    declarations: &'a Declarations,
    root: DeclaredId,
    /// The way from a variable to the value, by which the schema is asked for sizes.
    paths: BTreeMap<ExprId, Vec<String>>,
    locals: Vec<Local>,
    sizes: BTreeMap<ExprId, Range>,
    entries: BTreeMap<ExprId, Entries>,
}

impl Estimator<'_> {
    fn cost(&mut self, id: ExprId) -> Range {
        match self.checked.ast.expr(id).clone() {
            Expr::Literal(_) | Expr::Message(_) => Range::fixed(0),
            Expr::Ident(name) => {
                let path = self
                    .local(&name)
                    .map_or_else(|| vec![name.clone()], |local| local.path.clone());
                self.paths.insert(id, path);
                Range::fixed(1)
            }
            Expr::Select {
                operand, is_test: true, ..
            } => self.cost(operand),
            Expr::Select { operand, field, .. } => {
                let cost = self.cost(operand);
                let mut path = self.path(operand);
                path.push(field);
                self.paths.insert(id, path);
                let is_costly = matches!(
                    self.checked.type_of(operand),
                    Type::Map(..) | Type::Object(_) | Type::Url | Type::Quantity | Type::Semver | Type::Format
                );
                cost.add(Range::fixed(u64::from(is_costly)))
            }
            Expr::Call {
                target,
                function,
                arguments,
            } => self.call(id, target, &function, &arguments),
            Expr::List(entries) => {
                let values: Vec<ExprId> = entries.iter().map(|entry| entry.value).collect();
                let (cost, size) = self.parts(&values);
                let key = Range::fixed(1);
                self.entries.insert(
                    id,
                    Entries {
                        is_list: true,
                        key,
                        value: size,
                    },
                );
                cost.add(Range::fixed(LIST))
            }
            Expr::Map(entries) => {
                let keys: Vec<ExprId> = entries.iter().map(|(key, _)| *key).collect();
                let values: Vec<ExprId> = entries.iter().map(|(_, entry)| entry.value).collect();
                let (key_cost, key) = self.parts(&keys);
                let (value_cost, value) = self.parts(&values);
                self.entries.insert(
                    id,
                    Entries {
                        is_list: false,
                        key,
                        value,
                    },
                );
                key_cost.add(value_cost).add(Range::fixed(MAP))
            }
            Expr::Fold(fold) if fold.kind == FoldKind::Bind => self.bind(id, &fold),
            Expr::Fold(fold) => self.fold(id, &fold),
        }
    }

    /// The cost of several parts and the range of their sizes.
    fn parts(&mut self, ids: &[ExprId]) -> (Range, Range) {
        let mut cost = Range::fixed(0);
        let mut size = Range {
            min: if ids.is_empty() { 0 } else { u64::MAX },
            max: 0,
        };
        for id in ids {
            cost = cost.add(self.cost(*id));
            size = size.union(self.size_or_unknown(*id));
        }
        (cost, size)
    }

    fn bind(&mut self, id: ExprId, fold: &Fold) -> Range {
        let cost = self.cost(fold.range).add(self.cost(fold.initial));
        self.push_bound(fold);
        let cost = cost.add(self.cost(fold.result));
        self.locals.pop();
        if let Some(size) = self.size(fold.result) {
            self.sizes.insert(id, size);
        }
        if let Some(entries) = self.entries_of(fold.result) {
            self.entries.insert(id, entries);
        }
        cost
    }

    fn push_bound(&mut self, fold: &Fold) {
        let local = Local {
            name: fold.accumulator.clone(),
            path: self.path(fold.initial),
            size: self.size(fold.initial),
            entries: self.entries_of(fold.initial),
        };
        self.locals.push(local);
    }

    fn fold(&mut self, id: ExprId, fold: &Fold) -> Range {
        let cost = self.cost(fold.range).add(self.cost(fold.initial));
        self.push_bound(fold);
        let variables = self.push_variables(fold);
        let loop_cost = self.cost(fold.condition);
        let step_cost = self.cost(fold.step);
        self.locals.truncate(self.locals.len() - variables);
        let cost = cost.add(self.cost(fold.result));
        self.locals.pop();
        let count = self.size_or_unknown(fold.range);
        match self.checked.ast.expr(fold.initial) {
            Expr::Literal(_) => {
                if let Some(size) = self.size(fold.initial) {
                    self.sizes.insert(id, size);
                }
            }
            Expr::List(_) | Expr::Map(_) => {
                self.sizes.insert(id, count);
                if let Some(entries) = self.entries_of(fold.step) {
                    self.entries.insert(id, entries);
                }
            }
            _ => {}
        }
        cost.add(count.multiply(step_cost.add(loop_cost)))
    }

    /// The variables that run over the range.
    fn push_variables(&mut self, fold: &Fold) -> usize {
        let entries = self.entries_of(fold.range);
        let is_list = entries.map_or_else(
            || matches!(self.checked.type_of(fold.range), Type::List(_)),
            |entries| entries.is_list,
        );
        let path = self.path(fold.range);
        let mut push = |name: &str, part: &str, size: Option<Range>| {
            let mut path = path.clone();
            path.push(part.to_owned());
            self.locals.push(Local {
                name: name.to_owned(),
                path,
                size,
                entries: None,
            });
        };
        let (key, value) = (entries.map(|entries| entries.key), entries.map(|entries| entries.value));
        match (&fold.second_variable, is_list) {
            (None, true) => push(&fold.variable, "@items", value),
            (None, false) => push(&fold.variable, "@keys", key),
            (Some(second), true) => {
                push(&fold.variable, "@indices", key);
                push(second, "@items", value);
            }
            (Some(second), false) => {
                push(&fold.variable, "@keys", key);
                push(second, "@values", value);
            }
        }
        1 + usize::from(fold.second_variable.is_some())
    }

    fn local(&self, name: &str) -> Option<&Local> {
        self.locals.iter().rev().find(|local| local.name == name)
    }

    fn path(&self, id: ExprId) -> Vec<String> {
        if let Expr::Ident(name) = self.checked.ast.expr(id)
            && let Some(local) = self.local(name)
        {
            return local.path.clone();
        }
        self.paths.get(&id).cloned().unwrap_or_default()
    }

    fn entries_of(&self, id: ExprId) -> Option<Entries> {
        if let Some(entries) = self.entries.get(&id) {
            return Some(*entries);
        }
        match self.checked.ast.expr(id) {
            Expr::Ident(name) => self.local(name)?.entries,
            _ => None,
        }
    }

    fn size_or_unknown(&mut self, id: ExprId) -> Range {
        self.size(id).unwrap_or(Range::UNKNOWN)
    }

    fn size(&mut self, id: ExprId) -> Option<Range> {
        if let Some(size) = self.sizes.get(&id) {
            return Some(*size);
        }
        if let Some(size) = literal_size(self.checked.ast.expr(id)) {
            return Some(Range::fixed(size));
        }
        if let Some(size) = self.declared_size(&self.path(id)) {
            self.sizes.insert(id, size);
            return Some(size);
        }
        if is_scalar(self.checked.type_of(id)) {
            return Some(Range::fixed(1));
        }
        match self.checked.ast.expr(id) {
            Expr::Ident(name) => self.local(name)?.size,
            _ => None,
        }
    }

    /// What the schema says about the value at the end of a path from a variable.
    fn declared_size(&self, path: &[String]) -> Option<Range> {
        let (_, rest) = path.split_first()?;
        let mut current = self.root;
        for part in rest {
            current = match (&self.declarations.get(current).shape, part.as_str()) {
                (Shape::List(item), "@items" | "@values") => *item,
                (Shape::Map(value), "@items" | "@values") => *value,
                // Keys are strings without a limit of their own.
                (Shape::Map(_), "@keys") => return (rest.last() == Some(part)).then_some(Range { min: 0, max: 0 }),
                (Shape::Object(fields), name) => *fields.get(name)?,
                _ => return None,
            };
        }
        let max = self.declarations.get(current).max_elements;
        Some(Range { min: 0, max })
    }
}

fn literal_size(expr: &Expr) -> Option<u64> {
    let size = match expr {
        Expr::Literal(Literal::String(text)) => text.chars().count(),
        Expr::Literal(Literal::Bytes(bytes)) => bytes.len(),
        Expr::Literal(_) => 1,
        Expr::List(entries) => entries.len(),
        Expr::Map(entries) => entries.len(),
        _ => return None,
    };
    u64::try_from(size).ok()
}

fn is_scalar(kind: &Type) -> bool {
    match kind {
        Type::Bool | Type::Double | Type::Duration | Type::Int | Type::Timestamp | Type::Uint => true,
        Type::Optional(inner) => is_scalar(inner),
        _ => false,
    }
}
