//! When authorities, bundles, kubeconfigs and keys are written anew, and what they draw along with them.

use std::sync::Arc;

use hyperplane_api::constants::objects::{bundles, certificates, keys, kubeconfigs, signers};
use hyperplane_pki_issue::{Etcd, KeyAlgorithm, Lifetime, Published, Reason, ServiceAccountKey};
use jiff::SignedDuration;
use rcgen::{CertificateParams, DistinguishedName, DnType, IsCa, Issuer, KeyPair, date_time_ymd};

use crate::support::{self, Change, DAY, LEAVES, START, World, check, host, published, wanted};

const OWN_KUBECONFIG: &str = "cloud-controller-manager-service-account-kubeconfig";
const ADMIN_KUBECONFIGS: [&str; 5] = [
    kubeconfigs::ADMIN,
    kubeconfigs::CUSTOM_ADMIN,
    kubeconfigs::LOCALHOST,
    kubeconfigs::SERVICE_NETWORK_ADMIN,
    "example-x7k2p-kubeconfig",
];

#[test]
fn signers() {
    check(
        "an authority that was deleted is made anew, with all that it signed",
        |world, _| world.delete(signers::IGNITION),
        &[
            (signers::IGNITION, Reason::Missing),
            (bundles::IGNITION, Reason::Signer),
            (certificates::IGNITION_SERVER, Reason::Signer),
        ],
    );
    check(
        "an authority with another key signs everything anew, and the old one stays trusted",
        |world, wanted| {
            let other = World::settled(wanted);
            *world.secret(signers::KONNECTIVITY) = (*other.existing.secrets[signers::KONNECTIVITY]).clone();
        },
        &[
            (bundles::KONNECTIVITY, Reason::Content),
            (certificates::KONNECTIVITY_SERVER, Reason::Signer),
            (certificates::KONNECTIVITY_CLUSTER, Reason::Signer),
            (certificates::KONNECTIVITY_CLIENT, Reason::Signer),
            (certificates::KONNECTIVITY_AGENT, Reason::Signer),
        ],
    );
    check(
        "another certificate of the same key and name is trusted beside the first, and nothing is signed anew",
        |world, _| {
            let key = KeyPair::from_pem(&world.text(signers::KONNECTIVITY, keys::CA_KEY)).unwrap();
            let issuer =
                Issuer::from_ca_cert_pem(&world.text(signers::KONNECTIVITY, keys::CA_CERTIFICATE), &key).unwrap();
            let mut parameters = CertificateParams::default();
            parameters.distinguished_name = DistinguishedName::new();
            parameters
                .distinguished_name
                .push(DnType::OrganizationalUnitName, "hyperplane");
            parameters
                .distinguished_name
                .push(DnType::CommonName, "konnectivity-signer");
            parameters.is_ca = IsCa::Ca(rcgen::BasicConstraints::Unconstrained);
            parameters.not_before = date_time_ymd(2027, 1, 1);
            parameters.not_after = date_time_ymd(2047, 1, 1);
            let again = parameters.signed_by(&key, &issuer).unwrap();
            world.put(signers::KONNECTIVITY, keys::CA_CERTIFICATE, &again.pem());
        },
        &[(bundles::KONNECTIVITY, Reason::Content)],
    );
}

#[test]
fn a_damaged_authority_is_reported_and_nothing_of_it_is_touched() {
    let damages: [(&str, &str, &str); 4] = [
        (
            keys::CA_CERTIFICATE,
            "x",
            "its certificate is missing or cannot be read",
        ),
        (keys::CA_KEY, "", "its key is missing or cannot be read"),
        (
            keys::CA_KEY,
            "another",
            "its key and its certificate do not belong together",
        ),
        (
            keys::CA_CERTIFICATE,
            "leaf",
            "its certificate is not that of an authority",
        ),
    ];
    let wanted = wanted();
    for (key, content, fault) in damages {
        let mut world = World::settled(&wanted);
        let content = match content {
            "another" => KeyPair::generate().unwrap().serialize_pem(),
            "leaf" => {
                let key = world.text(certificates::SYSTEM_ADMIN, keys::TLS_KEY);
                world.put(signers::SYSTEM_ADMIN, keys::CA_KEY, &key);
                world.text(certificates::SYSTEM_ADMIN, keys::TLS_CERTIFICATE)
            }
            other => other.to_owned(),
        };
        world.put(signers::SYSTEM_ADMIN, key, &content);
        let bundle = world.bundle(bundles::CLIENT);
        // Even when its leaves are gone or due: there is nobody who could sign them.
        world.delete(certificates::SYSTEM_ADMIN);
        let plan = world.round(&wanted);
        assert_eq!(plan.problems.len(), 1, "{fault}");
        assert_eq!(
            (plan.problems[0].secret.as_str(), plan.problems[0].fault.as_str()),
            (signers::SYSTEM_ADMIN, fault)
        );
        // The bundle keeps the authority, at another place: what it signed goes on.
        let mut before: Vec<&str> = bundle.split_inclusive("-----END CERTIFICATE-----\n").collect();
        let after = world.bundle(bundles::CLIENT);
        let mut after: Vec<&str> = after.split_inclusive("-----END CERTIFICATE-----\n").collect();
        before.sort_unstable();
        after.sort_unstable();
        assert_eq!(before, after, "{fault}");
        assert!(!world.existing.secrets.contains_key(certificates::SYSTEM_ADMIN));
        assert!(world.existing.secrets.contains_key(kubeconfigs::ADMIN));
        assert_eq!(world.steps(&wanted), [], "{fault}");
    }
}

