//! Requests made by rcgen, signed by us, and read by parsers that are not ours.

use base64::{Engine as _, prelude::BASE64_STANDARD};
use jiff::{SignedDuration, Timestamp};
use rcgen::{BasicConstraints, CertificateParams, DistinguishedName, DnType, IsCa, KeyPair, SanType};
use rustls_pki_types::{CertificateDer, pem::PemObject as _};
use serde_json::{Value, json};
use x509_parser::{certificate::X509Certificate, extensions::GeneralName, prelude::FromDer as _};

use super::*;
use crate::{
    Policy,
    authenticate::{ClientAuthorities, client_certificate},
};

fn now() -> Timestamp {
    "2026-01-01T00:00:00Z".parse().unwrap()
}

fn authority(key: &KeyPair) -> (String, SigningAuthority) {
    let mut params = CertificateParams::default();
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    params.distinguished_name.push(DnType::CommonName, "authority");
    params.not_before = rcgen::date_time_ymd(2025, 1, 1);
    params.not_after = rcgen::date_time_ymd(2027, 6, 1);
    let pem = params.self_signed(key).unwrap().pem();
    let authority = SigningAuthority::from_pem(&pem, &key.serialize_pem()).unwrap();
    (pem, authority)
}

fn request_pem(names: &[(DnType, &str)], alternatives: Vec<SanType>) -> String {
    let mut params = CertificateParams::default();
    params.distinguished_name = DistinguishedName::new();
    for (kind, name) in names {
        params.distinguished_name.push(kind.clone(), *name);
    }
    params.subject_alt_names = alternatives;
    params
        .serialize_request(&KeyPair::generate().unwrap())
        .unwrap()
        .pem()
        .unwrap()
}

fn node_request(common_name: &str, organisation: &str, alternatives: Vec<SanType>) -> Request {
    let names = [
        (DnType::OrganizationName, organisation),
        (DnType::CommonName, common_name),
    ];
    Request::from_pem(request_pem(&names, alternatives).as_bytes()).unwrap()
}

fn usages(names: &[&str]) -> Vec<String> {
    names.iter().map(|&name| name.to_owned()).collect()
}

#[test]
fn a_signed_certificate_lets_its_owner_in() {
    for key in [
        KeyPair::generate().unwrap(),
        KeyPair::generate_for(&rcgen::PKCS_ECDSA_P384_SHA384).unwrap(),
    ] {
        let (pem, authority) = authority(&key);
        let request = node_request("system:node:n1", "system:nodes", vec![]);
        let usages = usages(&["digital signature", "client auth"]);
        let signed = authority
            .sign(&request, &usages, lifetime(None), now(), [0x80; 16])
            .unwrap();
        let der = CertificateDer::from_pem_slice(signed.as_bytes()).unwrap();
        let authorities = ClientAuthorities::from_pem(&pem).unwrap();
        let user = client_certificate(&[&der], &authorities, now()).unwrap().unwrap();
        assert_eq!(user.as_node(), Some("n1"));
        let authority_der = CertificateDer::from_pem_slice(pem.as_bytes()).unwrap();
        let (_, parsed) = X509Certificate::from_der(&der).unwrap();
        let (_, authority) = X509Certificate::from_der(&authority_der).unwrap();
        parsed.verify_signature(Some(authority.public_key())).unwrap();
        assert_eq!(parsed.issuer(), authority.subject());
    }
}

#[test]
fn a_certificate_says_what_was_asked_and_nothing_more() {
    let (_, authority) = authority(&KeyPair::generate().unwrap());
    let alternatives = vec![
        SanType::DnsName("n1.example".try_into().unwrap()),
        SanType::IpAddress([10, 0, 0, 1].into()),
    ];
    let request = node_request("system:node:n1", "system:nodes", alternatives);
    let asked = usages(&["digital signature", "key encipherment", "server auth"]);
    let signed = authority
        .sign(&request, &asked, lifetime(None), now(), [7; 16])
        .unwrap();
    let der = CertificateDer::from_pem_slice(signed.as_bytes()).unwrap();
    let (rest, certificate) = X509Certificate::from_der(&der).unwrap();
    assert!(rest.is_empty());
    assert_eq!(certificate.raw_serial(), [7; 16]);
    let usage = certificate.key_usage().unwrap().unwrap().value;
    assert!(usage.digital_signature() && usage.key_encipherment() && !usage.key_cert_sign());
    let purposes = certificate.extended_key_usage().unwrap().unwrap().value;
    assert!(purposes.server_auth && !purposes.client_auth && !purposes.any);
    assert!(!certificate.basic_constraints().unwrap().unwrap().value.ca);
    let names = &certificate
        .subject_alternative_name()
        .unwrap()
        .unwrap()
        .value
        .general_names;
    assert_eq!(
        *names,
        [
            GeneralName::DNSName("n1.example"),
            GeneralName::IPAddress(&[10, 0, 0, 1])
        ]
    );
    assert_eq!(certificate.extensions().len(), 5);
}

