//! Tokens made, published, verified and tampered with.

use aws_lc_rs::{
    encoding::{AsDer as _, Pkcs8V1Der},
    rand::SystemRandom,
    rsa::KeySize,
    signature::{KeyPair as _, RSA_PKCS1_SHA256, RsaKeyPair},
};
use base64::{Engine as _, prelude::BASE64_URL_SAFE_NO_PAD as BASE64_URL};
use jiff::Timestamp;
use proptest::prelude::*;
use serde_json::{Value, json};
use std::sync::LazyLock;

use super::*;
use crate::{Refusal, object::world::World};

const URL: &str = "https://cluster.example";

static ISSUER: LazyLock<Issuer> = LazyLock::new(|| Issuer::new(URL, SigningKey::generate().unwrap()));

fn now() -> Timestamp {
    "2026-01-01T00:00:00Z".parse().unwrap()
}

fn claims() -> Claims {
    Claims {
        issuer: URL.to_owned(),
        audiences: vec![URL.to_owned()],
        subject: "system:serviceaccount:team:bob".to_owned(),
        id: "id".to_owned(),
        issued: Some(now()),
        begins: Some(now()),
        expires: Some(now()),
        warn_after: None,
        namespace: "team".to_owned(),
        account: Reference {
            name: "bob".to_owned(),
            uid: "u".to_owned(),
        },
        pod: None,
        secret: None,
        node: Some(Reference {
            name: "n".to_owned(),
            uid: String::new(),
        }),
    }
}

fn world() -> World {
    let mut world = World::default();
    let object = |namespace: &str, name: &str, uid: &str| json!({"metadata": {"namespace": namespace, "name": name, "uid": uid}});
    world.put("", "serviceaccounts", object("team", "bob", "u-bob"));
    world.put("", "secrets", object("team", "s", "u-s"));
    world.put("", "nodes", json!({"metadata": {"name": "n", "uid": "u-n"}}));
    for (name, account, node) in [
        ("p", "bob", "n"),
        ("q", "other", "n"),
        ("r", "bob", "unknown"),
        ("t", "bob", ""),
    ] {
        let mut pod = object("team", name, &format!("u-{name}"));
        pod["spec"] = json!({"serviceAccountName": account, "nodeName": node});
        world.put("", "pods", pod);
    }
    world
}

fn ask(spec: &Value) -> Result<Issued, Refusal> {
    request(&ISSUER, &json!({"spec": spec}), ("team", "bob"), &world(), now(), "id")
}

fn refused(spec: &Value) -> String {
    let refusal = ask(spec).unwrap_err();
    format!("{} {refusal}", refusal.code())
}

#[test]
fn what_was_signed_is_read_again() {
    let token = ISSUER.sign(&claims()).unwrap();
    assert_eq!(ISSUER.verify(&token).unwrap().as_deref(), Some(&claims()));
    assert_eq!(
        ISSUER.verify(&token).unwrap().as_deref(),
        Some(&claims()),
        "from the cache"
    );
}

#[test]
fn a_key_survives_being_written() {
    let key = SigningKey::generate().unwrap();
    let again = SigningKey::from_pem(&key.to_pem().unwrap()).unwrap();
    assert_eq!(key.public().jwk(), again.public().jwk());
    assert!(SigningKey::from_pem("nothing").is_err());
}

#[test]
fn a_cluster_may_sign_with_rsa() {
    let pair = RsaKeyPair::generate(KeySize::Rsa2048).unwrap();
    let document: Pkcs8V1Der<'_> = pair.as_der().unwrap();
    let key = SigningKey::from_pem(&crate::pem::write("PRIVATE KEY", document.as_ref())).unwrap();
    let again = SigningKey::from_pem(&key.to_pem().unwrap()).unwrap();
    assert_eq!(key.public().jwk(), again.public().jwk());
    let issuer = Issuer::new(URL, key);
    let token = issuer.sign(&claims()).unwrap();
    assert_eq!(issuer.verify(&token).unwrap().as_deref(), Some(&claims()));
    assert_eq!(issuer.jwks()["keys"][0]["alg"], "RS256");
}

#[test]
fn tokens_of_others_are_not_ours() {
    for token in ["", "abc", "a.b", "a.b.c", "a.b.c.d", "{\"a\":1}", &"a".repeat(1 << 20)] {
        assert_eq!(ISSUER.verify(token), Ok(None), "{token}");
    }
    let other = Claims {
        issuer: "https://other.example".to_owned(),
        ..claims()
    };
    assert_eq!(ISSUER.verify(&ISSUER.sign(&other).unwrap()), Ok(None));
}

#[test]
fn a_token_of_an_unknown_key_is_refused() {
    let stranger = Issuer::new(URL, SigningKey::generate().unwrap());
    let token = stranger.sign(&claims()).unwrap();
    assert_eq!(
        ISSUER.verify(&token),
        Err(TokenError::Signature("invalid signature, no keys found"))
    );
}