#[test]
fn names_follow_what_is_published() {
    check(
        "another address of the API server",
        |_, wanted| wanted.api_server = published("192.0.2.9", 6443),
        &[
            (certificates::API_SERVER, Reason::Names),
            (kubeconfigs::ADMIN, Reason::Content),
            (kubeconfigs::CUSTOM_ADMIN, Reason::Content),
            (kubeconfigs::BOOTSTRAP, Reason::Content),
        ],
    );
    check(
        "a further address",
        |_, wanted| wanted.api_server_addresses.push(host("192.0.2.10")),
        &[(certificates::API_SERVER, Reason::Names)],
    );
    check(
        "konnectivity elsewhere",
        |_, wanted| wanted.konnectivity = published("k.example.com", 443),
        &[(certificates::KONNECTIVITY_CLUSTER, Reason::Names)],
    );
    check(
        "ignition nowhere",
        |_, wanted| wanted.ignition = Published::Unused,
        &[(certificates::IGNITION_SERVER, Reason::Names)],
    );
    check(
        "an address that is lost for a while",
        |_, wanted| wanted.api_server = Published::Awaited,
        &[],
    );
    check(
        "an address that is lost for a while, and a name that is new",
        |_, wanted| {
            wanted.api_server = Published::Awaited;
            wanted.api_server_addresses.push(host("192.0.2.10"));
        },
        &[(certificates::API_SERVER, Reason::Names)],
    );
}

#[test]
fn what_is_not_known_yet_is_waited_for() {
    let mut wanted = wanted();
    wanted.api_server = Published::Awaited;
    wanted.ignition = Published::Awaited;
    wanted.service_account_key = ServiceAccountKey::Given;
    let mut world = World::new();
    let plan = world.round(&wanted);
    let waiting: Vec<&str> = plan
        .waiting
        .iter()
        .map(|text| text.split(':').next().unwrap())
        .collect();
    assert_eq!(
        waiting,
        [
            "Secret sa-signing-key",
            "Secret kas-server-crt",
            "Secret ignition-server-serving-cert",
            "Secret admin-kubeconfig",
            "Secret custom-admin-kubeconfig",
            "Secret bootstrap-kubeconfig",
        ]
    );
    assert_eq!(world.steps(&wanted), [], "everything else is there");
    wanted.api_server = published("api.example.com", 443);
    let mut steps: Vec<String> = world.steps(&wanted).into_iter().map(|(name, _)| name).collect();
    steps.sort();
    assert_eq!(
        steps,
        [
            kubeconfigs::ADMIN,
            kubeconfigs::BOOTSTRAP,
            kubeconfigs::CUSTOM_ADMIN,
            certificates::API_SERVER
        ]
    );
}

#[test]
fn a_name_survives_a_renewal_while_its_address_is_lost() {
    let mut wanted = wanted();
    let mut world = World::settled(&wanted);
    wanted.api_server = Published::Awaited;
    world.now = START + 350 * DAY;
    let plan = world.round(&wanted);
    assert!(
        plan.issue
            .iter()
            .any(|step| step.name == certificates::API_SERVER && step.reason == Reason::Renewal)
    );
    wanted.api_server = published("api.example.com", 443);
    assert_eq!(world.steps(&wanted), []);
}