#[test]
fn lives_are_bounded_and_backdated() {
    let (_, authority) = authority(&KeyPair::generate().unwrap());
    let request = node_request("a", "b", vec![]);
    let life = |seconds: Option<i64>, now: &str| {
        let signed = authority
            .sign(&request, &[], lifetime(seconds), now.parse().unwrap(), [1; 16])
            .unwrap();
        let der = CertificateDer::from_pem_slice(signed.as_bytes()).unwrap();
        let (_, certificate) = X509Certificate::from_der(&der).unwrap();
        let time = |time: i64| Timestamp::from_second(time).unwrap().to_string();
        (
            time(certificate.validity().not_before.timestamp()),
            time(certificate.validity().not_after.timestamp()),
        )
    };
    let cases = [
        (None, "2026-12-31T23:55:00Z"),
        (Some(3600), "2026-01-01T01:00:00Z"),
        (Some(1), "2026-01-01T00:10:00Z"),
        (Some(8 * 3600), "2026-01-01T07:55:00Z"),
        (Some(i64::from(i32::MAX)), "2026-12-31T23:55:00Z"),
    ];
    for (seconds, ends) in cases {
        let expected = ("2025-12-31T23:55:00Z".to_owned(), ends.to_owned());
        assert_eq!(life(seconds, "2026-01-01T00:00:00Z"), expected, "{seconds:?}");
    }
    assert_eq!(
        life(None, "2027-05-31T00:00:00Z").1,
        "2027-06-01T00:00:00Z",
        "not longer than the authority"
    );
    let late = authority.sign(
        &request,
        &[],
        SignedDuration::from_hours(1),
        "2027-06-01T00:00:00Z".parse().unwrap(),
        [1; 16],
    );
    assert!(matches!(late, Err(SigningError::Expired(_))));
}

#[test]
fn several_organisations_stay_several() {
    // The subject is copied as it was written: O=a, O=b, CN=c, which rcgen cannot write.
    let subject: Vec<u8> = {
        let part = |oid: u8, text: &str| {
            let text = der::tagged(0x0c, text.as_bytes());
            der::tagged(0x31, &der::sequence(&[&der::identifier(&[0x55, 0x04, oid]), &text]))
        };
        der::sequence(&[&part(10, "a"), &part(10, "b"), &part(3, "c")])
    };
    let key = KeyPair::generate().unwrap();
    let (pem, authority) = authority(&key);
    let mut request = node_request("c", "a", vec![]);
    request.subject = subject;
    let signed = authority
        .sign(&request, &usages(&["client auth"]), lifetime(None), now(), [1; 16])
        .unwrap();
    let der = CertificateDer::from_pem_slice(signed.as_bytes()).unwrap();
    let user = client_certificate(&[&der], &ClientAuthorities::from_pem(&pem).unwrap(), now())
        .unwrap()
        .unwrap();
    assert_eq!(
        (user.name.as_str(), user.groups.as_slice()),
        ("c", &["a".to_owned(), "b".to_owned()][..])
    );
}

#[test]
fn a_request_without_proof_of_the_key_is_not_signed() {
    let (_, authority) = authority(&KeyPair::generate().unwrap());
    let pem = request_pem(&[(DnType::CommonName, "a")], vec![]);
    let der = rustls_pki_types::CertificateSigningRequestDer::from_pem_slice(pem.as_bytes()).unwrap();
    let mut forged = der.to_vec();
    let position = forged.windows(1).position(|byte| byte == b"a").unwrap();
    forged[position] = b'b';
    let request = Request::from_der(&forged).unwrap();
    let refused = authority.sign(&request, &[], lifetime(None), now(), [1; 16]);
    assert!(matches!(
        refused,
        Err(SigningError::Request(RequestError::NotSigned(_)))
    ));
}

#[test]
fn unknown_usages_and_broken_requests_are_refused() {
    let (_, authority) = authority(&KeyPair::generate().unwrap());
    let refused = authority.sign(
        &node_request("a", "b", vec![]),
        &usages(&["x", "any", "y"]),
        lifetime(None),
        now(),
        [1; 16],
    );
    assert_eq!(
        refused.unwrap_err().to_string(),
        "unrecognized usage values: [\"x\" \"y\"]"
    );
    assert_eq!(
        Request::from_pem(b"nonsense").unwrap_err().to_string(),
        "PEM block type must be CERTIFICATE REQUEST"
    );
    assert!(SigningAuthority::from_pem("x", "y").is_err());
}

/// Asks the signer, and gives its complaint or nothing.
fn complaint(signer: Signer, (name, organisation): (&str, &str), alternatives: Vec<SanType>, asked: &[&str]) -> String {
    let request = node_request(name, organisation, alternatives);
    signer.validate(&request, &usages(asked)).err().unwrap_or_default()
}

