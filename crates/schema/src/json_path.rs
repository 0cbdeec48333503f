//! The JSON paths of printer columns and selectable fields: fields, keys in quotes, indexes and slices, wildcards, filters
//! and recursive descent (client-go, util/jsonpath). Missing keys give nothing.

use serde_json::Value;
use thiserror::Error;

use crate::go_text;

/// Paths are short; a longer one is refused.
const MAX_STEPS: usize = 128;
/// What a path may find; more is left out.
const MAX_RESULTS: usize = 10_000;

/// Why a path cannot be read.
#[derive(Debug, Error, PartialEq, Eq)]
pub enum JsonPathError {
    /// A character that begins nothing.
    #[error("unrecognized character in action: {0:?}")]
    Character(char),
    /// A bracket without its end.
    #[error("unterminated array")]
    Unterminated,
    /// Something in brackets that is neither key nor index nor filter.
    #[error("invalid array index {0}")]
    Index(String),
    /// Two descents in a row.
    #[error("invalid multiple recursive descent")]
    Descent,
    /// A path with too many steps.
    #[error("a path may have {MAX_STEPS} steps; shorten it")]
    TooLong,
}

/// A compiled path.
#[derive(Clone, Debug, PartialEq)]
pub struct JsonPath {
    steps: Vec<Step>,
}

#[derive(Clone, Debug, PartialEq)]
enum Step {
    Field(String),
    Wildcard,
    Descent,
    Slice(Slice),
    Union(Vec<JsonPath>),
    Filter(Box<Filter>),
}

#[derive(Clone, Copy, Debug, PartialEq)]
struct Slice {
    start: Option<i64>,
    end: Option<i64>,
    step: Option<i64>,
    /// A single index.
    is_single: bool,
}

#[derive(Clone, Debug, PartialEq)]
struct Filter {
    left: JsonPath,
    /// Nothing asks only whether there is a value.
    comparison: Option<(Operator, Operand)>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Operator {
    Equal,
    NotEqual,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
}

#[derive(Clone, Debug, PartialEq)]
enum Operand {
    Value(Value),
    Path(JsonPath),
}

impl JsonPath {
    /// Reads a path such as `.status.conditions[?(@.type=="Ready")].status`.
    pub fn parse(text: &str) -> Result<Self, JsonPathError> {
        let mut parser = Parser {
            rest: text,
            steps: Vec::new(),
        };
        while !parser.rest.is_empty() {
            parser.step()?;
            if parser.steps.len() > MAX_STEPS {
                return Err(JsonPathError::TooLong);
            }
        }
        Ok(Self { steps: parser.steps })
    }

    /// The values that the path finds.
    pub fn find<'a>(&self, value: &'a Value) -> Vec<&'a Value> {
        let mut found = vec![value];
        for step in &self.steps {
            let mut next = Vec::new();
            for value in found {
                step.apply(value, &mut next);
                if next.len() > MAX_RESULTS {
                    break;
                }
            }
            found = next;
        }
        found
    }

    /// The first value that the path finds.
    pub fn first<'a>(&self, value: &'a Value) -> Option<&'a Value> {
        self.find(value).into_iter().next()
    }
}

/// A value as a column of type string shows it: strings as they are, everything else as JSON.
pub fn print(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Number(number) => go_text::number(number),
        Value::Null => "<nil>".to_owned(),
        other => go_text::json(other),
    }
}

struct Parser<'a> {
    rest: &'a str,
    steps: Vec<Step>,
}

