//! What every request is answered with, by tables.

use std::{sync::Arc, time::Duration};

use base64::{Engine as _, prelude::BASE64_STANDARD};
use bytes::Bytes;
use http::Method;
use jiff::{SignedDuration, Timestamp};
use k8s_openapi::api::core::v1::Secret;
use prometheus_client::{encoding::text, registry::Registry};
use serde_json::{Value, json};

use crate::{
    answer::{Answer, Asked, Refusal, answer, is_news},
    counts::Counts,
    payload::{NotMade, Verdict},
    token::{self, Fingerprint, GRACE},
};

const TOKEN: &str = "0dd0c3a5-7f0e-4d0a-9a3b-000000000001";
const OLD: &str = "0dd0c3a5-7f0e-4d0a-9a3b-000000000000";
const PAYLOAD: &[u8] = br#"{"ignition":{"version":"3.2.0"}}"#;

fn now() -> Timestamp {
    "2026-01-01T12:00:00Z".parse().unwrap()
}

fn in_hours(hours: i64) -> String {
    (now() + SignedDuration::from_hours(hours)).to_string()
}

/// A Secret with tokens; fields of its metadata and its data are put over the usual ones.
fn secret(annotations: &Value, data: &Value) -> Secret {
    let mut all = json!({
        "hypershift.openshift.io/ignition-config": "true",
        "hypershift.openshift.io/nodePool": "clusters/one",
        "hypershift.openshift.io/last-token-generation-time": in_hours(-1),
    });
    let mut content = json!({"token": TOKEN, "old_token": OLD});
    for (into, from) in [(&mut all, annotations), (&mut content, data)] {
        for (key, value) in from.as_object().into_iter().flatten() {
            into[key] = value.clone();
        }
    }
    for text in content.as_object_mut().into_iter().flat_map(|all| all.values_mut()) {
        *text = BASE64_STANDARD.encode(text.as_str().unwrap_or_default()).into();
    }
    let object =
        json!({"metadata": {"name": "token-one", "namespace": "clusters-one", "annotations": all}, "data": content});
    hyperplane_objects::read(&object).unwrap()
}

fn bearer(token: &str) -> String {
    format!("Bearer {}", BASE64_STANDARD.encode(token))
}

/// The answer with only these Secrets, found as an index finds them.
fn ask(secrets: &[Secret], method: &Method, path: &str, authorization: Option<&str>) -> Answer {
    let asked = Asked {
        method,
        path,
        authorization: authorization.map(str::as_bytes),
    };
    let find = |fingerprint: &str| {
        let is_found = |secret: &&Secret| token::index(secret).iter().any(|key| key == fingerprint);
        Some(secrets.iter().filter(is_found).cloned().map(Arc::new).collect())
    };
    answer(&asked, now(), find, |_| Ok(Bytes::from_static(PAYLOAD)))
}

/// The refusal of a machine that shows a token; none if it gets what it wants.
fn refusal(secret: &Secret, shown: &str) -> Option<Refusal> {
    match ask(
        std::slice::from_ref(secret),
        &Method::GET,
        "/ignition",
        Some(&bearer(shown)),
    ) {
        Answer::Refused(refusal) => Some(refusal),
        Answer::Payload { .. } => None,
        Answer::Alive => panic!("it is no probe"),
    }
}

