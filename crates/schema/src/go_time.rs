//! Durations, dates and timestamps as Go's `time` reads them, for formats and for CEL.

const NANOS_PER_SECOND: u128 = 1_000_000_000;

/// The units of a duration and their length in nanoseconds.
const UNITS: [(&str, u128); 8] = [
    ("ns", 1),
    ("us", 1_000),
    ("µs", 1_000),
    ("μs", 1_000),
    ("ms", 1_000_000),
    ("s", NANOS_PER_SECOND),
    ("m", 60 * NANOS_PER_SECOND),
    ("h", 3_600 * NANOS_PER_SECOND),
];

/// Nanoseconds of a text such as `1h30m` or `-1.5s`.
pub(crate) fn parse_duration(text: &str) -> Option<i64> {
    let (is_negative, mut rest) = match text.as_bytes().first()? {
        b'-' => (true, &text[1..]),
        b'+' => (false, &text[1..]),
        _ => (false, text),
    };
    if rest == "0" {
        return Some(0);
    }
    let mut total: u128 = 0;
    if rest.is_empty() {
        return None;
    }
    while !rest.is_empty() {
        let (nanos, after) = parse_part(rest)?;
        total = total.checked_add(nanos)?;
        rest = after;
    }
    let total = i128::try_from(total).ok()?;
    i64::try_from(if is_negative { -total } else { total }).ok()
}

/// One number with its unit at the beginning of the text.
fn parse_part(text: &str) -> Option<(u128, &str)> {
    let whole_end = text
        .find(|character: char| !character.is_ascii_digit())
        .unwrap_or(text.len());
    let (whole, rest) = text.split_at(whole_end);
    let (fraction, rest) = match rest.strip_prefix('.') {
        Some(after) => {
            let end = after
                .find(|character: char| !character.is_ascii_digit())
                .unwrap_or(after.len());
            after.split_at(end)
        }
        None => ("", rest),
    };
    if whole.is_empty() && fraction.is_empty() {
        return None;
    }
    let unit_end = rest
        .find(|character: char| character == '.' || character.is_ascii_digit())
        .unwrap_or(rest.len());
    let (unit, rest) = rest.split_at(unit_end);
    let nanos = UNITS.iter().find(|(name, _)| *name == unit)?.1;
    let whole: u128 = if whole.is_empty() {
        0
    } else {
        whole.parse::<u64>().ok()?.into()
    };
    Some((
        whole.checked_mul(nanos)?.checked_add(fraction_of(fraction, nanos))?,
        rest,
    ))
}

fn fraction_of(digits: &str, nanos: u128) -> u128 {
    // More digits than a nanosecond can hold change nothing.
    let digits = &digits[..digits.len().min(18)];
    let Ok(number) = digits.parse::<u128>() else { return 0 };
    let scale = 10_u128.pow(u32::try_from(digits.len()).unwrap_or_default());
    number * nanos / scale
}

/// Whether the text is a date of the calendar, `2006-01-02`.
pub(crate) fn is_date(text: &str) -> bool {
    parse_date(text).is_some()
}

fn digits(text: &str) -> Option<i16> {
    text.bytes()
        .all(|byte| byte.is_ascii_digit())
        .then(|| text.parse().ok())?
}

/// A date of the calendar, `2006-01-02`.
pub(crate) fn parse_date(text: &str) -> Option<jiff::civil::Date> {
    let bytes = text.as_bytes();
    if bytes.len() != 10 || bytes[4] != b'-' || bytes[7] != b'-' || !text.is_ascii() {
        return None;
    }
    let month = i8::try_from(digits(&text[5..7])?).ok()?;
    let day = i8::try_from(digits(&text[8..10])?).ok()?;
    jiff::civil::Date::new(digits(&text[..4])?, month, day).ok()
}

/// A moment as RFC 3339 writes it, in nanoseconds since 1970.
pub(crate) fn parse_rfc3339(text: &str) -> Option<i128> {
    if !text.is_ascii() || text.len() < 20 || text.as_bytes()[10] != b'T' {
        return None;
    }
    let date = parse_date(&text[..10])?;
    let clock = &text[11..];
    let bytes = clock.as_bytes();
    if bytes[2] != b':' || bytes[5] != b':' {
        return None;
    }
    let (hour, minute, second) = (digits(&clock[..2])?, digits(&clock[3..5])?, digits(&clock[6..8])?);
    if hour > 23 || minute > 59 || second > 59 {
        return None;
    }
    let (fraction, zone) = split_fraction(&clock[8..])?;
    let offset = parse_offset(zone)?;
    let days = i128::from(days_since_epoch(date));
    let seconds = days * 86_400 + i128::from(hour) * 3_600 + i128::from(minute) * 60 + i128::from(second);
    Some((seconds - i128::from(offset)) * 1_000_000_000 + i128::from(fraction))
}

fn days_since_epoch(date: jiff::civil::Date) -> i32 {
    let epoch = jiff::civil::Date::constant(1970, 1, 1);
    date.since(epoch).map_or(0, |span| span.get_days())
}

fn split_fraction(text: &str) -> Option<(i64, &str)> {
    let Some(after) = text.strip_prefix('.').or_else(|| text.strip_prefix(',')) else {
        return Some((0, text));
    };
    let end = after.find(|character: char| !character.is_ascii_digit())?;
    if end == 0 {
        return None;
    }
    let padded = format!("{:0<9}", &after[..end.min(9)]);
    Some((padded.parse().ok()?, &after[end..]))
}

/// Seconds east of Greenwich of `Z` or `+01:00`.
pub(crate) fn parse_offset(zone: &str) -> Option<i32> {
    if zone == "Z" {
        return Some(0);
    }
    let sign = match zone.as_bytes().first()? {
        b'+' => 1,
        b'-' => -1,
        _ => return None,
    };
    let (hours, minutes) = zone[1..].split_once(':')?;
    if hours.len() != 2 || minutes.len() != 2 {
        return None;
    }
    let (hours, minutes) = (digits(hours)?, digits(minutes)?);
    (hours <= 24 && minutes < 60).then(|| sign * (i32::from(hours) * 3_600 + i32::from(minutes) * 60))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_read_as_go_reads_them() {
        for (text, nanos) in [
            ("1h30m", 5_400_000_000_000),
            ("-1.5s", -1_500_000_000),
            ("2us", 2_000),
            ("1500µs", 1_500_000),
            ("0", 0),
            (".5m", 30_000_000_000),
        ] {
            assert_eq!(parse_duration(text), Some(nanos), "{text}");
        }
        for text in ["", "1", "h", "1x", "-", "10000000h", "1h-"] {
            assert_eq!(parse_duration(text), None, "{text}");
        }
    }

    #[test]
    fn moments_are_read_to_the_nanosecond() {
        assert_eq!(parse_rfc3339("1970-01-01T00:00:01Z"), Some(1_000_000_000));
        assert_eq!(parse_rfc3339("1970-01-01T01:00:00.5+01:00"), Some(500_000_000));
        assert_eq!(parse_rfc3339("0001-01-01T00:00:00Z"), Some(-62_135_596_800_000_000_000));
        for text in [
            "1970-01-01",
            "1970-02-30T00:00:00Z",
            "1970-01-01T24:00:00Z",
            "1970-01-01 00:00:00Z",
        ] {
            assert_eq!(parse_rfc3339(text), None, "{text}");
        }
    }
}
