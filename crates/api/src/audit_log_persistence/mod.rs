//! The kinds of `auditlogpersistence.hypershift.openshift.io/v1alpha1`.

pub mod audit_log_persistence_config;
