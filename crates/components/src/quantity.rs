//! Amounts as an API server writes them: one that comes back in other words would be written again and again.

use hyperplane_kinds::Quantity;

/// An amount of a resource in the words of an API server; none where a text is no amount, is negative, or is beyond what
/// can be counted.
pub(crate) fn canonical(text: &str) -> Option<String> {
    let amount = Quantity::parse(text).ok().filter(|amount| !amount.is_negative())?;
    let thousandths = amount.milli_value();
    if thousandths == i64::MAX {
        return None;
    }
    // Resources are counted in thousandths at the finest.
    let rounded = Quantity::parse(&format!("{thousandths}m")).ok()?;
    Some(if rounded == amount { amount } else { rounded }.to_string())
}

#[cfg(test)]
mod tests {
    use super::canonical;

    #[test]
    fn amounts_are_written_in_one_way() {
        for (text, expected) in [
            ("100m", Some("100m")),
            ("1000m", Some("1")),
            ("0.5", Some("500m")),
            ("1.5Gi", Some("1536Mi")),
            ("1024Mi", Some("1Gi")),
            ("2e3", Some("2e3")),
            ("0", Some("0")),
            ("1n", Some("1m")),
            ("-1", None),
            ("9E", None),
            ("one", None),
            ("", None),
        ] {
            assert_eq!(canonical(text).as_deref(), expected, "{text:?}");
        }
        for once in ["100m", "1536Mi", "1Gi", "8Gi", "2e3"] {
            assert_eq!(canonical(once).as_deref(), Some(once), "{once:?}");
        }
    }
}
