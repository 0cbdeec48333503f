//! Questions about access and identity: created, answered, never stored.

use hyperplane_access::reviews;
use hyperplane_wire::{Failure, negotiate::BodyFormat};
use serde_json::Value;

use crate::{
    call::Call,
    identity::{Latest, refused},
    ownership, reading,
    service::Server,
};

/// Answers a review.
pub(super) fn answer(server: &Server, call: &Call, body: &[u8], format: BodyFormat) -> Result<Value, Failure> {
    let review = ownership::record_create(&server.core, call, reading::object(call, body, format)?);
    let (policy, now) = (&server.core.policy, server.core.clock.now());
    let answered = match call.served.resource.kind.as_str() {
        "SelfSubjectAccessReview" => reviews::self_subject_access(policy, &call.user, review),
        "SubjectAccessReview" => reviews::subject_access(policy, review),
        "LocalSubjectAccessReview" => reviews::local_subject_access(policy, &call.namespace, review),
        "SelfSubjectRulesReview" => reviews::self_subject_rules(policy, &call.user, &review),
        "SelfSubjectReview" => Ok(reviews::self_subject(&call.user, now)),
        "TokenReview" => reviews::token(&server.front.authenticator, review, &Latest(&server.core), now),
        _ => return Err(Failure::generic_method_not_allowed()),
    };
    answered.map_err(|refusal| refused(&refusal))
}
