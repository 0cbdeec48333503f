//! The catalogue as a whole.
