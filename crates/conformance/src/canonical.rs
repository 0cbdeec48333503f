//! Answers with what `ignored.yaml` names replaced, so that those of two servers can be compared. It knows the table and
//! the form of answers, no server.
//!
//! Replacements keep what can be kept: a uid is replaced by the order of its first appearance in a case, a resource
//! version by its rank among those of the case, so that equality and order are still compared.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::Path,
};

use regex::{Captures, Regex};
use serde_json::Value;
use thiserror::Error;

use crate::{
    answer::{Answer, Content},
    ignored::{Field, Ignored, Keep, Order},
    pattern,
    table::{self, read_yaml},
};

/// Why the table is unusable.
#[derive(Debug, Error)]
pub enum Error {
    /// The file cannot be read.
    #[error(transparent)]
    Table(#[from] table::Error),
    /// A text is no regular expression.
    #[error("a text of ignored.yaml is no regular expression")]
    Expression(#[from] regex::Error),
}

/// The table, ready for use.
pub struct Canonical {
    ignored: Ignored,
    expressions: Vec<(Regex, Option<String>)>,
    time: Regex,
}

impl Canonical {
    /// Reads the table.
    pub fn read(path: &Path) -> Result<Self, Error> {
        Self::new(read_yaml(path)?)
    }

    /// Prepares a table.
    pub fn new(ignored: Ignored) -> Result<Self, Error> {
        let expressions = ignored
            .texts
            .iter()
            .map(|entry| {
                let source = if entry.text == "uid" { pattern::UID } else { &entry.text };
                Ok((Regex::new(source)?, entry.replacement.clone()))
            })
            .collect::<Result<_, regex::Error>>()?;
        let time = Regex::new(&format!("^{}$", pattern::TIME))?;
        Ok(Self {
            ignored,
            expressions,
            time,
        })
    }

    /// The content with the lists in order whose order does not count.
    pub fn in_order(&self, mut content: Content) -> Content {
        match &mut content {
            Content::Json(value) => self.sort(value, &mut Vec::new()),
            Content::Events(events) | Content::LastEvents(events) => {
                for event in events {
                    self.sort(event, &mut Vec::new());
                }
            }
            Content::Empty | Content::Text(_) => {}
        }
        content
    }

    fn sort(&self, value: &mut Value, names: &mut Vec<String>) {
        match value {
            Value::Object(fields) => {
                for (name, field) in fields {
                    names.push(name.clone());
                    self.sort(field, names);
                    names.pop();
                }
            }
            Value::Array(items) => {
                for item in items.iter_mut() {
                    self.sort(item, names);
                }
                let is_named =
                    |order: &&Order| names.ends_with(&order.list.split('.').map(str::to_owned).collect::<Vec<_>>());
                if let Some(order) = self.ignored.orders.iter().find(is_named) {
                    items.sort_by_key(|item| order.key(item));
                }
            }
            _ => {}
        }
    }

    /// The answers of one case with everything that the table names replaced.
    pub fn answers(&self, answers: &[Answer]) -> Vec<Answer> {
        let mut revisions = BTreeSet::new();
        for answer in answers {
            for value in values(&answer.content) {
                self.collect(value, &mut Trail::default(), &mut revisions);
            }
        }
        let mut walk = Walk {
            canonical: self,
            ranks: revisions.into_iter().zip(1..).collect(),
            uids: BTreeMap::new(),
        };
        answers.iter().map(|answer| walk.answer(answer)).collect()
    }

    /// Finds the resource versions that are ranked.
    fn collect<'a>(&self, value: &'a Value, trail: &mut Trail<'a>, revisions: &mut BTreeSet<u64>) {
        match value {
            Value::Object(fields) => {
                for (key, field) in fields {
                    trail.push(key, value);
                    if self.keep(trail) == Some(Keep::Rank) {
                        revisions.extend(number(field));
                    } else {
                        self.collect(field, trail, revisions);
                    }
                    trail.pop();
                }
            }
            Value::Array(items) => items.iter().for_each(|item| self.collect(item, trail, revisions)),
            _ => {}
        }
    }

    fn keep(&self, trail: &Trail<'_>) -> Option<Keep> {
        let fields = &self.ignored.fields;
        fields.iter().find(|entry| trail.fits(entry)).map(|entry| entry.keep)
    }

    fn is_ignored_header(&self, name: &str) -> bool {
        self.ignored.headers.iter().any(|entry| name.starts_with(&entry.header))
    }
}

fn number(value: &Value) -> Option<u64> {
    value.as_str()?.parse().ok()
}

fn values(content: &Content) -> &[Value] {
    match content {
        Content::Json(value) => std::slice::from_ref(value),
        Content::Events(events) | Content::LastEvents(events) => events,
        Content::Empty | Content::Text(_) => &[],
    }
}

/// The way from the whole value to a field: names, and the object that holds each.
#[derive(Default)]
struct Trail<'a> {
    steps: Vec<(&'a str, &'a Value)>,
}

