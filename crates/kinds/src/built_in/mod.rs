//! The built-in kinds. Each has a row in a file of its group or its own; this file only lists them.

mod admission;
mod admission_rules;
mod autoscaler_rules;
mod autoscaling;
mod batch;
mod batch_rules;
mod certificate_rules;
mod certificates;
mod config;
mod config_rules;
mod container_rules;
mod cron;
mod device_claim_rules;
mod device_class_rules;
mod device_slice_rules;
mod device_status_rules;
mod devices;
mod endpoint_rules;
mod endpoints;
mod environment_rules;
mod event_rules;
mod events;
mod flowcontrol;
mod namespaces;
mod network_rules;
mod networking;
mod node_rules;
mod nodes;
mod placement_rules;
mod pod_cells;
mod pod_changes;
mod pod_quality;
mod pod_rules;
mod pod_spec_rules;
mod pod_warnings;
mod pods;
mod policy;
mod policy_rules;
mod probe_rules;
mod quota_rules;
mod quotas;
mod rbac;
mod rbac_rules;
mod resource_rules;
mod review_rules;
mod reviews;
mod service_rules;
mod services;
mod share_rules;
mod small;
mod small_rules;
mod stateful_set_rules;
mod storage;
mod storage_rules;
mod volume_rules;
mod volume_source_rules;
mod volumes;
mod workload_rules;
mod workloads;

use std::sync::Arc;

use crate::{Resource, row::Row, types::Types};

/// Every row, in the order in which discovery lists them within a group.
pub(crate) fn rows() -> impl Iterator<Item = &'static Row> {
    [
        reviews::BINDING,
        small::COMPONENT_STATUS,
        config::ROWS,
        endpoints::ENDPOINTS,
        events::CORE,
        quotas::LIMIT_RANGE,
        namespaces::ROWS,
        nodes::ROWS,
        volumes::ROWS,
        pods::ROWS,
        quotas::RESOURCE_QUOTA,
        services::ROWS,
        workloads::ROWS,
        small::ROWS,
        events::EVENTS,
        reviews::ROWS,
        autoscaling::ROWS,
        batch::ROWS,
        certificates::ROWS,
        networking::ROWS,
        policy::ROWS,
        rbac::ROWS,
        storage::ROWS,
        admission::ROWS,
        endpoints::SLICES,
        devices::ROWS,
        flowcontrol::ROWS,
    ]
    .into_iter()
    .flatten()
}

/// The resources of every built-in kind. They can be shared by every server of the process.
pub fn built_in() -> Vec<Arc<Resource>> {
    rows().map(|row| Arc::new(row.resource(Types::shared()))).collect()
}
