//! Amounts against tables of what upstream writes, and against numbers.

use proptest::prelude::*;

use super::*;

#[track_caller]
fn check(text: &str, written: &str) {
    let quantity = Quantity::parse(text).unwrap();
    assert_eq!(quantity.as_written(text), written, "{text}");
}

#[test]
fn amounts_are_written_as_upstream_writes_them() {
    for (text, written) in [
        ("0", "0"),
        ("1", "1"),
        ("100m", "100m"),
        ("1000m", "1"),
        ("1500m", "1500m"),
        ("1.5", "1500m"),
        ("0.5", "500m"),
        (".5", "500m"),
        ("1.5Gi", "1536Mi"),
        ("1024Mi", "1Gi"),
        ("1025Mi", "1025Mi"),
        ("1024", "1024"),
        ("1000", "1k"),
        ("2048Ki", "2Mi"),
        ("1e3", "1e3"),
        ("1E3", "1E3"),
        ("12e6", "12e6"),
        ("1000e0", "1e3"),
        ("100Ki", "100Ki"),
        ("0.0000000001", "1n"),
        ("-1.5", "-1500m"),
        ("0Ki", "0"),
        ("512Mi", "512Mi"),
        ("10Ei", "9223372036854775807"),
    ] {
        check(text, written);
    }
}

#[test]
fn amounts_of_resources_have_no_finer_parts_than_thousandths() {
    for (text, written) in [("1u", "1m"), ("1.0001", "1001m"), ("100m", "100m"), ("1000m", "1")] {
        let quantity = Quantity::parse(text).unwrap();
        assert_eq!(quantity.rounded_up_to_milli(text), written, "{text}");
    }
}

#[test]
fn what_is_no_amount_is_refused_in_upstreams_words() {
    for (text, error) in [
        ("", QuantityError::Format),
        ("a", QuantityError::Format),
        ("1x", QuantityError::Format),
        ("1 Gi", QuantityError::Format),
        ("1Kx", QuantityError::Format),
        ("1KiKi", QuantityError::Suffix),
        ("1mm", QuantityError::Suffix),
        ("1.1.1", QuantityError::Format),
    ] {
        assert_eq!(Quantity::parse(text), Err(error), "{text}");
    }
}

proptest! {
    #[test]
    fn any_text_is_an_amount_or_an_error(text in "\\PC{0,24}") {
        let _outcome = Quantity::parse(&text);
    }

    #[test]
    fn canonical_form_reads_back_as_the_same_amount(
        number in "[+-]?[0-9]{1,18}(\\.[0-9]{0,9})?",
        suffix in prop::sample::select(vec!["", "n", "u", "m", "k", "M", "G", "Ki", "Mi", "Gi", "e2", "E-3"]),
    ) {
        let quantity = Quantity::parse(&format!("{number}{suffix}")).unwrap();
        let again = Quantity::parse(&quantity.to_string()).unwrap();
        prop_assert_eq!(quantity, again);
        prop_assert_eq!(quantity.to_string(), again.to_string());
    }

    #[test]
    fn amounts_are_ordered_as_numbers(left in -1_000_000_i64..1_000_000, right in -1_000_000_i64..1_000_000) {
        let left_quantity = Quantity::parse(&format!("{left}m")).unwrap();
        let right_quantity = Quantity::parse(&format!("{right}m")).unwrap();
        prop_assert_eq!(left_quantity.cmp(&right_quantity), left.cmp(&right));
        prop_assert_eq!(left_quantity.milli_value(), left);
    }
}
