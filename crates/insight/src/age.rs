//! How long something has lasted, in words that are short enough for a column.

use jiff::Timestamp;

const MINUTE: i64 = 60;
const HOUR: i64 = 60 * MINUTE;
const DAY: i64 = 24 * HOUR;

/// How long it is since a moment: two units at most, as kubectl writes it. A moment that is yet to come has lasted for
/// nothing.
pub(crate) fn since(moment: Timestamp, now: Timestamp) -> String {
    let seconds = now.as_second().saturating_sub(moment.as_second()).max(0);
    let two = |large: i64, unit: &str, small: i64, small_unit: &str| match small {
        0 => format!("{large}{unit}"),
        small => format!("{large}{unit}{small}{small_unit}"),
    };
    match seconds {
        ..120 => format!("{seconds}s"),
        120..600 => two(seconds / MINUTE, "m", seconds % MINUTE, "s"),
        600..10_800 => format!("{}m", seconds / MINUTE),
        10_800..28_800 => two(seconds / HOUR, "h", seconds % HOUR / MINUTE, "m"),
        28_800..172_800 => format!("{}h", seconds / HOUR),
        172_800..691_200 => two(seconds / DAY, "d", seconds % DAY / HOUR, "h"),
        _ => format!("{}d", seconds / DAY),
    }
}

/// The same of a moment that may not be known.
pub(crate) fn since_known(moment: Option<Timestamp>, now: Timestamp) -> String {
    moment.map_or_else(|| "?".to_owned(), |moment| since(moment, now))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ages_are_written_as_kubectl_does() {
        let now = Timestamp::constant(10_000_000, 0);
        for (seconds, expected) in [
            (-5, "0s"),
            (0, "0s"),
            (119, "119s"),
            (120, "2m"),
            (192, "3m12s"),
            (600, "10m"),
            (10_799, "179m"),
            (10_800, "3h"),
            (11_000, "3h3m"),
            (50_000, "13h"),
            (180_000, "2d2h"),
            (700_000, "8d"),
        ] {
            let moment = Timestamp::constant(10_000_000 - seconds, 0);
            assert_eq!(since(moment, now), expected, "{seconds}");
        }
        assert_eq!(since(Timestamp::MIN, Timestamp::MAX).chars().last(), Some('d'));
    }
}
