//! Durations as people read them, the way kubectl prints ages (apimachinery, util/duration). Knows no object.

use jiff::Timestamp;
use serde_json::Value;

use crate::types::parse_time;

const MINUTE: i64 = 60;
const HOUR: i64 = 60 * MINUTE;
const DAY: i64 = 24 * HOUR;
const YEAR: i64 = 365 * DAY;

/// A duration with two or three significant figures: `5m30s`, `2d4h`, `3y17d`.
pub fn human_duration(seconds: i64) -> String {
    let pair = |large: i64, large_unit: char, small: i64, small_unit: char| {
        if small == 0 {
            format!("{large}{large_unit}")
        } else {
            format!("{large}{large_unit}{small}{small_unit}")
        }
    };
    match seconds {
        // Clocks differ; a future of less than two seconds is now.
        ..-1 => "<invalid>".to_owned(),
        -1 => "0s".to_owned(),
        0..120 => format!("{seconds}s"),
        120..600 => pair(seconds / MINUTE, 'm', seconds % MINUTE, 's'),
        600..10_800 => format!("{}m", seconds / MINUTE),
        10_800..28_800 => pair(seconds / HOUR, 'h', seconds % HOUR / MINUTE, 'm'),
        28_800..172_800 => format!("{}h", seconds / HOUR),
        172_800..691_200 => pair(seconds / DAY, 'd', seconds % DAY / HOUR, 'h'),
        691_200..63_072_000 => format!("{}d", seconds / DAY),
        63_072_000..252_288_000 => pair(seconds / YEAR, 'y', seconds / DAY % 365, 'd'),
        _ => format!("{}y", seconds / YEAR),
    }
}

/// How long ago a timestamp of an object was; `<unknown>` where there is none.
pub(crate) fn age(value: Option<&Value>, now: Timestamp) -> String {
    value.and_then(Value::as_str).and_then(parse_time).map_or_else(
        || "<unknown>".to_owned(),
        |then| human_duration(now.duration_since(then).as_secs()),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_read_as_kubectl_prints_them() {
        for (seconds, expected) in [
            (-5, "<invalid>"),
            (-1, "0s"),
            (0, "0s"),
            (119, "119s"),
            (120, "2m"),
            (330, "5m30s"),
            (600, "10m"),
            (10_799, "179m"),
            (10_800, "3h"),
            (3 * HOUR + 60, "3h1m"),
            (8 * HOUR, "8h"),
            (47 * HOUR, "47h"),
            (48 * HOUR, "2d"),
            (52 * HOUR, "2d4h"),
            (8 * DAY, "8d"),
            (2 * YEAR - 1, "729d"),
            (2 * YEAR, "2y"),
            (3 * YEAR + 17 * DAY, "3y17d"),
            (9 * YEAR, "9y"),
        ] {
            assert_eq!(human_duration(seconds), expected, "{seconds}");
        }
    }

    #[test]
    fn an_absent_timestamp_has_no_age() {
        assert_eq!(age(None, Timestamp::UNIX_EPOCH), "<unknown>");
        assert_eq!(
            age(Some(&Value::from("1970-01-01T00:00:00Z")), Timestamp::UNIX_EPOCH),
            "0s"
        );
    }
}
