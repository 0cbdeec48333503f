//! The kinds of `karpenter.hypershift.openshift.io/v1`.

pub mod block_device;
pub mod instance_metadata;
pub mod kubelet;
pub mod openshift_ec2_node_class;
pub mod selector;
