//! Credentials of every kind, good and not good.

mod impersonation;

use base64::{Engine as _, prelude::BASE64_STANDARD};
use jiff::{SignedDuration, Timestamp};
use rcgen::{
    BasicConstraints, CertificateParams, DnType, ExtendedKeyUsagePurpose, IsCa, Issuer as RcgenIssuer, KeyPair,
};
use serde_json::{Value, json};

use super::*;
use crate::{
    names,
    object::world::World,
    tokens::{self, SigningKey},
};

const URL: &str = "https://cluster.example";

fn now() -> Timestamp {
    "2026-01-01T00:00:00Z".parse().unwrap()
}

fn after(seconds: i64) -> Timestamp {
    now() + SignedDuration::from_secs(seconds)
}

fn authenticator() -> Authenticator {
    let mut authenticator = Authenticator {
        issuer: Some(Arc::new(Issuer::new(URL, SigningKey::generate().unwrap()))),
        is_anonymous_allowed: true,
        ..Authenticator::default()
    };
    authenticator
        .static_tokens
        .insert("secret", User::with_groups("admin", vec![names::MASTERS.to_owned()]));
    authenticator
        .static_tokens
        .insert("other", User::with_groups("other", vec![]));
    authenticator
}

fn world() -> World {
    let mut world = World::default();
    let object = |namespace: &str, name: &str| json!({"metadata": {"namespace": namespace, "name": name, "uid": format!("u-{name}")}});
    world.put("", "serviceaccounts", object("team", "bob"));
    world.put("", "secrets", object("team", "s"));
    world.put("", "nodes", json!({"metadata": {"name": "n", "uid": "u-n"}}));
    let mut pod = object("team", "p");
    pod["spec"] = json!({"serviceAccountName": "bob", "nodeName": "n"});
    world.put("", "pods", pod);
    world
}

fn token_for(authenticator: &Authenticator, spec: &Value) -> String {
    let issuer = authenticator.issuer.as_ref().unwrap();
    let answer = tokens::request(issuer, &json!({"spec": spec}), ("team", "bob"), &world(), now(), "id").unwrap();
    answer.object["status"]["token"].as_str().unwrap().to_owned()
}

fn bound_to(kind: &str, name: &str) -> Value {
    json!({"boundObjectRef": {"apiVersion": "v1", "kind": kind, "name": name}})
}

fn error(authenticator: &Authenticator, token: &str, world: &World, time: Timestamp) -> String {
    authenticator.token(token, None, world, time).unwrap_err().0
}

#[test]
fn tokens_that_were_given_at_the_start_are_known() {
    let authenticator = authenticator();
    let user = authenticator.token("secret", None, &world(), now()).unwrap().user;
    assert_eq!(
        (user.name.as_str(), user.groups),
        (
            "admin",
            vec![names::MASTERS.to_owned(), names::AUTHENTICATED.to_owned()]
        )
    );
    assert_eq!(error(&authenticator, "secre", &world(), now()), "invalid bearer token");
    assert_eq!(
        error(&authenticator, "secret2", &world(), now()),
        "invalid bearer token"
    );
}

#[test]
fn a_service_account_is_known_by_its_token() {
    let authenticator = authenticator();
    let token = token_for(&authenticator, &bound_to("Pod", "p"));
    let found = authenticator.token(&token, None, &world(), now()).unwrap();
    assert_eq!(found.audiences, [URL]);
    let extra = |key: &str| found.user.extra[key][0].as_str();
    assert_eq!(found.user.name, "system:serviceaccount:team:bob");
    assert_eq!(
        found.user.groups,
        [
            "system:serviceaccounts",
            "system:serviceaccounts:team",
            "system:authenticated"
        ]
    );
    assert_eq!(
        (
            extra(names::CREDENTIAL_ID),
            extra(names::POD_NAME),
            extra(names::POD_UID)
        ),
        ("JTI=id", "p", "u-p")
    );
    assert_eq!((extra(names::NODE_NAME), extra(names::NODE_UID)), ("n", "u-n"));
}

