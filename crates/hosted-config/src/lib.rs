//! The operator that keeps what a hosted cluster needs inside of it, through its own API.
