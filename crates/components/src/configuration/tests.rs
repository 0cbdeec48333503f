//! Tables of what settings become.

use serde_json::{Value, json};

use super::{audit, authentication, encryption, feature_gates, file, tls, tls::TlsProfile};
use crate::support::{World, add_config_map, release};

fn configured(configuration: &Value) -> World {
    World::with(&json!({"spec": {"configuration": configuration}}))
}

fn read(text: &str) -> Value {
    serde_json::from_str(text).expect("a file is JSON, which is YAML")
}

#[test]
fn files_have_their_keys_in_order() {
    assert_eq!(
        file(&json!({"b": 1, "a": {"d": [], "c": 2}})),
        "{\n  \"a\": {\n    \"c\": 2,\n    \"d\": []\n  },\n  \"b\": 1\n}\n"
    );
}

#[test]
fn audit_profiles_become_policies() {
    for (profile, levels) in [
        (json!(null), &["None", "None", "Metadata"][..]),
        (json!("Default"), &["None", "None", "Metadata"]),
        (
            json!("WriteRequestBodies"),
            &["None", "None", "Metadata", "RequestResponse", "Metadata"],
        ),
        (
            json!("AllRequestBodies"),
            &["None", "None", "Metadata", "RequestResponse"],
        ),
        (json!("None"), &["None"]),
        (json!("Everything"), &["None", "None", "Metadata"]),
    ] {
        let world = configured(&json!({"apiServer": {"audit": {"profile": profile}}}));
        let policy = read(&audit::policy(&world.inputs()));
        let rules = policy["rules"].as_array().expect("it has rules");
        let found: Vec<&str> = rules.iter().filter_map(|rule| rule["level"].as_str()).collect();
        assert_eq!(found, levels, "{profile}");
        let is_odd = profile == json!("Everything");
        assert_eq!(audit::warnings(&world.inputs()).len(), usize::from(is_odd), "{profile}");
    }
}

#[test]
fn audit_rules_of_a_group_come_first_and_are_for_it_alone() {
    let rules = json!([{"group": "system:nodes", "profile": "None"}, {"group": "", "profile": "None"}]);
    let world = configured(&json!({"apiServer": {"audit": {"profile": "Default", "customRules": rules}}}));
    let policy = read(&audit::policy(&world.inputs()));
    assert_eq!(
        policy["rules"][0],
        json!({"level": "None", "userGroups": ["system:nodes"]})
    );
    assert_eq!(policy["rules"].as_array().map(Vec::len), Some(4));
}

#[test]
fn bodies_of_secrets_are_never_written_down() {
    for profile in ["WriteRequestBodies", "AllRequestBodies"] {
        let world = configured(&json!({"apiServer": {"audit": {"profile": profile}}}));
        let policy = read(&audit::policy(&world.inputs()));
        let rules = policy["rules"].as_array().expect("it has rules");
        let is_of_secrets = |rule: &&Value| rule["resources"].to_string().contains("\"secrets\"");
        let first = rules
            .iter()
            .find(|rule| is_of_secrets(rule) || rule["level"] == "RequestResponse");
        assert_eq!(first.map(|rule| &rule["level"]), Some(&json!("Metadata")), "{profile}");
    }
}

#[test]
fn tls_profiles_become_versions_and_ciphers() {
    let custom = json!({"type": "Custom", "custom": {
        "minTLSVersion": "VersionTLS12",
        "ciphers": ["ECDHE-RSA-AES128-GCM-SHA256", "TLS_AES_128_GCM_SHA256", "ROT13"],
    }});
    for (profile, oldest, ciphers, warned) in [
        (json!(null), "VersionTLS12", 6, 0),
        (json!({"type": "Intermediate"}), "VersionTLS12", 6, 0),
        (json!({"type": "Old"}), "VersionTLS10", 18, 0),
        (json!({"type": "Modern"}), "VersionTLS13", 0, 0),
        (custom, "VersionTLS12", 1, 1),
        (
            json!({"type": "Custom", "custom": {"minTLSVersion": "SSL3"}}),
            "VersionTLS12",
            0,
            1,
        ),
        (json!({"type": "Newest"}), "VersionTLS12", 6, 1),
    ] {
        let world = configured(&json!({"apiServer": {"tlsSecurityProfile": profile}}));
        let found = TlsProfile::of(&world.inputs());
        assert_eq!((found.oldest, found.ciphers.len()), (oldest, ciphers), "{profile}");
        assert_eq!(tls::warnings(&world.inputs()).len(), warned, "{profile}");
    }
}

