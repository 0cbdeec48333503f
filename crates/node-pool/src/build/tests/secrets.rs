//! The Secrets of a pool: what machines start with, and the tokens that they show.

use hyperplane_api::constants::{annotations, objects::keys};
use hyperplane_ignition_render::{gzip, validate::validate};
use jiff::SignedDuration;
use serde_json::{Value, json};

use super::{super::*, after, text, usual};
use crate::testing::{self, NOW, desired, seen, stored};

/// A pool, what was made for it, and what is seen once its cluster has another pull secret.
fn outdated() -> (NodePool, Desired, Seen) {
    let (pool, seen) = usual();
    let first = desired(&pool, &seen, NOW).unwrap();
    let mut seen = after(&seen, &first);
    let other = testing::cluster(&json!({"spec": {"pullSecret": {"name": "other"}}}));
    seen.cluster = Some(Arc::new(other));
    (pool, first, seen)
}

#[test]
fn the_stub_shows_the_token_to_the_ignition_server() {
    let cluster = testing::cluster(&json!({"spec": {"configuration": {"proxy": {
        "httpsProxy": "http://proxy.example.com:3128", "noProxy": "a.example.com,b.example.com"}}}}));
    let made = desired(&testing::pool(&json!({})), &seen(&cluster), NOW).unwrap();
    assert_eq!(text(&made.user_data, keys::DISABLE_TEMPLATING), "true");
    let stub: Value = serde_json::from_str(&text(&made.user_data, keys::USER_DATA)).unwrap();
    let ignition = &stub["ignition"];
    assert_eq!(ignition["version"], "3.2.0");
    let merge = &ignition["config"]["merge"][0];
    assert_eq!(merge["source"], "https://ignition.example.com/ignition");
    assert_eq!(
        merge["httpHeaders"][0],
        json!({"name": "Authorization", "value": "Bearer ZnJlc2g="})
    );
    assert_eq!(merge["httpHeaders"][1]["value"], "clusters/workers");
    let authority = &ignition["security"]["tls"]["certificateAuthorities"][0]["source"];
    assert!(authority.as_str().unwrap().starts_with("data:"));
    assert_eq!(ignition["proxy"]["httpsProxy"], "http://proxy.example.com:3128");
    // What is near is reached without a proxy from the first request on, as by what the machine is given then.
    let direct = &ignition["proxy"]["noProxy"];
    for near in ["a.example.com", "b.example.com", ".svc", "localhost", "192.168.0.0/24"] {
        assert!(
            direct.as_array().unwrap().contains(&json!(near)),
            "{near} is not in {direct}"
        );
    }
    assert_eq!(text(&made.token, keys::RENDER_REVISION), "1");
}

/// Whatever a cluster and its pool are, Ignition takes what machines read first, or nothing of it is made.
#[test]
fn every_stub_is_one_that_ignition_takes() {
    let proxies = [
        json!({}),
        json!({"httpProxy": "http://user:100%25@proxy.example.com:3128"}),
        json!({"httpsProxy": "https://[fd00::1]:3128", "noProxy": "a, b,,a"}),
        json!({"noProxy": "a"}),
        json!({"httpProxy": "proxy.example.com:3128"}),
        json!({"httpProxy": "http://a b"}),
        json!({"httpsProxy": "socks5://proxy"}),
    ];
    for proxy in proxies {
        for endpoint in ["ignition.example.com", "192.168.0.1:31000", "[fd00::1]:443"] {
            let cluster = testing::cluster(&json!({
                "spec": {"configuration": {"proxy": proxy}}, "status": {"ignitionEndpoint": endpoint},
            }));
            let Some(made) = desired(&testing::pool(&json!({})), &seen(&cluster), NOW) else {
                let plan = testing::planned(&testing::pool(&json!({})), &seen(&cluster));
                let problems = plan.verdict.unwrap().config;
                assert!(
                    problems[0].to_string().contains("spec.configuration.proxy"),
                    "{problems:?}"
                );
                continue;
            };
            let stub: Value = serde_json::from_str(&text(&made.user_data, keys::USER_DATA)).unwrap();
            assert_eq!(validate(&stub), [], "{proxy}");
        }
    }
}

/// A proxy that is wrong stops rolls; machines that are added are told what the others were.
#[test]
fn a_wrong_proxy_does_not_reach_machines() {
    let with = |address: &str| testing::cluster(&json!({"spec": {"configuration": {"proxy": {"httpProxy": address}}}}));
    let pool = testing::pool(&json!({}));
    let good = seen(&with("http://proxy.example.com"));
    let before = desired(&pool, &good, NOW).unwrap();
    let mut wrong = after(&good, &before);
    wrong.cluster = Some(with("proxy.example.com").into());
    let made = desired(&pool, &wrong, NOW).unwrap();
    assert_eq!(made.user_data.data, before.user_data.data);
}