#[test]
fn a_token_lives_from_a_minute_before_to_a_minute_after() {
    let authenticator = authenticator();
    let token = token_for(&authenticator, &json!({"expirationSeconds": 600}));
    for seconds in [-60, 0, 600, 660] {
        assert!(
            authenticator.token(&token, None, &world(), after(seconds)).is_ok(),
            "{seconds}"
        );
    }
    let cases = [
        (-61, "service account token is not valid yet"),
        (661, "service account token has expired"),
    ];
    for (seconds, expected) in cases {
        assert_eq!(
            error(&authenticator, &token, &world(), after(seconds)),
            format!("[invalid bearer token, {expected}]")
        );
    }
}

#[test]
fn a_token_is_for_its_audience() {
    let authenticator = authenticator();
    let own = token_for(&authenticator, &json!({}));
    let vault = token_for(&authenticator, &json!({"audiences": ["vault", "other"]}));
    let asked = |token: &str, audiences: &[&str]| {
        let audiences: Vec<String> = audiences.iter().map(|&audience| audience.to_owned()).collect();
        authenticator
            .token(token, Some(&audiences), &world(), now())
            .map(|found| found.audiences.join(" "))
            .map_err(|error| error.0)
    };
    assert_eq!(asked(&vault, &["vault"]).unwrap(), "vault");
    assert_eq!(asked(&own, &["x", URL]).unwrap(), URL);
    assert_eq!(
        asked(&own, &["x", "y"]).unwrap_err(),
        format!(
            "[invalid bearer token, token audiences [\"{URL}\"] is invalid for the target audiences [\"x\" \"y\"]]"
        )
    );
    assert!(error(&authenticator, &vault, &world(), now()).contains("is invalid for the target audiences"));
    assert_eq!(asked("secret", &["x"]).unwrap_err(), "invalid bearer token");
    assert_eq!(asked("secret", &[URL]).unwrap(), URL);
}

#[test]
fn a_token_dies_with_what_it_names() {
    let authenticator = authenticator();
    let invalidated = "[invalid bearer token, service account token has been invalidated]";
    let cases = [
        (
            json!({}),
            "serviceaccounts",
            "team",
            "bob",
            "[invalid bearer token, serviceaccounts \"bob\" not found]",
        ),
        (bound_to("Pod", "p"), "pods", "team", "p", invalidated),
        (bound_to("Secret", "s"), "secrets", "team", "s", invalidated),
        (bound_to("Node", "n"), "nodes", "", "n", invalidated),
    ];
    for (spec, resource, namespace, name, expected) in cases {
        let token = token_for(&authenticator, &spec);
        let mut world = world();
        world.remove(resource, namespace, name);
        assert_eq!(error(&authenticator, &token, &world, now()), expected);
    }
}

#[test]
fn a_namesake_does_not_count() {
    let authenticator = authenticator();
    let cases = [
        (
            json!({}),
            "serviceaccounts",
            "bob",
            "service account UID (new) does not match claim (u-bob)",
        ),
        (
            bound_to("Pod", "p"),
            "pods",
            "p",
            "pod UID (new) does not match service account pod ref claim (u-p)",
        ),
        (
            bound_to("Secret", "s"),
            "secrets",
            "s",
            "secret UID (new) does not match service account secret ref claim (u-s)",
        ),
    ];
    for (spec, resource, name, expected) in cases {
        let token = token_for(&authenticator, &spec);
        let mut world = world();
        world.put(
            "",
            resource,
            json!({"metadata": {"namespace": "team", "name": name, "uid": "new"}}),
        );
        assert_eq!(
            error(&authenticator, &token, &world, now()),
            format!("[invalid bearer token, {expected}]")
        );
    }
}

#[test]
fn what_is_being_deleted_counts_for_a_minute() {
    let authenticator = authenticator();
    let token = token_for(&authenticator, &bound_to("Secret", "s"));
    let mut world = world();
    let secret = json!({"metadata": {"namespace": "team", "name": "s", "uid": "u-s", "deletionTimestamp": "2026-01-01T00:00:00Z"}});
    world.put("", "secrets", secret);
    assert!(authenticator.token(&token, None, &world, after(60)).is_ok());
    assert!(authenticator.token(&token, None, &world, after(61)).is_err());
    let account = json!({"metadata": {"namespace": "team", "name": "bob", "uid": "u-bob", "deletionTimestamp": "2026-01-01T00:00:00Z"}});
    world.put("", "serviceaccounts", account);
    assert_eq!(
        error(&authenticator, &token, &world, after(61)),
        "[invalid bearer token, service account team/bob has been deleted]"
    );
}

