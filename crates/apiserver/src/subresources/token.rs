//! Tokens of a service account, made on request.

use hyperplane_access::tokens;
use hyperplane_wire::Failure;
use serde_json::Value;

use crate::{
    call::Call,
    identity::{Latest, refused},
    service::Server,
};

/// Makes a token.
pub(super) fn create(server: &Server, call: &Call, request: &Value) -> Result<Value, Failure> {
    let Some(issuer) = &server.front.authenticator.issuer else {
        return Err(Failure::internal(
            "this server makes no tokens: it was started without a signing key",
        ));
    };
    let address = (call.namespace.as_str(), call.name.as_str());
    let (now, id) = (server.core.clock.now(), server.core.entropy.uid());
    let issued = tokens::request(issuer, request, address, &Latest(&server.core), now, &id)
        .map_err(|refusal| refused(&refusal))?;
    Ok(issued.object)
}
