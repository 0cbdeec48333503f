//! What a cluster does with Services besides storing them: who is behind each, and which address a load balancer gives
//! it.

pub(crate) mod claims;
pub(crate) mod endpoints;
pub(crate) mod load_balancers;
