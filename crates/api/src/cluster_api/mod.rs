//! The kinds of `cluster.x-k8s.io/v1beta2`, Cluster API's core, as its published definitions have them.
//!
//! Infrastructure and bootstrap kinds belong to their providers and are not here; these types only refer to them.

pub mod cluster;
pub mod cluster_status;
pub mod common;
pub mod constants;
pub mod deprecated;
pub mod machine;
pub mod machine_deployment;
pub mod machine_health_check;
pub mod machine_set;
pub mod machine_status;
pub mod node_info;
pub mod replicas;
