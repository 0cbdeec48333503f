//! The configuration of a hosted cluster in the shapes of OpenShift's config kinds, one file per kind.

pub mod api_server;
pub mod authentication;
pub mod feature_gate;
pub mod image;
pub mod ingress;
pub mod network;
pub mod oauth;
pub mod operator_hub;
pub mod proxy;
pub mod reference;
pub mod scheduler;
pub mod status;
pub mod tls_profile;
pub mod tls_security_profile;

use serde::{Deserialize, Serialize};

use self::{
    api_server::ApiServerConfiguration, authentication::AuthenticationConfiguration,
    feature_gate::FeatureGateConfiguration, image::ImageConfiguration, ingress::IngressConfiguration,
    network::NetworkConfiguration, oauth::OauthConfiguration, operator_hub::OperatorHubConfiguration,
    proxy::ProxyConfiguration, scheduler::SchedulerConfiguration,
};

use crate::schema::JsonSchema;

/// Configuration of the parts of a hosted cluster; each part has the shape of the spec of an OpenShift config kind.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ClusterConfiguration {
    /// Certificates, audit and TLS of the API servers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub api_server: Option<ApiServerConfiguration>,
    /// Where users come from, and how their tokens are judged.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub authentication: Option<AuthenticationConfiguration>,
    /// Features that are turned on or off, away from what the release has.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub feature_gate: Option<FeatureGateConfiguration>,
    /// The proxy through which the cluster reaches the outside.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub proxy: Option<ProxyConfiguration>,
    /// How the scheduler places pods.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scheduler: Option<SchedulerConfiguration>,
    /// Registries of images.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub image: Option<ImageConfiguration>,
    /// Domains and routes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ingress: Option<IngressConfiguration>,
    /// The network, beside what spec.networking says.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub network: Option<NetworkConfiguration>,
    /// Identity providers, tokens and pages of the OAuth server.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub oauth: Option<OauthConfiguration>,
    /// Catalogues of operators.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub operatorhub: Option<OperatorHubConfiguration>,
}
