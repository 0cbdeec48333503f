//! The names of a store's files, and which names are not ours.

/// Says which format the directory has. Its presence makes a directory a store.
pub(crate) const FORMAT: &str = "FORMAT";
/// The format file while it is written.
pub(crate) const FORMAT_DRAFT: &str = "FORMAT.new";
/// Is there as long as a restore is not finished.
pub(crate) const RESTORING: &str = "RESTORING";

const SEGMENT_PREFIX: &str = "log-";
/// Digits of a segment's number, so that names sort like numbers.
const SEGMENT_DIGITS: usize = 16;

/// The name of a segment of the log.
pub(crate) fn segment(number: u64) -> String {
    format!("{SEGMENT_PREFIX}{number:0SEGMENT_DIGITS$x}")
}

/// The number of a segment, if it is the name of one.
pub(crate) fn segment_number(name: &str) -> Option<u64> {
    let digits = name.strip_prefix(SEGMENT_PREFIX)?;
    let number = u64::from_str_radix(digits, 16).ok()?;
    (segment(number) == name).then_some(number)
}

/// Whether a store makes files of this name.
pub(crate) fn is_ours(name: &str) -> bool {
    [FORMAT, FORMAT_DRAFT, RESTORING].contains(&name) || segment_number(name).is_some()
}

/// Whether a file of this name says nothing about whose directory it is: a fresh file system has this one.
pub(crate) fn is_harmless(name: &str) -> bool {
    name == "lost+found"
}
