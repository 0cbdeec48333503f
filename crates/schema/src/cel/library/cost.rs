//! What a call costs with the values that it has (apiserver, library/cost.go; cel-go, runtimecost.go).

use super::super::estimate::{LIST, REGEX, TRAVERSAL, scale};
use super::super::value::Value;

/// How the cost of a call follows from its values.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(in crate::cel) enum Cost {
    /// The same for all values.
    Fixed(u64),
    /// Reading the first argument, so often.
    First(f64),
    /// Reading the result, so often.
    Result(f64),
    /// Comparing two values: the shorter one is read.
    Compare,
    /// As `Compare` for texts, one for everything else.
    Order,
    /// Both texts are copied; lists are not.
    Add,
    /// The list is searched.
    Search,
    /// One text is searched for the other.
    Contains,
    /// A pattern that is not known before.
    Pattern,
    /// Everything in the first argument is read.
    Traverse,
    /// Each of one list against each of the other, so often.
    Product(f64),
    /// A new list is made.
    NewList,
    /// Each of a list against each other.
    SelfCompare(usize),
    /// An address is compared; a text is read first.
    Address(bool),
    /// A text is held against a named format.
    Named,
}

impl Cost {
    /// The rule for a function.
    pub(in crate::cel) fn of(function: &str, overloads: &[String]) -> Self {
        let is = |overload: &str| overloads.iter().any(|found| found == overload);
        match function {
            "_==_" | "_!=_" => Self::Compare,
            "_<_" | "_<=_" | "_>_" | "_>=_" => Self::Order,
            "_+_" => Self::Add,
            "@in" => Self::Search,
            "contains" => Self::Contains,
            "startsWith" | "endsWith" | "bytes" | "format" | "strings.quote" | "url" | "lowerAscii" | "upperAscii"
            | "substring" | "trim" | "cidr" | "isIP" | "isCIDR" | "quantity" | "isQuantity" | "semver" | "isSemver" => {
                Self::First(1.0)
            }
            "string" if is("bytes_to_string") => Self::First(1.0),
            "ip" if !is("cidr_ip") => Self::First(1.0),
            "replace" | "split" | "ip.isCanonical" => Self::First(2.0),
            "join" => Self::Result(2.0),
            "matches" | "find" | "findAll" => Self::Pattern,
            "isSorted" | "sum" | "max" | "min" | "indexOf" | "lastIndexOf" => Self::Traverse,
            "sets.contains" | "sets.intersects" => Self::Product(1.0),
            "sets.equivalent" => Self::Product(2.0),
            "slice" | "lists.range" | "reverse" | "flatten" => Self::NewList,
            "distinct" | "sort" => Self::SelfCompare(0),
            "@sortByAssociatedKeys" => Self::SelfCompare(1),
            "containsIP" => Self::Address(false),
            "containsCIDR" => Self::Address(true),
            "validate" => Self::Named,
            _ => Self::Fixed(1),
        }
    }

    /// Whether the cost is known before the call.
    pub(in crate::cel) fn is_known_before(self) -> bool {
        !matches!(self, Self::Result(_) | Self::NewList)
    }

    /// The cost of one call; the result counts only where the cost is not known before.
    pub(in crate::cel) fn of_call(self, arguments: &[Value<'_>], result: &Value<'_>) -> u64 {
        let size = |index: usize| arguments.get(index).map_or(1, Value::size);
        match self {
            Self::Fixed(cost) => cost,
            Self::First(times) => scale(size(0), times * TRAVERSAL),
            Self::Result(times) => scale(result.size(), times * TRAVERSAL),
            Self::Compare => scale(size(0).min(size(1)), TRAVERSAL),
            Self::Order if is_text(&arguments[0]) => scale(size(0).min(size(1)), TRAVERSAL),
            Self::Add if is_text(&arguments[0]) => scale(size(0).saturating_add(size(1)), TRAVERSAL),
            Self::Order | Self::Add => 1,
            Self::Search => match &arguments[1] {
                Value::Entries(_) | Value::List(_) => size(1),
                _ => 1,
            },
            Self::Contains => scale(size(0), TRAVERSAL).saturating_mul(scale(size(1), TRAVERSAL)),
            Self::Pattern => scale(size(0).saturating_add(1), TRAVERSAL).saturating_mul(scale(size(1), REGEX)),
            Self::Traverse => traversal(&arguments[0]),
            Self::Product(times) => scale(size(0).saturating_mul(size(1)), times).saturating_add(1),
            Self::NewList => result.size().saturating_add(1 + LIST),
            Self::SelfCompare(index) => {
                let length = size(index);
                let is_text = arguments[index]
                    .items()
                    .and_then(|mut items| items.next())
                    .is_some_and(|first| first.as_ref().is_ok_and(is_text));
                let factor = if is_text { 2.0 + TRAVERSAL } else { 2.0 };
                scale(length.saturating_mul(length), factor).saturating_add(1 + LIST)
            }
            Self::Address(is_network) => {
                let mut cost = scale(size(0) * 2, TRAVERSAL);
                if is_network {
                    cost += scale(size(0), TRAVERSAL) + 1;
                }
                if matches!(arguments.get(1), Some(Value::String(_))) {
                    cost += scale(size(1), TRAVERSAL);
                }
                cost
            }
            // Upstream assumes a long pattern behind every name.
            Self::Named => scale(size(1).saturating_add(1), TRAVERSAL).saturating_mul(scale(128, REGEX)),
        }
    }
}

fn is_text(value: &Value<'_>) -> bool {
    matches!(value, Value::String(_) | Value::Bytes(_))
}

/// The cost of reading all of a value.
fn traversal(value: &Value<'_>) -> u64 {
    match value {
        Value::String(_) | Value::Bytes(_) => scale(value.size(), TRAVERSAL),
        other => match other.items() {
            Some(items) => items.filter_map(Result::ok).map(|item| traversal(&item)).sum(),
            None => 1,
        },
    }
}
