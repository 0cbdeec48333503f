//! What the tests of the schemas share: documents made from a schema, the server's treatment of them, and the
//! comparison of two generations of a schema.

#![allow(dead_code, reason = "each test binary uses a part of it")]
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

pub mod evolution;
pub mod frozen;
pub mod generate;
pub mod structural;
