//! The small programs that run beside the components of a hosted control plane: each does one thing in its container.
