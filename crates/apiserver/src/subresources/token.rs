//! Tokens of a service account, made on request.

use hyperplane_access::tokens;
use hyperplane_kinds::token_request_types;
use hyperplane_merge::{Author, ResetFields, Scope};
use hyperplane_wire::Failure;
use serde_json::{Value, json};

use crate::{
    call::Call,
    identity::{Latest, refused},
    service::Server,
};

const VERSION: &str = "authentication.k8s.io/v1";

/// Makes a token.
pub(super) fn create(server: &Server, call: &Call, request: Value) -> Result<Value, Failure> {
    let Some(issuer) = &server.front.authenticator.issuer else {
        return Err(Failure::internal(
            "this server makes no tokens: it was started without a signing key",
        ));
    };
    let address = (call.namespace.as_str(), call.name.as_str());
    let (now, id) = (server.core.clock.now(), server.core.entropy.uid());
    let request = owned(server, call, request);
    let issued = tokens::request(issuer, &request, address, &Latest(&server.core), now, &id)
        .map_err(|refusal| refused(&refusal))?;
    Ok(issued.object)
}

/// The request with its defaults, and with its fields owned by who sent it. Nobody will ever apply a TokenRequest, but
/// clients are told all the same.
fn owned(server: &Server, call: &Call, mut request: Value) -> Value {
    if request["spec"]["expirationSeconds"].is_null() {
        request["spec"]["expirationSeconds"] = json!(tokens::DEFAULT_SECONDS);
    }
    let author = Author {
        manager: &call.manager,
        api_version: VERSION,
        subresource: &call.subresource,
        time: server.core.clock.now(),
    };
    let scope = Scope {
        types: &|api_version| (api_version == VERSION).then(token_request_types),
        reset: &ResetFields::none(),
    };
    hyperplane_merge::update(None, request, &author, &scope)
}
