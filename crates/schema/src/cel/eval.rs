//! Runs a plan. Each step is charged before its result is used, so that no expression runs longer than its limit allows.

use std::collections::BTreeMap;
use std::rc::Rc;

use regex::Regex;

use super::ast::Literal;
use super::estimate::{LIST, MAP, REGEX, TRAVERSAL, scale};
use super::library::Native;
use super::library::cost::Cost;
use super::plan::{Field, FoldPlan, FoldStep, PatternKind, Plan};
use super::value::{Failure, Items, Key, Outcome, Text, Value};

/// What an expression sees, and what it has cost.
pub(super) struct Run<'a> {
    current: Value<'a>,
    old: Option<Value<'a>>,
    locals: Vec<Value<'a>>,
    pub(super) cost: u64,
    limit: u64,
}

impl<'a> Run<'a> {
    pub(super) fn new(current: Value<'a>, old: Option<Value<'a>>, limit: u64) -> Self {
        Self {
            current,
            old,
            locals: Vec::new(),
            cost: 0,
            limit,
        }
    }

    fn charge(&mut self, cost: u64) -> Outcome<()> {
        self.cost = self.cost.saturating_add(cost);
        if self.cost > self.limit {
            Err(Failure::TooCostly)
        } else {
            Ok(())
        }
    }