#[test]
fn bundles_and_kubeconfigs_and_keys() {
    check(
        "a bundle that is gone",
        |world, _| world.delete_bundle(bundles::AGGREGATOR_CLIENT),
        &[(bundles::AGGREGATOR_CLIENT, Reason::Missing)],
    );
    check(
        "a bundle without its signer",
        |world, _| world.put_bundle(bundles::KONNECTIVITY, ""),
        &[(bundles::KONNECTIVITY, Reason::Content)],
    );
    check(
        "a client of etcd trusts what the bundle says",
        |world, _| {
            let other = world.bundle(bundles::KONNECTIVITY);
            let bundle = world.bundle(bundles::ETCD) + &other;
            world.put_bundle(bundles::ETCD, &bundle);
        },
        &[(certificates::ETCD_CLIENT, Reason::Content)],
    );
    check(
        "a kubeconfig that is gone",
        |world, _| world.delete(kubeconfigs::LOCALHOST),
        &[(kubeconfigs::LOCALHOST, Reason::Missing)],
    );
    check(
        "a kubeconfig that is broken",
        |world, _| world.put(kubeconfigs::LOCALHOST, keys::KUBECONFIG, "{"),
        &[(kubeconfigs::LOCALHOST, Reason::Unreadable)],
    );
    check(
        "a kubeconfig of a service account",
        |world, _| world.put(OWN_KUBECONFIG, keys::KUBECONFIG, "{"),
        &[(OWN_KUBECONFIG, Reason::Unreadable)],
    );
    check(
        "how a kubeconfig is spelled does not matter",
        |world, _| {
            let text = world.text(kubeconfigs::ADMIN, keys::KUBECONFIG);
            let value: serde_json::Value = serde_saphyr::from_str(&text).unwrap();
            world.put(kubeconfigs::ADMIN, keys::KUBECONFIG, &value.to_string());
        },
        &[],
    );
    check(
        "the public half is derived again",
        |world, _| world.put(certificates::SERVICE_ACCOUNT_KEYS, keys::SERVICE_ACCOUNT_PUBLIC_KEY, ""),
        &[(certificates::SERVICE_ACCOUNT_KEYS, Reason::Content)],
    );
    check(
        "more public halves do no harm",
        |world, _| {
            let mine = world.text(certificates::SERVICE_ACCOUNT_KEYS, keys::SERVICE_ACCOUNT_PUBLIC_KEY);
            let both = KeyPair::generate().unwrap().public_key_pem() + &mine;
            world.put(
                certificates::SERVICE_ACCOUNT_KEYS,
                keys::SERVICE_ACCOUNT_PUBLIC_KEY,
                &both,
            );
        },
        &[],
    );
    check(
        "an administrator's certificate is in all of its kubeconfigs",
        |world, _| world.delete(certificates::SYSTEM_ADMIN),
        &std::iter::once((certificates::SYSTEM_ADMIN, Reason::Missing))
            .chain(ADMIN_KUBECONFIGS.map(|name| (name, Reason::Content)))
            .collect::<Vec<_>>(),
    );
}

#[test]
fn the_public_half_of_a_former_key_stays_trusted() {
    let wanted = wanted();
    let mut world = World::settled(&wanted);
    let (name, public) = (certificates::SERVICE_ACCOUNT_KEYS, keys::SERVICE_ACCOUNT_PUBLIC_KEY);
    let former = world.text(name, public);
    let key = KeyPair::generate().unwrap();
    world.put(name, keys::SERVICE_ACCOUNT_KEY, &key.serialize_pem());
    assert_eq!(world.steps(&wanted), [(name.to_owned(), Reason::Content)]);
    world.round(&wanted);
    assert_eq!(world.text(name, public), key.public_key_pem() + &former);
    assert_eq!(world.steps(&wanted), []);
}

#[test]
fn metadata_is_put_back_and_content_stays() {
    let wanted = wanted();
    for name in [
        signers::ROOT,
        certificates::SERVICE_ACCOUNT_KEYS,
        certificates::ETCD_CLIENT,
        kubeconfigs::ADMIN,
        OWN_KUBECONFIG,
        "example-x7k2p-kubeconfig",
    ] {
        let mut world = World::settled(&wanted);
        let data = world.existing.secrets[name].data.clone();
        world.secret(name).metadata.labels = None;
        assert_eq!(world.steps(&wanted), [(name.to_owned(), Reason::Metadata)]);
        world.round(&wanted);
        assert_eq!(world.existing.secrets[name].data, data);
        assert_eq!(world.steps(&wanted), []);
    }
}

#[test]
fn a_damaged_key_of_tokens_is_reported() {
    let wanted = wanted();
    let mut world = World::settled(&wanted);
    world.put(certificates::SERVICE_ACCOUNT_KEYS, keys::SERVICE_ACCOUNT_KEY, "x");
    let plan = world.plan(&wanted);
    assert!(plan.issue.is_empty());
    assert_eq!(plan.problems[0].secret, certificates::SERVICE_ACCOUNT_KEYS);
}

#[test]
fn another_kind_of_key_is_for_what_is_new() {
    check(
        "nothing rolls",
        |_, wanted| wanted.algorithm = KeyAlgorithm::Rsa2048,
        &[],
    );
    let mut wanted = wanted();
    let mut world = World::settled(&wanted);
    wanted.algorithm = KeyAlgorithm::Rsa2048;
    world.delete(certificates::KONNECTIVITY_AGENT);
    world.round(&wanted);
    let key = KeyPair::from_pem(&world.text(certificates::KONNECTIVITY_AGENT, keys::TLS_KEY)).unwrap();
    assert!(key.is_compatible(&rcgen::PKCS_RSA_SHA256));
    assert_eq!(world.steps(&wanted), []);
}

