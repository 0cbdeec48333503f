//! The operations of RFC 6902 on a value, with the leniencies of the library that upstream uses. An operation that does
//! not apply makes the whole patch fail, without a reason.

use serde_json::{Map, Value};

/// The fields of an operation.
pub(crate) const FIELDS: [&str; 4] = ["op", "path", "from", "value"];

/// One operation. Words and paths that are missing or no text make it fail when it is applied, not before.
#[derive(Debug)]
pub(crate) struct Operation {
    word: Option<String>,
    path: Option<String>,
    from: Option<String>,
    value: Value,
}

/// An operation that cannot be read.
#[derive(Debug)]
pub(crate) enum Malformed {
    /// It is no object.
    Operation(Value),
    /// A field is no text.
    Field(&'static str, Value),
}

impl Operation {
    /// Reads an operation; types are checked only where the client wants field validation.
    pub(crate) fn read(operation: Value, is_checked: bool) -> Result<Self, Malformed> {
        let mut fields = match operation {
            Value::Null => Map::new(),
            Value::Object(fields) => fields,
            other => return Err(Malformed::Operation(other)),
        };
        let mut text = |name: &'static str| match fields.remove(name) {
            None | Some(Value::Null) => Ok(None),
            Some(Value::String(text)) => Ok(Some(text)),
            Some(other) if is_checked => Err(Malformed::Field(name, other)),
            Some(_) => Ok(None),
        };
        let (word, path, from) = (text("op")?, text("path")?, text("from")?);
        Ok(Self {
            word,
            path,
            from,
            value: fields.remove("value").unwrap_or_default(),
        })
    }
}

/// What a patch may cost.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Budget {
    /// How many bytes of JSON may be copied.
    pub(crate) copied_bytes: usize,
    /// How many items of lists may be moved by one place because another came or went.
    pub(crate) moved_items: usize,
}

/// Applies operations in order; nothing if one of them does not apply, or if they cost too much.
pub(crate) fn apply(mut document: Value, operations: Vec<Operation>, mut budget: Budget) -> Option<Value> {
    for operation in operations {
        let path = operation.path?;
        match operation.word?.as_str() {
            "add" => add(&mut document, &path, operation.value, &mut budget)?,
            "remove" => drop(remove(&mut document, &path, &mut budget)?),
            "replace" => replace(&mut document, &path, operation.value)?,
            "move" => {
                let value = remove(&mut document, &operation.from?, &mut budget)?;
                add(&mut document, &path, value, &mut budget)?;
            }
            "copy" => {
                let value = get(&mut document, &operation.from?)?.clone();
                budget.copied_bytes = budget.copied_bytes.checked_sub(encoded_bytes(&value))?;
                add(&mut document, &path, value, &mut budget)?;
            }
            "test" => test(&mut document, &path, &operation.value)?,
            _ => return None,
        }
    }
    Some(document)
}

fn add(document: &mut Value, path: &str, value: Value, budget: &mut Budget) -> Option<()> {
    let (parent, key) = parent(document, path)?;
    match parent {
        Value::Object(fields) => {
            fields.insert(key, value);
        }
        Value::Array(items) if key == "-" => items.push(value),
        Value::Array(items) => {
            let at = index(&key, items.len() + 1)?;
            budget.moved_items = budget.moved_items.checked_sub(items.len() - at)?;
            items.insert(at, value);
        }
        _ => return None,
    }
    Some(())
}

fn remove(document: &mut Value, path: &str, budget: &mut Budget) -> Option<Value> {
    let (parent, key) = parent(document, path)?;
    match parent {
        Value::Object(fields) => fields.remove(&key),
        Value::Array(items) => {
            let at = index(&key, items.len())?;
            budget.moved_items = budget.moved_items.checked_sub(items.len() - at)?;
            Some(items.remove(at))
        }
        _ => None,
    }
}

/// Replaces a value. A field that is absent is added; an item must exist.
fn replace(document: &mut Value, path: &str, value: Value) -> Option<()> {
    if path.is_empty() {
        let is_container = matches!(value, Value::Object(_) | Value::Array(_));
        return is_container.then(|| *document = value);
    }
    let (parent, key) = parent(document, path)?;
    match parent {
        Value::Object(fields) => {
            fields.insert(key, value);
        }
        Value::Array(items) => {
            let at = index(&key, items.len())?;
            items[at] = value;
        }
        _ => return None,
    }
    Some(())
}

/// Tests a value.
fn test(document: &mut Value, path: &str, wanted: &Value) -> Option<()> {
    let is_equal = if path.is_empty() {
        document == wanted
    } else {
        get(document, path)? == wanted
    };
    is_equal.then_some(())
}

/// The value at a path, null for a field that is absent; nothing if its parent or the item does not exist.
fn get<'a>(document: &'a mut Value, path: &str) -> Option<&'a Value> {
    let (parent, key) = parent(document, path)?;
    match parent {
        Value::Object(fields) => Some(fields.get(&key).unwrap_or(&Value::Null)),
        Value::Array(items) => {
            let at = index(&key, items.len())?;
            items.get(at)
        }
        _ => None,
    }
}

/// The container that a path leads into, and the key inside of it.
fn parent<'a>(document: &'a mut Value, path: &str) -> Option<(&'a mut Value, String)> {
    let (_, rest) = path.split_once('/')?;
    let (parents, key) = match rest.rsplit_once('/') {
        Some((parents, key)) => (Some(parents), key),
        None => (None, rest),
    };
    let mut container = document;
    for part in parents.into_iter().flat_map(|parents| parents.split('/')) {
        let part = unescaped(part);
        container = match container {
            Value::Object(fields) => fields.get_mut(&part)?,
            Value::Array(items) => {
                let at = index(&part, items.len())?;
                &mut items[at]
            }
            _ => return None,
        };
    }
    matches!(container, Value::Object(_) | Value::Array(_)).then(|| (container, unescaped(key)))
}

fn unescaped(part: &str) -> String {
    part.replace("~1", "/").replace("~0", "~")
}

/// The position that a text names in a list with this many places; negative numbers count from the end.
fn index(text: &str, places: usize) -> Option<usize> {
    let number: i64 = text.parse().ok()?;
    let at = if number < 0 {
        places.checked_sub(usize::try_from(number.unsigned_abs()).ok()?)?
    } else {
        usize::try_from(number).ok()?
    };
    (at < places).then_some(at)
}

fn encoded_bytes(value: &Value) -> usize {
    struct Count(usize);
    impl std::io::Write for Count {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            self.0 += bytes.len();
            Ok(bytes.len())
        }

        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }
    let mut count = Count(0);
    serde_json::to_writer(&mut count, value).expect("counting bytes never fails");
    count.0
}