#[test]
fn tokens_open_until_they_end() {
    const EXPIRY: &str = "hypershift.openshift.io/ignition-token-expiration-timestamp";
    const MADE: &str = "hypershift.openshift.io/last-token-generation-time";
    let nothing = json!({});
    let unknown = Some(Refusal::UnknownToken);
    let grace = |seconds: i64| (now() - GRACE + SignedDuration::from_secs(seconds)).to_string();
    let cases = [
        ("good", nothing.clone(), TOKEN, None),
        ("before it", nothing.clone(), OLD, None),
        ("stranger", nothing.clone(), "another", unknown),
        ("not ended", json!({EXPIRY: in_hours(2)}), TOKEN, None),
        ("before it, not ended", json!({EXPIRY: in_hours(2)}), OLD, None),
        ("ended", json!({EXPIRY: in_hours(-2)}), TOKEN, unknown),
        ("before it, ended", json!({EXPIRY: in_hours(-2)}), OLD, unknown),
        ("ends now", json!({EXPIRY: in_hours(0)}), TOKEN, unknown),
        ("ends some day", json!({EXPIRY: "soon"}), TOKEN, unknown),
        ("before it, at the end of its grace", json!({MADE: grace(1)}), OLD, None),
        ("before it, beyond its grace", json!({MADE: grace(0)}), OLD, unknown),
        ("good, whenever it was made", json!({MADE: grace(-9)}), TOKEN, None),
        ("before it, nobody knows since when", json!({MADE: "?"}), OLD, unknown),
        (
            "no token at all",
            json!({"hypershift.openshift.io/ignition-config": "false"}),
            TOKEN,
            unknown,
        ),
    ];
    for (what, annotations, shown, expected) in cases {
        assert_eq!(refusal(&secret(&annotations, &nothing), shown), expected, "{what}");
    }
    let mut leaving = secret(&nothing, &nothing);
    leaving.metadata.deletion_timestamp = hyperplane_objects::read(json!("2026-01-01T00:00:00Z")).unwrap();
    assert_eq!(refusal(&leaving, TOKEN), unknown);
}

#[test]
fn what_is_not_made_is_told() {
    let secret = secret(&json!({}), &json!({}));
    let header = bearer(TOKEN);
    let asked = Asked {
        method: &Method::GET,
        path: "/ignition",
        authorization: Some(header.as_bytes()),
    };
    let waiting = NotMade::Waiting("a Secret".to_owned());
    let broken = NotMade::Broken("a mistake".to_owned());
    for (why, expected) in [(waiting, Refusal::NoPayload), (broken, Refusal::BadPayload)] {
        let found = Some(vec![Arc::new(secret.clone())]);
        let found = answer(&asked, now(), |_| found, |_| Err(why.refusal()));
        assert!(
            matches!(found, Answer::Refused(refusal) if refusal == expected),
            "{found:?}"
        );
    }
}

#[test]
fn a_verdict_is_written_once() {
    let secret_with = |reason: &str, message: &str| secret(&json!({}), &json!({"reason": reason, "message": message}));
    let good = Verdict::of(&Ok(()));
    let broken = Verdict::of(&Err(NotMade::Broken("x".repeat(9_999))));
    let waiting = Verdict::of(&Err(NotMade::Waiting("key a of Secret b".to_owned())));
    assert!(waiting.is_on(&secret_with("WaitingForDependencies", "Waiting for key a of Secret b")));
    // A verdict of before does not stay when a source is gone.
    assert!(!waiting.is_on(&secret_with("AsExpected", "The configuration of the machines was made")));
    let fresh = secret(&json!({}), &json!({}));
    for verdict in [&good, &broken, &waiting] {
        assert!(!verdict.is_on(&fresh));
        let patch = verdict.patch(&fresh);
        let text = |key: &str| {
            let bytes = BASE64_STANDARD.decode(patch["data"][key].as_str().unwrap()).unwrap();
            String::from_utf8(bytes).unwrap()
        };
        assert!(text("message").chars().count() <= 4_096);
        assert!(verdict.is_on(&secret_with(&text("reason"), &text("message"))));
    }
    let written = secret_with("InvalidConfig", "another");
    assert!(!good.is_on(&written) && !broken.is_on(&written));
}

#[test]
fn an_empty_token_opens_nothing() {
    let empty = secret(&json!({}), &json!({"token": "", "old_token": ""}));
    assert_eq!(token::index(&empty), Vec::<String>::new());
    let shown = Fingerprint::of(b"");
    assert!(!token::is_accepted(&empty, &shown, now()));
    assert!(Fingerprint::shown(b"Bearer ").is_none());
}

#[test]
fn headers_are_read_with_care() {
    let encoded = BASE64_STANDARD.encode(TOKEN);
    let long = format!("Bearer {}", "A".repeat(4 << 10));
    let good = [format!("Bearer {encoded}"), format!("bearer {encoded}")];
    let bad = [
        "",
        "Bearer",
        "Bearer ",
        "Bearer %",
        "Bearer  dG9rZW4=",
        "Basic dG9rZW4=",
        "Bearér dG9rZW4=",
        TOKEN,
        &long,
    ];
    for header in &good {
        assert_eq!(
            Fingerprint::shown(header.as_bytes()).unwrap().text(),
            Fingerprint::of(TOKEN.as_bytes()).text()
        );
    }
    for header in bad {
        assert!(Fingerprint::shown(header.as_bytes()).is_none(), "{header}");
    }
    assert!(Fingerprint::shown(&[b'B', 0xff]).is_none());
}

