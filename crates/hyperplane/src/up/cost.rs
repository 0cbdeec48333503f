//! What a process has cost so far, as the kernel counts it. Owns the reading of /proc; everything else is a value.

use std::{fs, time::Duration};

use serde::Serialize;

/// The parts of a second in which the kernel counts processor time: the same on every machine (`man 5 proc`).
const TICKS: u64 = 100;

/// What a process has cost. What cannot be read is missing, not nothing.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Cost {
    /// Processor time, in seconds.
    pub(super) processor_seconds: Option<f64>,
    /// The most memory that was resident at once, in MiB.
    pub(super) peak_resident_mib: Option<u64>,
}

/// What this process has cost.
pub(super) fn of_this_process() -> Cost {
    let read = |name: &str| fs::read_to_string(format!("/proc/self/{name}")).ok();
    Cost {
        processor_seconds: read("stat")
            .as_deref()
            .and_then(processor)
            .map(|time| time.as_secs_f64()),
        peak_resident_mib: read("status").as_deref().and_then(peak),
    }
}

/// User and system time: the fourteenth and fifteenth field, the second of which ends with the last parenthesis.
fn processor(stat: &str) -> Option<Duration> {
    let (_, fields) = stat.rsplit_once(')')?;
    let mut fields = fields.split_whitespace().skip(11);
    let ticks = fields.next()?.parse::<u64>().ok()? + fields.next()?.parse::<u64>().ok()?;
    Some(Duration::from_millis(ticks * 1_000 / TICKS))
}

fn peak(status: &str) -> Option<u64> {
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kib: u64 = line.split_whitespace().next()?.parse().ok()?;
    Some(kib / 1_024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kernels_words_are_read() {
        let stat = "12 (a) b) S 1 1 1 0 -1 4194560 1 2 3 4 150 50 0 0 20 0 3 0 1 2 3";
        assert_eq!(processor(stat), Some(Duration::from_secs(2)));
        assert_eq!(peak("VmPeak:\t 9 kB\nVmHWM:\t  20480 kB\n"), Some(20));
        for text in ["", "12 (a) S 1", "VmHWM: much"] {
            assert_eq!((processor(text), peak(text)), (None, None), "{text}");
        }
    }
}
