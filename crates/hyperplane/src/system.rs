//! The world outside, as values to hand down: the clock, chance, the log and the threads of this process.

use std::{
    env, fs,
    io::{self, IsTerminal as _},
    process, thread,
};

use hyperplane_apiserver::Entropy;
use hyperplane_seams::Clock;
use tokio::runtime::{Builder, Runtime};
use tracing_subscriber::{EnvFilter, filter::LevelFilter};

/// Threads that answer requests, at least: one that is busy must not hold up all others.
const LEAST_WORKERS: usize = 2;

/// The threads of a program that serves.
pub(crate) fn runtime() -> io::Result<Runtime> {
    let workers = thread::available_parallelism().map_or(LEAST_WORKERS, |count| count.get().max(LEAST_WORKERS));
    Builder::new_multi_thread().worker_threads(workers).enable_all().build()
}

/// The system's clock, with its corrections.
pub(crate) fn clock() -> Clock {
    #[expect(clippy::disallowed_methods, reason = "the binary is where time comes from")]
    Clock::reading(jiff::Timestamp::now)
}

/// The system's chance.
pub(crate) fn entropy() -> Entropy {
    Entropy::new(|bytes| aws_lc_rs::rand::fill(bytes).expect("the operating system has randomness once it has booted"))
}

/// A number that differs from run to run, for all chance that decides anything.
pub(crate) fn seed() -> u64 {
    u64::from_le_bytes(entropy().bytes())
}

/// The client logs every failed request as an error of its own. Whoever made the request says more about it, or expects
/// it: a hosted API server that is asked while it starts.
const NOISE: &str = "kube_client::client::builder=off";

/// What standard output can show.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Screen {
    /// Whether a person looks at it: what has been printed can be printed over.
    pub(crate) is_terminal: bool,
    /// Whether colours are welcome.
    pub(crate) is_coloured: bool,
}

/// What standard output can show. NO_COLOR turns colours off (no-color.org), as does a terminal that says it is dumb.
pub(crate) fn screen() -> Screen {
    #[expect(clippy::disallowed_methods, reason = "the binary is where the environment is read")]
    let told = |name: &str| env::var(name).unwrap_or_default();
    let is_terminal = io::stdout().is_terminal() && told("TERM") != "dumb";
    Screen {
        is_terminal,
        is_coloured: is_terminal && told("NO_COLOR").is_empty(),
    }
}

/// The threads of a command that asks, waits and ends: one is enough.
pub(crate) fn small_runtime() -> io::Result<Runtime> {
    Builder::new_current_thread().enable_all().build()
}

/// Logs to standard error what RUST_LOG asks for; by default only what a person should know.
pub(crate) fn log() {
    log_from(LevelFilter::WARN);
}

/// What tells this process from others of its kind.
pub(crate) fn instance() -> String {
    let host = fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    format!("{}-{}", host.trim(), process::id())
}

/// Logs to standard error what RUST_LOG asks for; by default what has at least this level.
pub(crate) fn log_from(level: LevelFilter) {
    #[expect(clippy::disallowed_methods, reason = "the binary is where the environment is read")]
    let asked = env::var(EnvFilter::DEFAULT_ENV).unwrap_or_default();
    let filter = EnvFilter::builder().parse_lossy(format!("{level},{NOISE},{asked}"));
    let logger = tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(io::stderr)
        .with_ansi(io::stderr().is_terminal());
    // A second logger is refused; the first one goes on.
    logger.try_init().ok();
}