impl<'a> Parser<'a> {
    fn take(&mut self, length: usize) -> &'a str {
        let (taken, rest) = self.rest.split_at(length);
        self.rest = rest;
        taken
    }

    fn step(&mut self) -> Result<(), JsonPathError> {
        if self.rest.starts_with("[?(") {
            return self.filter();
        }
        if self.rest.starts_with("..") {
            if self.steps.last() == Some(&Step::Descent) {
                return Err(JsonPathError::Descent);
            }
            self.take(2);
            self.steps.push(Step::Descent);
            if self
                .rest
                .starts_with(|character: char| character.is_alphanumeric() || character == '_')
            {
                self.field();
            }
            return Ok(());
        }
        match self.rest.chars().next() {
            Some('@' | '$' | ' ') => {
                self.take(1);
            }
            Some('.') => {
                self.take(1);
                self.field();
            }
            Some('[') => return self.brackets(),
            Some(character) => return Err(JsonPathError::Character(character)),
            None => {}
        }
        Ok(())
    }

    fn field(&mut self) {
        let mut name = String::new();
        let mut characters = self.rest.char_indices();
        let mut end = self.rest.len();
        while let Some((at, character)) = characters.next() {
            match character {
                '\\' => name.extend(characters.next().map(|(_, escaped)| escaped)),
                '.' | ',' | '[' | ']' | '$' | '@' | '{' | '}' | ' ' | '\t' | '\r' | '\n' => {
                    end = at;
                    break;
                }
                other => name.push(other),
            }
        }
        self.take(end);
        match name.as_str() {
            "*" => self.steps.push(Step::Wildcard),
            // A lone dot is the object itself.
            "" => {}
            _ => self.steps.push(Step::Field(name)),
        }
    }

    fn brackets(&mut self) -> Result<(), JsonPathError> {
        let end = self.rest.find(']').ok_or(JsonPathError::Unterminated)?;
        let inner = &self.take(end + 1)[1..end];
        let parts: Vec<&str> = inner.split(',').collect();
        if parts.len() > 1 {
            let paths = parts.iter().map(|part| JsonPath::parse(&format!("[{}]", part.trim())));
            self.steps.push(Step::Union(paths.collect::<Result<_, _>>()?));
            return Ok(());
        }
        if let Some(key) = inner.strip_prefix('\'').and_then(|key| key.strip_suffix('\'')) {
            let path = JsonPath::parse(&format!(".{key}"))?;
            self.steps.extend(path.steps);
            return Ok(());
        }
        self.steps.push(Step::Slice(slice(inner)?));
        Ok(())
    }

    fn filter(&mut self) -> Result<(), JsonPathError> {
        let end = filter_end(self.rest).ok_or(JsonPathError::Unterminated)?;
        let text = &self.take(end + 2)[3..end];
        self.steps.push(Step::Filter(Box::new(parse_filter(text)?)));
        Ok(())
    }
}

/// Where `)]` ends a filter, outside of quotes.
fn filter_end(text: &str) -> Option<usize> {
    let mut quote = None;
    for (at, character) in text.char_indices() {
        match (quote, character) {
            (None, '"' | '\'') => quote = Some(character),
            (Some(open), character) if character == open => quote = None,
            (None, ')') if text[at..].starts_with(")]") => return Some(at),
            _ => {}
        }
    }
    None
}

fn parse_filter(text: &str) -> Result<Filter, JsonPathError> {
    const OPERATORS: [(&str, Operator); 6] = [
        ("==", Operator::Equal),
        ("!=", Operator::NotEqual),
        ("<=", Operator::LessOrEqual),
        (">=", Operator::GreaterOrEqual),
        ("<", Operator::Less),
        (">", Operator::Greater),
    ];
    let Some(at) = text.find(['!', '<', '>', '=']) else {
        return Ok(Filter {
            left: JsonPath::parse(text)?,
            comparison: None,
        });
    };
    let operator = OPERATORS.into_iter().find(|(symbol, _)| text[at..].starts_with(symbol));
    let (symbol, operator) = operator.ok_or_else(|| JsonPathError::Index(text.to_owned()))?;
    Ok(Filter {
        left: JsonPath::parse(text[..at].trim())?,
        comparison: Some((operator, operand(text[at + symbol.len()..].trim())?)),
    })
}

fn operand(text: &str) -> Result<Operand, JsonPathError> {
    for quote in ['"', '\''] {
        if let Some(inner) = text.strip_prefix(quote).and_then(|text| text.strip_suffix(quote)) {
            return Ok(Operand::Value(Value::from(inner)));
        }
    }
    match text {
        "true" => Ok(Operand::Value(Value::from(true))),
        "false" => Ok(Operand::Value(Value::from(false))),
        _ => match text
            .parse::<i64>()
            .map(Value::from)
            .or_else(|_| text.parse::<f64>().map(Value::from))
        {
            Ok(number) => Ok(Operand::Value(number)),
            Err(_) => JsonPath::parse(text).map(Operand::Path),
        },
    }
}

fn slice(text: &str) -> Result<Slice, JsonPathError> {
    let wrong = || JsonPathError::Index(text.to_owned());
    if text == "*" {
        return Ok(Slice {
            start: None,
            end: None,
            step: None,
            is_single: false,
        });
    }
    let parts: Vec<&str> = text.split(':').collect();
    let number = |part: Option<&&str>| match part {
        None | Some(&"") => Ok(None),
        Some(part) => part.parse().map(Some).map_err(|_| wrong()),
    };
    if parts.len() > 3 || text.is_empty() {
        return Err(wrong());
    }
    Ok(Slice {
        start: number(parts.first())?,
        end: number(parts.get(1))?,
        step: number(parts.get(2))?,
        is_single: parts.len() == 1,
    })
}

impl Step {
    fn apply<'a>(&self, value: &'a Value, found: &mut Vec<&'a Value>) {
        match self {
            Self::Field(name) => found.extend(value.get(name)),
            Self::Wildcard => children(value, found),
            Self::Descent => {
                found.push(value);
                let mut below = Vec::new();
                children(value, &mut below);
                for child in below {
                    if found.len() <= MAX_RESULTS && (child.is_object() || child.is_array()) {
                        self.apply(child, found);
                    }
                }
            }
            Self::Slice(slice) => found.extend(slice.of(value.as_array().map_or(&[][..], Vec::as_slice))),
            Self::Union(paths) => found.extend(paths.iter().flat_map(|path| path.find(value))),
            Self::Filter(filter) => {
                let entries = value.as_array().into_iter().flatten();
                found.extend(entries.filter(|entry| filter.holds(entry)));
            }
        }
    }
}