#[test]
fn tokens_are_replaced_on_time_and_only_by_who_saw_the_latest() {
    let (pool, seen) = usual();
    let first = desired(&pool, &seen, NOW).unwrap();
    let seen = after(&seen, &first);
    let early = desired(&pool, &seen, NOW + SignedDuration::from_mins(30)).unwrap();
    assert_eq!(early.token.metadata.resource_version, None);
    assert_eq!(early.token.data, first.token.data);
    assert_eq!(early.next, Some(Duration::from_hours(5)));
    // Documents that somebody else wrote are put right.
    let mut foreign = seen.clone();
    let mut token = first.token.clone();
    let packed = k8s_openapi::ByteString(gzip::compress(b"another"));
    token.data.as_mut().unwrap().insert(keys::CONFIG.to_owned(), packed);
    foreign.tokens = vec![stored(token)];
    assert_eq!(desired(&pool, &foreign, NOW).unwrap().token.data, first.token.data);
    let late = desired(&pool, &seen, NOW + SignedDuration::from_mins(330)).unwrap();
    assert_eq!(late.token.metadata.resource_version.as_deref(), Some("1"));
    assert_eq!(text(&late.token, keys::OLD_TOKEN), "fresh");
}

#[test]
fn what_was_replaced_gets_an_end_and_goes() {
    let (pool, first, mut seen) = outdated();
    let second = desired(&pool, &seen, NOW).unwrap();
    assert_ne!(second.token.metadata.name, first.token.metadata.name);
    let end = second.expiring[0].metadata.annotations.as_ref().unwrap()
        [annotations::IGNITION_TOKEN_EXPIRATION_TIMESTAMP.as_str()]
    .clone();
    assert_eq!(end, token::written(NOW + token::OUTDATED_LIFETIME));
    assert_eq!(second.next, Some(Duration::from_hours(2)));
    assert!(
        second.unused.is_empty(),
        "the deployment still refers to the old user data"
    );
    seen.tokens = vec![stored(second.expiring[0].clone()), stored(second.token.clone())];
    seen.machines.deployment = second.deployment.clone().map(Arc::new);
    let third = desired(&pool, &seen, NOW + token::OUTDATED_LIFETIME).unwrap();
    let gone: Vec<_> = third.unused.iter().map(|secret| secret.metadata.name.clone()).collect();
    assert_eq!(gone, [first.token.metadata.name, first.user_data.metadata.name]);
    assert!(third.expiring.is_empty());
}

#[test]
fn a_token_is_kept_good_as_long_as_a_set_makes_machines_with_it() {
    let (pool, first, mut seen) = outdated();
    let user_data = first.user_data.metadata.name.clone();
    let set = |replicas: Option<i32>| Arc::new(testing::set(user_data.as_deref().unwrap(), replicas));
    let name = |secret: &Secret| secret.metadata.name.clone();

    // A set that has machines can make another at any time, and so can one of which it is not known.
    for replicas in [Some(1), None] {
        seen.machines.sets = vec![set(replicas)];
        let second = desired(&pool, &seen, NOW).unwrap();
        assert!(second.expiring.is_empty(), "{replicas:?}");
        let kept: Vec<_> = second.older.iter().map(name).collect();
        assert_eq!(kept, [name(&first.token), name(&first.user_data)]);
        assert_eq!(second.older[0].data, first.token.data);
    }
    // It is replaced when its time has come, and what machines of the set read shows the new one.
    let late = desired(&pool, &seen, NOW + token::ROTATION).unwrap();
    assert_eq!(text(&late.older[0], keys::OLD_TOKEN), "fresh");
    assert_eq!(late.older[0].metadata.resource_version.as_deref(), Some("1"));
    assert!(text(&late.older[1], keys::USER_DATA).contains("ZnJlc2g="));
    assert!(late.expiring.is_empty() && late.unused.is_empty());
    // An end that it was given is taken back.
    let mut ending = (*seen.tokens[0]).clone();
    let end = annotations::IGNITION_TOKEN_EXPIRATION_TIMESTAMP.as_str();
    let all = ending.metadata.annotations.get_or_insert_default();
    all.insert(end.to_owned(), token::written(NOW));
    seen.tokens = vec![Arc::new(ending)];
    let again = desired(&pool, &seen, NOW).unwrap();
    assert_eq!(
        annotations::IGNITION_TOKEN_EXPIRATION_TIMESTAMP.of(&again.older[0]),
        None
    );
    assert!(again.unused.is_empty());
    // A set that is empty makes none.
    seen.tokens = vec![stored(first.token.clone())];
    seen.machines.sets = vec![set(Some(0))];
    let third = desired(&pool, &seen, NOW).unwrap();
    assert!(third.older.is_empty());
    assert_eq!(third.expiring.len(), 1);
}
