//! One line of the audit log per request, in the shape of `audit.k8s.io/v1` at level Metadata: who asked for what and
//! what came of it. Bodies, tokens and Secrets are no part of it, because nothing here takes them.

use jiff::Timestamp;
use serde_json::{Map, Value, json};

use crate::{Attributes, Decision, User, authenticate::Impersonated};

/// What the server knows of a request that is done.
#[derive(Clone, Copy, Debug)]
pub struct Request<'a> {
    /// Unique among requests.
    pub id: &'a str,
    /// Path and query.
    pub uri: &'a str,
    /// What was asked for. The user is the one as whom the request was made.
    pub attributes: &'a Attributes<'a>,
    /// Who showed credentials, if that was another.
    pub impersonator: Option<&'a User>,
    /// As whom, and by which right.
    pub impersonated: Option<&'a Impersonated>,
    /// Where it came from, the client first.
    pub source_addresses: &'a [String],
    /// What the client calls itself.
    pub user_agent: &'a str,
    /// The answer of authorization.
    pub decision: &'a Decision,
    /// The code of the answer.
    pub code: u16,
    /// The Status with which a request was refused.
    pub failure: Option<&'a Value>,
    /// When it came.
    pub received: Timestamp,
    /// When it was answered.
    pub completed: Timestamp,
    /// What else is worth a note, such as the id of a credential that was issued.
    pub annotations: &'a [(&'a str, &'a str)],
}

/// The longest URI or user agent in a line; a client chooses them.
const MAX_TEXT: usize = 2048;

/// The line, as JSON.
pub fn line(request: &Request<'_>) -> Value {
    let attributes = request.attributes;
    let mut event = json!({
        "kind": "Event",
        "apiVersion": "audit.k8s.io/v1",
        "level": "Metadata",
        "auditID": request.id,
        "stage": "ResponseComplete",
        "requestURI": shorten(request.uri),
        "verb": attributes.verb,
        "user": request.impersonator.unwrap_or(attributes.user).to_value(),
        "sourceIPs": request.source_addresses,
        "responseStatus": response_status(request),
        "requestReceivedTimestamp": micros(request.received),
        "stageTimestamp": micros(request.completed),
        "annotations": annotations(request),
    });
    if !request.user_agent.is_empty() {
        event["userAgent"] = json!(shorten(request.user_agent));
    }
    if let Some(impersonated) = request.impersonated {
        event["impersonatedUser"] = impersonated.user.to_value();
        if !impersonated.constraint.is_empty() {
            event["authenticationMetadata"] = json!({"impersonationConstraint": impersonated.constraint});
        }
    }
    if attributes.is_resource {
        event["objectRef"] = object_reference(attributes);
    }
    event
}

fn response_status(request: &Request<'_>) -> Value {
    let mut status = json!({"metadata": {}, "code": request.code});
    for field in ["status", "message", "reason", "details"] {
        if let Some(value) = request.failure.and_then(|failure| failure.get(field)) {
            status[field] = value.clone();
        }
    }
    status
}

fn annotations(request: &Request<'_>) -> Value {
    let mut annotations = Map::from_iter([
        (
            "authorization.k8s.io/decision".to_owned(),
            json!(request.decision.word()),
        ),
        (
            "authorization.k8s.io/reason".to_owned(),
            json!(request.decision.reason()),
        ),
    ]);
    annotations.extend(
        request
            .annotations
            .iter()
            .map(|(key, value)| ((*key).to_owned(), json!(value))),
    );
    Value::Object(annotations)
}

fn object_reference(attributes: &Attributes<'_>) -> Value {
    let fields = [
        ("resource", attributes.resource),
        ("namespace", attributes.namespace),
        ("name", attributes.name),
        ("apiGroup", attributes.group),
        ("apiVersion", attributes.version),
        ("subresource", attributes.subresource),
    ];
    let fields = fields.into_iter().filter(|(_, value)| !value.is_empty());
    Value::Object(fields.map(|(key, value)| (key.to_owned(), json!(value))).collect())
}

fn micros(time: Timestamp) -> String {
    time.strftime("%Y-%m-%dT%H:%M:%S%.6fZ").to_string()
}

fn shorten(text: &str) -> &str {
    &text[..text.floor_char_boundary(MAX_TEXT)]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_says_who_asked_for_what_and_what_came_of_it() {
        let admin = User::admin();
        let user = User::with_groups("alice", vec![]);
        let attributes = Attributes::resource(&user, "create", "apps", "deployments", "team", "web");
        let attributes = Attributes {
            version: "v1",
            ..attributes
        };
        let decision = Decision::Allow("RBAC: allowed by …".to_owned());
        let impersonated = Impersonated {
            user: user.clone(),
            constraint: "impersonate:user-info",
        };
        let failure =
            json!({"kind": "Status", "status": "Failure", "message": "no", "reason": "Forbidden", "code": 403});
        let request = Request {
            id: "1",
            uri: "/apis/apps/v1/namespaces/team/deployments",
            attributes: &attributes,
            impersonator: Some(&admin),
            impersonated: Some(&impersonated),
            source_addresses: &["10.0.0.1".to_owned()],
            user_agent: "kubectl",
            decision: &decision,
            code: 403,
            failure: Some(&failure),
            received: "2026-01-02T03:04:05.678901Z".parse().unwrap(),
            completed: "2026-01-02T03:04:06Z".parse().unwrap(),
            annotations: &[("authentication.kubernetes.io/issued-credential-id", "JTI=1")],
        };
        let expected = json!({
            "kind": "Event", "apiVersion": "audit.k8s.io/v1", "level": "Metadata", "auditID": "1",
            "stage": "ResponseComplete", "requestURI": "/apis/apps/v1/namespaces/team/deployments", "verb": "create",
            "user": {"username": "kubernetes-admin", "groups": ["system:masters", "system:authenticated"]},
            "impersonatedUser": {"username": "alice"},
            "authenticationMetadata": {"impersonationConstraint": "impersonate:user-info"},
            "sourceIPs": ["10.0.0.1"], "userAgent": "kubectl",
            "objectRef": {"resource": "deployments", "namespace": "team", "name": "web", "apiGroup": "apps", "apiVersion": "v1"},
            "responseStatus": {"metadata": {}, "status": "Failure", "message": "no", "reason": "Forbidden", "code": 403},
            "requestReceivedTimestamp": "2026-01-02T03:04:05.678901Z",
            "stageTimestamp": "2026-01-02T03:04:06.000000Z",
            "annotations": {
                "authorization.k8s.io/decision": "allow",
                "authorization.k8s.io/reason": "RBAC: allowed by …",
                "authentication.kubernetes.io/issued-credential-id": "JTI=1",
            },
        });
        assert_eq!(line(&request), expected);
    }

    #[test]
    fn what_a_client_chooses_is_cut() {
        let long = "é".repeat(MAX_TEXT);
        assert_eq!(shorten(&long).len(), MAX_TEXT);
        assert_eq!(shorten("short"), "short");
    }
}
