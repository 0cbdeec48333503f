//! Whether a container that runs this program would start: the simulated machines ask, so that a flag that nobody knows
//! fails there as it would anywhere.

use clap::Parser as _;

use crate::CommandLine;

/// Judges the arguments of this program. The error is what the program would say.
pub fn judge(arguments: &[String]) -> Result<(), String> {
    let words = std::iter::once("hyperplane").chain(arguments.iter().map(String::as_str));
    CommandLine::try_parse_from(words)
        .map(drop)
        .map_err(|error| error.to_string().lines().next().unwrap_or_default().to_owned())
}
