//! The kinds of `certificates.hypershift.openshift.io/v1alpha1`: break-glass credentials and their end.

pub mod certificate_revocation_request;
pub mod certificate_signing_request_approval;
