//! Amounts as Kubernetes writes them: `100m`, `1.5Gi`, `2e3`. Reads, compares and writes them in canonical form
//! (apimachinery, resource/quantity.go). Knows no resource by name.

use std::{cmp::Ordering, fmt};

/// One unit in the billionths in which amounts are counted, the finest step that upstream keeps.
const UNIT: i128 = 1_000_000_000;
/// The finest step of a resource list.
const MILLI: i128 = UNIT / 1000;
/// Binary amounts above this are capped by upstream; decimal ones are not.
const BINARY_LIMIT: i128 = i64::MAX as i128 * UNIT;
/// How many digits a number may have before upstream leaves its fast path, which keeps the text that was sent.
const FAST_DIGITS: usize = 18;
/// The same for binary amounts, before the digits of the suffix are taken off.
const FAST_BINARY_DIGITS: usize = 14;
/// Beyond this power of ten every number of billionths that we can count is zero or capped.
const EXPONENT_LIMIT: i32 = 64;

/// Why a text is no amount; the words are upstream's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum QuantityError {
    /// The text has not the form of an amount.
    Format,
    /// The digits are no number.
    Number,
    /// The suffix is unknown.
    Suffix,
}

impl fmt::Display for QuantityError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Format => {
                "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"
            }
            Self::Number => "unable to parse numeric part of quantity",
            Self::Suffix => "unable to parse quantity's suffix",
        })
    }
}

impl std::error::Error for QuantityError {}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Format {
    Decimal,
    Exponent,
    Binary,
}

/// An amount. Equal and ordered by value, however it was written.
#[derive(Clone, Copy, Debug)]
pub struct Quantity {
    /// In billionths; amounts that do not fit are capped.
    nanos: i128,
    format: Format,
}

impl PartialEq for Quantity {
    fn eq(&self, other: &Self) -> bool {
        self.nanos == other.nanos
    }
}

impl Eq for Quantity {}

impl PartialOrd for Quantity {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Quantity {
    fn cmp(&self, other: &Self) -> Ordering {
        self.nanos.cmp(&other.nanos)
    }
}

/// The parts of a text, before they are a number.
struct Parts<'a> {
    negative: bool,
    whole: &'a str,
    fraction: &'a str,
    suffix: &'a str,
}

impl Quantity {
    /// Nothing.
    pub const ZERO: Self = Self {
        nanos: 0,
        format: Format::Decimal,
    };

    /// Reads an amount.
    pub fn parse(text: &str) -> Result<Self, QuantityError> {
        let parts = split(text)?;
        let (binary, exponent, mut format) = interpret(parts.suffix).ok_or(QuantityError::Suffix)?;
        let magnitude = if binary {
            binary_nanos(&parts, exponent)
        } else {
            decimal_nanos(&parts, exponent)
        };
        let capped = if format == Format::Binary {
            magnitude.min(BINARY_LIMIT)
        } else {
            magnitude
        };
        if format == Format::Binary && capped > 0 && capped < UNIT {
            format = Format::Decimal;
        }
        Ok(Self {
            nanos: if parts.negative { -capped } else { capped },
            format,
        })
    }

    /// Whether it is below nothing.
    pub fn is_negative(self) -> bool {
        self.nanos < 0
    }

    /// Whether it is nothing.
    pub fn is_zero(self) -> bool {
        self.nanos == 0
    }

    /// Whether it is a whole number.
    pub fn is_whole(self) -> bool {
        self.nanos % UNIT == 0
    }

    /// The number, rounded up.
    pub fn value(self) -> i64 {
        let whole = self.nanos.div_euclid(UNIT) + i128::from(self.nanos.rem_euclid(UNIT) != 0);
        i64::try_from(whole).unwrap_or(if self.nanos < 0 { i64::MIN } else { i64::MAX })
    }

    /// The number of thousandths, rounded up.
    pub fn milli_value(self) -> i64 {
        let whole = self.nanos.div_euclid(MILLI) + i128::from(self.nanos.rem_euclid(MILLI) != 0);
        i64::try_from(whole).unwrap_or(if self.nanos < 0 { i64::MIN } else { i64::MAX })
    }