fn bootstrap_secret(changes: &[(&str, &str)]) -> World {
    let mut data = json!({
        "token-id": "abcdef", "token-secret": "0123456789abcdef", "usage-bootstrap-authentication": "true",
        "expiration": "2026-01-01T00:00:01Z", "auth-extra-groups": "system:bootstrappers:b,system:bootstrappers:a",
    });
    for (key, value) in changes {
        data[*key] = json!(value);
    }
    for value in data.as_object_mut().unwrap().values_mut() {
        *value = json!(BASE64_STANDARD.encode(value.as_str().unwrap()));
    }
    let mut world = World::default();
    let metadata = json!({"namespace": "kube-system", "name": "bootstrap-token-abcdef"});
    world.put(
        "",
        "secrets",
        json!({"metadata": metadata, "type": "bootstrap.kubernetes.io/token", "data": data}),
    );
    world
}

#[test]
fn a_bootstrap_token_is_a_secret_that_is_right_in_everything() {
    const TOKEN: &str = "abcdef.0123456789abcdef";
    let user = bootstrap_token(TOKEN, &bootstrap_secret(&[]), now()).unwrap();
    assert_eq!(user.name, "system:bootstrap:abcdef");
    assert_eq!(
        user.groups,
        [
            "system:bootstrappers",
            "system:bootstrappers:a",
            "system:bootstrappers:b"
        ]
    );
    let wrong = [
        ("token-id", "abcdeg"),
        ("token-secret", "0123456789abcdeg"),
        ("usage-bootstrap-authentication", "yes"),
        ("expiration", "2026-01-01T00:00:00Z"),
        ("expiration", "soon"),
        ("auth-extra-groups", "system:masters"),
        ("auth-extra-groups", "system:bootstrappers:"),
        ("auth-extra-groups", "system:bootstrappers:a-"),
    ];
    for change in wrong {
        assert_eq!(
            bootstrap_token(TOKEN, &bootstrap_secret(&[change]), now()),
            None,
            "{change:?}"
        );
    }
    for change in [("expiration", ""), ("auth-extra-groups", ""), ("description", "x")] {
        assert!(
            bootstrap_token(TOKEN, &bootstrap_secret(&[change]), now()).is_some(),
            "{change:?}"
        );
    }
    for token in [
        "abcdef",
        "abcdef.0123456789abcde",
        "ABCDEF.0123456789abcdef",
        "abcdef.0123456789abcdef.x",
    ] {
        assert_eq!(bootstrap_token(token, &bootstrap_secret(&[]), now()), None, "{token}");
    }
}

/// An authority that signs client certificates with rcgen, which our own signing has nothing to do with.
struct TestAuthority {
    pem: String,
    issuer: RcgenIssuer<'static, KeyPair>,
}

impl TestAuthority {
    fn new() -> Self {
        let key = KeyPair::generate().unwrap();
        let mut params = CertificateParams::default();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        params.distinguished_name.push(DnType::CommonName, "authority");
        let pem = params.self_signed(&key).unwrap().pem();
        Self {
            pem,
            issuer: RcgenIssuer::new(params, key),
        }
    }

    fn client(&self, names: &[(DnType, &str)], purpose: ExtendedKeyUsagePurpose) -> Vec<u8> {
        let mut params = CertificateParams::default();
        params.distinguished_name = rcgen::DistinguishedName::new();
        for (kind, name) in names {
            params.distinguished_name.push(kind.clone(), *name);
        }
        params.extended_key_usages = vec![purpose];
        params.not_before = rcgen::date_time_ymd(2025, 1, 1);
        params.not_after = rcgen::date_time_ymd(2027, 1, 1);
        params
            .signed_by(&KeyPair::generate().unwrap(), &self.issuer)
            .unwrap()
            .der()
            .to_vec()
    }
}

