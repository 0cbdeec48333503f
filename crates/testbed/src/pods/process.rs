//! Processes that somebody else may have started: told apart by id and start time, so that an id that was given out again
//! is never taken for the process that had it before.

use std::{fmt, fs, io, path::Path, str::FromStr};

use rustix::process::{Pid, Signal, kill_process};

/// One process for all time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ProcessId {
    pub(crate) id: u32,
    /// In ticks since the machine started.
    started: u64,
}

impl ProcessId {
    /// The process that has this id now, if there is one.
    pub(crate) fn of(id: u32) -> Option<Self> {
        let stat = fs::read_to_string(format!("/proc/{id}/stat")).ok()?;
        let (state, started) = read_stat(&stat)?;
        // A zombie has ended, only nobody has asked how.
        (state != "Z" && state != "X").then_some(Self { id, started })
    }

    /// Reads what [`ProcessId::write`] has written.
    pub(crate) fn read(file: &Path) -> Option<Self> {
        fs::read_to_string(file).ok()?.parse().ok()
    }

    /// Notes it in a file.
    pub(crate) fn write(self, file: &Path) -> io::Result<()> {
        fs::write(file, format!("{self}\n"))
    }

    /// Whether it still runs.
    pub(crate) fn is_alive(self) -> bool {
        Self::of(self.id) == Some(self)
    }

    /// Kills it, if it still runs.
    pub(crate) fn kill(self) -> io::Result<()> {
        let id = i32::try_from(self.id).ok().and_then(Pid::from_raw);
        match id {
            Some(id) if self.is_alive() => Ok(kill_process(id, Signal::KILL)?),
            _ => Ok(()),
        }
    }
}

impl fmt::Display for ProcessId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} {}", self.id, self.started)
    }
}

impl FromStr for ProcessId {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        let (id, started) = text.trim().split_once(' ').ok_or(())?;
        Ok(Self {
            id: id.parse().map_err(drop)?,
            started: started.parse().map_err(drop)?,
        })
    }
}

/// State and start time in a line of `/proc/PID/stat`. The name before them may hold anything, also parentheses.
fn read_stat(stat: &str) -> Option<(&str, u64)> {
    /// Fields between the name and the start time, which proc(5) numbers 22; the state is number 3.
    const START: usize = 22 - 3;
    let fields: Vec<&str> = stat.rsplit_once(')')?.1.split_whitespace().collect();
    Some((fields.first()?, fields.get(START)?.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use std::process;

    use super::*;

    #[test]
    fn a_name_with_parentheses_does_not_confuse() {
        let stat = "17 (a) R (b)) S 1 17 17 0 -1 4194560 1 0 0 0 1 2 0 0 20 0 1 0 4711 8192 10";
        assert_eq!(read_stat(stat), Some(("S", 4711)));
        assert_eq!(read_stat("17 (a"), None);
    }

    #[test]
    fn an_id_that_was_given_out_again_is_another_real_process() {
        let own = ProcessId::of(process::id()).unwrap();
        assert!(own.is_alive());
        assert_eq!(own.to_string().parse(), Ok(own));
        let before = ProcessId {
            started: own.started - 1,
            ..own
        };
        assert!(!before.is_alive());
        // This test would not go on otherwise.
        before.kill().unwrap();
        assert_eq!("17".parse::<ProcessId>(), Err(()));
    }
}
