//! Reviews as a real server answers them.

use serde_json::{Value, json};

use super::*;
use crate::{
    object::world::World,
    tokens::{Issuer, SigningKey},
};
use std::sync::Arc;

fn review(spec: &Value) -> Result<Value, Refusal> {
    subject_access(&Policy::with_defaults(), json!({"spec": spec}))
}

fn status_of(spec: &Value) -> Value {
    review(spec).unwrap()["status"].clone()
}

fn message(answer: Result<Value, Refusal>) -> String {
    answer.map_or_else(|refusal| format!("{} {refusal}", refusal.code()), |_| String::new())
}

#[test]
fn a_review_comes_back_with_its_status() {
    let spec = json!({"user": "bob", "groups": ["system:authenticated"], "nonResourceAttributes": {"verb": "get", "path": "/api"}});
    let reason = "RBAC: allowed by ClusterRoleBinding \"system:discovery\" of ClusterRole \"system:discovery\" to Group \"system:authenticated\"";
    assert_eq!(
        review(&spec).unwrap(),
        json!({"spec": spec, "status": {"allowed": true, "reason": reason}})
    );
    let pods =
        json!({"user": "bob", "resourceAttributes": {"verb": "get", "resource": "pods", "namespace": "default"}});
    assert_eq!(status_of(&pods), json!({"allowed": false}));
    let node = json!({"user": "system:node:n1", "groups": ["system:nodes"], "resourceAttributes": {"verb": "get", "resource": "secrets", "namespace": "default", "name": "x"}});
    assert_eq!(
        status_of(&node),
        json!({"allowed": false, "reason": "no relationship found between node 'n1' and this object"})
    );
}

#[test]
fn field_selectors_count() {
    let list = |selector: Value| {
        let attributes = json!({"verb": "list", "resource": "pods", "fieldSelector": selector});
        status_of(&json!({"user": "system:node:n1", "groups": ["system:nodes"], "resourceAttributes": attributes}))
    };
    for selector in [
        json!({"rawSelector": "spec.nodeName=n1"}),
        json!({"rawSelector": "a!=b,spec.nodeName==n1"}),
        json!({"requirements": [{"key": "spec.nodeName", "operator": "In", "values": ["n1"]}]}),
    ] {
        assert_eq!(list(selector.clone()), json!({"allowed": true}), "{selector}");
    }
    for selector in [
        json!({"rawSelector": "spec.nodeName=n2"}),
        json!({"rawSelector": "spec.nodeName!=n1"}),
    ] {
        assert_eq!(list(selector.clone())["allowed"], false, "{selector}");
    }
}

#[test]
fn selectors_that_cannot_be_read_are_named() {
    let error = |fields: Value, labels: Value| {
        let attributes = json!({"fieldSelector": fields, "labelSelector": labels});
        status_of(&json!({"user": "bob", "resourceAttributes": attributes}))["evaluationError"].clone()
    };
    assert_eq!(
        error(json!({"rawSelector": "a=b=c,,"}), json!({"rawSelector": "a in b"})),
        "spec.resourceAttributes.fieldSelector ignored due to parse error; spec.resourceAttributes.labelSelector ignored due to parse error"
    );
    let requirements =
        json!({"requirements": [{"key": "a", "operator": "In", "values": ["x"]}, {"key": "b", "operator": "Odd"}]});
    assert_eq!(
        error(requirements.clone(), requirements),
        "spec.resourceAttributes.fieldSelector partially ignored due to parse error; spec.resourceAttributes.labelSelector partially ignored due to parse error"
    );
    for labels in [
        "a",
        "!a",
        "a=b",
        "a!=b",
        "a==b,c",
        "a in (b,c)",
        "a notin (b)",
        "x.y/a=b",
    ] {
        assert_eq!(
            error(json!({"rawSelector": "a=b"}), json!({"rawSelector": labels})),
            Value::Null,
            "{labels}"
        );
    }
}

#[test]
fn wrong_reviews_are_refused_in_upstreams_words() {
    const ONE_OF: &str = "spec.resourceAttributes: Invalid value: null: exactly one of nonResourceAttributes or resourceAttributes must be specified";
    const WHO: &str = "spec.user: Invalid value: \"\": at least one of user or group must be specified";
    let invalid = |causes: &str| format!("422 .authorization.k8s.io \"\" is invalid: {causes}");
    assert_eq!(message(review(&json!({}))), invalid(&format!("[{ONE_OF}, {WHO}]")));
    let both =
        json!({"user": "a", "nonResourceAttributes": {"verb": "get", "path": "/version"}, "resourceAttributes": {}});
    assert_eq!(
        message(review(&both)),
        invalid(
            "spec.nonResourceAttributes: Invalid value: {\"Path\":\"/version\",\"Verb\":\"get\"}: cannot be specified in combination with resourceAttributes"
        )
    );
    let policy = Policy::new();
    let named = json!({"metadata": {"name": "x"}, "spec": {"resourceAttributes": {}}});
    assert_eq!(
        message(self_subject_access(&policy, &User::admin(), named)),
        invalid("metadata: Invalid value: {\"name\":\"x\"}: must be empty")
    );
    let managed = json!({"metadata": {"managedFields": [{}], "labels": {}}, "spec": {"resourceAttributes": {}}});
    assert_eq!(message(self_subject_access(&policy, &User::admin(), managed)), "");
}

