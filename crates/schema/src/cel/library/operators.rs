//! Operators, and the optional values that some of them give.

use std::cmp::Ordering;
use std::rc::Rc;

use serde_json::Value as Json;

use super::super::value::{Failure, Outcome, Text, Timestamp, Value};
use super::{MAX_RESULT, Native, no_overload};
use crate::node::ListType;

pub(super) fn native(function: &str) -> Option<Native> {
    Some(match function {
        "!_" => |arguments| match arguments {
            [Value::Bool(flag)] => Ok(Value::Bool(!flag)),
            _ => no_overload(),
        },
        "-_" => negate,
        "_==_" => |arguments| equal(arguments, false),
        "_!=_" => |arguments| equal(arguments, true),
        "_<_" => |arguments| order(arguments, |order| order == Ordering::Less),
        "_<=_" => |arguments| order(arguments, |order| order != Ordering::Greater),
        "_>_" => |arguments| order(arguments, |order| order == Ordering::Greater),
        "_>=_" => |arguments| order(arguments, |order| order != Ordering::Less),
        "_+_" => add,
        "_-_" => subtract,
        "_*_" => multiply,
        "_/_" => divide,
        "_%_" => modulo,
        "@in" => contains,
        "_[_]" => index,
        "_[?_]" => optional_index,
        "optional.of" => |arguments| Ok(Value::optional(arguments.first().cloned())),
        "optional.ofNonZeroValue" => |arguments| {
            Ok(Value::optional(
                arguments.first().filter(|value| !is_zero(value)).cloned(),
            ))
        },
        "optional.none" => |_| Ok(Value::Optional(None)),
        "optional.unwrap" | "unwrapOpt" => unwrap,
        "hasValue" => |arguments| match arguments {
            [Value::Optional(inner)] => Ok(Value::Bool(inner.is_some())),
            _ => no_overload(),
        },
        "value" => |arguments| match arguments {
            [Value::Optional(Some(inner))] => Ok((**inner).clone()),
            [Value::Optional(None)] => Err(Failure::new("optional.none() dereference")),
            _ => no_overload(),
        },
        _ => return None,
    })
}

fn overflow() -> Failure {
    Failure::new("integer overflow")
}

fn negate<'a>(arguments: &[Value<'a>]) -> Outcome<Value<'a>> {
    match arguments {
        [Value::Int(number)] => number.checked_neg().map(Value::Int).ok_or_else(overflow),
        [Value::Double(number)] => Ok(Value::Double(-number)),
        _ => no_overload(),
    }
}

fn equal<'a>(arguments: &[Value<'a>], is_negated: bool) -> Outcome<Value<'a>> {
    let [left, right] = arguments else {
        return no_overload();
    };
    Ok(Value::Bool(left.equals(right)? != is_negated))
}

fn order<'a>(arguments: &[Value<'a>], holds: fn(Ordering) -> bool) -> Outcome<Value<'a>> {
    let [left, right] = arguments else {
        return no_overload();
    };
    match left.compare(right) {
        Ok(order) => Ok(Value::Bool(holds(order))),
        Err(failure) => Err(failure),
    }
}

/// A moment must stay within the years 1 to 9999.
fn moment<'a>(nanos: i128, offset_seconds: i32) -> Outcome<Value<'a>> {
    const FIRST: i128 = -62_135_596_800_000_000_000;
    const LAST: i128 = 253_402_300_799_999_999_999;
    if (FIRST..=LAST).contains(&nanos) {
        return Ok(Value::Timestamp(Timestamp { nanos, offset_seconds }));
    }
    Err(Failure::new("timestamp overflow"))
}

fn duration<'a>(nanos: Option<i64>) -> Outcome<Value<'a>> {
    nanos
        .map(Value::Duration)
        .ok_or_else(|| Failure::new("duration overflow"))
}

fn add<'a>(arguments: &[Value<'a>]) -> Outcome<Value<'a>> {
    match arguments {
        [Value::Int(left), Value::Int(right)] => left.checked_add(*right).map(Value::Int).ok_or_else(overflow),
        [Value::Uint(left), Value::Uint(right)] => left
            .checked_add(*right)
            .map(Value::Uint)
            .ok_or_else(|| Failure::new("unsigned integer overflow")),
        [Value::Double(left), Value::Double(right)] => Ok(Value::Double(left + right)),
        [Value::String(left), Value::String(right)] => concatenate(left, right),
        [Value::Bytes(left), Value::Bytes(right)] => Ok(Value::Bytes([&**left, &**right].concat().into())),
        [Value::Duration(left), Value::Duration(right)] => duration(left.checked_add(*right)),
        [Value::Timestamp(time), Value::Duration(span)] | [Value::Duration(span), Value::Timestamp(time)] => {
            moment(time.nanos + i128::from(*span), time.offset_seconds)
        }
        [left, right] => add_lists(left, right),
        _ => no_overload(),
    }
}