    /// The sum, in the form of this one.
    pub fn plus(self, other: Self) -> Self {
        let format = if self.is_zero() { other.format } else { self.format };
        Self {
            nanos: self.nanos.saturating_add(other.nanos),
            format,
        }
    }

    /// How upstream writes the amount that was read from `text`: it keeps a text that is canonical by its own cheap test.
    pub(crate) fn as_written(self, text: &str) -> String {
        if keeps_text(text) {
            text.to_owned()
        } else {
            self.to_string()
        }
    }

    /// The same for the amounts of resource lists, which are rounded up to thousandths.
    pub(crate) fn rounded_up_to_milli(self, text: &str) -> String {
        if self.nanos % MILLI == 0 {
            return self.as_written(text);
        }
        let away = if self.nanos < 0 { -1 } else { 1 };
        Self {
            nanos: (self.nanos / MILLI + away) * MILLI,
            format: self.format,
        }
        .to_string()
    }
}

/// Writes the canonical form: no fraction, and the largest suffix that loses nothing.
impl fmt::Display for Quantity {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.nanos == 0 {
            return formatter.write_str("0");
        }
        let small = self.nanos.abs() < 1024 * UNIT;
        if self.format == Format::Binary && !small && self.is_whole() {
            return write_binary(self.nanos / UNIT, formatter);
        }
        write_decimal(self.nanos, self.format == Format::Exponent, formatter)
    }
}

fn write_binary(whole: i128, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
    const SUFFIXES: [&str; 7] = ["", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"];
    let mut amount = whole;
    let mut power = 0;
    while amount % 1024 == 0 && power + 1 < SUFFIXES.len() {
        amount /= 1024;
        power += 1;
    }
    write!(formatter, "{amount}{}", SUFFIXES[power])
}

fn write_decimal(nanos: i128, as_exponent: bool, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
    const SUFFIXES: [&str; 10] = ["n", "u", "m", "", "k", "M", "G", "T", "P", "E"];
    let mut amount = nanos;
    let mut power = 0;
    while amount % 1000 == 0 && (as_exponent || power + 1 < SUFFIXES.len()) {
        amount /= 1000;
        power += 1;
    }
    let exponent = i32::try_from(power).unwrap_or(0) * 3 - 9;
    match (as_exponent, exponent) {
        (true, 0) => write!(formatter, "{amount}"),
        (true, exponent) => write!(formatter, "{amount}e{exponent}"),
        (false, _) => write!(formatter, "{amount}{}", SUFFIXES[power]),
    }
}

fn split(text: &str) -> Result<Parts<'_>, QuantityError> {
    if text.is_empty() {
        return Err(QuantityError::Format);
    }
    let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
    let digits = |text: &str| text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let (whole, rest) = unsigned.split_at(digits(unsigned));
    let (fraction, suffix) = match rest.strip_prefix('.') {
        Some(rest) => rest.split_at(digits(rest)),
        None => ("", rest),
    };
    let letters = suffix.trim_start_matches(['e', 'E', 'i', 'n', 'u', 'm', 'k', 'K', 'M', 'G', 'T', 'P']);
    let exponent = letters.strip_prefix(['+', '-']).unwrap_or(letters);
    if digits(exponent) != exponent.len() {
        return Err(QuantityError::Format);
    }
    if whole.is_empty() && fraction.is_empty() && !unsigned.is_empty() && rest.starts_with('.') {
        return Err(QuantityError::Number);
    }
    Ok(Parts {
        negative: text.starts_with('-'),
        whole: whole.trim_start_matches('0'),
        fraction,
        suffix,
    })
}