fn children<'a>(value: &'a Value, found: &mut Vec<&'a Value>) {
    match value {
        Value::Object(fields) => found.extend(fields.values()),
        Value::Array(entries) => found.extend(entries),
        _ => {}
    }
}

impl Slice {
    fn of<'a>(&self, entries: &'a [Value]) -> Vec<&'a Value> {
        let length = i64::try_from(entries.len()).unwrap_or(i64::MAX);
        let from_end = |index: i64| if index < 0 { index + length } else { index };
        let start = from_end(self.start.unwrap_or(0));
        if self.is_single {
            return usize::try_from(start)
                .ok()
                .and_then(|start| entries.get(start))
                .into_iter()
                .collect();
        }
        let end = from_end(self.end.unwrap_or(length)).min(length);
        let step = self.step.unwrap_or(1);
        if start < 0 || start >= length || end < start || step <= 0 {
            return Vec::new();
        }
        let place = |number: i64| usize::try_from(number).unwrap_or_default();
        entries[place(start)..place(end)].iter().step_by(place(step)).collect()
    }
}

impl Filter {
    fn holds(&self, value: &Value) -> bool {
        let Some(left) = self.left.first(value) else {
            return false;
        };
        let Some((operator, operand)) = &self.comparison else {
            return true;
        };
        let right = match operand {
            Operand::Value(right) => Some(right),
            Operand::Path(path) => path.first(value),
        };
        right.is_some_and(|right| operator.holds(left, right))
    }
}

impl Operator {
    fn holds(self, left: &Value, right: &Value) -> bool {
        let order = match (left, right) {
            (Value::Number(left), Value::Number(right)) => left.as_f64().partial_cmp(&right.as_f64()),
            (Value::String(left), Value::String(right)) => Some(left.cmp(right)),
            _ => (left == right).then_some(std::cmp::Ordering::Equal),
        };
        match self {
            Self::Equal => order.is_some_and(std::cmp::Ordering::is_eq),
            Self::NotEqual => !order.is_some_and(std::cmp::Ordering::is_eq),
            Self::Less => order.is_some_and(std::cmp::Ordering::is_lt),
            Self::LessOrEqual => order.is_some_and(std::cmp::Ordering::is_le),
            Self::Greater => order.is_some_and(std::cmp::Ordering::is_gt),
            Self::GreaterOrEqual => order.is_some_and(std::cmp::Ordering::is_ge),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[track_caller]
    fn check(path: &str, expected: &[Value]) {
        let object = json!({
            "metadata": {"labels": {"a.b/c": "x"}},
            "spec": {"list": [1, 2, 3], "a": {"b": true}},
            "status": {"conditions": [
                {"type": "Ready", "status": "True", "age": 3},
                {"type": "Live", "status": "False", "age": 5},
            ]},
        });
        let found: Vec<Value> = JsonPath::parse(path)
            .unwrap()
            .find(&object)
            .into_iter()
            .cloned()
            .collect();
        assert_eq!(found, expected, "{path}");
    }

    #[test]
    fn paths_find_what_upstreams_find() {
        check(".spec.a.b", &[json!(true)]);
        check(".spec.missing.b", &[]);
        check(r".metadata.labels.a\.b/c", &[json!("x")]);
        check(r".metadata.labels['a\.b/c']", &[json!("x")]);
        check(".spec.list[0]", &[json!(1)]);
        check(".spec.list[-1]", &[json!(3)]);
        check(".spec.list[1:]", &[json!(2), json!(3)]);
        check(".spec.list[*]", &[json!(1), json!(2), json!(3)]);
        check(".spec.list[0,2]", &[json!(1), json!(3)]);
        check(r#".status.conditions[?(@.type=="Ready")].status"#, &[json!("True")]);
        check(".status.conditions[?(@.age>3)].type", &[json!("Live")]);
        check(".status.conditions[?(@.missing)].type", &[]);
        check("..age", &[json!(3), json!(5)]);
        check(".spec.a.*", &[json!(true)]);
    }

    #[test]
    fn what_is_no_path_is_refused() {
        assert_eq!(JsonPath::parse("spec"), Err(JsonPathError::Character('s')));
        assert_eq!(JsonPath::parse(".a[0"), Err(JsonPathError::Unterminated));
        assert_eq!(JsonPath::parse(".a[x]"), Err(JsonPathError::Index("x".to_owned())));
        assert_eq!(JsonPath::parse("....a"), Err(JsonPathError::Descent));
    }
}
