//! The two kinds by which metrics are collected, as far as we write them. Their definitions belong to whoever runs
//! Prometheus on the management cluster, and may be absent.

use std::borrow::Cow;

use k8s_openapi::{
    NamespaceResourceScope,
    apimachinery::pkg::apis::meta::v1::{LabelSelector, ObjectMeta},
};
use kube::Resource;
use serde::{Deserialize, Serialize};

/// The group of both kinds.
pub(crate) const GROUP: &str = "monitoring.coreos.com";

const VERSION: &str = "v1";

macro_rules! monitor {
    ($(#[$meta:meta])* $name:ident, $plural:literal, $spec:ident) => {
        $(#[$meta])*
        #[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
        #[serde(rename_all = "camelCase")]
        pub struct $name {
            /// The API version; always monitoring.coreos.com/v1.
            pub api_version: String,
            /// The kind.
            pub kind: String,
            /// Name, labels and the like.
            pub metadata: ObjectMeta,
            /// What is scraped, and how.
            pub spec: $spec,
        }

        hyperplane_objects::kind!($name);

        impl Resource for $name {
            type DynamicType = ();
            type Scope = NamespaceResourceScope;

            fn kind((): &()) -> Cow<'_, str> {
                stringify!($name).into()
            }

            fn group((): &()) -> Cow<'_, str> {
                GROUP.into()
            }

            fn version((): &()) -> Cow<'_, str> {
                VERSION.into()
            }

            fn plural((): &()) -> Cow<'_, str> {
                $plural.into()
            }

            fn meta(&self) -> &ObjectMeta {
                &self.metadata
            }

            fn meta_mut(&mut self) -> &mut ObjectMeta {
                &mut self.metadata
            }
        }
    };
}

monitor!(
    /// Collects metrics from the endpoints of Services.
    ServiceMonitor,
    "servicemonitors",
    ServiceMonitorSpec
);

monitor!(
    /// Collects metrics from pods.
    PodMonitor,
    "podmonitors",
    PodMonitorSpec
);

/// Which Services are scraped, and how.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ServiceMonitorSpec {
    /// Which Services.
    pub selector: LabelSelector,
    /// How each of their endpoints is scraped.
    pub endpoints: Vec<MonitorEndpoint>,
}

/// Which pods are scraped, and how.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct PodMonitorSpec {
    /// Which pods.
    pub selector: LabelSelector,
    /// How each of them is scraped.
    pub pod_metrics_endpoints: Vec<MonitorEndpoint>,
}

/// How an endpoint is scraped.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct MonitorEndpoint {
    /// The port by name.
    pub port: String,
    /// http or https.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scheme: Option<String>,
    /// The path; /metrics where none is given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// How both sides prove themselves.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tls_config: Option<MonitorTls>,
}

/// How both sides of a scrape prove themselves.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct MonitorTls {
    /// Who is trusted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ca: Option<MonitorSource>,
    /// The certificate of the reader.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cert: Option<MonitorSource>,
    /// The private key of the reader.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub key_secret: Option<MonitorKey>,
    /// The name that the endpoint must prove.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub server_name: Option<String>,
}

/// A key of a Secret or of a ConfigMap.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct MonitorSource {
    /// In a Secret.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub secret: Option<MonitorKey>,
    /// In a ConfigMap.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub config_map: Option<MonitorKey>,
}

/// A key of an object in the same namespace.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct MonitorKey {
    /// The object.
    pub name: String,
    /// The key.
    pub key: String,
}