/// Whether the suffix counts in powers of two, the power, and the family of suffixes.
fn interpret(suffix: &str) -> Option<(bool, i32, Format)> {
    let decimal = |exponent| Some((false, exponent, Format::Decimal));
    let binary = |exponent| Some((true, exponent, Format::Binary));
    match suffix {
        "n" => decimal(-9),
        "u" => decimal(-6),
        "m" => decimal(-3),
        "" => decimal(0),
        "k" => decimal(3),
        "M" => decimal(6),
        "G" => decimal(9),
        "T" => decimal(12),
        "P" => decimal(15),
        "E" => decimal(18),
        "Ki" => binary(10),
        "Mi" => binary(20),
        "Gi" => binary(30),
        "Ti" => binary(40),
        "Pi" => binary(50),
        "Ei" => binary(60),
        other => {
            let exponent: i64 = other.strip_prefix(['e', 'E'])?.parse().ok()?;
            let bounded = exponent.clamp(-i64::from(EXPONENT_LIMIT), i64::from(EXPONENT_LIMIT));
            Some((false, i32::try_from(bounded).ok()?, Format::Exponent))
        }
    }
}

/// The amount in billionths, rounded up, capped where it does not fit.
fn decimal_nanos(parts: &Parts<'_>, exponent: i32) -> i128 {
    let digits = format!("{}{}", parts.whole, parts.fraction);
    let scale = exponent - i32::try_from(parts.fraction.len()).unwrap_or(i32::MAX) + 9;
    scaled(digits.trim_start_matches('0'), scale)
}

fn binary_nanos(parts: &Parts<'_>, exponent: i32) -> i128 {
    let digits = format!("{}{}", parts.whole, parts.fraction);
    let scale = 9 - i32::try_from(parts.fraction.len()).unwrap_or(i32::MAX);
    let factor = 1_i128 << exponent;
    match digits
        .trim_start_matches('0')
        .parse::<i128>()
        .ok()
        .and_then(|number| number.checked_mul(factor))
    {
        Some(number) => scaled(&number.to_string(), scale),
        None if digits.trim_start_matches('0').is_empty() => 0,
        None => BINARY_LIMIT,
    }
}

/// `digits` times ten to the power of `scale`; a rest is rounded up.
fn scaled(digits: &str, scale: i32) -> i128 {
    if digits.is_empty() || digits == "0" {
        return 0;
    }
    let length = i32::try_from(digits.len()).unwrap_or(i32::MAX);
    if length.saturating_add(scale) > 38 {
        return i128::MAX;
    }
    if scale >= 0 {
        let zeros = "0".repeat(usize::try_from(scale).unwrap_or(0));
        return format!("{digits}{zeros}").parse().unwrap_or(i128::MAX);
    }
    let kept = usize::try_from(length + scale).unwrap_or(0);
    let (whole, rest) = digits.split_at(kept.min(digits.len()));
    let whole: i128 = if whole.is_empty() {
        0
    } else {
        whole.parse().unwrap_or(i128::MAX)
    };
    whole.saturating_add(i128::from(rest.chars().any(|digit| digit != '0')))
}

/// Whether upstream's fast path takes the text for canonical and writes it back as it came.
fn keeps_text(text: &str) -> bool {
    let Ok(parts) = split(text) else { return false };
    let Some((binary, exponent, _)) = interpret(parts.suffix) else {
        return false;
    };
    if text == "0" {
        return true;
    }
    let whole = if parts.whole.is_empty() { "0" } else { parts.whole };
    if binary {
        let suffix_digits = usize::try_from(exponent * 3 / 10).unwrap_or(0);
        let few = parts.fraction.is_empty() && whole.len() + suffix_digits <= FAST_BINARY_DIGITS;
        return few && whole.parse::<i64>().is_ok_and(|number| number & 7 != 0);
    }
    let scale = exponent - i32::try_from(parts.fraction.len()).unwrap_or(i32::MAX);
    let shifted = format!("{whole}{}", parts.fraction);
    shifted.len() <= FAST_DIGITS
        && scale >= -9
        && scale % 3 == 0
        && !shifted.ends_with("000")
        && !shifted.starts_with('0')
}

#[cfg(test)]
mod tests;
