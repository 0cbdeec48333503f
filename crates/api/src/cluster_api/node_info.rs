//! The schema of what a kubelet says of its node.

use std::borrow::Cow;

use schemars::{Schema, SchemaGenerator, json_schema};

use crate::schema::JsonSchema;

/// Describes [`k8s_openapi::api::core::v1::NodeSystemInfo`], which is copied from the Node as it is.
pub struct NodeSystemInfoSchema;

#[cfg(test)]
impl JsonSchema for NodeSystemInfoSchema {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "NodeSystemInfo".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "type": "object",
            "description": "What the kubelet says of the node.",
            "required": [
                "architecture", "bootID", "containerRuntimeVersion", "kernelVersion", "kubeProxyVersion",
                "kubeletVersion", "machineID", "operatingSystem", "osImage", "systemUUID",
            ],
            "properties": {
                "architecture": {"type": "string", "description": "Processor architecture, such as amd64."},
                "bootID": {"type": "string", "description": "Changes with every boot."},
                "containerRuntimeVersion": {"type": "string", "description": "Container runtime and its version."},
                "kernelVersion": {"type": "string", "description": "Version of the kernel."},
                "kubeProxyVersion": {"type": "string", "description": "No longer filled in; empty."},
                "kubeletVersion": {"type": "string", "description": "Version of the kubelet."},
                "machineID": {"type": "string", "description": "The identity of the installed system."},
                "operatingSystem": {"type": "string", "description": "Operating system, such as linux."},
                "osImage": {"type": "string", "description": "Name and version of the distribution."},
                "swap": {
                    "type": "object",
                    "description": "Swap memory of the node.",
                    "properties": {
                        "capacity": {"type": "integer", "format": "int64", "description": "Its size in bytes."},
                    },
                },
                "systemUUID": {"type": "string", "description": "The identity of the hardware or virtual machine."},
            },
        })
    }
}
