//! CertificateSigningRequestApproval in the group of HostedClusters.

use serde::{Deserialize, Serialize};

use crate::{resource::custom_resource, schema::JsonSchema};

custom_resource! {
    /// Consent to a CertificateSigningRequest of the same name. That the object exists is all it says.
    pub struct CertificateSigningRequestApproval {
        group: "hypershift.openshift.io",
        version: "v1beta1",
        plural: "certificatesigningrequestapprovals",
        scope: Namespaced,
        spec: optional CertificateSigningRequestApprovalSpec,
        status: CertificateSigningRequestApprovalStatus,
        @short_names: &["csra", "csras"],
        @status_subresource: false,
    }
}

/// Empty: the name of the object is the consent.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
pub struct CertificateSigningRequestApprovalSpec {}

/// Empty: the outcome stands on the CertificateSigningRequest itself.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
pub struct CertificateSigningRequestApprovalStatus {}
