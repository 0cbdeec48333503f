//! CertificateRevocationRequest: the end of every break-glass certificate of one signer.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::{Condition, Time};
use serde::{Deserialize, Serialize};

use crate::{
    common::{ConditionSchema, LocalObjectReference, TimeSchema},
    resource::custom_resource,
    schema::{JsonSchema, immutable, list_map},
    text::string_enum,
};

custom_resource! {
    /// A request to stop trusting every certificate that one signer has issued so far.
    pub struct CertificateRevocationRequest {
        group: "certificates.hypershift.openshift.io",
        version: "v1alpha1",
        plural: "certificaterevocationrequests",
        scope: Namespaced,
        spec: expected CertificateRevocationRequestSpec,
        status: CertificateRevocationRequestStatus,
        @short_names: &["crr", "crrs"],
    }
}

string_enum! {
    /// A signer of break-glass certificates.
    pub enum SignerClass {
        /// The signer for the owner of the hosted cluster.
        CustomerBreakGlass = "customer-break-glass",
        /// The signer for the people who run the service.
        SreBreakGlass = "sre-break-glass",
    }
}

/// Whose certificates are revoked.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CertificateRevocationRequestSpec {
    /// The signer. It gets a new authority, and what the old one signed is refused afterwards.
    #[schemars(transform = immutable("signerClass"))]
    pub signer_class: SignerClass,
}

/// How far a revocation has come.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CertificateRevocationRequestStatus {
    /// One condition per step; PreviousCertificatesRevoked is the last.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(with = "Vec<ConditionSchema>", transform = list_map("type"))]
    pub conditions: Vec<Condition>,
    /// The moment that divides old from new: what was valid before it is revoked.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<TimeSchema>")]
    pub revocation_timestamp: Option<Time>,
    /// Secret with a copy of the old signer, kept to prove at the end that it is no longer trusted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub previous_signer: Option<LocalObjectReference>,
}
