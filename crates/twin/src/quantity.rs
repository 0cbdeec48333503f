//! Amounts of resources as numbers. Knows no resource in particular; quantities are read as the API server reads them.

use std::collections::BTreeMap;

use hyperplane_kinds::Quantity as Read;
use k8s_openapi::apimachinery::pkg::api::resource::Quantity;

/// Amounts by resource, each in thousandths.
pub(crate) type Amounts = BTreeMap<String, i128>;

/// The amount in thousandths, rounded up; nothing where the text is none.
fn thousandths(quantity: &Quantity) -> i128 {
    Read::parse(&quantity.0).map_or(0, |read| i128::from(read.milli_value()))
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
            // What does not fit is as much as there can be.
            ("1E", i128::from(i64::MAX)),
            ("5e-1", 500),
            ("0.0001", 1),
            ("nothing", 0),
        ];
        for (text, expected) in cases {
            assert_eq!(thousandths(&Quantity(text.to_owned())), expected, "{text}");
        }
    }
}
