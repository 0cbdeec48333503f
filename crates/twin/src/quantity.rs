//! Amounts of resources as numbers. Owns the reading of Kubernetes' quantities; knows no resource in particular.

use std::collections::BTreeMap;

use k8s_openapi::apimachinery::pkg::api::resource::Quantity;

/// Amounts by resource, each in thousandths.
pub(crate) type Amounts = BTreeMap<String, i128>;

/// Suffixes and what they multiply by, in thousandths of one.
const SUFFIXES: [(&str, i128); 14] = [
    ("Ki", 1_000 << 10),
    ("Mi", 1_000 << 20),
    ("Gi", 1_000 << 30),
    ("Ti", 1_000 << 40),
    ("Pi", 1_000 << 50),
    ("Ei", 1_000 << 60),
    ("m", 1),
    ("k", 1_000_000),
    ("M", 1_000_000_000),
    ("G", 1_000_000_000_000),
    ("T", 1_000_000_000_000_000),
    ("P", 1_000_000_000_000_000_000),
    ("E", 1_000_000_000_000_000_000_000),
    ("", 1_000),
];

/// The amount in thousandths, rounded up as the API server does; nothing where the text is none.
pub(crate) fn thousandths(quantity: &Quantity) -> i128 {
    parse(&quantity.0).unwrap_or_default()
}

/// All amounts of a list of resources.
pub(crate) fn amounts(list: Option<&BTreeMap<String, Quantity>>) -> Amounts {
    let list = list.into_iter().flatten();
    list.map(|(name, quantity)| (name.clone(), thousandths(quantity)))
        .collect()
}

/// Adds amounts to others.
pub(crate) fn add(sum: &mut Amounts, more: &Amounts) {
    for (name, amount) in more {
        *sum.entry(name.clone()).or_default() += amount;
    }
}

/// The greater of both, resource by resource.
pub(crate) fn maximum(sum: &mut Amounts, other: &Amounts) {
    for (name, amount) in other {
        let entry = sum.entry(name.clone()).or_default();
        *entry = (*entry).max(*amount);
    }
}

fn parse(text: &str) -> Option<i128> {
    if let Some(scaled) = scientific(text) {
        return Some(scaled);
    }
    let (suffix, scale) = SUFFIXES.iter().find(|(suffix, _)| text.ends_with(suffix))?;
    decimal(text.strip_suffix(suffix)?, *scale)
}

/// A number with an exponent, such as `1e3`; `1E` alone is a suffix.
fn scientific(text: &str) -> Option<i128> {
    let (number, exponent) = text.split_once(['e', 'E'])?;
    let exponent: i32 = exponent.parse().ok()?;
    let scale = 10_i128.checked_pow(exponent.unsigned_abs())?;
    if exponent >= 0 {
        decimal(number, scale.checked_mul(1_000)?)
    } else {
        Some(divide_up(decimal(number, 1_000)?, scale))
    }
}

fn decimal(number: &str, scale: i128) -> Option<i128> {
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    let places = u32::try_from(fraction.len()).ok()?;
    let digits: i128 = format!("{whole}{fraction}").parse().ok()?;
    Some(divide_up(digits.checked_mul(scale)?, 10_i128.checked_pow(places)?))
}

const fn divide_up(number: i128, by: i128) -> i128 {
    let quotient = number.div_euclid(by);
    if number.rem_euclid(by) == 0 {
        quotient
    } else {
        quotient + 1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantities_are_read() {
        let cases = [
            ("100m", 100),
            ("1", 1_000),
            ("0.5", 500),
            ("1.5Gi", 1_610_612_736_000),
            ("2k", 2_000_000),
            ("1e3", 1_000_000),
            ("1E", 1_000_000_000_000_000_000_000),
            ("5e-1", 500),
            ("0.0001", 1),
            ("nothing", 0),
        ];
        for (text, expected) in cases {
            assert_eq!(thousandths(&Quantity(text.to_owned())), expected, "{text}");
        }
    }
}