#[test]
fn another_validity_is_taken_at_once_by_every_leaf() {
    for (text, is_taken) in [("8760h", false), ("8761h", true), ("8759h", true), ("1h", true)] {
        let mut wanted = wanted();
        let mut world = World::settled(&wanted);
        wanted.lifetime = Lifetime::parse(Some(text), None).unwrap();
        let plan = world.round(&wanted);
        let issued = plan.issue.iter().filter(|step| step.reason == Reason::Validity).count();
        assert_eq!(issued, if is_taken { LEAVES } else { 0 }, "{text}");
        assert_eq!(world.steps(&wanted), [], "{text}");
    }
}

#[test]
fn clocks_that_are_set_back_do_not_leave_leaves_of_the_future() {
    let wanted = wanted();
    let mut world = World::settled(&wanted);
    world.now = START - SignedDuration::from_mins(4);
    assert_eq!(world.steps(&wanted), [], "small differences do not matter");
    world.now = START - DAY;
    let plan = world.round(&wanted);
    assert_eq!(
        plan.issue.iter().filter(|step| step.reason == Reason::NotBegun).count(),
        LEAVES
    );
    assert_eq!(world.steps(&wanted), []);
}

#[test]
fn an_etcd_of_the_users_own_is_signed_for_by_its_owner() {
    let mut wanted = wanted();
    wanted.etcd = Etcd::Given;
    let mut world = World::new();
    let plan = world.round(&wanted);
    let of_etcd = [
        signers::ETCD,
        bundles::ETCD,
        certificates::ETCD_CLIENT,
        certificates::ETCD_SERVER,
        certificates::ETCD_PEER,
    ];
    let is_there = |world: &World, name: &str| {
        world.existing.secrets.contains_key(name) || world.existing.config_maps.contains_key(name)
    };
    assert!(!of_etcd.iter().any(|name| is_there(&world, name)));
    assert!(plan.waiting.iter().any(|what| what.contains(certificates::ETCD_CLIENT)));
    // Somebody else writes the copy, with other labels and an authority of its own.
    world
        .existing
        .secrets
        .insert(certificates::ETCD_CLIENT.to_owned(), Arc::default());
    for key in [
        keys::ETCD_CLIENT_CA,
        keys::ETCD_CLIENT_CERTIFICATE,
        keys::ETCD_CLIENT_KEY,
    ] {
        world.put(certificates::ETCD_CLIENT, key, "theirs");
    }
    let plan = world.plan(&wanted);
    assert_eq!((plan.waiting, world.steps(&wanted)), (Vec::new(), Vec::new()));
    assert!(plan.keep.contains(&certificates::ETCD_CLIENT.to_owned()));
}

#[test]
fn a_kubeconfig_that_nobody_asks_for_goes() {
    let mut wanted = wanted();
    let mut world = World::settled(&wanted);
    wanted.api_server_name = None;
    let plan = world.round(&wanted);
    assert_eq!(plan.unwanted, [kubeconfigs::CUSTOM_ADMIN]);
    assert_eq!(world.plan(&wanted).unwanted, [] as [&str; 0]);
    // What somebody else made stays.
    let mut world = World::settled(&support::wanted());
    world.secret(kubeconfigs::CUSTOM_ADMIN).metadata.owner_references = None;
    assert_eq!(world.plan(&wanted).unwanted, [] as [&str; 0]);
}

#[test]
fn a_name_that_is_taken_is_told_and_written_once() {
    let taken: [Change; 4] = [
        |_, wanted| wanted.infra_id = "admin".to_owned(),
        |_, wanted| {
            wanted.infra_id = "custom-admin".to_owned();
            wanted.api_server_name = None;
        },
        |_, wanted| wanted.infra_id = "cloud-controller-manager-service-account".to_owned(),
        |_, wanted| wanted.admin_kubeconfig.name = signers::ROOT.to_owned(),
    ];
    for (number, change) in taken.into_iter().enumerate() {
        let mut wanted = wanted();
        let mut world = World::settled(&wanted);
        let before = world.text(signers::ROOT, keys::CA_KEY);
        change(&mut world, &mut wanted);
        let problems = world.round(&wanted).problems;
        assert_eq!(problems.len(), 1, "{number}");
        assert!(problems[0].remedy.contains("infraID"));
        let again = world.plan(&wanted);
        assert!(again.issue.is_empty() && again.unwanted.is_empty(), "{number}");
        assert_eq!(world.text(signers::ROOT, keys::CA_KEY), before);
        assert_eq!(again.problems, problems);
    }
}
