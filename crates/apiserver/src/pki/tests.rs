//! Credentials as values: what is in them, and when they change.

mod on_disk;

use jiff::SignedDuration;
use rustls::pki_types::{CertificateDer, pem::PemObject as _};
use secrecy::ExposeSecret as _;
use x509_parser::{certificate::X509Certificate, parse_x509_certificate};

use super::*;

/// When the credentials of these tests are made.
const BIRTH: Timestamp = Timestamp::constant(1_800_000_000, 0);
const DAY: SignedDuration = SignedDuration::from_hours(24);

fn counting() -> Entropy {
    let counter = std::sync::atomic::AtomicU8::new(0);
    Entropy::new(move |bytes| bytes.fill(counter.fetch_add(1, std::sync::atomic::Ordering::Relaxed)))
}

fn names() -> ServingNames {
    let mut names = ServingNames::of_cluster("10.0.0.1".parse().unwrap());
    names.add("api.example.com").unwrap();
    names
}

fn generated() -> Credentials {
    Credentials::generate(&names(), BIRTH, &counting()).unwrap()
}

fn parse<T>(pem: &str, look: impl FnOnce(&X509Certificate<'_>) -> T) -> T {
    let der = CertificateDer::from_pem_slice(pem.as_bytes()).unwrap();
    let (_, certificate) = parse_x509_certificate(&der).unwrap();
    look(&certificate)
}

#[test]
fn certificates_say_who_and_how_long() {
    let credentials = generated();
    let check = |pair: &Pair, subject: &str, issuer: &str, days: i32, is_authority: bool| {
        parse(&pair.certificate, |certificate| {
            assert_eq!(certificate.subject().to_string(), subject);
            assert_eq!(certificate.issuer().to_string(), issuer);
            let validity = certificate.validity();
            assert_eq!(validity.not_before.timestamp(), BIRTH.as_second() - 300);
            assert_eq!(validity.not_after.timestamp(), (BIRTH + days * DAY).as_second());
            assert_eq!(certificate.is_ca(), is_authority);
        });
    };
    check(&credentials.cluster, "CN=kubernetes", "CN=kubernetes", 3650, true);
    check(
        &credentials.front_proxy,
        "CN=front-proxy-ca",
        "CN=front-proxy-ca",
        3650,
        true,
    );
    check(&credentials.serving, "CN=kube-apiserver", "CN=kubernetes", 365, false);
    let administrator = "O=system:masters, CN=kubernetes-admin";
    check(&credentials.administrator, administrator, "CN=kubernetes", 365, false);
}

#[test]
fn serial_numbers_are_positive_and_come_from_outside() {
    let credentials = generated();
    let serial = |pair: &Pair| parse(&pair.certificate, |certificate| certificate.raw_serial().to_vec());
    let of = |byte: u8| {
        let mut bytes = vec![byte; 16];
        bytes[0] |= 0x40;
        bytes
    };
    assert_eq!(serial(&credentials.cluster), of(0));
    assert_eq!(serial(&credentials.front_proxy), of(1));
    assert_eq!(serial(&credentials.serving), of(2));
    let last = Entropy::new(|bytes| bytes.fill(0xff));
    let credentials = Credentials::generate(&names(), BIRTH, &last).unwrap();
    assert_eq!(serial(&credentials.cluster)[0], 0x7f);
}

#[test]
fn the_server_has_the_names_that_clients_use() {
    let inspected = Inspected::read(&generated().serving.certificate, "it").unwrap();
    let found = inspected.names();
    assert_eq!(
        found.domains.iter().map(String::as_str).collect::<Vec<_>>(),
        [
            "api.example.com",
            "kubernetes",
            "kubernetes.default",
            "kubernetes.default.svc",
            "kubernetes.default.svc.cluster.local",
            "localhost",
        ]
    );
    let addresses: Vec<String> = found.addresses.iter().map(ToString::to_string).collect();
    assert_eq!(addresses, ["10.0.0.1", "127.0.0.1", "::1"]);
}

#[test]
fn keys_are_not_printed() {
    let printed = format!("{:?}", generated());
    assert!(printed.contains("BEGIN CERTIFICATE"), "{printed}");
    assert!(!printed.contains("PRIVATE KEY"), "{printed}");
}

#[test]
fn names_of_servers() {
    let mut names = ServingNames::default();
    for good in [
        "a",
        "API.Example.com",
        "*.example.com",
        "xn--bcher-kva.example",
        "10.1.2.3",
        "fe80::1",
        "1a.b",
    ] {
        names.add(good).unwrap();
    }
    assert!(names.domains.contains("api.example.com"));
    assert_eq!(names.addresses.len(), 2);
    let long = format!("{}.example.com", "a".repeat(64));
    for bad in [
        "",
        ".",
        "a..b",
        "-a",
        "a-",
        "a_b",
        "a b",
        "10.1.2",
        "*.*.com",
        "bücher.example",
        &long,
    ] {
        let error = names.add(bad).unwrap_err().to_string();
        assert!(error.contains("use an IP address, or a DNS name"), "{bad}: {error}");
    }
}

/// What `renew` does to fresh credentials after some time, and whether keys stayed.
fn renewed(change: impl FnOnce(&mut Credentials), names: &ServingNames, after: SignedDuration) -> (bool, bool) {
    let mut credentials = generated();
    change(&mut credentials);
    let before = credentials.clone();
    let now = BIRTH + after;
    let renewed = credentials.renew(names, now, &counting()).unwrap();
    for (new, old, is_new) in [
        (&credentials.serving, &before.serving, renewed.serving),
        (&credentials.administrator, &before.administrator, renewed.administrator),
    ] {
        assert_eq!(new.key.expose_secret(), old.key.expose_secret());
        assert_eq!(new.certificate != old.certificate, is_new);
        assert!(
            Inspected::read(&new.certificate, "it")
                .unwrap()
                .is_good_until(now + 30 * DAY)
        );
    }
    assert_eq!(credentials.cluster.certificate, before.cluster.certificate);
    (renewed.serving, renewed.administrator)
}

#[test]
fn certificates_are_renewed_before_their_end() {
    assert_eq!(renewed(|_| {}, &names(), SignedDuration::ZERO), (false, false));
    assert_eq!(renewed(|_| {}, &names(), 334 * DAY), (false, false));
    assert_eq!(renewed(|_| {}, &names(), 335 * DAY), (true, true));
    assert_eq!(renewed(|_| {}, &names(), 1000 * DAY), (true, true));
}

#[test]
fn a_certificate_of_the_future_is_renewed() {
    assert_eq!(renewed(|_| {}, &names(), SignedDuration::from_mins(-4)), (false, false));
    assert_eq!(renewed(|_| {}, &names(), SignedDuration::from_mins(-6)), (true, true));
}

#[test]
fn other_names_renew_the_server_alone() {
    let mut more = names();
    more.add("192.0.2.1").unwrap();
    assert_eq!(renewed(|_| {}, &more, DAY), (true, false));
    assert_eq!(
        renewed(|_| {}, &ServingNames::of_cluster("10.0.0.1".parse().unwrap()), DAY),
        (true, false)
    );
}

#[test]
fn what_another_authority_signed_is_renewed() {
    let other = generated();
    let foreign = |credentials: &mut Credentials| credentials.administrator = other.administrator.clone();
    assert_eq!(renewed(foreign, &names(), DAY), (false, true));
}

#[test]
fn a_certificate_of_another_key_is_renewed() {
    let swap = |credentials: &mut Credentials| {
        credentials.serving.key = credentials.administrator.key.clone();
    };
    assert_eq!(renewed(swap, &names(), DAY), (true, false));
}

fn refusal(change: impl FnOnce(&mut Credentials), after: SignedDuration) -> String {
    let mut credentials = generated();
    change(&mut credentials);
    credentials
        .renew(&names(), BIRTH + after, &counting())
        .unwrap_err()
        .to_string()
}

#[test]
fn damage_is_named() {
    let check = |change: fn(&mut Credentials), expected: &str| assert_eq!(refusal(change, DAY), expected);
    check(
        |credentials| credentials.cluster.certificate.truncate(100),
        "the cluster's certificate authority is damaged: it is no certificate in PEM",
    );
    check(
        |credentials| credentials.front_proxy.key = String::new().into(),
        "the front proxies' certificate authority is damaged: it is no PKCS#8 key in PEM",
    );
    check(
        |credentials| credentials.cluster.key = credentials.front_proxy.key.clone(),
        "the cluster's certificate authority and its key do not belong together",
    );
    check(
        |credentials| credentials.service_account_key = "nothing".to_owned().into(),
        "the key of service accounts is damaged: it is no PKCS#8 key in PEM",
    );
    check(
        |credentials| credentials.serving.certificate = credentials.serving.certificate.replace('A', "B"),
        "the serving certificate is damaged: it is no certificate in PEM",
    );
}

#[test]
fn an_authority_is_not_renewed_silently() {
    assert_eq!(
        refusal(|_| {}, 3651 * DAY),
        "the cluster's certificate authority expired on 2037-01-12T08:00:00Z"
    );
}

#[test]
fn a_kubeconfig_holds_everything() {
    use base64::{Engine as _, prelude::BASE64_STANDARD};

    let credentials = generated();
    let text = kubeconfig(
        "https://[::1]:6443",
        &credentials.cluster.certificate,
        &credentials.administrator,
    );
    let value: serde_json::Value = serde_saphyr::from_str(&text).unwrap();
    let decode = |pointer: &str| {
        let encoded = value.pointer(pointer).and_then(serde_json::Value::as_str).unwrap();
        String::from_utf8(BASE64_STANDARD.decode(encoded).unwrap()).unwrap()
    };
    assert_eq!(value["current-context"], value["contexts"][0]["name"]);
    assert_eq!(value["contexts"][0]["context"]["cluster"], value["clusters"][0]["name"]);
    assert_eq!(value["contexts"][0]["context"]["user"], value["users"][0]["name"]);
    assert_eq!(value["clusters"][0]["cluster"]["server"], "https://[::1]:6443");
    let authority = decode("/clusters/0/cluster/certificate-authority-data");
    assert_eq!(authority, credentials.cluster.certificate);
    let administrator = &credentials.administrator;
    assert_eq!(
        decode("/users/0/user/client-certificate-data"),
        administrator.certificate
    );
    assert_eq!(
        decode("/users/0/user/client-key-data"),
        administrator.key.expose_secret()
    );
}