#[test]
fn the_algorithm_of_the_header_decides_nothing() {
    let token = ISSUER.sign(&claims()).unwrap();
    let (message, signature) = token.rsplit_once('.').unwrap();
    let payload = message.split_once('.').unwrap().1;
    for algorithm in ["none", "HS256", "RS256", "ES384"] {
        let header = BASE64_URL.encode(json!({"alg": algorithm}).to_string());
        for signature in ["", signature] {
            let refused = ISSUER.verify(&format!("{header}.{payload}.{signature}"));
            assert!(
                matches!(refused, Err(TokenError::Signature(_))),
                "{algorithm}: {refused:?}"
            );
        }
    }
}

#[test]
fn tokens_that_an_rsa_key_signed_are_accepted_from_a_trusted_key() {
    let pair = RsaKeyPair::generate(KeySize::Rsa2048).unwrap();
    let key = VerifyingKey::from_der(pair.public_key().as_der().unwrap().as_ref()).unwrap();
    let header = BASE64_URL.encode(json!({"alg": "RS256", "kid": key.id}).to_string());
    let message = format!("{header}.{}", BASE64_URL.encode(claims().to_value().to_string()));
    let mut signature = vec![0; pair.public_modulus_len()];
    pair.sign(
        &RSA_PKCS1_SHA256,
        &SystemRandom::new(),
        message.as_bytes(),
        &mut signature,
    )
    .unwrap();
    let token = format!("{message}.{}", BASE64_URL.encode(signature));
    assert!(ISSUER.verify(&token).is_err());
    let issuer = Issuer::new(URL, SigningKey::generate().unwrap()).trust(key);
    assert_eq!(issuer.verify(&token).unwrap().as_deref(), Some(&claims()));
    let algorithms = &issuer.openid_configuration("https://x/openid/v1/jwks")["id_token_signing_alg_values_supported"];
    assert_eq!(*algorithms, json!(["ES256", "RS256"]));
    assert_eq!(issuer.jwks()["keys"][1]["e"], "AQAB");
}

#[test]
fn the_key_set_has_the_form_that_relying_parties_expect() {
    let jwks = ISSUER.jwks();
    let key = &jwks["keys"][0];
    let expected = json!({"use": "sig", "kty": "EC", "crv": "P-256", "alg": "ES256", "kid": key["kid"], "x": key["x"], "y": key["y"]});
    assert_eq!(*key, expected);
    assert_eq!(key["x"].as_str().map(str::len), Some(43));
    assert_eq!(
        ISSUER.openid_configuration("https://x/openid/v1/jwks"),
        json!({
            "issuer": URL,
            "jwks_uri": "https://x/openid/v1/jwks",
            "response_types_supported": ["id_token"],
            "subject_types_supported": ["public"],
            "id_token_signing_alg_values_supported": ["ES256"],
        })
    );
}

#[test]
fn a_request_is_answered_with_a_token() {
    let issued = ask(&json!({"expirationSeconds": 600})).unwrap();
    assert_eq!(issued.credential_id, "JTI=id");
    let token = issued.object["status"]["token"].as_str().unwrap();
    let claims = ISSUER.verify(token).unwrap().unwrap();
    assert_eq!(claims.expires, Some("2026-01-01T00:10:00Z".parse().unwrap()));
    assert_eq!(claims.audiences, [URL]);
    assert_eq!(
        claims.account,
        Reference {
            name: "bob".to_owned(),
            uid: "u-bob".to_owned()
        }
    );
    let expected = json!({
        "apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest",
        "metadata": {"name": "bob", "namespace": "team", "uid": "u-bob", "creationTimestamp": "2026-01-01T00:00:00Z"},
        "spec": {"audiences": [URL], "expirationSeconds": 600, "boundObjectRef": null},
        "status": {"token": token, "expirationTimestamp": "2026-01-01T00:10:00Z"},
    });
    assert_eq!(issued.object, expected);
}

#[test]
fn a_token_is_bound_to_what_the_request_names() {
    let bound = |kind: &str, name: &str| {
        let spec = json!({"boundObjectRef": {"apiVersion": "v1", "kind": kind, "name": name}});
        let issued = ask(&spec).unwrap();
        ISSUER
            .verify(issued.object["status"]["token"].as_str().unwrap())
            .unwrap()
            .unwrap()
    };
    let reference = |name: &str, uid: &str| {
        Some(Reference {
            name: name.to_owned(),
            uid: uid.to_owned(),
        })
    };
    assert_eq!(
        (bound("Pod", "p").pod.clone(), bound("Pod", "p").node.clone()),
        (reference("p", "u-p"), reference("n", "u-n"))
    );
    assert_eq!(bound("Pod", "r").node, reference("unknown", ""));
    assert_eq!(bound("Pod", "t").node, None);
    assert_eq!(bound("Secret", "s").secret, reference("s", "u-s"));
    assert_eq!(
        (bound("Node", "n").node.clone(), bound("Node", "n").pod.clone()),
        (reference("n", "u-n"), None)
    );
}

