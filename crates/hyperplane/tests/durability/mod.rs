//! Rounds of load that end with `kill -9`: what is written, who watches, and what must hold after each restart.

mod dice;
mod objects;
mod rounds;
mod server;
mod watcher;
mod writer;

pub use rounds::run;
