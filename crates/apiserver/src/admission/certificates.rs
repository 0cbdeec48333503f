//! A CertificateSigningRequest says who made it, whatever its maker says; nobody asks for the group that may everything;
//! and only who may approves or signs for a signer.

use hyperplane_access::{
    Attributes,
    signing::{Request, Signer},
};
use hyperplane_schema::FieldError;
use hyperplane_wire::Failure;
use serde_json::{Value, json};

use crate::{call::Call, core::Core, metadata};

const GROUP: &str = "certificates.k8s.io";
const MASTERS: &str = "system:masters";

fn is_request(call: &Call) -> bool {
    call.served.resource.group == GROUP && call.served.resource.plural == "certificatesigningrequests"
}

/// Writes the author into a new request.
pub(super) fn sign(call: &Call, request: &mut Value) {
    if !is_request(call) {
        return;
    }
    let user = &call.user;
    let specification = &mut request["spec"];
    specification["username"] = json!(user.name);
    set(specification, "uid", (!user.uid.is_empty()).then(|| json!(user.uid)));
    set(
        specification,
        "groups",
        (!user.groups.is_empty()).then(|| json!(user.groups)),
    );
    set(
        specification,
        "extra",
        (!user.extra.is_empty()).then(|| json!(user.extra)),
    );
}

/// Checks what a new request asks for.
pub(super) fn create(call: &Call, request: &Value) -> Result<(), Failure> {
    if !is_request(call) {
        return Ok(());
    }
    let parsed = match Request::from_object(request) {
        Ok(parsed) => parsed,
        Err(error) => {
            let value = request["spec"]["request"].clone();
            let complaint = FieldError::invalid("spec.request", value, error.to_string());
            return Err(Core::invalid(call, request, &[complaint]));
        }
    };
    let is_client =
        Signer::named(request["spec"]["signerName"].as_str().unwrap_or_default()) == Some(Signer::ApiServerClient);
    if is_client && parsed.organisations.iter().any(|group| group == MASTERS) {
        let message = format!("use of kubernetes.io/kube-apiserver-client signer with {MASTERS} group is not allowed");
        return Err(Failure::forbidden(
            &call.group_resource(),
            metadata::text(request, "name"),
            message,
        ));
    }
    Ok(())
}

fn set(specification: &mut Value, field: &str, value: Option<Value>) {
    let Some(fields) = specification.as_object_mut() else {
        return;
    };
    match value {
        Some(value) => fields.insert(field.to_owned(), value),
        None => fields.remove(field),
    };
}

/// Whether the user may approve, or sign, for the signer.
pub(super) fn update(core: &Core, call: &Call, request: &Value, old: &Value) -> Result<(), Failure> {
    let verb = match call.subresource.as_str() {
        "approval" => "approve",
        "status" if request["status"]["certificate"] != old["status"]["certificate"] => "sign",
        _ => return Ok(()),
    };
    if !is_request(call) {
        return Ok(());
    }
    let signer = old["spec"]["signerName"].as_str().unwrap_or_default();
    let domain = signer.split_once('/').map_or(signer, |(domain, _)| domain);
    let may = |name: &str| {
        let attributes = Attributes::resource(&call.user, verb, GROUP, "signers", "", name);
        core.policy.authorize(&attributes).is_allowed()
    };
    if may(signer) || may(&format!("{domain}/*")) {
        return Ok(());
    }
    let message = format!("user not permitted to {verb} requests with signerName {signer:?}");
    Err(Failure::forbidden(
        &call.group_resource(),
        metadata::text(old, "name"),
        message,
    ))
}
