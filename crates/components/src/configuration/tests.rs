//! Tables of what settings become.

use serde_json::{Value, json};

use super::{audit, authentication, client_ca, feature_gates, file, tls, token_webhook};
use crate::support::{World, add_config_map, flag, release, rendered_text, set_secret};

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
    for (audit, levels) in [
        (json!({}), &["None", "None", "Metadata"][..]),
        (json!({"profile": "Default"}), &["None", "None", "Metadata"]),
        (
            json!({"profile": "WriteRequestBodies"}),
            &["None", "None", "Metadata", "RequestResponse", "Metadata"],
        ),
        (
            json!({"profile": "AllRequestBodies"}),
            &["None", "None", "Metadata", "RequestResponse"],
        ),
        (json!({"profile": "None"}), &["None"]),
        (json!({"profile": "Everything"}), &["None", "None", "Metadata"]),
    ] {
        let world = configured(&json!({"apiServer": {"audit": audit}}));
        let policy = read(&audit::policy(&world.inputs()));
        let rules = policy["rules"].as_array().expect("it has rules");
        let found: Vec<&str> = rules.iter().filter_map(|rule| rule["level"].as_str()).collect();
        assert_eq!(found, levels, "{audit}");
        let is_odd = audit["profile"] == "Everything";
        assert_eq!(audit::warnings(&world.inputs()).len(), usize::from(is_odd), "{audit}");
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

fn custom_profile(oldest: &str, ciphers: &Value) -> Value {
    json!({"type": "Custom", "custom": {"minTLSVersion": oldest, "ciphers": ciphers}})
}

#[test]
fn tls_profiles_become_versions_and_ciphers() {
    let two = "VersionTLS12";
    for (profile, oldest, ciphers, warned) in [
        (json!(null), two, 6, 0),
        (json!({"type": "Intermediate"}), two, 6, 0),
        (json!({"type": "Old"}), "VersionTLS10", 18, 0),
        (json!({"type": "Modern"}), "VersionTLS13", 0, 0),
        (
            custom_profile(
                two,
                &json!(["ECDHE-RSA-AES128-GCM-SHA256", "TLS_AES_128_GCM_SHA256", "ROT13"]),
            ),
            two,
            1,
            1,
        ),
        // HTTP/2 needs one of two, and a server in Go does not start without.
        (custom_profile(two, &json!(["ECDHE-RSA-AES256-GCM-SHA384"])), two, 3, 1),
        (custom_profile(two, &json!(["TLS_AES_128_GCM_SHA256"])), two, 2, 1),
        (
            custom_profile(
                "VersionTLS13",
                &json!(["TLS_AES_128_GCM_SHA256", "ECDHE-RSA-AES256-GCM-SHA384"]),
            ),
            "VersionTLS13",
            0,
            0,
        ),
        // What nobody offers is not replaced by everything that a program would offer by itself.
        (
            custom_profile("VersionTLS11", &json!(["ROT13", "ROT26"])),
            "VersionTLS11",
            6,
            3,
        ),
        (custom_profile("SSL3", &json!([])), two, 6, 2),
        (json!({"type": "Newest"}), two, 6, 1),
    ] {
        let world = configured(&json!({"apiServer": {"tlsSecurityProfile": profile}}));
        let found = tls::profile(&world.inputs());
        assert_eq!((found.oldest, found.ciphers.len()), (oldest, ciphers), "{profile}");
        assert_eq!(tls::warnings(&world.inputs()).len(), warned, "{profile}");
        let has_required = found
            .ciphers
            .iter()
            .any(|one| one.ends_with("AES_128_GCM_SHA256") && one.contains("ECDHE"));
        assert!(has_required || oldest == "VersionTLS13", "{profile}");
    }
}

#[test]
fn gates_are_turned_by_name_and_never_smuggled_in() {
    let lock = "ControllerManagerReleaseLeaderElectionLockOnExit";
    let (both, off) = ("APIServerIdentity=true,AllBeta=true", "APIServerIdentity=false");
    for (program, enabled, disabled, flag, warned) in [
        ("kube-apiserver", json!([]), json!([]), None, 0),
        (
            "kube-apiserver",
            json!(["APIServerIdentity", "AllBeta"]),
            json!([]),
            Some(both),
            0,
        ),
        (
            "kube-apiserver",
            json!(["APIServerIdentity"]),
            json!(["APIServerIdentity"]),
            Some(off),
            0,
        ),
        ("kube-apiserver", json!(["AllBeta=true,AllAlpha"]), json!([]), None, 1),
        (
            "kube-apiserver",
            json!(["OpenShiftPodSecurityAdmission"]),
            json!([]),
            None,
            0,
        ),
        ("kube-apiserver", json!(["NobodyHasThis"]), json!(["NorThat"]), None, 2),
        // The programs of one minor do not all know the same.
        (
            "kube-apiserver",
            json!([]),
            json!([lock]),
            Some("ControllerManagerReleaseLeaderElectionLockOnExit=false"),
            0,
        ),
        ("kube-scheduler", json!([]), json!([lock]), None, 0),
    ] {
        let custom = json!({"enabled": enabled, "disabled": disabled});
        let world = configured(&json!({"featureGate": {"featureSet": "CustomNoUpgrade", "customNoUpgrade": custom}}));
        let expected = flag.map(|flag| vec![format!("--feature-gates={flag}")]);
        assert_eq!(gates(&world, program), expected, "{program} {custom}");
        assert_eq!(feature_gates::warnings(&world.inputs()).len(), warned, "{custom}");
    }
}

fn gates(world: &World, program: &str) -> Option<Vec<String>> {
    let mut container = k8s_openapi::api::core::v1::Container {
        name: program.to_owned(),
        ..Default::default()
    };
    feature_gates::set(&world.inputs(), &mut container);
    container.args
}

#[test]
fn gates_count_in_one_set_and_by_the_minor() {
    let named =
        |set: &str| json!({"featureGate": {"featureSet": set, "customNoUpgrade": {"enabled": ["ImageVolume"]}}});
    for (minor, set, is_set, warned) in [
        ("1.35", "CustomNoUpgrade", true, 0),
        ("1.36", "CustomNoUpgrade", false, 1),
        ("1.35", "", false, 1),
        ("1.35", "Default", false, 1),
        ("1.35", "TechPreviewNoUpgrade", false, 1),
    ] {
        let world = World::new(&json!({"spec": {"configuration": named(set)}}), release(minor));
        assert_eq!(gates(&world, "kube-apiserver").is_some(), is_set, "{minor} {set}");
        let warnings = feature_gates::warnings(&world.inputs());
        assert_eq!(warnings.len(), warned, "{minor} {set}: {warnings:?}");
    }
}

/// What is not known of older minors is left to their programs.
#[test]
fn the_gates_of_the_two_newest_minors_are_known() {
    let known: Vec<&str> = feature_gates::known_minors().collect();
    let releases = hyperplane_planner::catalogue::releases();
    let mut minors: Vec<String> = releases.iter().map(|release| release.kubernetes.minor_text()).collect();
    minors.dedup();
    assert_eq!(minors[minors.len() - 2..], known);
    let old = json!({"featureGate": {"featureSet": "CustomNoUpgrade", "customNoUpgrade": {"enabled": ["Older"]}}});
    let world = World::new(&json!({"spec": {"configuration": old}}), release("1.34"));
    assert!(gates(&world, "kube-apiserver").is_some());
}

/// A world whose audit events and tokens go to webhooks by one kubeconfig.
fn with_webhooks(kubeconfig: &str, kind: &str) -> World {
    let webhook = json!({"kubeConfig": {"name": "their-webhook"}});
    let mut world = World::with(&json!({"spec": {
        "auditWebhook": {"name": "theirs"},
        "configuration": {"authentication": {"type": kind, "webhookTokenAuthenticator": webhook}},
    }}));
    set_secret(&mut world.objects, "their-webhook", "kubeConfig", kubeconfig);
    set_secret(
        &mut world.objects,
        "kas-audit-webhook",
        "webhook-kubeconfig",
        kubeconfig,
    );
    world
}

#[test]
fn a_webhook_is_used_if_its_kubeconfig_holds_everything_itself() {
    let clusters = "clusters: [{name: one, cluster: {server: https://example.com}}]";
    for (kubeconfig, said) in [
        (clusters.to_owned(), ""),
        (format!("{clusters}\nusers: [{{name: a, user: {{token: x}}}}]"), ""),
        (
            format!(
                "{clusters}\nusers: [{{name: a, user: {{tokenFile: /etc/kubernetes/service-account/service-account.key}}}}]"
            ),
            "has tokenFile",
        ),
        (
            format!("{clusters}\nusers: [{{user: {{exec: {{command: sh}}}}}}]"),
            "has exec",
        ),
        (
            format!("{clusters}\nusers: [{{user: {{auth-provider: {{name: oidc}}}}}}]"),
            "has auth-provider",
        ),
        ("[".to_owned(), "is no kubeconfig"),
        ("{}".to_owned(), "is no kubeconfig"),
    ] {
        let world = with_webhooks(&kubeconfig, "None");
        for waits in [audit::waits(&world.inputs()), token_webhook::waits(&world.inputs())] {
            let waits = waits.join("; ");
            assert_eq!(waits.is_empty(), said.is_empty(), "{kubeconfig}: {waits}");
            assert!(waits.contains(said), "{kubeconfig}: {waits}");
        }
        if said.is_empty() {
            let workload = world.rendered("kube-apiserver").workload;
            let file = flag(&workload, "kube-apiserver", "authentication-token-webhook-config-file");
            assert_eq!(file.as_deref(), Some("/etc/kubernetes/token-webhook/kubeConfig"));
            let version = flag(&workload, "kube-apiserver", "authentication-token-webhook-version");
            assert_eq!(version.as_deref(), Some("v1"));
        }
    }
    let world = with_webhooks(clusters, "OIDC");
    assert_eq!(token_webhook::secret(&world.inputs()), None);
    assert_eq!(token_webhook::warnings(&world.inputs()).len(), 1);
}

/// The smallest sequence of DER; the next one claims to be longer than it is.
const WHOLE: &str = "-----BEGIN CERTIFICATE-----\nMAMCAQE=\n-----END CERTIFICATE-----\n";
const BROKEN: &str = "-----BEGIN CERTIFICATE-----\nMAQCAQE=\n-----END CERTIFICATE-----\n";

#[test]
fn an_authority_for_clients_is_trusted_beside_ours_while_it_is_given() {
    let mut world = configured(&json!({"apiServer": {"clientCA": {"name": "their-clients"}}}));
    let mut templates = Vec::new();
    assert!(
        client_ca::waits(&world.inputs())
            .join("; ")
            .contains("ConfigMap their-clients")
    );
    for (theirs, is_trusted) in [
        (WHOLE.to_owned(), true),
        (format!("a remark\n{WHOLE}{WHOLE}"), true),
        (BROKEN.to_owned(), false),
        (format!("{WHOLE}{BROKEN}"), false),
        ("-----BEGIN CERTIFICATE-----".to_owned(), false),
        ("nothing".to_owned(), false),
    ] {
        let map = k8s_openapi::api::core::v1::ConfigMap {
            data: Some([("ca-bundle.crt".to_owned(), theirs.clone())].into()),
            ..Default::default()
        };
        world.objects.config_maps.insert("their-clients".to_owned(), map.into());
        let rendered = world.rendered("kube-apiserver");
        templates.push(rendered.workload.template().cloned());
        let text = rendered_text(&rendered, "kas-client-ca", "ca.crt");
        assert!(text.starts_with("client-ca/ca.crt\n"), "{text}");
        assert_eq!(text.contains(WHOLE), is_trusted, "{theirs}");
        assert!(!text.contains("remark") && !text.contains(BROKEN), "{text}");
        assert_eq!(
            client_ca::warnings(&world.inputs()).len(),
            usize::from(!is_trusted),
            "{theirs}"
        );
    }
    // The API server reads it anew while it runs.
    assert!(templates.iter().all(|template| *template == templates[0]));
    let odd = configured(&json!({"apiServer": {"clientCA": {"name": "../etc"}}}));
    assert_eq!(client_ca::warnings(&odd.inputs()).len(), 1);
    assert!(!client_ca::is_wanted(&odd.inputs()));
}

fn provider(change: &Value) -> World {
    let mut provider = json!({
        "name": "theirs",
        "issuer": {"issuerURL": "https://id.example.com", "audiences": ["one"]},
        "claimMappings": {"username": {}},
    });
    crate::support::merge(&mut provider, change);
    configured(&json!({"authentication": {"type": "OIDC", "oidcProviders": [provider]}}))
}

fn become_authenticators(rows: &[(Value, &str, Value)]) {
    for (change, path, expected) in rows {
        let world = provider(change);
        let file = read(&authentication::configuration(&world.inputs()));
        assert_eq!(file["apiVersion"], "apiserver.config.k8s.io/v1");
        assert_eq!(file["jwt"][0].pointer(path), Some(expected), "{change}");
    }
}

#[test]
fn claims_become_users() {
    let username = |mapping: Value, expected: Value| {
        let change = json!({"claimMappings": {"username": mapping}});
        (change, "/claimMappings/username", expected)
    };
    let prefixed = json!({"claim": "name", "prefixPolicy": "Prefix", "prefix": {"prefixString": "x:"}});
    let extra = json!([{"key": "example.com/team", "valueExpression": "claims.team"}]);
    become_authenticators(&[
        username(json!({}), json!({"claim": "sub", "prefix": "https://id.example.com#"})),
        username(json!({"claim": "email"}), json!({"claim": "email", "prefix": ""})),
        username(
            json!({"claim": "name", "prefixPolicy": "NoPrefix"}),
            json!({"claim": "name", "prefix": ""}),
        ),
        username(prefixed, json!({"claim": "name", "prefix": "x:"})),
        username(
            json!({"expression": "'corp:' + claims.sub"}),
            json!({"expression": "'corp:' + claims.sub"}),
        ),
        (
            json!({"claimMappings": {"groups": {"claim": "groups"}}}),
            "/claimMappings/groups",
            json!({"claim": "groups", "prefix": ""}),
        ),
        (
            json!({"claimMappings": {"groups": {"expression": "claims.roles.split(',')"}}}),
            "/claimMappings/groups",
            json!({"expression": "claims.roles.split(',')"}),
        ),
        (json!({}), "/claimMappings/uid", json!({"claim": "sub"})),
        (
            json!({"claimMappings": {"uid": {"claim": "oid"}}}),
            "/claimMappings/uid",
            json!({"claim": "oid"}),
        ),
        (
            json!({"claimMappings": {"uid": {"expression": "claims.sub"}}}),
            "/claimMappings/uid",
            json!({"expression": "claims.sub"}),
        ),
        (
            json!({"claimMappings": {"extra": extra}}),
            "/claimMappings/extra",
            extra,
        ),
    ]);
}

#[test]
fn issuers_and_rules_become_those_of_the_api_server() {
    let of_user = json!([{"expression": "user.username != 'root'", "message": "never"}]);
    become_authenticators(&[
        (
            json!({"issuer": {"audiences": ["one", "two"]}}),
            "/issuer/audienceMatchPolicy",
            json!("MatchAny"),
        ),
        (
            json!({"issuer": {"discoveryURL": "https://inside.example.com/discovery"}}),
            "/issuer/discoveryURL",
            json!("https://inside.example.com/discovery"),
        ),
        (
            json!({"claimValidationRules": [
                {"type": "RequiredClaim", "requiredClaim": {"claim": "hd", "requiredValue": "example.com"}},
            ]}),
            "/claimValidationRules",
            json!([{"claim": "hd", "requiredValue": "example.com"}]),
        ),
        (
            json!({"claimValidationRules": [{"type": "CEL", "cel": {"expression": "true", "message": "never"}}]}),
            "/claimValidationRules",
            json!([{"expression": "true", "message": "never"}]),
        ),
        (json!({"userValidationRules": of_user}), "/userValidationRules", of_user),
    ]);
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
    let given = provider(&json!({}));
    assert!(authentication::is_wanted(&given.inputs()));
    for change in [json!({"oidcProviders": []}), json!({"type": "None"})] {
        let mut settings = json!({"authentication": given.inputs().authentication()});
        crate::support::merge(&mut settings, &json!({"authentication": change}));
        let world = configured(&settings);
        assert!(!authentication::is_wanted(&world.inputs()), "{change}");
    }
    assert!(!authentication::is_wanted(
        &World::new(&json!({}), release("1.35")).inputs()
    ));
}
