//! The workload controllers: what a real management cluster's kube-controller-manager does with Deployments,
//! ReplicaSets, StatefulSets, DaemonSets, Jobs and CronJobs. Each has a pure decision and a thin reconciler around it.

pub(crate) mod cron_job;
pub(crate) mod daemon_set;
pub(crate) mod deployment;
pub(crate) mod job;
pub(crate) mod replica_set;
pub(crate) mod revisions;
mod schedule;
pub(crate) mod stateful_set;
