//! The part of the configuration that concerns ingress: domains, routes of OpenShift's own components, HSTS.

use std::collections::BTreeMap;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::LabelSelector;
use serde::{Deserialize, Serialize};

use super::reference::SecretNameReference;
use crate::{
    common::LabelSelectorSchema,
    schema::{FeatureGate, JsonSchema, gated, granular_map, immutable, list_map, pattern, properties, rule},
    text::string_enum,
};

/// Domains and routes of the hosted cluster.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct IngressConfiguration {
    /// The domain under which routes get a host when they name none, and the console is found. Cannot be changed.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(transform = immutable("domain"))]
    pub domain: Option<String>,
    /// A domain that users' routes take in place of domain; its DNS record and certificate are yours to make.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub apps_domain: Option<String>,
    /// Hosts and certificates of your own for routes of OpenShift's components.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 250), transform = list_map("namespace,name"))]
    pub component_routes: Vec<ComponentRoute>,
    /// What routes have to say of HSTS; of several policies the first counts that fits the host and the namespace.
    #[serde(rename = "requiredHSTSPolicies", default, skip_serializing_if = "Vec::is_empty")]
    pub required_hsts_policies: Vec<RequiredHstsPolicy>,
    /// The load balancer of the default ingress controller.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub load_balancer: Option<IngressLoadBalancer>,
}

/// The published expression for a host of a component: an international domain name or a plain one.
const HOSTNAME_PATTERN: &str = r"^([a-zA-Z0-9\p{S}\p{L}]((-?[a-zA-Z0-9\p{S}\p{L}]{0,62})?)|([a-zA-Z0-9\p{S}\p{L}](([a-zA-Z0-9-\p{S}\p{L}]{0,61}[a-zA-Z0-9\p{S}\p{L}])?)(\.)){1,}([a-zA-Z\p{L}]){2,63})$|^(([a-z0-9][-a-z0-9]{0,61}[a-z0-9]|[a-z0-9]{1,63})[\.]){0,}([a-z0-9][-a-z0-9]{0,61}[a-z0-9]|[a-z0-9]{1,63})$";

/// A host and a certificate for the route of one component.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ComponentRoute {
    /// The namespace of the route.
    #[schemars(length(min = 1, max = 63), transform = pattern("^[a-z0-9]([-a-z0-9]*[a-z0-9])?$"))]
    pub namespace: String,
    /// The name that the component gives to the route, which need not be that of the Route object.
    #[schemars(length(min = 1, max = 256))]
    pub name: String,
    /// The host that the route takes.
    #[schemars(transform = pattern(HOSTNAME_PATTERN))]
    pub hostname: String,
    /// The Secret of type kubernetes.io/tls with the certificate for the host. Can be left out where the usual
    /// certificate covers it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub serving_cert_key_pair_secret: Option<SecretNameReference>,
    /// Labels on the route, which choose the ingress controllers that serve it.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    #[schemars(
        transform = properties(Some(1), Some(8)),
        transform = granular_map(),
        transform = rule(
            "self.all(key, size(key) > 0 && size(key) <= 63)",
            "give every label a key of 1 to 63 characters",
        ),
        transform = rule(
            r"self.all(key, size(key) <= 253 && key.matches('^([a-z0-9]([a-z0-9-]*[a-z0-9])?(\\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)*/)?[a-zA-Z0-9]([a-zA-Z0-9._-]*[a-zA-Z0-9])?$'))",
            "write every key as a name, or as a DNS name in lower case, a slash and a name; a name has letters, digits, \
             dashes, underscores and dots, and begins and ends with a letter or digit",
        ),
        transform = rule(
            "!self.exists(key, key.startsWith('kubernetes.io/') || key.startsWith('k8s.io/') || \
             key.startsWith('openshift.io/'))",
            "choose keys with another prefix than kubernetes.io, k8s.io and openshift.io, which are not yours to use",
        ),
        transform = gated(FeatureGate::IngressComponentRouteLabels),
    )]
    pub labels: BTreeMap<String, ComponentRouteLabelValue>,
}

