//! What a CertificateSigningRequest is, before anything is asked about machines: whether it concerns us, who asks, and for
//! which node.

use hyperplane_access::signing::{Request, Signer};
use k8s_openapi::api::certificates::v1::CertificateSigningRequest;

use crate::judge::Refusal;

/// As whom machines ask that have no certificate of their own yet. All have the same, so it proves nothing but that a
/// configuration was fetched; what is asked for has to fit a machine.
pub const BOOTSTRAPPER: &str = "system:bootstrapper";
const BOOTSTRAPPERS: &str = "system:bootstrappers";
const NODES: &str = "system:nodes";
const NODE_PREFIX: &str = "system:node:";

/// What is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// The first certificate with which a kubelet is a client of the API server.
    FirstClient,
    /// A certificate with which a kubelet is a server.
    Serving,
}

/// A request that concerns us and is well formed.
#[derive(Clone, Debug)]
pub struct Claim {
    /// What it is for.
    pub purpose: Purpose,
    /// The node that the asker says it is.
    pub node: String,
    /// What is in the request.
    pub request: Request,
}

/// Whether somebody has decided, or the request was answered.
pub fn is_decided(object: &CertificateSigningRequest) -> bool {
    let status = object.status.as_ref();
    let has_certificate = status.and_then(|status| status.certificate.as_ref()).is_some();
    has_certificate || has_condition(object, "Approved") || has_condition(object, "Denied")
}

/// The node whose first certificate was approved with this request.
pub fn approved_node(object: &CertificateSigningRequest) -> Option<String> {
    let is_approved = has_condition(object, "Approved") && !has_condition(object, "Failed");
    let is_first = object.spec.username.as_deref() == Some(BOOTSTRAPPER)
        && Signer::named(&object.spec.signer_name) == Some(Signer::KubeletClient);
    if !is_approved || !is_first {
        return None;
    }
    let request = Request::from_pem(&object.spec.request.0).ok()?;
    Some(request.common_name.strip_prefix(NODE_PREFIX)?.to_owned())
}

/// The node whose first certificate this request waits for. What is not well formed, or not asked for by a machine, waits
/// for nothing.
pub fn pending_node(object: &CertificateSigningRequest) -> Option<String> {
    let claim = read(object).ok()??;
    (claim.purpose == Purpose::FirstClient).then_some(claim.node)
}

/// Reads a request; nothing if it is not for us. Renewals are not: Kubernetes approves those of a node by itself.
pub fn read(object: &CertificateSigningRequest) -> Result<Option<Claim>, Refusal> {
    let spec = &object.spec;
    let (signer, purpose) = match Signer::named(&spec.signer_name) {
        Some(signer @ Signer::KubeletClient) => (signer, Purpose::FirstClient),
        Some(signer @ Signer::KubeletServing) => (signer, Purpose::Serving),
        _ => return Ok(None),
    };
    if is_decided(object) {
        return Ok(None);
    }
    let request = Request::from_pem(&spec.request.0).map_err(|error| Refusal::Unreadable(error.to_string()))?;
    let asker = spec.username.as_deref().unwrap_or_default();
    let is_in = |group: &str| spec.groups.iter().flatten().any(|found| found == group);
    let is_node = asker == request.common_name && asker.starts_with(NODE_PREFIX) && is_in(NODES);
    let is_asker = match purpose {
        Purpose::FirstClient if is_node => return Ok(None),
        Purpose::FirstClient => asker == BOOTSTRAPPER && is_in(BOOTSTRAPPERS),
        Purpose::Serving => is_node,
    };
    if !is_asker {
        return Err(Refusal::Asker(asker.to_owned()));
    }
    let usages = spec.usages.clone().unwrap_or_default();
    signer.validate(&request, &usages).map_err(Refusal::Form)?;
    let node = request
        .common_name
        .strip_prefix(NODE_PREFIX)
        .unwrap_or_default()
        .to_owned();
    Ok(Some(Claim { purpose, node, request }))
}

fn has_condition(object: &CertificateSigningRequest, kind: &str) -> bool {
    let conditions = object
        .status
        .iter()
        .flat_map(|status| status.conditions.iter().flatten());
    conditions.into_iter().any(|condition| condition.type_ == kind)
}
