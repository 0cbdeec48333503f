//! What identity providers may say: what breaks a rule, and what is taken.

use serde_json::{Value, json};

use super::{Row, broken, spec};
use crate::testing::set_source;

const TRUSTED: &str = "spec.configuration.authentication.oidcProviders[0].issuer.issuerCertificateAuthority.name";

/// A spec whose identity provider has what is given beside an issuer and a name for users.
fn provider(change: Value) -> Value {
    let mut provider = json!({
        "name": "theirs",
        "issuer": {"issuerURL": "https://id.example.com", "audiences": ["one"]},
        "claimMappings": {"username": {"claim": "sub"}},
    });
    for (key, value) in change.as_object().unwrap() {
        provider[key] = value.clone();
    }
    json!({"configuration": {"authentication": {"type": "OIDC", "oidcProviders": [provider]}}})
}

fn username(expression: &str) -> Value {
    json!({"username": {"expression": expression}})
}

fn issuer(discovery: &str) -> Value {
    json!({"issuerURL": "https://id.example.com", "audiences": ["one"], "discoveryURL": discovery})
}

fn cel(expression: &str) -> Value {
    json!({"type": "CEL", "cel": {"expression": expression, "message": "no"}})
}

pub(super) fn rows() -> Vec<Row> {
    let required = json!({"type": "RequiredClaim", "requiredClaim": {"claim": "hd", "requiredValue": "a"}});
    let of_user = |expression: &str| json!({"expression": expression, "message": "no"});
    let sub = json!({"claim": "sub"});
    let wrong = |change: Value| spec("authentication-expression", provider(change));
    let twice = |change: Value| spec("authentication-once", provider(change));
    let key = |key: &str| {
        let extra = json!([{"key": key, "valueExpression": "claims.team"}]);
        let change = json!({"claimMappings": {"username": sub, "extra": extra}});
        spec("authentication-extra-key", provider(change))
    };
    let issued = |url: &str| {
        let mut spec_of = provider(json!({}));
        spec_of["issuerURL"] = json!(url);
        spec("authentication-issuer", spec_of)
    };
    let mut trusting = json!({"issuer": {"issuerURL": "https://id.example.com", "audiences": ["one"]}});
    trusting["issuer"]["issuerCertificateAuthority"] = json!({"name": "theirs"});
    vec![
        wrong(json!({"claimMappings": username("claims.")})),
        wrong(json!({"claimMappings": username("self.sub")})),
        wrong(json!({"claimMappings": {"username": sub, "groups": {"expression": "claims.roles.splt(',')"}}})),
        wrong(json!({"claimMappings": {"username": sub, "uid": {"expression": "1 +"}}})),
        wrong(json!({"claimMappings": {"username": sub, "extra": [
            {"key": "example.com/team", "valueExpression": "team"}]}})),
        wrong(json!({"claimValidationRules": [cel("claims.hd")]})),
        wrong(json!({"userValidationRules": [of_user("user.name != ''")]})),
        spec(
            "authentication-email",
            provider(json!({"claimMappings": username("claims.email")})),
        ),
        twice(json!({"claimValidationRules": [required, required]})),
        twice(json!({"claimValidationRules": [cel("true"), cel("true")]})),
        twice(json!({"userValidationRules": [of_user("true"), of_user("true")]})),
        key("example.com/Team"),
        key("example.com/a team"),
        key("example.com/team?"),
        spec(
            "authentication-discovery",
            provider(json!({"issuer": issuer("https://somebody@inside.example.com/x")})),
        ),
        Row {
            see: |_, seen| set_source(seen, TRUSTED, "ca-bundle.crt", b"nothing"),
            ..spec("source-trust-bundle", provider(trusting))
        },
        issued("https://id.example.com"),
        issued("https://id.example.com/"),
    ]
}

#[test]
fn what_the_api_server_takes_is_taken() {
    let verified = "claims.?email_verified.orValue(true) == true";
    let by_address = username("claims.email");
    let by_witness = json!({"username": {"expression": "claims.email"}, "extra": [
        {"key": "example.com/verified", "valueExpression": "string(claims.email_verified)"}]});
    for change in [
        json!({}),
        json!({"claimMappings": username("'corp:' + claims.sub")}),
        json!({"claimMappings": username("claims.email_verified ? claims.email : claims.sub")}),
        json!({"claimMappings": by_address, "claimValidationRules": [cel(verified)]}),
        json!({"claimMappings": by_witness}),
        json!({"claimMappings": {"username": {"claim": "email"}}}),
        json!({"claimValidationRules": [cel("true")], "userValidationRules": [
            {"expression": "true", "message": "no"}]}),
        json!({"issuer": issuer("https://inside.example.com/x@y")}),
        json!({"claimMappings": {"username": {"claim": "sub"}, "extra": [
            {"key": "example.com/team/a-b_c", "valueExpression": "claims.team"}]}}),
    ] {
        let verdict = spec("", provider(change.clone())).judged();
        assert!(broken(&verdict).is_empty(), "{change}: {:?}", verdict.configuration);
    }
}

#[test]
fn nobody_looks_at_providers_of_another_type() {
    let mut odd = provider(json!({"claimMappings": username("claims.")}));
    odd["configuration"]["authentication"]["type"] = json!("None");
    assert!(broken(&spec("", odd).judged()).is_empty());
}
