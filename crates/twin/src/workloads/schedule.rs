//! When a CronJob is due: five fields, in UTC. Pure.

use jiff::{Timestamp, ToSpan as _, civil::DateTime, tz::TimeZone};
use thiserror::Error;

/// How far ahead a moment is looked for: every date of the calendar comes within eight years.
const YEARS: i64 = 9;
/// Names that stand for fields.
const SHORTHANDS: [(&str, &str); 7] = [
    ("@yearly", "0 0 1 1 *"),
    ("@annually", "0 0 1 1 *"),
    ("@monthly", "0 0 1 * *"),
    ("@weekly", "0 0 * * 0"),
    ("@daily", "0 0 * * *"),
    ("@midnight", "0 0 * * *"),
    ("@hourly", "0 * * * *"),
];
const MONTHS: [&str; 12] = [
    "jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec",
];
const DAYS: [&str; 7] = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"];

/// Why a text is no schedule.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{0:?} is no schedule: write five fields, such as \"30 3 * * 1-5\"")]
pub(super) struct ScheduleError(String);

/// The moments at which something is due.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Schedule {
    minutes: Set,
    hours: Set,
    days: Set,
    months: Set,
    weekdays: Set,
}

/// Numbers below 64, and whether the field was a star: a star leaves the choice of the day to the other field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Set {
    bits: u64,
    is_star: bool,
}

impl Set {
    const fn has(self, number: i8) -> bool {
        self.bits & (1 << number) != 0
    }
}

impl Schedule {
    pub(super) fn parse(text: &str) -> Result<Self, ScheduleError> {
        let error = || ScheduleError(text.to_owned());
        let shorthand = SHORTHANDS.iter().find(|(name, _)| *name == text);
        let fields: Vec<&str> = shorthand
            .map_or(text, |(_, fields)| fields)
            .split_whitespace()
            .collect();
        let [minutes, hours, days, months, weekdays] = fields.as_slice() else {
            return Err(error());
        };
        let field =
            |text: &str, low, high, names: &[&str], first| set(text, (low, high), names, first).ok_or_else(error);
        let mut weekdays = field(weekdays, 0, 7, &DAYS, 0)?;
        // Sunday is 0 and 7.
        weekdays.bits |= weekdays.bits >> 7;
        Ok(Self {
            minutes: field(minutes, 0, 59, &[], 0)?,
            hours: field(hours, 0, 23, &[], 0)?,
            days: field(days, 1, 31, &[], 0)?,
            months: field(months, 1, 12, &MONTHS, 1)?,
            weekdays,
        })
    }

    /// The first moment after another one.
    pub(super) fn next(&self, after: Timestamp) -> Option<Timestamp> {
        let zone = TimeZone::UTC;
        let start = after.to_zoned(zone.clone()).datetime();
        let mut moment = start
            .with()
            .second(0)
            .subsec_nanosecond(0)
            .build()
            .ok()?
            .checked_add(1.minute())
            .ok()?;
        let end = start.checked_add(YEARS.years()).ok()?;
        while moment < end {
            moment = match self.later(moment) {
                None => return moment.to_zoned(zone).ok().map(|zoned| zoned.timestamp()),
                Some(later) => later,
            };
        }
        None
    }

    /// The next candidate, if this moment is none.
    fn later(&self, moment: DateTime) -> Option<DateTime> {
        let midnight = moment.with().hour(0).minute(0).build().ok()?;
        if !self.months.has(moment.month()) {
            return midnight.with().day(1).build().ok()?.checked_add(1.month()).ok();
        }
        if !self.is_day(moment) {
            return midnight.checked_add(1.day()).ok();
        }
        if !self.hours.has(moment.hour()) {
            return moment.with().minute(0).build().ok()?.checked_add(1.hour()).ok();
        }
        (!self.minutes.has(moment.minute())).then(|| moment.checked_add(1.minute()).ok())?
    }

    fn is_day(&self, moment: DateTime) -> bool {
        let day = self.days.has(moment.day());
        let weekday = self.weekdays.has(moment.weekday().to_sunday_zero_offset());
        if self.days.is_star || self.weekdays.is_star {
            day && weekday
        } else {
            day || weekday
        }
    }
}

fn set(text: &str, (low, high): (u32, u32), names: &[&str], first: u32) -> Option<Set> {
    let number = |text: &str| -> Option<u32> {
        let by_name = names.iter().position(|name| text.eq_ignore_ascii_case(name));
        let by_name = by_name
            .and_then(|index| u32::try_from(index).ok())
            .map(|index| index + first);
        by_name
            .or_else(|| text.parse().ok())
            .filter(|number| (low..=high).contains(number))
    };
    let mut bits = 0_u64;
    for part in text.split(',') {
        let (range, step) = match part.split_once('/') {
            Some((range, step)) => (range, step.parse::<u32>().ok().filter(|step| *step > 0)?),
            None => (part, 1),
        };
        let (from, to) = match range.split_once('-') {
            Some((from, to)) => (number(from)?, number(to)?),
            None if matches!(range, "*" | "?") => (low, high),
            None if part.contains('/') => (number(range)?, high),
            None => (number(range)?, number(range)?),
        };
        for number in (from..=to).step_by(usize::try_from(step).ok()?) {
            bits |= 1 << number;
        }
    }
    (bits != 0).then_some(Set {
        bits,
        is_star: text.starts_with(['*', '?']),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn schedules_are_read() {
        // A Friday.
        let from: Timestamp = "2026-01-02T03:04:05Z".parse().unwrap();
        let cases = [
            ("* * * * *", "2026-01-02T03:05:00Z"),
            ("*/15 * * * *", "2026-01-02T03:15:00Z"),
            ("4 3 * * *", "2026-01-03T03:04:00Z"),
            ("0 9 * * mon-fri", "2026-01-02T09:00:00Z"),
            ("0 0 * * 0", "2026-01-04T00:00:00Z"),
            ("0 0 * * 7", "2026-01-04T00:00:00Z"),
            ("0 0 13 * 5", "2026-01-09T00:00:00Z"),
            ("30 23 31 12 *", "2026-12-31T23:30:00Z"),
            ("0 0 29 feb *", "2028-02-29T00:00:00Z"),
            ("@hourly", "2026-01-02T04:00:00Z"),
        ];
        for (text, expected) in cases {
            let next = Schedule::parse(text).unwrap().next(from);
            assert_eq!(next, Some(expected.parse().unwrap()), "{text}");
        }
        assert_eq!(Schedule::parse("0 0 31 2 *").unwrap().next(from), None);
        for text in ["", "* * * *", "60 * * * *", "* * * * mo", "*/0 * * * *", "5-1 * * * *"] {
            assert!(Schedule::parse(text).is_err(), "{text}");
        }
    }
}
