//! Quantities such as `100m` or `1Gi`, exact to a billionth (apimachinery, resource.Quantity).

use std::cmp::Ordering;

/// A billionth is the smallest part that upstream keeps.
const NANO: i128 = 1_000_000_000;
/// Anything larger is cut to this.
const MAX: i128 = i64::MAX as i128 * NANO;

/// A quantity in billionths.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Quantity {
    nanos: i128,
}

impl Quantity {
    /// Reads a number with an optional suffix; what is smaller than a billionth is rounded away from zero.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let (is_negative, rest) = match text.as_bytes().first()? {
            b'-' => (true, &text[1..]),
            b'+' => (false, &text[1..]),
            _ => (false, text),
        };
        let end = rest
            .find(|character: char| !character.is_ascii_digit() && character != '.')
            .unwrap_or(rest.len());
        let (number, suffix) = rest.split_at(end);
        let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
        if whole.is_empty() && fraction.is_empty() || fraction.contains('.') {
            return None;
        }
        let (base, exponent) = suffix_scale(suffix)?;
        let nanos = scaled(whole, fraction, base, exponent).min(MAX);
        Some(Self {
            nanos: if is_negative { -nanos } else { nanos },
        })
    }

    /// The value if it is a whole number that fits.
    pub(crate) fn as_integer(self) -> Option<i64> {
        (self.nanos % NANO == 0).then(|| i64::try_from(self.nanos / NANO).ok())?
    }

    /// The nearest float.
    #[allow(clippy::cast_precision_loss, reason = "the function is called approximate")]
    pub(crate) fn as_float(self) -> f64 {
        (self.nanos / NANO) as f64 + (self.nanos % NANO) as f64 / NANO as f64
    }

    /// -1, 0 or 1.
    pub(crate) fn sign(self) -> i64 {
        match self.nanos.cmp(&0) {
            Ordering::Less => -1,
            Ordering::Equal => 0,
            Ordering::Greater => 1,
        }
    }

    pub(crate) fn add(self, other: Self) -> Self {
        Self {
            nanos: self.nanos + other.nanos,
        }
    }

    pub(crate) fn subtract(self, other: Self) -> Self {
        Self {
            nanos: self.nanos - other.nanos,
        }
    }

    pub(crate) fn from_integer(integer: i64) -> Self {
        Self {
            nanos: i128::from(integer) * NANO,
        }
    }
}

/// The base and the power of it that a suffix multiplies with.
fn suffix_scale(suffix: &str) -> Option<(i128, i32)> {
    Some(match suffix {
        "n" => (10, -9),
        "u" => (10, -6),
        "m" => (10, -3),
        "" => (10, 0),
        "k" => (10, 3),
        "M" => (10, 6),
        "G" => (10, 9),
        "T" => (10, 12),
        "P" => (10, 15),
        "E" => (10, 18),
        "Ki" => (1024, 1),
        "Mi" => (1024, 2),
        "Gi" => (1024, 3),
        "Ti" => (1024, 4),
        "Pi" => (1024, 5),
        "Ei" => (1024, 6),
        _ => {
            let exponent = suffix.strip_prefix(['e', 'E'])?;
            let digits = exponent.strip_prefix(['+', '-']).unwrap_or(exponent);
            let is_number = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
            (10, is_number.then(|| exponent.parse::<i32>().ok())??)
        }
    })
}

/// Billionths of the number, rounded up; larger than the largest quantity when it does not fit.
fn scaled(whole: &str, fraction: &str, base: i128, exponent: i32) -> i128 {
    let digits: Vec<i128> = whole
        .bytes()
        .chain(fraction.bytes())
        .map(|byte| i128::from(byte - b'0'))
        .collect();
    let multiplier = if base == 1024 {
        1024_i128.pow(exponent.unsigned_abs())
    } else {
        1
    };
    let decimal_exponent = if base == 1024 { 0 } else { exponent };
    let point = i32::try_from(whole.len())
        .unwrap_or(i32::MAX)
        .saturating_add(decimal_exponent)
        .saturating_add(9);
    let mut total: i128 = 0;
    let mut remainder = false;
    for (position, digit) in (0_i32..).zip(&digits) {
        if multiplier == 1 && position >= point {
            remainder = remainder || *digit > 0;
            continue;
        }
        total = total.saturating_mul(10).saturating_add(*digit);
    }
    let count = i32::try_from(digits.len()).unwrap_or(i32::MAX);
    if multiplier > 1 {
        return binary(total, fraction.len(), multiplier);
    }
    for _ in count..point {
        if total == 0 || total > MAX {
            break;
        }
        total = total.saturating_mul(10);
    }
    total.saturating_add(i128::from(remainder))
}

/// `total / 10^places * multiplier` in billionths, rounded up.
fn binary(total: i128, places: usize, multiplier: i128) -> i128 {
    let scaled = total.saturating_mul(multiplier);
    let shift = 9 - i32::try_from(places).unwrap_or(i32::MAX);
    let Ok(up) = u32::try_from(shift) else {
        let divisor = 10_i128.saturating_pow(shift.unsigned_abs());
        return scaled / divisor + i128::from(scaled % divisor > 0);
    };
    scaled.saturating_mul(10_i128.pow(up))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn suffixes_scale() {
        for (text, nanos) in [
            ("1", NANO),
            ("100m", NANO / 10),
            ("1.5Gi", 3 * 512 * 1024 * 1024 * NANO),
            ("1e3", 1000 * NANO),
            ("-1k", -1000 * NANO),
            ("1n", 1),
            ("0.1n", 1),
            (".5", NANO / 2),
            ("1E", 1_000_000_000_000_000_000 * NANO),
            ("100E", MAX),
            ("0.3Ki", 307_200_000_000),
        ] {
            assert_eq!(
                Quantity::parse(text).map(|quantity| quantity.nanos),
                Some(nanos),
                "{text}"
            );
        }
        for text in ["", "x", "1x", "1.2.3", "-", ".", "1e", "1Kib", "1 "] {
            assert_eq!(Quantity::parse(text), None, "{text}");
        }
    }
}
