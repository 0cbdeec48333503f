//! The well-known signers: which requests each takes, in upstream's words, and which kubelets need no human.

use std::collections::BTreeSet;

use serde_json::Value;

use super::Request;
use crate::{
    Attributes, Policy, User,
    object::{at, list, text, texts},
};

/// A signer that is part of every cluster.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Signer {
    /// `kubernetes.io/kube-apiserver-client`: anybody who talks to the API server.
    ApiServerClient,
    /// `kubernetes.io/kube-apiserver-client-kubelet`: kubelets that do.
    KubeletClient,
    /// `kubernetes.io/kubelet-serving`: kubelets to which the API server talks.
    KubeletServing,
    /// `kubernetes.io/legacy-unknown`: no promise at all.
    LegacyUnknown,
}

impl Signer {
    /// The signer of this name, if it is one of ours.
    pub fn named(name: &str) -> Option<Self> {
        match name {
            "kubernetes.io/kube-apiserver-client" => Some(Self::ApiServerClient),
            "kubernetes.io/kube-apiserver-client-kubelet" => Some(Self::KubeletClient),
            "kubernetes.io/kubelet-serving" => Some(Self::KubeletServing),
            "kubernetes.io/legacy-unknown" => Some(Self::LegacyUnknown),
            _ => None,
        }
    }

    /// Why the signer refuses the request, for the `Failed` condition with reason `SignerValidationFailure`.
    pub fn validate(self, request: &Request, usages: &[String]) -> Result<(), String> {
        match self {
            Self::ApiServerClient => client_usages(usages),
            Self::KubeletClient => kubelet_client(request, usages),
            Self::KubeletServing => kubelet_serving(request, usages),
            Self::LegacyUnknown => Ok(()),
        }
    }
}

/// The message with which a kubelet's request for a client certificate is approved, if it is one, whoever asked may
/// have it, and nobody has decided yet.
pub fn auto_approval(policy: &Policy, object: &Value) -> Option<&'static str> {
    let spec = at(object, &["spec"]);
    let is_decided = |condition: &Value| matches!(text(condition, &["type"]), "Approved" | "Denied");
    let is_done = !text(object, &["status", "certificate"]).is_empty()
        || list(object, &["status", "conditions"]).iter().any(is_decided);
    if is_done || Signer::named(text(spec, &["signerName"])) != Some(Signer::KubeletClient) {
        return None;
    }
    let request = Request::from_object(object).ok()?;
    kubelet_client(&request, &texts(spec, &["usages"])).ok()?;
    let user = User {
        name: text(spec, &["username"]).to_owned(),
        uid: text(spec, &["uid"]).to_owned(),
        groups: texts(spec, &["groups"]),
        ..User::default()
    };
    let may = |subresource: &str| {
        let ask = Attributes::resource(
            &user,
            "create",
            "certificates.k8s.io",
            "certificatesigningrequests",
            "",
            "",
        );
        policy.authorize(&Attributes { subresource, ..ask }).is_allowed()
    };
    if user.name == request.common_name && may("selfnodeclient") {
        return Some("Auto approving self kubelet client certificate after SubjectAccessReview.");
    }
    may("nodeclient").then_some("Auto approving kubelet client certificate after SubjectAccessReview.")
}

fn client_usages(usages: &[String]) -> Result<(), String> {
    let known = ["digital signature", "key encipherment", "client auth"];
    if let Some(usage) = usages.iter().find(|usage| !known.contains(&usage.as_str())) {
        return Err(format!("invalid usage for client certificate: {usage}"));
    }
    if usages.iter().any(|usage| usage == "client auth") {
        return Ok(());
    }
    Err("missing required usage for client certificate: client auth".to_owned())
}

fn kubelet_client(request: &Request, usages: &[String]) -> Result<(), String> {
    check_organisation(request)?;
    let names = &request.names;
    let kinds = [
        ("DNS", &names.dns),
        ("Email", &names.emails),
        ("IP", &names.addresses),
        ("URI", &names.uris),
    ];
    if let Some((kind, _)) = kinds.into_iter().find(|(_, names)| !names.is_empty()) {
        return Err(format!("{kind} subjectAltNames are not allowed"));
    }
    check_common_name(request)?;
    check_usages(usages, "client auth")
}

fn kubelet_serving(request: &Request, usages: &[String]) -> Result<(), String> {
    check_organisation(request)?;
    let names = &request.names;
    if names.dns.is_empty() && names.addresses.is_empty() {
        return Err("DNS or IP subjectAltName is required".to_owned());
    }
    for (kind, names) in [("Email", &names.emails), ("URI", &names.uris)] {
        if !names.is_empty() {
            return Err(format!("{kind} subjectAltNames are not allowed"));
        }
    }
    check_usages(usages, "server auth")?;
    check_common_name(request)
}

fn check_organisation(request: &Request) -> Result<(), String> {
    if request.organisations == ["system:nodes"] {
        return Ok(());
    }
    Err("subject organization is not system:nodes".to_owned())
}

fn check_common_name(request: &Request) -> Result<(), String> {
    if request.common_name.starts_with("system:node:") {
        return Ok(());
    }
    Err("subject common name does not begin with system:node:".to_owned())
}

/// Key encipherment is for RSA only, and may be left out.
fn check_usages(usages: &[String], purpose: &str) -> Result<(), String> {
    let asked: BTreeSet<&str> = usages.iter().map(String::as_str).collect();
    let least = BTreeSet::from(["digital signature", purpose]);
    let mut most = least.clone();
    most.insert("key encipherment");
    if asked == least || asked == most {
        return Ok(());
    }
    let most: Vec<&str> = most.into_iter().collect();
    Err(format!("usages did not match [{}]", most.join(" ")))
}
