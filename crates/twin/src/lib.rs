//! The simulated world: a client of any API server that makes workloads, pods and hosted API servers live, on real or on virtual time.