#[test]
fn the_life_that_kubelets_ask_for_is_extended_and_noted() {
    let pod = json!({"apiVersion": "v1", "kind": "Pod", "name": "p"});
    let cases = [
        (
            json!({"expirationSeconds": WARN_ONLY_SECONDS, "boundObjectRef": pod}),
            EXTENDED_SECONDS,
            true,
        ),
        (
            json!({"expirationSeconds": WARN_ONLY_SECONDS}),
            WARN_ONLY_SECONDS,
            false,
        ),
        (json!({"expirationSeconds": 3600, "boundObjectRef": pod}), 3600, false),
        (
            json!({"expirationSeconds": WARN_ONLY_SECONDS, "boundObjectRef": pod, "audiences": ["x"]}),
            WARN_ONLY_SECONDS,
            false,
        ),
    ];
    for (spec, seconds, is_noted) in cases {
        let issued = ask(&spec).unwrap();
        let claims = ISSUER
            .verify(issued.object["status"]["token"].as_str().unwrap())
            .unwrap()
            .unwrap();
        assert_eq!(
            claims.expires.unwrap().as_second() - now().as_second(),
            seconds,
            "{spec}"
        );
        assert_eq!(claims.warn_after.is_some(), is_noted, "{spec}");
        let asked = spec["expirationSeconds"].as_i64().unwrap();
        let shown: Timestamp = issued.object["status"]["expirationTimestamp"]
            .as_str()
            .unwrap()
            .parse()
            .unwrap();
        assert_eq!(
            shown.as_second() - now().as_second(),
            asked,
            "what was asked is shown, {spec}"
        );
    }
}

#[test]
fn requests_are_refused_in_upstreams_words() {
    let bound = |kind: &str, version: &str, name: &str, uid: &str| {
        refused(&json!({"boundObjectRef": {"kind": kind, "apiVersion": version, "name": name, "uid": uid}}))
    };
    let invalid = "422 TokenRequest.authentication.k8s.io \"\" is invalid: spec.expirationSeconds: Invalid value:";
    let cases = [
        (refused(&json!({"expirationSeconds": 599})), format!("{invalid} 599: may not specify a duration less than 10 minutes")),
        (refused(&json!({"expirationSeconds": 4_294_967_297_i64})), format!("{invalid} 4294967297: may not specify a duration larger than 2^32 seconds")),
        (bound("Job", "batch/v1", "x", ""), "400 cannot bind token to object of type batch/v1, Kind=Job".to_owned()),
        (bound("Pod", "v1", "x", ""), "404 pods \"x\" not found".to_owned()),
        (bound("Pod", "v1", "q", ""), "400 cannot bind token for serviceaccount \"bob\" to pod running with different serviceaccount name.".to_owned()),
        (bound("Secret", "v1", "s", "zz"), "409 Operation cannot be fulfilled on Secret \"s\": the UID in the bound object reference (zz) does not match the UID in record. The object might have been deleted and then recreated".to_owned()),
    ];
    for (message, expected) in cases {
        assert_eq!(message, expected);
    }
    assert!(ask(&json!({"expirationSeconds": 1_i64 << 32})).is_ok());
}

#[test]
fn the_address_and_the_request_must_agree() {
    let ask = |metadata: Value, name: &str| {
        let refusal = request(
            &ISSUER,
            &json!({"metadata": metadata, "spec": {}}),
            ("team", name),
            &world(),
            now(),
            "id",
        )
        .unwrap_err();
        format!("{} {refusal}", refusal.code())
    };
    assert_eq!(
        ask(json!({"name": "x"}), "bob"),
        "422 TokenRequest.authentication.k8s.io \"bob\" is invalid: metadata.name: Invalid value: \"x\": must match the service account name if specified"
    );
    assert_eq!(
        ask(json!({"uid": "x"}), "bob"),
        "409 Operation cannot be fulfilled on TokenRequest.authentication.k8s.io \"bob\": the UID in the token request (x) does not match the UID of the service account (u-bob)"
    );
    assert_eq!(ask(json!({}), "nobody"), "404 serviceaccounts \"nobody\" not found");
}

proptest! {
    #[test]
    fn no_changed_byte_goes_unnoticed(position in any::<prop::sample::Index>(), replacement in "[A-Za-z0-9_.-]") {
        let token = ISSUER.sign(&claims()).unwrap();
        let index = position.index(token.len());
        let mut changed = token.clone();
        changed.replace_range(index..=index, &replacement);
        prop_assume!(changed != token);
        let verified = ISSUER.verify(&changed);
        prop_assert!(!matches!(verified, Ok(Some(_))), "{index} {verified:?}");
    }
}
