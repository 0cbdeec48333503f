//! The syntax of schedules, as the parser that upstream uses has it: five fields, names, steps, and `@every`.

/// Why a text is no schedule, in the words of upstream's parser.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct ScheduleError(pub String);

struct Field {
    lowest: u32,
    highest: u32,
    names: &'static [&'static str],
}

const MONTHS: &[&str] = &[
    "jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec",
];
const DAYS: &[&str] = &["sun", "mon", "tue", "wed", "thu", "fri", "sat"];
const DESCRIPTORS: [&str; 7] = [
    "@yearly",
    "@annually",
    "@monthly",
    "@weekly",
    "@daily",
    "@midnight",
    "@hourly",
];

/// Minutes, hours, days of the month, months, days of the week.
const FIELDS: [Field; 5] = [
    Field {
        lowest: 0,
        highest: 59,
        names: &[],
    },
    Field {
        lowest: 0,
        highest: 23,
        names: &[],
    },
    Field {
        lowest: 1,
        highest: 31,
        names: &[],
    },
    Field {
        lowest: 1,
        highest: 12,
        names: MONTHS,
    },
    Field {
        lowest: 0,
        highest: 6,
        names: DAYS,
    },
];

/// Checks a schedule.
pub(super) fn parse_schedule(text: &str) -> Result<(), ScheduleError> {
    let without_zone = strip_zone(text)?;
    if without_zone.is_empty() {
        return Err(ScheduleError("empty spec string".to_owned()));
    }
    if without_zone.starts_with('@') {
        return parse_descriptor(without_zone);
    }
    let fields: Vec<&str> = without_zone.split_whitespace().collect();
    if fields.len() != FIELDS.len() {
        let shown = format!("[{}]", fields.join(" "));
        return Err(ScheduleError(format!(
            "expected exactly 5 fields, found {}: {shown}",
            fields.len()
        )));
    }
    fields
        .iter()
        .zip(&FIELDS)
        .try_for_each(|(text, field)| parse_field(text, field))
}

fn strip_zone(text: &str) -> Result<&str, ScheduleError> {
    if !text.starts_with("TZ=") && !text.starts_with("CRON_TZ=") {
        return Ok(text);
    }
    match text.split_once(' ') {
        Some((_, rest)) => Ok(rest.trim()),
        None => Err(ScheduleError("cannot parse schedule without fields".to_owned())),
    }
}

fn parse_descriptor(text: &str) -> Result<(), ScheduleError> {
    let is_interval = text
        .strip_prefix("@every ")
        .is_some_and(|duration| !duration.is_empty());
    if DESCRIPTORS.contains(&text) || is_interval {
        Ok(())
    } else {
        Err(ScheduleError(format!("unrecognized descriptor: {text}")))
    }
}

fn parse_field(text: &str, field: &Field) -> Result<(), ScheduleError> {
    text.split(',')
        .filter(|part| !part.is_empty())
        .try_for_each(|part| parse_range(part, field))
}

fn parse_range(text: &str, field: &Field) -> Result<(), ScheduleError> {
    let mut parts = text.split('/');
    let range = parts.next().unwrap_or_default();
    let step = parts.next();
    if parts.next().is_some() {
        return Err(ScheduleError(format!("too many slashes: {text}")));
    }
    let mut ends = range.split('-');
    let start = ends.next().unwrap_or_default();
    let end = ends.next();
    let (low, high) = if matches!(start, "*" | "?") {
        (field.lowest, field.highest)
    } else {
        if ends.next().is_some() {
            return Err(ScheduleError(format!("too many hyphens: {text}")));
        }
        let low = parse_value(start, field)?;
        let high = match end {
            Some(end) => parse_value(end, field)?,
            None if step.is_some() => field.highest,
            None => low,
        };
        (low, high)
    };
    let step = step.map_or(Ok(1), parse_number)?;
    check_bounds(text, [low, high, step], field)
}

fn check_bounds(text: &str, [low, high, step]: [u32; 3], field: &Field) -> Result<(), ScheduleError> {
    let words = if low < field.lowest {
        format!("beginning of range ({low}) below minimum ({}): {text}", field.lowest)
    } else if high > field.highest {
        format!("end of range ({high}) above maximum ({}): {text}", field.highest)
    } else if low > high {
        format!("beginning of range ({low}) beyond end of range ({high}): {text}")
    } else if step == 0 {
        format!("step of range should be a positive number: {text}")
    } else {
        return Ok(());
    };
    Err(ScheduleError(words))
}

fn parse_value(text: &str, field: &Field) -> Result<u32, ScheduleError> {
    let lower = text.to_lowercase();
    if let Some(position) = field.names.iter().position(|name| *name == lower) {
        return Ok(u32::try_from(position).unwrap_or(0) + field.lowest);
    }
    parse_number(text)
}

fn parse_number(text: &str) -> Result<u32, ScheduleError> {
    match text.parse::<i64>() {
        Ok(number) if number < 0 => Err(ScheduleError(format!("negative number ({number}) not allowed: {text}"))),
        Ok(number) => Ok(u32::try_from(number).unwrap_or(u32::MAX)),
        Err(_) => Err(ScheduleError(format!(
            "failed to parse int from {text}: strconv.Atoi: parsing {text:?}: invalid syntax"
        ))),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn schedules_parse() {
        for schedule in [
            "* * * * *",
            "*/15 0-6 1,15 jan mon-fri",
            "@hourly",
            "@every 1h",
            "0 0 ? * 0",
        ] {
            assert_eq!(parse_schedule(schedule), Ok(()), "{schedule}");
        }
    }

    #[test]
    fn what_is_no_schedule_is_refused_in_upstreams_words() {
        for (schedule, words) in [
            ("a b", "expected exactly 5 fields, found 2: [a b]"),
            ("60 * * * *", "end of range (60) above maximum (59): 60"),
            ("* * 0 * *", "beginning of range (0) below minimum (1): 0"),
            ("5-1 * * * *", "beginning of range (5) beyond end of range (1): 5-1"),
            ("*/0 * * * *", "step of range should be a positive number: */0"),
            (
                "x * * * *",
                r#"failed to parse int from x: strconv.Atoi: parsing "x": invalid syntax"#,
            ),
            ("@never", "unrecognized descriptor: @never"),
        ] {
            assert_eq!(
                parse_schedule(schedule),
                Err(ScheduleError(words.to_owned())),
                "{schedule}"
            );
        }
    }

    proptest! {
        #[test]
        fn any_text_is_a_schedule_or_an_error(text in "\\PC{0,32}") {
            let _outcome = parse_schedule(&text);
        }
    }
}