const NODE: (&str, &str) = ("system:node:n1", "system:nodes");
const CLIENT: [&str; 2] = ["digital signature", "client auth"];
const SERVING: [&str; 2] = ["digital signature", "server auth"];

fn dns() -> Vec<SanType> {
    vec![SanType::DnsName("a.example".try_into().unwrap())]
}

fn email() -> Vec<SanType> {
    vec![
        SanType::DnsName("a".try_into().unwrap()),
        SanType::Rfc822Name("a@b".try_into().unwrap()),
    ]
}

#[test]
fn the_signer_of_kubelets_that_call_refuses_in_upstreams_words() {
    let ask = |subject, alternatives, asked| complaint(Signer::KubeletClient, subject, alternatives, asked);
    let cases = [
        (ask(NODE, vec![], &CLIENT[..]), ""),
        (
            ask(NODE, vec![], &["client auth", "key encipherment", "digital signature"]),
            "",
        ),
        (
            ask(NODE, vec![], &SERVING),
            "usages did not match [client auth digital signature key encipherment]",
        ),
        (ask(NODE, dns(), &CLIENT), "DNS subjectAltNames are not allowed"),
        (
            ask(("n1", "system:nodes"), vec![], &CLIENT),
            "subject common name does not begin with system:node:",
        ),
        (
            ask(("system:node:n1", "x"), vec![], &CLIENT),
            "subject organization is not system:nodes",
        ),
    ];
    for (answer, expected) in cases {
        assert_eq!(answer, expected);
    }
}

#[test]
fn the_other_signers_refuse_in_upstreams_words() {
    let serving = |alternatives, asked| complaint(Signer::KubeletServing, NODE, alternatives, asked);
    let client = |asked| complaint(Signer::ApiServerClient, ("a", "b"), vec![], asked);
    let cases = [
        (serving(dns(), &SERVING[..]), ""),
        (serving(vec![], &SERVING), "DNS or IP subjectAltName is required"),
        (serving(email(), &SERVING), "Email subjectAltNames are not allowed"),
        (
            serving(dns(), &CLIENT),
            "usages did not match [digital signature key encipherment server auth]",
        ),
        (client(&["client auth"][..]), ""),
        (
            client(&["digital signature"]),
            "missing required usage for client certificate: client auth",
        ),
        (
            client(&["client auth", "any"]),
            "invalid usage for client certificate: any",
        ),
        (complaint(Signer::LegacyUnknown, ("a", "b"), vec![], &["any"]), ""),
    ];
    for (answer, expected) in cases {
        assert_eq!(answer, expected);
    }
    assert_eq!(Signer::named("example.com/mine"), None);
}

fn object(username: &str, groups: &[&str], signer: &str) -> Value {
    let names = [
        (DnType::OrganizationName, "system:nodes"),
        (DnType::CommonName, "system:node:n1"),
    ];
    let request = BASE64_STANDARD.encode(request_pem(&names, vec![]));
    json!({"spec": {"request": request, "signerName": signer, "usages": ["digital signature", "client auth"],
                    "username": username, "groups": groups}})
}

#[test]
fn kubelets_are_approved_by_the_rights_of_whoever_asks() {
    const SIGNER: &str = "kubernetes.io/kube-apiserver-client-kubelet";
    let policy = Policy::with_defaults();
    for (role, group) in [
        ("nodeclient", "system:bootstrappers"),
        ("selfnodeclient", "system:nodes"),
    ] {
        let role = format!("system:certificates.k8s.io:certificatesigningrequests:{role}");
        policy.put(
            "clusterrolebindings.rbac.authorization.k8s.io",
            &json!({"metadata": {"name": group}, "roleRef": {"kind": "ClusterRole", "name": role},
                    "subjects": [{"kind": "Group", "name": group}]}),
        );
    }
    let by_bootstrap = object("system:bootstrap:abcdef", &["system:bootstrappers"], SIGNER);
    let message = "Auto approving kubelet client certificate after SubjectAccessReview.";
    assert_eq!(auto_approval(&policy, &by_bootstrap), Some(message));
    let by_itself = object("system:node:n1", &["system:nodes"], SIGNER);
    let message = "Auto approving self kubelet client certificate after SubjectAccessReview.";
    assert_eq!(auto_approval(&policy, &by_itself), Some(message));
    assert_eq!(
        auto_approval(&policy, &object("system:node:n2", &["system:nodes"], SIGNER)),
        None
    );
    assert_eq!(auto_approval(&policy, &object("alice", &[], SIGNER)), None);
    let serving = object("system:node:n1", &["system:nodes"], "kubernetes.io/kubelet-serving");
    assert_eq!(auto_approval(&policy, &serving), None);
    let mut denied = by_itself.clone();
    denied["status"] = json!({"conditions": [{"type": "Denied"}]});
    assert_eq!(auto_approval(&policy, &denied), None);
}
