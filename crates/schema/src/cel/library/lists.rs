//! Lists, sets and maps that expressions make.

use std::cmp::Ordering;

use super::super::value::{Failure, Outcome, Value};
use super::strings::{index_of, last_index_of};
use super::{Native, count, no_overload};

/// More numbers than a call may cost are never made.
const MAX_RANGE: i64 = 1_000_000;

pub(super) fn native(function: &str) -> Option<Native> {
    Some(match function {
        "isSorted" => is_sorted,
        "sum" => sum,
        "min" => |arguments| extreme(arguments, "min", Ordering::Greater),
        "max" => |arguments| extreme(arguments, "max", Ordering::Less),
        "indexOf" => index,
        "lastIndexOf" => last_index,
        "slice" => slice,
        "flatten" => flatten,
        "sort" => |arguments| match arguments {
            [list] => sort(list, list),
            _ => no_overload(),
        },
        "@sortByAssociatedKeys" => |arguments| match arguments {
            [list, keys] => sort(list, keys),
            _ => no_overload(),
        },
        "lists.range" => range,
        "reverse" => |arguments| {
            let mut items = items(arguments.first())?;
            items.reverse();
            Ok(Value::list(items))
        },
        "distinct" => distinct,
        "first" => |arguments| Ok(Value::optional(items(arguments.first())?.into_iter().next())),
        "last" => |arguments| Ok(Value::optional(items(arguments.first())?.pop())),
        "sets.contains" => |arguments| match arguments {
            [list, part] => Ok(Value::Bool(contains_all(list, part)?)),
            _ => no_overload(),
        },
        "sets.equivalent" => |arguments| match arguments {
            [first, second] => Ok(Value::Bool(
                contains_all(first, second)? && contains_all(second, first)?,
            )),
            _ => no_overload(),
        },
        "sets.intersects" => intersects,
        "@not_strictly_false" => |arguments| arguments.first().cloned().ok_or_else(Failure::no_overload),
        _ => return None,
    })
}

fn items<'a>(list: Option<&Value<'a>>) -> Outcome<Vec<Value<'a>>> {
    list.and_then(Value::items).ok_or_else(Failure::no_overload)?.collect()
}

fn is_sorted<'a>(arguments: &[Value<'a>]) -> Outcome<Value<'a>> {
    let items = items(arguments.first())?;
    for pair in items.windows(2) {
        if pair[0].compare(&pair[1])? == Ordering::Greater {
            return Ok(Value::Bool(false));
        }
    }
    Ok(Value::Bool(true))
}

fn sum<'a>(arguments: &[Value<'a>]) -> Outcome<Value<'a>> {
    let items = items(arguments.first())?;
    let Some(first) = items.first() else {
        return Ok(Value::Int(0));
    };
    let add = super::operators::native("_+_").ok_or_else(Failure::no_overload)?;
    let mut total = first.clone();
    for item in &items[1..] {
        total = add(&[total, item.clone()])?;
    }
    Ok(total)
}

fn extreme<'a>(arguments: &[Value<'a>], name: &str, worse: Ordering) -> Outcome<Value<'a>> {
    let items = items(arguments.first())?;
    let Some(first) = items.first() else {
        return Err(Failure::new(format!("{name} called on empty list")));
    };
    let mut best = first.clone();
    for item in &items[1..] {
        if best.compare(item)? == worse {
            best = item.clone();
        }
    }
    Ok(best)
}

fn index<'a>(arguments: &[Value<'a>]) -> Outcome<Value<'a>> {
    match arguments {
        [Value::String(text), Value::String(part)] => index_of(text, part, 0),
        [Value::String(text), Value::String(part), Value::Int(offset)] => index_of(text, part, *offset),
        [list, wanted] => Ok(position(items(Some(list))?.iter().enumerate(), wanted)),
        _ => no_overload(),
    }
}

fn last_index<'a>(arguments: &[Value<'a>]) -> Outcome<Value<'a>> {
    match arguments {
        [Value::String(text), Value::String(part)] => last_index_of(text, part, None),
        [Value::String(text), Value::String(part), Value::Int(offset)] => last_index_of(text, part, Some(*offset)),
        [list, wanted] => Ok(position(items(Some(list))?.iter().enumerate().rev(), wanted)),
        _ => no_overload(),
    }
}

