//! Command lines of this program, as containers have them.

/// The value of a flag that stands as `--name=value`; the last one counts.
pub(crate) fn flag<'a>(flags: &'a [String], name: &str) -> Option<&'a str> {
    let mut values = flags
        .iter()
        .filter_map(|flag| flag.strip_prefix(name)?.strip_prefix('='));
    values.next_back()
}