    /// The value of a plan.
    pub(super) fn eval(&mut self, plan: &'a Plan) -> Outcome<Value<'a>> {
        match plan {
            Plan::Constant(literal) => Ok(constant(literal)),
            Plan::Current => self.charge(1).map(|()| self.current.clone()),
            Plan::Old => {
                self.charge(1)?;
                self.old
                    .clone()
                    .ok_or_else(|| Failure::new("no such attribute(s): oldSelf"))
            }
            Plan::Local(place) => self.charge(1).map(|()| self.locals[*place].clone()),
            Plan::TypeName(name) => Ok(Value::Type(name)),
            Plan::Select(operand, field) => self.select(operand, field),
            Plan::Has(operand, field) => {
                let operand = self.eval(operand)?;
                has(&operand, field).map(Value::Bool)
            }
            Plan::OptionalSelect(operand, field) => {
                let operand = self.eval(operand)?;
                self.charge(1)?;
                optional_select(&operand, field)
            }
            Plan::And(parts) => self.logical(parts, false),
            Plan::Or(parts) => self.logical(parts, true),
            Plan::If(parts) => match self.eval(&parts[0])? {
                Value::Bool(true) => self.eval(&parts[1]),
                Value::Bool(false) => self.eval(&parts[2]),
                _ => Err(Failure::no_overload()),
            },
            Plan::List(entries) => self.list(entries),
            Plan::Map(entries) => self.map(entries),
            Plan::Fold(fold) => self.fold(fold),
            Plan::Bind(parts) => {
                let value = self.eval(&parts[0])?;
                self.locals.push(value);
                let result = self.eval(&parts[1]);
                self.locals.pop();
                result
            }
            Plan::Pattern(text, kind, regex, length) => self.pattern(text, *kind, regex, *length),
            Plan::Fallback(parts, unwraps) => match self.eval(&parts[0])? {
                Value::Optional(Some(value)) if *unwraps => Ok((*value).clone()),
                Value::Optional(None) => self.eval(&parts[1]),
                other => Ok(other),
            },
            Plan::Call(native, cost, arguments) => self.call(*native, *cost, arguments),
        }
    }

    fn call(&mut self, native: Native, cost: Cost, arguments: &'a [Plan]) -> Outcome<Value<'a>> {
        let mut values = Vec::with_capacity(arguments.len());
        for argument in arguments {
            values.push(self.eval(argument)?);
        }
        if cost.is_known_before() {
            self.charge(cost.of_call(&values, &Value::Null))?;
            return native(&values);
        }
        let result = native(&values)?;
        self.charge(cost.of_call(&values, &result))?;
        Ok(result)
    }

    /// A constant pattern against a text.
    fn pattern(&mut self, text: &'a Plan, kind: PatternKind, regex: &Regex, length: u64) -> Outcome<Value<'a>> {
        let text = self.eval(text)?;
        let cost = scale(text.size().saturating_add(1), TRAVERSAL).saturating_mul(scale(length, REGEX));
        self.charge(cost)?;
        let Value::String(text) = text else {
            return Err(Failure::no_overload());
        };
        Ok(match kind {
            PatternKind::Matches => Value::Bool(regex.is_match(&text)),
            PatternKind::Find => Value::text(regex.find(&text).map_or("", |found| found.as_str())),
            PatternKind::FindAll => {
                let found = regex.find_iter(&text).map(|found| Value::text(found.as_str()));
                Value::list(found.collect())
            }
        })
    }

    fn select(&mut self, operand: &'a Plan, field: &Field) -> Outcome<Value<'a>> {
        let operand = self.eval(operand)?;
        self.charge(1)?;
        if let Value::Optional(inner) = &operand {
            return match inner {
                Some(inner) => optional_select(inner, field),
                None => Ok(Value::Optional(None)),
            };
        }
        find(&operand, field)?.ok_or_else(|| Failure::new(format!("no such key: {}", field.written)))
    }

    /// One side can decide; a mistake counts only when neither does.
    fn logical(&mut self, parts: &'a [Plan; 2], deciding: bool) -> Outcome<Value<'a>> {
        let left = self.eval(&parts[0]);
        match left {
            Ok(Value::Bool(flag)) if flag == deciding => return Ok(Value::Bool(deciding)),
            Err(Failure::TooCostly) => return left,
            _ => {}
        }
        let right = self.eval(&parts[1]);
        match (left, right) {
            (_, Ok(Value::Bool(flag))) if flag == deciding => Ok(Value::Bool(deciding)),
            (_, Err(Failure::TooCostly)) => Err(Failure::TooCostly),
            (Err(failure), _) | (_, Err(failure)) => Err(failure),
            (Ok(Value::Bool(_)), Ok(Value::Bool(_))) => Ok(Value::Bool(!deciding)),
            _ => Err(Failure::no_overload()),
        }
    }

    fn list(&mut self, entries: &'a [(Plan, bool)]) -> Outcome<Value<'a>> {
        let mut items = Vec::with_capacity(entries.len());
        for (plan, is_optional) in entries {
            match (self.eval(plan)?, is_optional) {
                (Value::Optional(inner), true) => items.extend(inner.map(|inner| (*inner).clone())),
                (value, _) => items.push(value),
            }
        }
        self.charge(LIST)?;
        Ok(Value::list(items))
    }

    fn map(&mut self, entries: &'a [(Plan, Plan, bool)]) -> Outcome<Value<'a>> {
        let mut map = BTreeMap::new();
        for (key, plan, is_optional) in entries {
            let key = self.eval(key)?;
            let value = match (self.eval(plan)?, is_optional) {
                (Value::Optional(None), true) => continue,
                (Value::Optional(Some(inner)), true) => (*inner).clone(),
                (value, _) => value,
            };
            // The last of several equal keys counts.
            let place = place_of(&key)?;
            map.insert(place, (key, value));
        }
        self.charge(MAP)?;
        Ok(Value::Map(Rc::new(map)))
    }

    fn fold(&mut self, fold: &'a FoldPlan) -> Outcome<Value<'a>> {
        let range = self.eval(&fold.range)?;
        let depth = self.locals.len();
        let result = self.fold_over(fold, &range);
        self.locals.truncate(depth);
        result
    }

    fn fold_over(&mut self, fold: &'a FoldPlan, range: &Value<'a>) -> Outcome<Value<'a>> {
        let mut steps = Steps::new(range, fold.has_two)?;
        match &fold.kind {
            FoldStep::All(predicate) => self.quantify(&mut steps, predicate, false, 3),
            FoldStep::Exists(predicate) => self.quantify(&mut steps, predicate, true, 4),
            FoldStep::ExistsOne(predicate) => {
                let mut count = 0;
                while self.advance(&mut steps)? {
                    count += u64::from(self.predicate(predicate)?);
                    self.charge(2)?;
                }
                Ok(Value::Bool(count == 1))
            }
            FoldStep::Append(filter, value) => {
                let mut items = Vec::new();
                while self.advance(&mut steps)? {
                    if self.passes(filter.as_ref())? {
                        items.push(self.eval(value)?);
                        self.charge(LIST + 2)?;
                    }
                }
                Ok(Value::list(items))
            }
            FoldStep::Insert(filter, value) => {
                let mut map = BTreeMap::new();
                let place = self.locals.len();
                while self.advance(&mut steps)? {
                    if self.passes(filter.as_ref())? {
                        let value = self.eval(value)?;
                        self.charge(3)?;
                        insert(&mut map, self.locals[place].clone(), value)?;
                    }
                }
                Ok(Value::Map(Rc::new(map)))
            }
            FoldStep::Merge(filter, value) => {
                let mut map = BTreeMap::new();
                while self.advance(&mut steps)? {
                    if self.passes(filter.as_ref())? {
                        let Value::Map(entries) = self.eval(value)? else {
                            return Err(Failure::no_overload());
                        };
                        self.charge(2)?;
                        for (key, value) in entries.values() {
                            insert(&mut map, key.clone(), value.clone())?;
                        }
                    }
                }
                Ok(Value::Map(Rc::new(map)))
            }
        }
    }

    /// Binds the variables to the next entry; false at the end.
    fn advance(&mut self, steps: &mut Steps<'_, 'a>) -> Outcome<bool> {
        let Some((first, second)) = steps.next().transpose()? else {
            return Ok(false);
        };
        if steps.is_bound {
            let count = 1 + usize::from(second.is_some());
            self.locals.truncate(self.locals.len() - count);
        }
        steps.is_bound = true;
        self.locals.push(first);
        self.locals.extend(second);
        Ok(true)
    }

    /// `all` and `exists`: one entry can decide; a mistake counts only when none does.
    fn quantify(
        &mut self,
        steps: &mut Steps<'_, 'a>,
        predicate: &'a Plan,
        deciding: bool,
        cost: u64,
    ) -> Outcome<Value<'a>> {
        let mut mistake = None;
        loop {
            match self.advance(steps) {
                Ok(true) => {}
                Ok(false) => break,
                Err(failure) => return Err(failure),
            }
            self.charge(cost)?;
            match self.eval(predicate) {
                Ok(Value::Bool(flag)) if flag == deciding => return Ok(Value::Bool(deciding)),
                Ok(Value::Bool(_)) => {}
                Ok(_) => mistake = Some(Failure::no_overload()),
                Err(Failure::TooCostly) => return Err(Failure::TooCostly),
                Err(failure) => mistake = Some(failure),
            }
        }
        mistake.map_or(Ok(Value::Bool(!deciding)), Err)
    }

    fn predicate(&mut self, predicate: &'a Plan) -> Outcome<bool> {
        match self.eval(predicate)? {
            Value::Bool(flag) => Ok(flag),
            _ => Err(Failure::no_overload()),
        }
    }

    fn passes(&mut self, filter: Option<&'a Plan>) -> Outcome<bool> {
        filter.map_or(Ok(true), |filter| self.predicate(filter))
    }
}

/// The entries that a comprehension runs over.
struct Steps<'v, 'a> {
    source: Source<'v, 'a>,
    has_two: bool,
    index: i64,
    /// Whether variables are on the stack.
    is_bound: bool,
}

enum Source<'v, 'a> {
    Items(Items<'v, 'a>),
    Keys(std::vec::IntoIter<Value<'a>>, Value<'a>),
}

impl<'v, 'a> Steps<'v, 'a> {
    fn new(range: &'v Value<'a>, has_two: bool) -> Outcome<Self> {
        let source = match range {
            Value::Fields(fields) => {
                let keys: Vec<Value<'a>> = fields.keys().map(Value::String).collect();
                Source::Keys(keys.into_iter(), range.clone())
            }
            Value::Map(entries) => {
                let keys: Vec<Value<'a>> = entries.values().map(|(key, _)| key.clone()).collect();
                Source::Keys(keys.into_iter(), range.clone())
            }
            other => Source::Items(other.items().ok_or_else(Failure::no_overload)?),
        };
        Ok(Self {
            source,
            has_two,
            index: 0,
            is_bound: false,
        })
    }
}

impl<'a> Iterator for Steps<'_, 'a> {
    type Item = Outcome<(Value<'a>, Option<Value<'a>>)>;

    fn next(&mut self) -> Option<Self::Item> {
        match &mut self.source {
            Source::Items(items) => {
                let item = items.next()?;
                let index = self.index;
                self.index += 1;
                Some(item.map(|item| {
                    if self.has_two {
                        (Value::Int(index), Some(item))
                    } else {
                        (item, None)
                    }
                }))
            }
            Source::Keys(keys, map) => {
                let key = keys.next()?;
                if !self.has_two {
                    return Some(Ok((key, None)));
                }
                Some(map.find(&key).map(|value| (key, Some(value.unwrap_or(Value::Null)))))
            }
        }
    }
}

/// A constant of the text as a value.
pub(super) fn constant(literal: &Literal) -> Value<'_> {
    match literal {
        Literal::Null => Value::Null,
        Literal::Bool(flag) => Value::Bool(*flag),
        Literal::Int(number) => Value::Int(*number),
        Literal::Uint(number) => Value::Uint(*number),
        Literal::Double(number) => Value::Double(*number),
        Literal::String(text) => Value::String(Text::Borrowed(text)),
        Literal::Bytes(bytes) => Value::Bytes(bytes.as_slice().into()),
    }
}

fn place_of(key: &Value<'_>) -> Outcome<Key> {
    key.key()
        .ok_or_else(|| Failure::new(format!("unsupported key type: {}", key.type_name())))
}

fn insert<'a>(map: &mut BTreeMap<Key, (Value<'a>, Value<'a>)>, key: Value<'a>, value: Value<'a>) -> Outcome<()> {
    let place = place_of(&key)?;
    if map.contains_key(&place) {
        return Err(Failure::new("insert failed: key already exists"));
    }
    map.insert(place, (key, value));
    Ok(())
}

/// The value of a field; objects are asked by the name that was made ready.
fn find<'a>(operand: &Value<'a>, field: &Field) -> Outcome<Option<Value<'a>>> {
    match operand {
        Value::Fields(fields) if fields.is_object() => match &field.name {
            Some(name) => fields.field(name).transpose(),
            None => Ok(None),
        },
        Value::Fields(fields) => fields.find(&field.written).transpose(),
        Value::Map(entries) => {
            let found = entries.get(&Key::String(field.written.as_str().into()));
            Ok(found.map(|(_, value)| value.clone()))
        }
        _ => Err(Failure::new(format!("no such key: {}", field.written))),
    }
}

fn has(operand: &Value<'_>, field: &Field) -> Outcome<bool> {
    match operand {
        Value::Optional(Some(inner)) => has(inner, field),
        Value::Optional(None) => Ok(false),
        other => find(other, field).map(|found| found.is_some()),
    }
}

fn optional_select<'a>(operand: &Value<'a>, field: &Field) -> Outcome<Value<'a>> {
    match operand {
        Value::Optional(Some(inner)) => optional_select(inner, field),
        Value::Optional(None) => Ok(Value::Optional(None)),
        other => find(other, field).map(Value::optional),
    }
}
