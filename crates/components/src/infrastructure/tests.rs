//! The publishing matrix as data.
