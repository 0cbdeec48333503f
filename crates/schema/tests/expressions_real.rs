//! Expressions outside of schemas, judged by us and by a real kube-apiserver: in an authentication configuration, with which
//! it starts or does not.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use std::{fs, path::Path, process::Command};

use hyperplane_schema::expression::{Expression, Kind, Outcome, Variable};
use hyperplane_testbed::assets::{Assets, Program};
use serde_json::{Value, json};
use tempfile::TempDir;

/// Where an expression stands, and so what it is about and what it must give.
#[derive(Clone, Copy, Debug)]
enum Place {
    Mapping,
    ClaimRule,
    UserRule,
}

const EXPRESSIONS: &[(Place, &str)] = &[
    (Place::Mapping, "claims.sub"),
    (Place::Mapping, "'corp:' + claims.sub"),
    (Place::Mapping, "claims.roles.split(',')"),
    (Place::Mapping, "claims.?roles.orValue([])"),
    (Place::Mapping, "claims[?'roles'].orValue([])"),
    (Place::Mapping, "has(claims.name) ? claims.name : claims.sub"),
    (Place::Mapping, "claims.groups.map(group, 'corp:' + group)"),
    (Place::Mapping, "dyn(claims.groups).map(group, 'corp:' + group)"),
    (Place::Mapping, "claims['a/b'] == 'x' ? 'y' : 'z'"),
    (Place::Mapping, "claims.sub.lowerAscii().replace('@', '.')"),
    (Place::Mapping, "claims"),
    (Place::Mapping, "1 + 1"),
    (Place::Mapping, "claims."),
    (Place::Mapping, "claims.sub +"),
    (Place::Mapping, "claim.sub"),
    (Place::Mapping, "self.sub"),
    (Place::Mapping, "user.username"),
    (Place::Mapping, "['a', claims.sub].join('-')"),
    (Place::Mapping, "'a' + 1"),
    (Place::Mapping, "claims.sub.splt(',')"),
    (Place::Mapping, "'%d'.format(['a'])"),
    (Place::ClaimRule, "true"),
    (Place::ClaimRule, "claims.hd == 'example.com'"),
    (Place::ClaimRule, "claims.?email_verified.orValue(true) == true"),
    (Place::ClaimRule, "claims.sub.matches('^[a-z]+$')"),
    (
        Place::ClaimRule,
        "timestamp(claims.exp) < timestamp('2030-01-01T00:00:00Z')",
    ),
    (Place::ClaimRule, "claims.hd"),
    (Place::ClaimRule, "claims.sub.matches('(')"),
    (Place::ClaimRule, "duration('1 day') > duration('1h')"),
    (Place::ClaimRule, "'x'"),
    (Place::UserRule, "!user.username.startsWith('system:')"),
    (Place::UserRule, "user.groups.all(group, !group.startsWith('system:'))"),
    (Place::UserRule, "'x' in user.extra['example.com/team']"),
    (Place::UserRule, "has(user.uid) && user.uid != ''"),
    (Place::UserRule, "user.name == 'x'"),
    (Place::UserRule, "user.username"),
    (Place::UserRule, "user.groups == 'x'"),
    (Place::UserRule, "claims.sub == 'x'"),
];

impl Place {
    fn is_taken(self, text: &str) -> bool {
        let texts = Kind::List(Box::new(Kind::String));
        let claims = Variable {
            name: "claims",
            kind: Kind::Map(Box::new(Kind::Any)),
        };
        let user = Variable {
            name: "user",
            kind: Kind::Object(vec![
                ("username", Kind::String),
                ("uid", Kind::String),
                ("groups", texts.clone()),
                ("extra", Kind::Map(Box::new(texts))),
            ]),
        };
        let (variable, outcome) = match self {
            Self::Mapping => (claims, Outcome::Any),
            Self::ClaimRule => (claims, Outcome::Bool),
            Self::UserRule => (user, Outcome::Bool),
        };
        Expression::parse(text, &[variable], outcome).is_ok()
    }
}

/// A configuration with all of some expressions.
fn configuration(expressions: &[(Place, &str)]) -> Value {
    let (mut extra, mut of_claims, mut of_users) = (Vec::new(), Vec::new(), Vec::new());
    for (number, (place, text)) in expressions.iter().enumerate() {
        match place {
            Place::Mapping => extra.push(json!({"key": format!("example.com/{number}"), "valueExpression": text})),
            Place::ClaimRule => of_claims.push(json!({"expression": text, "message": "no"})),
            Place::UserRule => of_users.push(json!({"expression": text, "message": "no"})),
        }
    }
    json!({
        "apiVersion": "apiserver.config.k8s.io/v1",
        "kind": "AuthenticationConfiguration",
        "jwt": [{
            "issuer": {"url": "https://id.example.com", "audiences": ["one"]},
            "claimMappings": {"username": {"claim": "sub", "prefix": ""}, "extra": extra},
            "claimValidationRules": of_claims,
            "userValidationRules": of_users,
        }],
    })
}

/// Why a kube-apiserver ends that can never serve: by its configuration, or else by the next thing that it looks at, which is
/// a public key that it cannot read.
fn ends_by(directory: &Path, expressions: &[(Place, &str)]) -> String {
    let program = Assets::locate().unwrap().path(Program::ApiServer).unwrap();
    let file = directory.join("authentication.json");
    fs::write(&file, configuration(expressions).to_string()).unwrap();
    let key = directory.join("key.pem");
    fs::write(&key, rcgen::KeyPair::generate().unwrap().serialize_pem()).unwrap();
    let output = Command::new(program)
        .arg(format!("--authentication-config={}", file.display()))
        .arg(format!("--service-account-key-file={}", key.display()))
        .arg(format!("--service-account-signing-key-file={}", key.display()))
        .arg(format!("--cert-dir={}", directory.display()))
        .args([
            "--service-account-issuer=https://kubernetes.default.svc",
            "--service-cluster-ip-range=10.0.0.0/24",
            // Nobody listens there, and nobody can who is not root.
            "--etcd-servers=http://127.0.0.1:1",
        ])
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    let (_, end) = said
        .rsplit_once("command failed")
        .unwrap_or_else(|| panic!("it does not say why it ended: {said}"));
    end.to_owned()
}

#[test]
#[ignore = "needs a real control plane: cargo xtask test"]
fn a_real_api_server_takes_and_refuses_the_same_expressions() {
    let directory = TempDir::new().unwrap();
    let (taken, refused): (Vec<_>, Vec<_>) = EXPRESSIONS.iter().partition(|(place, text)| place.is_taken(text));
    assert!(taken.len() > 15 && refused.len() > 15, "{taken:?} {refused:?}");
    let end = ends_by(directory.path(), &taken);
    assert!(end.contains("reading public key file"), "{end}");
    for expression in refused {
        let end = ends_by(directory.path(), &[expression]);
        assert!(end.contains("jwt[0]"), "{expression:?}: {end}");
    }
}