#[test]
fn wrong_selectors_are_refused_in_upstreams_words() {
    let message = |fields: Value, labels: Value| {
        message(review(
            &json!({"user": "bob", "resourceAttributes": {"fieldSelector": fields, "labelSelector": labels}}),
        ))
    };
    let path = "spec.resourceAttributes";
    assert_eq!(
        message(
            json!({}),
            json!({"rawSelector": "a", "requirements": [{"key": "a", "operator": "In", "values": []}]})
        ),
        format!(
            "422 .authorization.k8s.io \"\" is invalid: [{path}.fieldSelector.requirements: Required value: when {path}.fieldSelector is specified, requirements or rawSelector is required, {path}.labelSelector.rawSelector: Invalid value: \"a\": may not specified at the same time as requirements, {path}.labelSelector.requirements[0].values: Required value: must be specified when `operator` is 'In' or 'NotIn']"
        )
    );
    let fields =
        json!({"requirements": [{"key": "", "operator": "In"}, {"key": "a", "operator": "Exists", "values": ["x"]}]});
    let labels = json!({"requirements": [{"key": "", "operator": "In", "values": ["a b"]}]});
    let refused = message(fields, labels);
    for part in [
        "fieldSelector.requirements[0].key: Required value: must be specified, ",
        "fieldSelector.requirements[0].values: Required value: must be specified when `operator` is 'In' or 'NotIn'",
        "fieldSelector.requirements[1].values: Forbidden: may not be specified when `operator` is 'Exists' or 'DoesNotExist'",
        "labelSelector.requirements[0].key: Invalid value: \"\": name part must be non-empty, ",
        "labelSelector.requirements[0].values[0]: Invalid value: \"a b\": a valid label must be an empty string or consist of",
    ] {
        assert!(refused.contains(part), "{part} is not in {refused}");
    }
}

#[test]
fn a_local_review_stays_in_its_namespace() {
    let policy = Policy::with_defaults();
    let local = |own: &str, asked: &str| {
        let spec =
            json!({"user": "bob", "resourceAttributes": {"namespace": asked, "verb": "get", "resource": "pods"}});
        message(local_subject_access(
            &policy,
            "team",
            json!({"metadata": {"namespace": own}, "spec": spec}),
        ))
    };
    assert_eq!(local("team", "team"), "");
    assert_eq!(
        local("team", "other"),
        "422 .authorization.k8s.io \"\" is invalid: spec.resourceAttributes.namespace: Invalid value: \"other\": must match metadata.namespace"
    );
    assert_eq!(
        local("other", "other"),
        "400 spec.resourceAttributes.namespace must match namespace: team"
    );
    let path =
        json!({"metadata": {"namespace": "team"}, "spec": {"user": "bob", "nonResourceAttributes": {"path": "/"}}});
    assert_eq!(
        message(local_subject_access(&policy, "team", path)),
        "422 .authorization.k8s.io \"\" is invalid: spec.nonResourceAttributes: Invalid value: {\"Path\":\"/\",\"Verb\":\"\"}: disallowed on this kind of request"
    );
}

#[test]
fn rules_and_identity_are_told() {
    let policy = Policy::with_defaults();
    let user = User::with_groups("bob", vec!["system:authenticated".to_owned()]);
    let review = json!({"spec": {"namespace": "default"}});
    let answer = self_subject_rules(&policy, &user, &review).unwrap();
    assert_eq!(
        answer["status"]["resourceRules"][0],
        json!({"verbs": ["create"], "apiGroups": ["authorization.k8s.io"], "resources": ["selfsubjectaccessreviews", "selfsubjectrulesreviews"]})
    );
    assert_eq!((&answer["spec"], &answer["metadata"]), (&json!({}), &json!({})));
    assert_eq!(
        message(self_subject_rules(&policy, &user, &json!({"spec": {}}))),
        "400 no namespace on request"
    );
    assert_eq!(
        self_subject(&user, "2026-01-01T00:00:00.5Z".parse().unwrap()),
        json!({
            "apiVersion": "authentication.k8s.io/v1", "kind": "SelfSubjectReview",
            "metadata": {"creationTimestamp": "2026-01-01T00:00:00Z"},
            "status": {"userInfo": {"username": "bob", "groups": ["system:authenticated"]}},
        })
    );
}

#[test]
fn a_token_is_reviewed() {
    let issuer = Issuer::new("https://k.svc", SigningKey::generate().unwrap());
    let mut authenticator = Authenticator {
        issuer: Some(Arc::new(issuer)),
        ..Authenticator::default()
    };
    authenticator.static_tokens.insert("tok", User::admin());
    let now = "2026-01-01T00:00:00Z".parse().unwrap();
    let ask = |spec: Value| token(&authenticator, json!({"spec": spec}), &World::default(), now);
    let user = json!({"username": "kubernetes-admin", "groups": ["system:masters", "system:authenticated"]});
    assert_eq!(
        ask(json!({"token": "tok"})).unwrap()["status"],
        json!({"authenticated": true, "user": user, "audiences": ["https://k.svc"]})
    );
    assert_eq!(
        ask(json!({"token": "tok", "audiences": ["x"]})).unwrap()["status"],
        json!({"user": {}, "error": "invalid bearer token"})
    );
    assert_eq!(
        ask(json!({"token": "abc"})).unwrap()["status"],
        json!({"user": {}, "error": "invalid bearer token"})
    );
    assert_eq!(
        message(ask(json!({}))),
        "400 token is required for TokenReview in authentication"
    );
}
