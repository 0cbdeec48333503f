//! The programs that look after members of etcd: `etcd-reset-member` before a member starts, `etcd-defrag` beside it, and
//! `etcd-recover-member` in place of one that keeps failing. They speak to etcd by its JSON gateway.

pub mod client;
pub mod defragment;
pub mod membership;
pub mod recover;
pub mod reset;
pub mod template;
pub mod topology;
pub mod wire;