#[test]
fn requests_are_told_apart() {
    let secrets = [secret(&json!({}), &json!({}))];
    let header = bearer(TOKEN);
    let cases = [
        (Method::GET, "/ignition", Some(header.as_str()), 200),
        (Method::HEAD, "/ignition", Some(&header), 200),
        (Method::GET, "/healthz", None, 200),
        (Method::GET, "/ignition", None, 401),
        (Method::GET, "/ignition", Some("Bearer ="), 401),
        (Method::GET, "/ignition/", Some(&header), 404),
        (Method::GET, "/x/ignition", Some(&header), 404),
        (Method::GET, "/", None, 404),
        (Method::POST, "/ignition", Some(&header), 405),
    ];
    for (method, path, authorization, expected) in cases {
        let status = match ask(&secrets, &method, path, authorization) {
            Answer::Refused(refusal) => refusal.status().as_u16(),
            Answer::Alive | Answer::Payload { .. } => 200,
        };
        assert_eq!(status, expected, "{method} {path} {authorization:?}");
    }
    let asked = Asked {
        method: &Method::GET,
        path: "/ignition",
        authorization: Some(header.as_bytes()),
    };
    let early = answer(&asked, now(), |_| None, |_| Ok(Bytes::new()));
    assert!(matches!(early, Answer::Refused(Refusal::NotReady)));
}

#[test]
fn machines_try_again_where_that_may_help() {
    let is_tried_again = |refusal: &Refusal| refusal.status().is_server_error();
    let hopeless: Vec<_> = Refusal::ALL.iter().filter(|refusal| !is_tried_again(refusal)).collect();
    assert_eq!(hopeless, [&Refusal::Path, &Refusal::Method, &Refusal::NoToken]);
    assert_eq!(Refusal::UnknownToken.status().as_u16(), 511);
}

#[test]
fn of_two_secrets_with_one_token_the_good_one_answers() {
    const EXPIRY: &str = "hypershift.openshift.io/ignition-token-expiration-timestamp";
    let old = secret(&json!({EXPIRY: in_hours(-1)}), &json!({}));
    let good = secret(&json!({}), &json!({"release": "another"}));
    let found = ask(&[old, good.clone()], &Method::GET, "/ignition", Some(&bearer(TOKEN)));
    let Answer::Payload { secret, .. } = found else {
        panic!("{found:?}")
    };
    assert_eq!(*secret, good);
}

#[test]
fn only_the_first_machine_is_news() {
    const REACHED: &str = "hypershift.openshift.io/ignition-reached";
    assert!(is_news(&secret(&json!({}), &json!({}))));
    assert!(!is_news(&secret(&json!({REACHED: "True"}), &json!({}))));
}

#[test]
fn answers_are_counted() {
    let mut registry = Registry::default();
    let counts = Counts::register(&mut registry);
    counts.count(&Answer::Alive);
    counts.count(&Answer::Payload {
        secret: Arc::new(secret(&json!({}), &json!({}))),
        payload: Bytes::new(),
    });
    counts.made(Duration::from_millis(3));
    counts.kept(2);
    counts.kept(1);
    counts.count(&Answer::Refused(Refusal::UnknownToken));
    let mut page = String::new();
    text::encode(&mut page, &registry).unwrap();
    for line in [
        r#"hyperplane_ignition_answers_total{outcome="payload"} 1"#,
        r#"hyperplane_ignition_answers_total{outcome="unknown_token"} 1"#,
        r#"hyperplane_ignition_answers_total{outcome="no_token"} 0"#,
        r#"ign_server_get_requests_total{node_pool="clusters/one"} 1"#,
        "ign_server_payload_cache_miss_total 1",
        "ign_server_payload_cache_total 1",
        "ign_server_payload_generation_seconds_count 1",
    ] {
        assert!(page.lines().any(|found| found == line), "{line} in {page}");
    }
}
