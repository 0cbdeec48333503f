//! Ranges and multiples of numbers.

use serde_json::Number;

use super::{Outcome, Validator};
use crate::field_error::FieldError;
use crate::go_text;
use crate::node::{Checks, Node, Type};
use crate::path::Path;
use crate::validate::scalar::is_whole;

impl Validator<'_> {
    pub(super) fn number(&self, node: &Node, number: &Number, path: &Path<'_>, outcome: &mut Outcome) {
        let checks = &node.checks;
        outcome.matches += 2;
        if !is_in_range(node, number) {
            outcome.push(self.out_of_range(node, "Checked", path));
        }
        for (prefix, bound) in [
            ("MultipleOf", checks.multiple_of),
            ("Minimum boundary", checks.minimum),
            ("Maximum boundary", checks.maximum),
        ] {
            let Some(bound) = bound else { continue };
            let is_fitting = is_float_in_range(node, bound);
            if !is_fitting {
                outcome.push(self.out_of_range(node, prefix, path));
            }
            // A bound that does not fit the type is compared in floats.
            let number = match Number::from_f64(number.as_f64().unwrap_or_default()) {
                Some(float) if !is_fitting => float,
                _ => number.clone(),
            };
            let complaint = match prefix {
                "MultipleOf" => not_multiple(&number, bound),
                "Minimum boundary" => below(&number, bound, checks),
                _ => above(&number, bound, checks),
            };
            match complaint {
                None => {}
                Some(Complaint::Should(words)) => {
                    let detail = format!("{path} in body should be {words}");
                    outcome.push(FieldError::invalid(self.field(path), number, detail));
                }
                Some(Complaint::Factor(factor)) => {
                    let shown = go_text::number(&factor);
                    let detail = format!("factor MultipleOf declared for {path} must be positive: {shown}");
                    outcome.push(FieldError::invalid(self.field(path), factor, detail));
                }
            }
        }
    }

    fn out_of_range(&self, node: &Node, prefix: &str, path: &Path<'_>) -> FieldError {
        let kind = node.kind.name();
        let format = match node.checks.format_name.as_str() {
            "" => "(default format)".to_owned(),
            format => format!("with format {format}"),
        };
        self.unplaced(format!("{prefix} value must be of type {kind} {format} in {path}"))
    }
}

enum Complaint {
    /// What the value should be.
    Should(String),
    /// The factor itself is not positive.
    Factor(Number),
}

/// Whether the type of the schema can hold the number.
fn is_in_range(node: &Node, number: &Number) -> bool {
    match (node.kind, node.checks.format_name.as_str(), number.as_i64()) {
        (Type::Integer, "int32", Some(integer)) => i32::try_from(integer).is_ok(),
        (Type::Integer, _, Some(_)) => true,
        _ => is_float_in_range(node, number.as_f64().unwrap_or_default()),
    }
}

fn is_float_in_range(node: &Node, float: f64) -> bool {
    match (node.kind, node.checks.format_name.as_str()) {
        (Type::Integer, "int32") => float.fract() == 0.0 && float.abs() <= f64::from(i32::MAX) + 1.0,
        (Type::Integer, _) => float.fract() == 0.0 && float.abs() < 9_223_372_036_854_775_808.0,
        (Type::Number, "float") => float.abs() <= f64::from(f32::MAX),
        _ => true,
    }
}

/// Go converts the bound to the type of the value.
#[allow(
    clippy::cast_possible_truncation,
    reason = "Go converts a float to int64 in the same way"
)]
fn as_integers(number: &Number, bound: f64) -> Option<(i64, i64)> {
    Some((number.as_i64()?, bound as i64))
}

fn above(number: &Number, bound: f64, checks: &Checks) -> Option<Complaint> {
    let is_exclusive = checks.exclusive_maximum;
    let words = if is_exclusive {
        "less than"
    } else {
        "less than or equal to"
    };
    let (is_above, bound) = if let Some((value, bound)) = as_integers(number, bound) {
        (value > bound || is_exclusive && value == bound, bound.to_string())
    } else {
        let value = number.as_f64().unwrap_or_default();
        (value > bound || is_exclusive && value >= bound, go_text::float(bound))
    };
    is_above.then(|| Complaint::Should(format!("{words} {bound}")))
}

fn below(number: &Number, bound: f64, checks: &Checks) -> Option<Complaint> {
    let is_exclusive = checks.exclusive_minimum;
    let words = if is_exclusive {
        "greater than"
    } else {
        "greater than or equal to"
    };
    let (is_below, bound) = if let Some((value, bound)) = as_integers(number, bound) {
        (value < bound || is_exclusive && value == bound, bound.to_string())
    } else {
        let value = number.as_f64().unwrap_or_default();
        (value < bound || is_exclusive && value <= bound, go_text::float(bound))
    };
    is_below.then(|| Complaint::Should(format!("{words} {bound}")))
}

fn not_multiple(number: &Number, factor: f64) -> Option<Complaint> {
    match as_integers(number, factor) {
        Some((_, factor)) if factor <= 0 => Some(Complaint::Factor(factor.into())),
        Some((value, factor)) => (value % factor != 0).then(|| Complaint::Should(format!("a multiple of {factor}"))),
        None if factor <= 0.0 => Number::from_f64(factor).map(Complaint::Factor),
        None => {
            let value = number.as_f64().unwrap_or_default();
            let quotient = if factor < 1.0 {
                1.0 / factor * value
            } else {
                value / factor
            };
            (!is_whole(quotient)).then(|| Complaint::Should(format!("a multiple of {}", go_text::float(factor))))
        }
    }
}