fn concatenate<'a>(left: &Text<'a>, right: &Text<'a>) -> Outcome<Value<'a>> {
    if left.len() + right.len() > MAX_RESULT {
        return Err(Failure::TooCostly);
    }
    Ok(Value::text([&**left, &**right].concat()))
}

/// Lists of the object that are sets or maps stay so: what is there already is not added again, or is replaced.
fn add_lists<'a>(left: &Value<'a>, right: &Value<'a>) -> Outcome<Value<'a>> {
    let (Some(first), Some(second)) = (left.items(), right.items()) else {
        return no_overload();
    };
    if left.size() + right.size() > MAX_RESULT as u64 {
        return Err(Failure::TooCostly);
    }
    let mut items = first.collect::<Outcome<Vec<_>>>()?;
    let list = match left {
        Value::Entries(entries) => &entries.node.list,
        _ => &ListType::Atomic,
    };
    for item in second {
        let item = item?;
        match list {
            ListType::Atomic => items.push(item),
            ListType::Set => {
                if !contains_value(&items, &item)? {
                    items.push(item);
                }
            }
            ListType::Map(keys) => match items.iter().position(|known| has_same_keys(keys, known, &item)) {
                Some(place) => items[place] = item,
                None => items.push(item),
            },
        }
    }
    Ok(Value::list(items))
}

fn contains_value<'a>(items: &[Value<'a>], item: &Value<'a>) -> Outcome<bool> {
    for known in items {
        if known.equals(item)? {
            return Ok(true);
        }
    }
    Ok(false)
}

fn has_same_keys(keys: &[String], first: &Value<'_>, second: &Value<'_>) -> bool {
    let (Value::Fields(first), Value::Fields(second)) = (first, second) else {
        return false;
    };
    let value =
        |fields: &super::super::value::Fields<'_>, key: &str| fields.map.get(key).cloned().unwrap_or(Json::Null);
    keys.iter().all(|key| value(first, key) == value(second, key))
}

fn subtract<'a>(arguments: &[Value<'a>]) -> Outcome<Value<'a>> {
    match arguments {
        [Value::Int(left), Value::Int(right)] => left.checked_sub(*right).map(Value::Int).ok_or_else(overflow),
        [Value::Uint(left), Value::Uint(right)] => left
            .checked_sub(*right)
            .map(Value::Uint)
            .ok_or_else(|| Failure::new("unsigned integer overflow")),
        [Value::Double(left), Value::Double(right)] => Ok(Value::Double(left - right)),
        [Value::Duration(left), Value::Duration(right)] => duration(left.checked_sub(*right)),
        [Value::Timestamp(time), Value::Duration(span)] => moment(time.nanos - i128::from(*span), time.offset_seconds),
        [Value::Timestamp(left), Value::Timestamp(right)] => duration(i64::try_from(left.nanos - right.nanos).ok()),
        _ => no_overload(),
    }
}

fn multiply<'a>(arguments: &[Value<'a>]) -> Outcome<Value<'a>> {
    match arguments {
        [Value::Int(left), Value::Int(right)] => left.checked_mul(*right).map(Value::Int).ok_or_else(overflow),
        [Value::Uint(left), Value::Uint(right)] => left
            .checked_mul(*right)
            .map(Value::Uint)
            .ok_or_else(|| Failure::new("unsigned integer overflow")),
        [Value::Double(left), Value::Double(right)] => Ok(Value::Double(left * right)),
        _ => no_overload(),
    }
}

fn divide<'a>(arguments: &[Value<'a>]) -> Outcome<Value<'a>> {
    match arguments {
        [Value::Int(_), Value::Int(0)] | [Value::Uint(_), Value::Uint(0)] => Err(Failure::new("division by zero")),
        [Value::Int(left), Value::Int(right)] => left.checked_div(*right).map(Value::Int).ok_or_else(overflow),
        [Value::Uint(left), Value::Uint(right)] => Ok(Value::Uint(left / right)),
        [Value::Double(left), Value::Double(right)] => Ok(Value::Double(left / right)),
        _ => no_overload(),
    }
}

