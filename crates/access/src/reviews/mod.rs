//! The questions that clients may ask about access, which are created and answered and never stored: may I, may they,
//! what may I, who am I, whose token is this. The object goes in as it was sent and comes out with its status.

mod selector;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde_json::{Value, json};

use self::selector::Fields;
use crate::{
    Attributes, Decision, Objects, Policy, Refusal, User,
    authenticate::{Authenticator, Unauthorized},
    object::{at, list, text, texts},
    refusal::{Cause, Subject},
    text::quote,
};

const AUTHORIZATION: &str = "authorization.k8s.io";

/// Answers a SelfSubjectAccessReview: may I?
pub fn self_subject_access(policy: &Policy, user: &User, review: Value) -> Result<Value, Refusal> {
    let mut causes = attribute_causes(&review);
    causes.extend(metadata_cause(&review, &["managedFields"], "must be empty"));
    invalid_if(causes)?;
    Ok(answer(policy, user, review))
}

/// Answers a SubjectAccessReview: may they?
pub fn subject_access(policy: &Policy, review: Value) -> Result<Value, Refusal> {
    let mut causes = subject_causes(&review);
    causes.extend(metadata_cause(&review, &["managedFields"], "must be empty"));
    invalid_if(causes)?;
    let user = subject(&review);
    Ok(answer(policy, &user, review))
}

/// Answers a LocalSubjectAccessReview: may they, in the namespace of the request?
pub fn local_subject_access(policy: &Policy, namespace: &str, review: Value) -> Result<Value, Refusal> {
    let mut causes = subject_causes(&review);
    let but_namespace = "must be empty except for namespace";
    causes.extend(metadata_cause(&review, &["managedFields", "namespace"], but_namespace));
    let own = text(&review, &["metadata", "namespace"]);
    let asked = text(&review, &["spec", "resourceAttributes", "namespace"]);
    if !at(&review, &["spec", "resourceAttributes"]).is_null() && asked != own {
        let field = "spec.resourceAttributes.namespace";
        causes.push(Cause::invalid(field, &quote(asked), "must match metadata.namespace"));
    }
    let path = at(&review, &["spec", "nonResourceAttributes"]);
    if !path.is_null() {
        let complaint = "disallowed on this kind of request";
        causes.push(Cause::invalid(
            "spec.nonResourceAttributes",
            &path_attributes_in_go(path),
            complaint,
        ));
    }
    invalid_if(causes)?;
    if own != namespace {
        let message = format!("spec.resourceAttributes.namespace must match namespace: {namespace}");
        return Err(Refusal::BadRequest(message));
    }
    let user = subject(&review);
    Ok(answer(policy, &user, review))
}

/// Answers a SelfSubjectRulesReview: what may I do in this namespace? The question is not repeated in the answer.
pub fn self_subject_rules(policy: &Policy, user: &User, review: &Value) -> Result<Value, Refusal> {
    let namespace = text(review, &["spec", "namespace"]);
    if namespace.is_empty() {
        return Err(Refusal::BadRequest("no namespace on request".to_owned()));
    }
    Ok(json!({
        "apiVersion": "authorization.k8s.io/v1",
        "kind": "SelfSubjectRulesReview",
        "metadata": {},
        "spec": {},
        "status": policy.rules_for(user, namespace),
    }))
}

/// Answers a SelfSubjectReview: who am I?
pub fn self_subject(user: &User, now: Timestamp) -> Value {
    json!({
        "apiVersion": "authentication.k8s.io/v1",
        "kind": "SelfSubjectReview",
        "metadata": {"creationTimestamp": now.strftime("%Y-%m-%dT%H:%M:%SZ").to_string()},
        "status": {"userInfo": user.to_value()},
    })
}

/// Answers a TokenReview: whose token is this, and is it for these audiences?
pub fn token(
    authenticator: &Authenticator,
    mut review: Value,
    objects: &dyn Objects,
    now: Timestamp,
) -> Result<Value, Refusal> {
    let token = text(&review, &["spec", "token"]);
    if token.is_empty() {
        return Err(Refusal::BadRequest(
            "token is required for TokenReview in authentication".to_owned(),
        ));
    }
    let audiences = Some(texts(&review, &["spec", "audiences"])).filter(|audiences| !audiences.is_empty());
    review["status"] = match authenticator.token(token, audiences.as_deref(), objects, now) {
        Ok(found) => {
            let mut status = json!({"authenticated": true, "user": found.user.to_value()});
            if !found.audiences.is_empty() {
                status["audiences"] = json!(found.audiences);
            }
            status
        }
        Err(Unauthorized(error)) => json!({"user": {}, "error": error}),
    };
    Ok(review)
}

