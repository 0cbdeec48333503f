//! The world outside, as values to hand down: the clock, chance and the log of this process.

use std::io::{self, IsTerminal as _};

use hyperplane_apiserver::Entropy;
use hyperplane_seams::Clock;
use tracing_subscriber::{EnvFilter, filter::LevelFilter};

/// The system's clock, with its corrections.
pub(super) fn clock() -> Clock {
    #[expect(clippy::disallowed_methods, reason = "the binary is where time comes from")]
    Clock::reading(jiff::Timestamp::now)
}

/// The system's chance.
pub(super) fn entropy() -> Entropy {
    Entropy::new(|bytes| aws_lc_rs::rand::fill(bytes).expect("the operating system has randomness once it has booted"))
}

/// Logs to standard error what RUST_LOG asks for; by default only what a person should know.
pub(super) fn log() {
    let filter = EnvFilter::builder().with_default_directive(LevelFilter::WARN.into());
    let logger = tracing_subscriber::fmt()
        .with_env_filter(filter.from_env_lossy())
        .with_writer(io::stderr)
        .with_ansi(io::stderr().is_terminal());
    // A second logger is refused; the first one goes on.
    logger.try_init().ok();
}
