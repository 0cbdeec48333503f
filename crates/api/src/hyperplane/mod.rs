//! The kinds of `hyperplane.dev/v1alpha1`: our own.

pub mod distribution_release;
pub mod release_content;
pub mod release_graph;
pub mod release_requirements;
pub mod release_text;