fn answer(policy: &Policy, user: &User, mut review: Value) -> Value {
    let resource = at(&review, &["spec", "resourceAttributes"]);
    let fields = Fields::read(at(resource, &["fieldSelector"]));
    let decision = if resource.is_null() {
        let path = at(&review, &["spec", "nonResourceAttributes"]);
        policy.authorize(&Attributes::path(user, text(path, &["verb"]), text(path, &["path"])))
    } else {
        policy.authorize(&resource_attributes(user, resource, &fields))
    };
    let errors: Vec<String> = [fields.complaint("fieldSelector"), selector::labels_complaint(resource)]
        .into_iter()
        .flatten()
        .collect();
    review["status"] = status(&decision, &errors);
    review
}

fn resource_attributes<'a>(user: &'a User, resource: &'a Value, fields: &'a Fields) -> Attributes<'a> {
    let field = |name: &str| text(resource, &[name]);
    let (verb, group) = (field("verb"), field("group"));
    let version = if field("version").is_empty() {
        "*"
    } else {
        field("version")
    };
    let (subresource, fields) = (field("subresource"), fields.requirements.as_slice());
    let attributes = Attributes::resource(user, verb, group, field("resource"), field("namespace"), field("name"));
    Attributes {
        version,
        subresource,
        fields,
        ..attributes
    }
}

fn status(decision: &Decision, errors: &[String]) -> Value {
    let mut status = json!({"allowed": decision.is_allowed()});
    if matches!(decision, Decision::Deny(_)) {
        status["denied"] = json!(true);
    }
    if !decision.reason().is_empty() {
        status["reason"] = json!(decision.reason());
    }
    if !errors.is_empty() {
        status["evaluationError"] = json!(errors.join("; "));
    }
    status
}

fn subject(review: &Value) -> User {
    let spec = at(review, &["spec"]);
    let extra = at(spec, &["extra"]).as_object();
    let extra: BTreeMap<String, Vec<String>> = extra
        .into_iter()
        .flatten()
        .map(|(key, values)| (key.clone(), texts(values, &[])))
        .collect();
    User {
        name: text(spec, &["user"]).to_owned(),
        uid: text(spec, &["uid"]).to_owned(),
        groups: texts(spec, &["groups"]),
        extra,
    }
}

fn subject_causes(review: &Value) -> Vec<Cause> {
    let spec = at(review, &["spec"]);
    let mut causes = attribute_causes(review);
    if text(spec, &["user"]).is_empty() && list(spec, &["groups"]).is_empty() {
        let cause = Cause::invalid("spec.user", "\"\"", "at least one of user or group must be specified");
        let before = causes
            .iter()
            .position(|cause| cause.field.contains("Selector"))
            .unwrap_or(causes.len());
        causes.insert(before, cause);
    }
    causes
}

fn attribute_causes(review: &Value) -> Vec<Cause> {
    let resource = at(review, &["spec", "resourceAttributes"]);
    let path = at(review, &["spec", "nonResourceAttributes"]);
    let mut causes = Vec::new();
    match (resource.is_null(), path.is_null()) {
        (false, false) => causes.push(Cause::invalid(
            "spec.nonResourceAttributes",
            &path_attributes_in_go(path),
            "cannot be specified in combination with resourceAttributes",
        )),
        (true, true) => causes.push(Cause::invalid(
            "spec.resourceAttributes",
            "null",
            "exactly one of nonResourceAttributes or resourceAttributes must be specified",
        )),
        _ => {}
    }
    causes.extend(selector::causes(resource));
    causes
}

/// Upstream prints its internal struct, whose fields have no JSON names.
fn path_attributes_in_go(path: &Value) -> String {
    format!(
        "{{\"Path\":{},\"Verb\":{}}}",
        json!(text(path, &["path"])),
        json!(text(path, &["verb"]))
    )
}

/// Reviews are not objects; all that may be in their metadata is what the server itself puts there.
fn metadata_cause(review: &Value, allowed: &[&str], complaint: &str) -> Option<Cause> {
    let metadata = review.get("metadata")?.as_object()?;
    let is_set = |value: &Value| match value {
        Value::Null => false,
        Value::String(text) => !text.is_empty(),
        Value::Array(list) => !list.is_empty(),
        Value::Object(map) => !map.is_empty(),
        _ => true,
    };
    let mut others = metadata
        .iter()
        .filter(|(key, value)| !allowed.contains(&key.as_str()) && is_set(value));
    others
        .next()
        .map(|_| Cause::invalid("metadata", &review["metadata"].to_string(), complaint))
}

fn invalid_if(causes: Vec<Cause>) -> Result<(), Refusal> {
    if causes.is_empty() {
        return Ok(());
    }
    // Upstream asks the internal object for its kind, which does not know it.
    Err(Refusal::Invalid {
        subject: Subject::new(AUTHORIZATION, "", ""),
        causes,
    })
}