fn position<'v, 'a: 'v>(items: impl Iterator<Item = (usize, &'v Value<'a>)>, wanted: &Value<'a>) -> Value<'a> {
    for (place, item) in items {
        if item.equals(wanted).unwrap_or_default() {
            return count(place);
        }
    }
    Value::Int(-1)
}

fn slice<'a>(arguments: &[Value<'a>]) -> Outcome<Value<'a>> {
    let [list, Value::Int(start), Value::Int(end)] = arguments else {
        return no_overload();
    };
    let items = items(Some(list))?;
    let cannot = |why: &str| Failure::new(format!("cannot slice({start}, {end}), {why}"));
    let (Ok(from), Ok(to)) = (usize::try_from(*start), usize::try_from(*end)) else {
        return Err(cannot("negative indexes not supported"));
    };
    if from > to {
        return Err(cannot("start index must be less than or equal to end index"));
    }
    if to > items.len() {
        return Err(cannot(&format!("list is length {}", items.len())));
    }
    Ok(Value::list(items[from..to].to_vec()))
}

fn flatten<'a>(arguments: &[Value<'a>]) -> Outcome<Value<'a>> {
    let (list, depth) = match arguments {
        [list] => (list, 1),
        [list, Value::Int(depth)] => (list, *depth),
        _ => return no_overload(),
    };
    if depth < 0 {
        return Err(Failure::new("level must be non-negative"));
    }
    let mut flat = Vec::new();
    flatten_into(list, depth, &mut flat)?;
    Ok(Value::list(flat))
}

fn flatten_into<'a>(list: &Value<'a>, depth: i64, flat: &mut Vec<Value<'a>>) -> Outcome<()> {
    for item in list.items().ok_or_else(Failure::no_overload)? {
        let item = item?;
        if depth > 0 && item.items().is_some() {
            flatten_into(&item, depth - 1, flat)?;
        } else {
            flat.push(item);
        }
    }
    Ok(())
}

fn sort<'a>(list: &Value<'a>, keys: &Value<'a>) -> Outcome<Value<'a>> {
    let (items, keys) = (items(Some(list))?, items(Some(keys))?);
    if items.len() != keys.len() {
        return Err(Failure::new(format!(
            "@sortByAssociatedKeys() expected a list of the same size as the associated keys list, but got {} and {} elements respectively",
            items.len(),
            keys.len()
        )));
    }
    let mut mistake = None;
    let mut pairs: Vec<(Value<'a>, Value<'a>)> = keys.into_iter().zip(items).collect();
    pairs.sort_by(|(first, _), (second, _)| {
        first.compare(second).unwrap_or_else(|_| {
            mistake = Some(Failure::new("list elements must have the same type"));
            Ordering::Equal
        })
    });
    match mistake {
        Some(failure) => Err(failure),
        None => Ok(Value::list(pairs.into_iter().map(|(_, item)| item).collect())),
    }
}

fn range<'a>(arguments: &[Value<'a>]) -> Outcome<Value<'a>> {
    match arguments {
        [Value::Int(end)] if *end <= MAX_RANGE => Ok(Value::list((0..*end).map(Value::Int).collect())),
        [Value::Int(_)] => Err(Failure::TooCostly),
        _ => no_overload(),
    }
}

fn distinct<'a>(arguments: &[Value<'a>]) -> Outcome<Value<'a>> {
    let mut found: Vec<Value<'a>> = Vec::new();
    for item in items(arguments.first())? {
        if !found.iter().any(|known| item.equals(known).unwrap_or_default()) {
            found.push(item);
        }
    }
    Ok(Value::list(found))
}

fn contains_all<'a>(list: &Value<'a>, part: &Value<'a>) -> Outcome<bool> {
    let known = items(Some(list))?;
    for wanted in items(Some(part))? {
        if !known.iter().any(|item| item.equals(&wanted).unwrap_or_default()) {
            return Ok(false);
        }
    }
    Ok(true)
}

fn intersects<'a>(arguments: &[Value<'a>]) -> Outcome<Value<'a>> {
    let [first, second] = arguments else {
        return no_overload();
    };
    let known = items(Some(second))?;
    let is_shared = |item: &Value<'a>| known.iter().any(|other| other.equals(item).unwrap_or_default());
    Ok(Value::Bool(items(Some(first))?.iter().any(is_shared)))
}