fn uid_attribute() -> DnType {
    DnType::CustomDnType(vec![1, 3, 6, 1, 4, 1, 57683, 2])
}

#[test]
fn a_client_certificate_names_user_groups_and_uid() {
    let authority = TestAuthority::new();
    let authorities = ClientAuthorities::from_pem(&authority.pem).unwrap();
    let names = [
        (DnType::CommonName, "alice"),
        (DnType::OrganizationName, "g1"),
        (uid_attribute(), "u-1"),
    ];
    let der = authority.client(&names, ExtendedKeyUsagePurpose::ClientAuth);
    let user = client_certificate(&[&der], &authorities, now()).unwrap().unwrap();
    assert_eq!(
        (user.name.as_str(), user.uid.as_str(), user.groups.join(" ").as_str()),
        ("alice", "u-1", "g1")
    );
    assert!(user.extra[names::CREDENTIAL_ID][0].starts_with("X509SHA256="));
    let nameless = authority.client(&[(DnType::OrganizationName, "g1")], ExtendedKeyUsagePurpose::ClientAuth);
    assert_eq!(client_certificate(&[&nameless], &authorities, now()), Ok(None));
    let empty = authority.client(
        &[(DnType::CommonName, "a"), (uid_attribute(), "")],
        ExtendedKeyUsagePurpose::ClientAuth,
    );
    assert_eq!(
        client_certificate(&[&empty], &authorities, now()),
        Err(CertificateError::Uid("UID cannot be an empty string"))
    );
}

#[test]
fn a_certificate_that_is_not_ours_or_not_now_or_not_for_clients_is_refused() {
    let (ours, theirs) = (TestAuthority::new(), TestAuthority::new());
    let authorities = ClientAuthorities::from_pem(&ours.pem).unwrap();
    let alice = [(DnType::CommonName, "alice")];
    let good = ours.client(&alice, ExtendedKeyUsagePurpose::ClientAuth);
    let bad = [
        (theirs.client(&alice, ExtendedKeyUsagePurpose::ClientAuth), now()),
        (ours.client(&alice, ExtendedKeyUsagePurpose::ServerAuth), now()),
        (good.clone(), "2024-12-31T00:00:00Z".parse().unwrap()),
        (good.clone(), "2027-01-02T00:00:00Z".parse().unwrap()),
        (b"nonsense".to_vec(), now()),
    ];
    for (index, (der, time)) in bad.iter().enumerate() {
        let refused = client_certificate(&[der], &authorities, *time);
        assert!(
            matches!(refused, Err(CertificateError::NotVerified(_))),
            "{index} {refused:?}"
        );
    }
    assert!(client_certificate(&[&good], &authorities, now()).unwrap().is_some());
    assert!(ClientAuthorities::from_pem("").is_err());
}

#[test]
fn bad_credentials_are_never_taken_for_none() {
    let authority = TestAuthority::new();
    let mut authenticator = authenticator();
    authenticator.authorities = Some(ClientAuthorities::from_pem(&authority.pem).unwrap());
    let good = authority.client(&[(DnType::CommonName, "alice")], ExtendedKeyUsagePurpose::ClientAuth);
    let bad = TestAuthority::new().client(&[(DnType::CommonName, "alice")], ExtendedKeyUsagePurpose::ClientAuth);
    let (good, bad, none) = ([good.as_slice()], [bad.as_slice()], []);
    let cases = [
        (&none[..], None, Ok("system:anonymous")),
        (&none[..], Some("secret"), Ok("admin")),
        (&none[..], Some("wrong"), Err(())),
        (&good[..], None, Ok("alice")),
        (&good[..], Some("wrong"), Ok("alice")),
        (&bad[..], None, Err(())),
        (&bad[..], Some("secret"), Ok("admin")),
    ];
    for (certificates, bearer, expected) in cases {
        let found = authenticator.authenticate(&Credentials { certificates, bearer }, &world(), now());
        let found = found.map(|user| user.name);
        assert_eq!(found.as_deref().map_err(|_| ()), expected, "{bearer:?} {found:?}");
    }
    authenticator.is_anonymous_allowed = false;
    assert!(
        authenticator
            .authenticate(&Credentials::default(), &world(), now())
            .is_err()
    );
}