#[test]
fn gates_are_turned_by_name_and_never_smuggled_in() {
    for (enabled, disabled, flag, warned) in [
        (json!([]), json!([]), None, 0),
        (json!(["B", "A"]), json!(["C"]), Some("A=true,B=true,C=false"), 0),
        (json!(["A"]), json!(["A"]), Some("A=false"), 0),
        (json!(["A=true,AllAlpha"]), json!([]), None, 1),
        (json!(["OpenShiftPodSecurityAdmission"]), json!([]), None, 0),
    ] {
        let custom = json!({"enabled": enabled, "disabled": disabled});
        let world = configured(&json!({"featureGate": {"featureSet": "CustomNoUpgrade", "customNoUpgrade": custom}}));
        let mut container = k8s_openapi::api::core::v1::Container::default();
        feature_gates::set(&world.inputs(), &mut container);
        let expected = flag.map(|flag| vec![format!("--feature-gates={flag}")]);
        assert_eq!(container.args, expected, "{custom}");
        assert_eq!(feature_gates::warnings(&world.inputs()).len(), warned, "{custom}");
    }
}

fn encrypted(change: &Value) -> World {
    let mut encryption = json!({"type": "aescbc", "aescbc": {"activeKey": {"name": "one"}}});
    crate::support::merge(&mut encryption, change);
    World::with(&json!({"spec": {"secretEncryption": encryption}}))
}

#[test]
fn the_active_key_writes_and_the_one_before_still_reads() {
    let providers = |world: &World| -> Vec<String> {
        let text = encryption::configuration(&world.inputs()).expect("the keys are there");
        let file = read(&text);
        let resources = &file["resources"][0];
        assert_eq!(resources["resources"], json!(["secrets"]));
        let providers = resources["providers"].as_array().expect("it has providers");
        let name = |one: &Value| {
            one["aescbc"]["keys"][0]["name"]
                .as_str()
                .unwrap_or("identity")
                .to_owned()
        };
        providers.iter().map(name).collect()
    };
    let one = providers(&encrypted(&json!({})));
    let two = providers(&encrypted(&json!({"aescbc": {"backupKey": {"name": "two"}}})));
    assert_eq!(one.len(), 2);
    assert_eq!(two.len(), 3);
    assert_eq!(one[0], two[0]);
    assert_ne!(two[0], two[1]);
    assert_eq!(two[2], "identity");
}

#[test]
fn a_key_that_is_missing_or_of_no_use_is_waited_for() {
    let world = encrypted(&json!({"aescbc": {"backupKey": {"name": "two"}}}));
    assert!(encryption::waits(&world.inputs()).is_empty());
    let mut without = world.clone();
    without.objects.secrets.remove("aescbc-backup-key");
    assert_eq!(
        encryption::waits(&without.inputs()),
        ["Secret aescbc-backup-key does not exist"]
    );
    assert_eq!(encryption::configuration(&without.inputs()), None);
    let mut short = world.clone();
    crate::support::add_secret(&mut short.objects, "aescbc-active-key", &["key"]);
    let waits = encryption::waits(&short.inputs()).join("; ");
    assert!(waits.contains("bytes under key: give 16, 24 or 32"), "{waits}");
    let other = encrypted(&json!({"type": "kms"}));
    assert!(encryption::waits(&other.inputs()).join("; ").contains("choose aescbc"));
}

