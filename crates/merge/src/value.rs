//! Equality and order of JSON values as Go's structured merge sees them: numbers by value, kinds in a fixed order.
//! Knows nothing of schemas, paths or ownership.

use std::cmp::Ordering;

use serde_json::{Map, Number, Value};

/// Whether two values are the same; `1` and `1.0` are.
pub fn equal(left: &Value, right: &Value) -> bool {
    match (left, right) {
        (Value::Number(left), Value::Number(right)) => compare_numbers(left, right).is_eq(),
        (Value::Array(left), Value::Array(right)) => {
            left.len() == right.len() && left.iter().zip(right).all(|(left, right)| equal(left, right))
        }
        (Value::Object(left), Value::Object(right)) => equal_maps(left, right),
        _ => left == right,
    }
}

fn equal_maps(left: &Map<String, Value>, right: &Map<String, Value>) -> bool {
    left.len() == right.len()
        && left
            .iter()
            .zip(right)
            .all(|((left_key, left), (right_key, right))| left_key == right_key && equal(left, right))
}

/// A total order over all values: numbers, strings, booleans, lists, maps, null.
pub fn compare(left: &Value, right: &Value) -> Ordering {
    match (left, right) {
        (Value::Number(left), Value::Number(right)) => compare_numbers(left, right),
        (Value::String(left), Value::String(right)) => left.cmp(right),
        (Value::Bool(left), Value::Bool(right)) => left.cmp(right),
        (Value::Array(left), Value::Array(right)) => compare_lists(left, right),
        (Value::Object(left), Value::Object(right)) => compare_maps(left, right),
        _ => rank(left).cmp(&rank(right)),
    }
}

fn rank(value: &Value) -> u8 {
    match value {
        Value::Number(_) => 0,
        Value::String(_) => 1,
        Value::Bool(_) => 2,
        Value::Array(_) => 3,
        Value::Object(_) => 4,
        Value::Null => 5,
    }
}

fn compare_lists(left: &[Value], right: &[Value]) -> Ordering {
    let first_difference = left
        .iter()
        .zip(right)
        .map(|(left, right)| compare(left, right))
        .find(|order| order.is_ne());
    first_difference.unwrap_or_else(|| left.len().cmp(&right.len()))
}

fn compare_maps(left: &Map<String, Value>, right: &Map<String, Value>) -> Ordering {
    let first_difference = left
        .iter()
        .zip(right)
        .map(|((left_key, left), (right_key, right))| left_key.cmp(right_key).then_with(|| compare(left, right)))
        .find(|order| order.is_ne());
    first_difference.unwrap_or_else(|| left.len().cmp(&right.len()))
}

/// Go compares an integer with a float as floats, which is not a total order beyond 2^53 (and Rust's sort may panic on
/// such an order), so mixed pairs are compared exactly here. Below 2^53 there is no difference.
fn compare_numbers(left: &Number, right: &Number) -> Ordering {
    match (left.as_i64(), right.as_i64()) {
        (Some(left), Some(right)) => left.cmp(&right),
        (Some(left), None) => compare_integer_with_float(left, float(right)),
        (None, Some(right)) => compare_integer_with_float(right, float(left)).reverse(),
        (None, None) => compare_floats(float(left), float(right)),
    }
}

/// The number as a float. Go reads integers beyond 64 signed bits as floats too.
pub fn float(number: &Number) -> f64 {
    number.as_f64().unwrap_or_default()
}

/// JSON has no NaN, so the order is total; adding zero makes -0.0 equal to 0.0.
fn compare_floats(left: f64, right: f64) -> Ordering {
    (left + 0.0).total_cmp(&(right + 0.0))
}

fn compare_integer_with_float(left: i64, right: f64) -> Ordering {
    /// 2^63, the first float above every 64-bit signed integer.
    const BEYOND: f64 = 9_223_372_036_854_775_808.0;
    if right >= BEYOND {
        return Ordering::Less;
    }
    if right < -BEYOND {
        return Ordering::Greater;
    }
    #[expect(
        clippy::cast_possible_truncation,
        reason = "the whole part lies between -2^63 and 2^63, checked above"
    )]
    let whole = right.trunc() as i64;
    left.cmp(&whole).then_with(|| compare_floats(0.0, right.fract()))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn numbers_are_equal_by_value() {
        assert!(equal(&json!(1), &json!(1.0)));
        assert!(equal(&json!({"a": [1]}), &json!({"a": [1.0]})));
        assert!(equal(&json!(-0.0), &json!(0)));
        assert!(!equal(&json!(1), &json!("1")));
        assert!(!equal(&json!({"a": 1}), &json!({"b": 1})));
        assert!(!equal(&json!([1]), &json!([1, 2])));
    }

    #[test]
    fn the_order_is_total_over_kinds_and_extremes() {
        let ascending = [
            json!(-1e300),
            json!(i64::MIN),
            json!(-1.5),
            json!(-1),
            json!(0.5),
            json!(1),
            json!(9_007_199_254_740_992_i64),
            json!(9_007_199_254_740_993_i64),
            json!(i64::MAX),
            json!(u64::MAX),
            json!("a"),
            json!("b"),
            json!(false),
            json!(true),
            json!([1]),
            json!([1, 2]),
            json!([2]),
            json!({"a": 1}),
            json!({"a": 2}),
            json!(null),
        ];
        for (left_index, left) in ascending.iter().enumerate() {
            for (right_index, right) in ascending.iter().enumerate() {
                assert_eq!(
                    compare(left, right),
                    left_index.cmp(&right_index),
                    "{left} against {right}"
                );
            }
        }
    }
}
