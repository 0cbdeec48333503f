//! Drives components of a hosted control plane: decide, apply, look, report.
