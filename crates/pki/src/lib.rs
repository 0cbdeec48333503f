//! The operator that keeps the certificates of hosted control planes issued and fresh.
