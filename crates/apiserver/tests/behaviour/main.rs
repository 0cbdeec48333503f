//! The server as its clients see it, in-process and on virtual time.

mod basics;
mod support;
mod watching;