fn modulo<'a>(arguments: &[Value<'a>]) -> Outcome<Value<'a>> {
    match arguments {
        [Value::Int(_), Value::Int(0)] | [Value::Uint(_), Value::Uint(0)] => Err(Failure::new("modulus by zero")),
        [Value::Int(left), Value::Int(right)] => left.checked_rem(*right).map(Value::Int).ok_or_else(overflow),
        [Value::Uint(left), Value::Uint(right)] => Ok(Value::Uint(left % right)),
        _ => no_overload(),
    }
}

fn contains<'a>(arguments: &[Value<'a>]) -> Outcome<Value<'a>> {
    let [wanted, range] = arguments else {
        return no_overload();
    };
    let Some(items) = range.items() else {
        return Ok(Value::Bool(range.find(wanted)?.is_some()));
    };
    let mut mistake = None;
    for item in items {
        match item?.equals(wanted) {
            Ok(true) => return Ok(Value::Bool(true)),
            Ok(false) => {}
            Err(failure) => mistake = Some(failure),
        }
    }
    mistake.map_or(Ok(Value::Bool(false)), Err)
}

/// The place of a list that a number means.
fn place(index: &Value<'_>) -> Option<i64> {
    match index {
        Value::Int(place) => Some(*place),
        Value::Uint(place) => i64::try_from(*place).ok(),
        #[allow(clippy::cast_possible_truncation, reason = "the float is a whole number")]
        Value::Double(place) if place.fract() == 0.0 => Some(*place as i64),
        _ => None,
    }
}

fn item<'a>(list: &Value<'a>, index: &Value<'a>) -> Outcome<Option<Value<'a>>> {
    let Some(place) = place(index) else {
        return Err(Failure::new("no such overload"));
    };
    let Ok(place) = usize::try_from(place) else {
        return Ok(None);
    };
    match list {
        Value::Entries(entries) => entries.get(place).transpose(),
        Value::List(items) => Ok(items.get(place).cloned()),
        _ => Err(Failure::no_overload()),
    }
}

fn index<'a>(arguments: &[Value<'a>]) -> Outcome<Value<'a>> {
    match arguments {
        [Value::Optional(Some(inner)), key] => optional_index(&[(**inner).clone(), key.clone()]),
        [Value::Optional(None), _] => Ok(Value::Optional(None)),
        [list @ (Value::Entries(_) | Value::List(_)), key] => item(list, key)?
            .ok_or_else(|| Failure::new(format!("index out of bounds: {}", place(key).unwrap_or_default()))),
        [map @ (Value::Fields(_) | Value::Map(_)), key] => map
            .find(key)?
            .ok_or_else(|| Failure::new(format!("no such key: {}", shown(key)))),
        _ => no_overload(),
    }
}

fn shown(value: &Value<'_>) -> String {
    match value {
        Value::String(text) => text.to_string(),
        Value::Int(number) => number.to_string(),
        Value::Uint(number) => number.to_string(),
        Value::Bool(flag) => flag.to_string(),
        other => other.type_name().to_owned(),
    }
}

fn optional_index<'a>(arguments: &[Value<'a>]) -> Outcome<Value<'a>> {
    match arguments {
        [Value::Optional(Some(inner)), key] => optional_index(&[(**inner).clone(), key.clone()]),
        [Value::Optional(None), _] => Ok(Value::Optional(None)),
        [list @ (Value::Entries(_) | Value::List(_)), key] => item(list, key).map(Value::optional),
        [map @ (Value::Fields(_) | Value::Map(_)), key] => map.find(key).map(Value::optional),
        _ => no_overload(),
    }
}

fn unwrap<'a>(arguments: &[Value<'a>]) -> Outcome<Value<'a>> {
    let Some(items) = arguments.first().and_then(Value::items) else {
        return no_overload();
    };
    let mut found = Vec::new();
    for item in items {
        match item? {
            Value::Optional(inner) => found.extend(inner.map(|inner: Rc<Value<'a>>| (*inner).clone())),
            _ => return Err(Failure::new("value is not optional")),
        }
    }
    Ok(Value::list(found))
}

fn is_zero(value: &Value<'_>) -> bool {
    match value {
        Value::Null | Value::Optional(None) => true,
        Value::Bool(flag) => !flag,
        Value::Int(number) => *number == 0,
        Value::Uint(number) => *number == 0,
        Value::Double(number) => *number == 0.0,
        Value::Duration(nanos) => *nanos == 0,
        Value::String(_) | Value::Bytes(_) | Value::List(_) | Value::Map(_) => value.size() == 0,
        _ => false,
    }
}