impl<'a> Trail<'a> {
    fn push(&mut self, key: &'a str, holder: &'a Value) {
        self.steps.push((key, holder));
    }

    fn pop(&mut self) {
        self.steps.pop();
    }

    fn fits(&self, entry: &Field) -> bool {
        let parts = entry.field.split('.').count();
        let Some(start) = self.steps.len().checked_sub(parts) else {
            return false;
        };
        let steps = &self.steps[start..];
        let is_named = steps.iter().map(|(key, _)| *key).eq(entry.field.split('.'));
        let has_neighbour = |field: &String| match field.split_once('=') {
            Some((name, value)) => steps[0].1.get(name).is_some_and(|found| found == value),
            None => steps[0].1.get(field).is_some(),
        };
        is_named && entry.beside.as_ref().is_none_or(has_neighbour)
    }
}

/// The replacing of one case: names given so far.
struct Walk<'a> {
    canonical: &'a Canonical,
    ranks: BTreeMap<u64, usize>,
    uids: BTreeMap<String, usize>,
}

impl Walk<'_> {
    fn answer(&mut self, answer: &Answer) -> Answer {
        let headers = answer
            .headers
            .iter()
            .filter(|(name, _)| !self.canonical.is_ignored_header(name))
            .map(|(name, values)| (name.clone(), values.clone()))
            .collect::<Vec<_>>();
        let headers = headers
            .into_iter()
            .map(|(name, values)| (name, values.iter().map(|value| self.text(value)).collect()))
            .collect();
        let content = match &answer.content {
            Content::Empty => Content::Empty,
            Content::Text(text) => Content::Text(self.text(text)),
            Content::Json(value) => Content::Json(self.value(value, &mut Trail::default())),
            Content::Events(events) => Content::Events(self.events(events)),
            Content::LastEvents(events) => Content::LastEvents(self.events(events)),
        };
        Answer {
            status: answer.status,
            headers,
            content,
        }
    }

    fn events(&mut self, events: &[Value]) -> Vec<Value> {
        events
            .iter()
            .map(|event| self.value(event, &mut Trail::default()))
            .collect()
    }

    fn value<'a>(&mut self, value: &'a Value, trail: &mut Trail<'a>) -> Value {
        match value {
            Value::String(text) => Value::String(self.text(text)),
            Value::Array(items) => items.iter().map(|item| self.value(item, trail)).collect(),
            Value::Object(fields) => {
                let mut kept = serde_json::Map::new();
                for (key, field) in fields {
                    trail.push(key, value);
                    if let Some(field) = self.field(field, trail) {
                        kept.insert(self.text(key), field);
                    }
                    trail.pop();
                }
                Value::Object(kept)
            }
            other => other.clone(),
        }
    }

    fn field<'a>(&mut self, field: &'a Value, trail: &mut Trail<'a>) -> Option<Value> {
        match self.canonical.keep(trail) {
            None => Some(self.value(field, trail)),
            Some(Keep::Nothing) => None,
            Some(Keep::Presence) => Some("${any}".into()),
            Some(Keep::Time) => Some(self.time(field, trail)),
            Some(Keep::Rank) => Some(self.rank(field)),
        }
    }

    /// A time, or a list in which some are times.
    fn time<'a>(&mut self, field: &'a Value, trail: &mut Trail<'a>) -> Value {
        match field {
            Value::String(text) if self.canonical.time.is_match(text) => "${time}".into(),
            Value::Array(items) => items.iter().map(|item| self.time(item, trail)).collect(),
            other => self.value(other, trail),
        }
    }

    fn rank(&self, field: &Value) -> Value {
        let rank = number(field).and_then(|revision| self.ranks.get(&revision));
        rank.map_or_else(|| field.clone(), |rank| format!("${{rv:{rank}}}").into())
    }

    fn text(&mut self, text: &str) -> String {
        let mut result = text.to_owned();
        let canonical = self.canonical;
        for (expression, replacement) in &canonical.expressions {
            result = match replacement {
                Some(replacement) => expression.replace_all(&result, replacement).into_owned(),
                None => expression
                    .replace_all(&result, |captures: &Captures<'_>| self.uid(&captures[0]))
                    .into_owned(),
            };
        }
        result
    }

    fn uid(&mut self, uid: &str) -> String {
        let next = self.uids.len() + 1;
        let number = self.uids.entry(uid.to_owned()).or_insert(next);
        format!("${{uid:{number}}}")
    }
}

#[cfg(test)]
mod tests;
