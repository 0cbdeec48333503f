//! The kinds of `scheduling.hypershift.openshift.io/v1alpha1`.

pub mod cluster_sizing_configuration;