/// The value of a label on the route of a component; it may be empty.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Deserialize, Serialize, JsonSchema)]
#[serde(transparent)]
#[schemars(transform = rule(
    "self == '' || self.matches('^[a-zA-Z0-9]([a-zA-Z0-9._-]*[a-zA-Z0-9])?$')",
    "must be empty, or letters, digits, dashes, underscores and dots with a letter or digit at both ends",
))]
pub struct ComponentRouteLabelValue(#[schemars(length(min = 0, max = 63))] pub String);

/// The load balancer of the default ingress controller.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct IngressLoadBalancer {
    /// What is particular to the cloud; unset means the usual of the platform.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub platform: Option<IngressPlatform>,
}

string_enum! {
    /// The platform that a load balancer belongs to.
    pub enum IngressPlatformType {
        /// That of the cluster.
        Unset = "",
        /// AWS.
        Aws = "AWS",
        /// Azure.
        Azure,
        /// Machines without a cloud.
        BareMetal,
        /// GCP.
        Gcp = "GCP",
        /// Libvirt.
        Libvirt,
        /// OpenStack.
        OpenStack,
        /// No platform.
        None,
        /// vSphere.
        VSphere,
        /// oVirt.
        OVirt = "oVirt",
        /// IBM Cloud.
        IbmCloud = "IBMCloud",
        /// KubeVirt.
        KubeVirt,
        /// Equinix Metal.
        EquinixMetal,
        /// Power Virtual Server of IBM.
        PowerVs = "PowerVS",
        /// Alibaba Cloud.
        AlibabaCloud,
        /// Nutanix.
        Nutanix,
        /// A platform that brings its own controllers.
        External,
    }
}

/// What is particular to the cloud of a load balancer.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct IngressPlatform {
    /// Which platform it is.
    #[serde(rename = "type", skip_serializing_if = "Option::is_none")]
    pub platform_type: Option<IngressPlatformType>,
    /// Settings for AWS.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub aws: Option<AwsIngress>,
}

string_enum! {
    /// A kind of load balancer of AWS.
    pub enum AwsIngressType {
        /// A network load balancer.
        Nlb = "NLB",
        /// A classic load balancer.
        Classic,
    }
}

/// The load balancer of AWS.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AwsIngress {
    /// Which kind it is.
    #[serde(rename = "type")]
    pub balancer_type: AwsIngressType,
}

/// What routes have to say of HSTS.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RequiredHstsPolicy {
    /// Namespaces whose routes are meant; unset means all.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<LabelSelectorSchema>")]
    pub namespace_selector: Option<LabelSelector>,
    /// Domains whose routes are meant; a domain with a wildcard stands for those below it.
    #[schemars(length(min = 1))]
    pub domain_patterns: Vec<String>,
    /// How long browsers must remember it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_age: Option<HstsMaxAge>,
    /// Whether it must be said that the host may stand in browsers' lists.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub preload_policy: Option<HstsPreloadPolicy>,
    /// Whether hosts below the host must be meant as well.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub include_sub_domains_policy: Option<HstsSubdomainsPolicy>,
}

/// How long browsers must remember that a host wants HTTPS.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct HstsMaxAge {
    /// The most seconds; unset means no bound.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0, max = 2_147_483_647))]
    pub largest_max_age: Option<i32>,
    /// The fewest seconds; unset means no bound.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0, max = 2_147_483_647))]
    pub smallest_max_age: Option<i32>,
}

string_enum! {
    /// What routes must say of browsers' lists.
    pub enum HstsPreloadPolicy {
        /// That the host may stand there.
        RequirePreload,
        /// Nothing.
        RequireNoPreload,
        /// Whatever they like.
        NoOpinion,
    }
}

string_enum! {
    /// What routes must say of hosts below theirs.
    pub enum HstsSubdomainsPolicy {
        /// That they are meant as well.
        RequireIncludeSubDomains,
        /// Nothing.
        RequireNoIncludeSubDomains,
        /// Whatever they like.
        NoOpinion,
    }
}
