//! Parts of moments and durations. Zones are UTC or an offset; names of zones need a database that is not here, so an
//! expression that names one is refused when it is registered.

use jiff::Timestamp as Moment;
use jiff::civil::DateTime;
use jiff::tz::{Offset, TimeZone};

use super::super::value::{Failure, Outcome, Timestamp, Value};
use super::{Native, no_overload};
use crate::go_time;

pub(super) fn native(function: &str) -> Option<Native> {
    Some(match function {
        "getFullYear" => |arguments| part(arguments, |time| time.year().into()),
        "getMonth" => |arguments| part(arguments, |time| i64::from(time.month()) - 1),
        "getDayOfYear" => |arguments| part(arguments, |time| i64::from(time.day_of_year()) - 1),
        "getDayOfMonth" => |arguments| part(arguments, |time| i64::from(time.day()) - 1),
        "getDate" => |arguments| part(arguments, |time| time.day().into()),
        "getDayOfWeek" => |arguments| part(arguments, |time| time.weekday().to_sunday_zero_offset().into()),
        "getHours" => |arguments| match arguments {
            [Value::Duration(nanos)] => Ok(Value::Int(nanos / 3_600_000_000_000)),
            _ => part(arguments, |time| time.hour().into()),
        },
        "getMinutes" => |arguments| match arguments {
            [Value::Duration(nanos)] => Ok(Value::Int(nanos / 60_000_000_000)),
            _ => part(arguments, |time| time.minute().into()),
        },
        "getSeconds" => |arguments| match arguments {
            [Value::Duration(nanos)] => Ok(Value::Int(nanos / 1_000_000_000)),
            _ => part(arguments, |time| time.second().into()),
        },
        "getMilliseconds" => |arguments| match arguments {
            [Value::Duration(nanos)] => Ok(Value::Int(nanos / 1_000_000)),
            _ => part(arguments, |time| time.millisecond().into()),
        },
        _ => return None,
    })
}

fn part<'a>(arguments: &[Value<'a>], get: fn(DateTime) -> i64) -> Outcome<Value<'a>> {
    let (time, offset) = match arguments {
        [Value::Timestamp(time)] => (time, 0),
        [Value::Timestamp(time), Value::String(zone)] => {
            let offset = zone_offset(zone).ok_or_else(|| Failure::new(format!("unknown time zone {}", &**zone)))?;
            (time, offset)
        }
        _ => return no_overload(),
    };
    let civil = civil(time.nanos, offset).ok_or_else(|| Failure::new("timestamp overflow"))?;
    Ok(Value::Int(get(civil)))
}

fn civil(nanos: i128, offset_seconds: i32) -> Option<DateTime> {
    let offset = Offset::from_seconds(offset_seconds).ok()?;
    let moment = Moment::from_nanosecond(nanos).ok()?;
    Some(TimeZone::fixed(offset).to_datetime(moment))
}

/// Seconds east of Greenwich of a zone that needs no database.
pub(in crate::cel) fn zone_offset(zone: &str) -> Option<i32> {
    match zone {
        "UTC" | "" => Some(0),
        // A sign may be missing: `01:30` is east.
        _ if zone.starts_with(['+', '-']) => go_time::parse_offset(zone),
        _ => go_time::parse_offset(&format!("+{zone}")),
    }
}

/// A moment as RFC 3339 writes it, in the zone in which it was written.
pub(in crate::cel) fn rfc3339(time: Timestamp) -> String {
    let Some(civil) = civil(time.nanos, time.offset_seconds) else {
        return String::new();
    };
    let fraction = match time.nanos.rem_euclid(1_000_000_000) {
        0 => String::new(),
        nanos => format!(".{}", format!("{nanos:09}").trim_end_matches('0')),
    };
    let zone = match time.offset_seconds {
        0 => "Z".to_owned(),
        offset => {
            let sign = if offset < 0 { '-' } else { '+' };
            format!("{sign}{:02}:{:02}", offset.abs() / 3600, offset.abs() % 3600 / 60)
        }
    };
    format!("{}{fraction}{zone}", civil.strftime("%Y-%m-%dT%H:%M:%S"))
}
