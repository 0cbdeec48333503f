//! Counts as the API has them: 32-bit, and sometimes a percentage. Owns rounding; knows no workload.

use k8s_openapi::apimachinery::pkg::util::intstr::IntOrString;

/// A count of things that are in memory, as the API writes it.
pub(crate) fn count(length: usize) -> i32 {
    i32::try_from(length).unwrap_or(i32::MAX)
}

/// A number or a percentage of a total, rounded as asked. What is neither counts as nothing.
pub(crate) fn scaled(value: &IntOrString, total: i32, rounds_up: bool) -> i32 {
    match value {
        IntOrString::Int(number) => *number,
        IntOrString::String(text) => {
            let Some(percent) = text.strip_suffix('%').and_then(|text| text.parse::<i64>().ok()) else {
                return 0;
            };
            let product = percent.saturating_mul(i64::from(total));
            let rounded = if rounds_up {
                (product + 99).div_euclid(100)
            } else {
                product.div_euclid(100)
            };
            i32::try_from(rounded).unwrap_or(i32::MAX)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentages_are_rounded_as_asked() {
        for (text, total, up, down) in [
            ("25%", 3, 1, 0),
            ("25%", 4, 1, 1),
            ("50%", 3, 2, 1),
            ("0%", 9, 0, 0),
            ("x", 9, 0, 0),
        ] {
            let value = IntOrString::String(text.to_owned());
            assert_eq!(
                (scaled(&value, total, true), scaled(&value, total, false)),
                (up, down),
                "{text} of {total}"
            );
        }
        assert_eq!(scaled(&IntOrString::Int(7), 3, true), 7);
    }
}