fn provider(change: &Value) -> World {
    let mut provider = json!({
        "name": "theirs",
        "issuer": {"issuerURL": "https://id.example.com", "audiences": ["one"]},
    });
    crate::support::merge(&mut provider, change);
    configured(&json!({"authentication": {"type": "OIDC", "oidcProviders": [provider]}}))
}

#[test]
fn identity_providers_become_authenticators() {
    for (change, path, expected) in [
        (
            json!({}),
            "/claimMappings/username",
            json!({"claim": "sub", "prefix": "https://id.example.com#"}),
        ),
        (
            json!({"claimMappings": {"username": {"claim": "email"}}}),
            "/claimMappings/username",
            json!({"claim": "email", "prefix": ""}),
        ),
        (
            json!({"claimMappings": {"username": {"claim": "name", "prefixPolicy": "NoPrefix"}}}),
            "/claimMappings/username",
            json!({"claim": "name", "prefix": ""}),
        ),
        (
            json!({"claimMappings": {"username": {
                "claim": "name", "prefixPolicy": "Prefix", "prefix": {"prefixString": "x:"},
            }}}),
            "/claimMappings/username",
            json!({"claim": "name", "prefix": "x:"}),
        ),
        (
            json!({"claimMappings": {"groups": {"claim": "groups"}}}),
            "/claimMappings/groups",
            json!({"claim": "groups", "prefix": ""}),
        ),
        (
            json!({"claimMappings": {"uid": {"expression": "claims.sub"}}}),
            "/claimMappings/uid",
            json!({"expression": "claims.sub"}),
        ),
        (
            json!({"issuer": {"audiences": ["one", "two"]}}),
            "/issuer/audienceMatchPolicy",
            json!("MatchAny"),
        ),
        (
            json!({"claimValidationRules": [{"requiredClaim": {"claim": "hd", "requiredValue": "example.com"}}]}),
            "/claimValidationRules",
            json!([{"claim": "hd", "requiredValue": "example.com"}]),
        ),
        (
            json!({"claimValidationRules": [{"cel": {"expression": "true", "message": "never"}}]}),
            "/claimValidationRules",
            json!([{"expression": "true", "message": "never"}]),
        ),
    ] {
        let world = provider(&change);
        let file = read(&authentication::configuration(&world.inputs()));
        assert_eq!(file["apiVersion"], "apiserver.config.k8s.io/v1");
        assert_eq!(file["jwt"][0].pointer(path), Some(&expected), "{change}");
    }
}

#[test]
fn an_authority_of_a_provider_is_waited_for_and_then_trusted() {
    let change = json!({"issuer": {"issuerCertificateAuthority": {"name": "their-ca"}}});
    let mut world = provider(&change);
    let waits = authentication::waits(&world.inputs()).join("; ");
    assert!(waits.contains("ConfigMap their-ca does not exist"), "{waits}");
    add_config_map(&mut world.objects, "their-ca", &["ca-bundle.crt"]);
    assert!(authentication::waits(&world.inputs()).is_empty());
    let file = read(&authentication::configuration(&world.inputs()));
    assert_eq!(
        file["jwt"][0]["issuer"]["certificateAuthority"],
        "their-ca/ca-bundle.crt"
    );
}

#[test]
fn providers_count_only_for_the_type_that_uses_them() {
    assert!(authentication::is_wanted(&provider(&json!({})).inputs()));
    for (kind, providers) in [("OIDC", json!([])), ("None", json!([{"name": "theirs"}]))] {
        let world = configured(&json!({"authentication": {"type": kind, "oidcProviders": providers}}));
        assert!(!authentication::is_wanted(&world.inputs()), "{kind}");
    }
    assert!(!authentication::is_wanted(
        &World::new(&json!({}), release("1.35")).inputs()
    ));
}
