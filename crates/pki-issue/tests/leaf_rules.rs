//! When a leaf is issued anew: one case per rule, as data.

use hyperplane_api::constants::objects::{certificates, keys, kubeconfigs, signers};
use hyperplane_pki_issue::Reason;
use jiff::{SignedDuration, Timestamp};
use rcgen::{
    BasicConstraints, CertificateParams, DistinguishedName, DnType, ExtendedKeyUsagePurpose, IsCa, Issuer, KeyPair,
    KeyUsagePurpose, SanType, date_time_ymd,
};

use crate::support::{Change, DAY, START, World, check};

/// The leaf that things happen to.
const LEAF: &str = certificates::SCHEDULER_CLIENT;

/// What happens to it, and why it is issued anew.
const CASES: &[(&str, Change, Reason)] = &[
    ("nothing there", |world, _| world.delete(LEAF), Reason::Missing),
    (
        "no key",
        |world, _| world.put(LEAF, keys::TLS_KEY, ""),
        Reason::Unreadable,
    ),
    (
        "a broken key",
        |world, _| world.put(LEAF, keys::TLS_KEY, "-----BEGIN"),
        Reason::Unreadable,
    ),
    (
        "a broken certificate",
        |world, _| world.put(LEAF, keys::TLS_CERTIFICATE, "x"),
        Reason::Unreadable,
    ),
    ("the key of another", |world, _| steal_key(world), Reason::Mismatch),
    (
        "another signer",
        |world, _| forge(world, signers::ROOT, |_| {}),
        Reason::Signer,
    ),
    (
        "another's pair",
        |world, _| world.copy(certificates::CONTROLLER_MANAGER_CLIENT, LEAF),
        Reason::Subject,
    ),
    (
        "a group too many",
        |world, _| forge(world, signers::CONTROL_PLANE, add_group),
        Reason::Subject,
    ),
    (
        "a name of a server",
        |world, _| forge(world, signers::CONTROL_PLANE, add_name),
        Reason::Names,
    ),
    (
        "a name of no server",
        |world, _| forge(world, signers::CONTROL_PLANE, add_resource),
        Reason::Names,
    ),
    (
        "another purpose",
        |world, _| forge(world, signers::CONTROL_PLANE, for_servers),
        Reason::Usages,
    ),
    (
        "a purpose too many",
        |world, _| forge(world, signers::CONTROL_PLANE, for_code),
        Reason::Usages,
    ),
    (
        "no signatures",
        |world, _| forge(world, signers::CONTROL_PLANE, for_agreement),
        Reason::Usages,
    ),
    (
        "an authority",
        |world, _| forge(world, signers::CONTROL_PLANE, as_authority),
        Reason::Usages,
    ),
    (
        "another end",
        |world, _| forge(world, signers::CONTROL_PLANE, for_longer),
        Reason::Validity,
    ),
];

#[test]
fn a_leaf_is_issued_anew_for_each_of_these_reasons() {
    for (rule, change, reason) in CASES {
        check(
            rule,
            *change,
            &[(LEAF, *reason), (kubeconfigs::SCHEDULER, Reason::Content)],
        );
    }
}

#[test]
fn a_leaf_that_is_as_it_should_be_stays_whoever_made_it() {
    check(
        "by another hand",
        |world, _| forge(world, signers::CONTROL_PLANE, |_| {}),
        &[(kubeconfigs::SCHEDULER, Reason::Content)],
    );
}

/// Signs, as the authority of a Secret, a leaf like the one that is there, but for a change.
fn forge(world: &mut World, signer: &str, change: fn(&mut CertificateParams)) {
    let authority = KeyPair::from_pem(&world.text(signer, keys::CA_KEY)).unwrap();
    let issuer = Issuer::from_ca_cert_pem(&world.text(signer, keys::CA_CERTIFICATE), authority).unwrap();
    let key = KeyPair::generate().unwrap();
    let seconds = |time: Timestamp| std::time::Duration::from_secs(time.as_second().try_into().unwrap());
    let mut parameters = CertificateParams::default();
    parameters.distinguished_name = DistinguishedName::new();
    parameters
        .distinguished_name
        .push(DnType::CommonName, "system:kube-scheduler");
    parameters.key_usages = vec![KeyUsagePurpose::DigitalSignature];
    parameters.extended_key_usages = vec![ExtendedKeyUsagePurpose::ClientAuth];
    parameters.not_before = date_time_ymd(1970, 1, 1) + seconds(START - SignedDuration::from_mins(5));
    parameters.not_after = date_time_ymd(1970, 1, 1) + seconds(START + 365 * DAY);
    change(&mut parameters);
    let certificate = parameters.signed_by(&key, &issuer).unwrap();
    world.put(LEAF, keys::TLS_CERTIFICATE, &certificate.pem());
    world.put(LEAF, keys::TLS_KEY, &key.serialize_pem());
}

fn steal_key(world: &mut World) {
    let key = world.text(certificates::SCHEDULER_SERVER, keys::TLS_KEY);
    world.put(LEAF, keys::TLS_KEY, &key);
}

fn add_group(parameters: &mut CertificateParams) {
    parameters
        .distinguished_name
        .push(DnType::OrganizationName, "system:masters");
}

fn add_name(parameters: &mut CertificateParams) {
    parameters
        .subject_alt_names
        .push(SanType::DnsName("localhost".try_into().unwrap()));
}

fn add_resource(parameters: &mut CertificateParams) {
    parameters
        .subject_alt_names
        .push(SanType::URI("spiffe://example.com/x".try_into().unwrap()));
}

fn for_servers(parameters: &mut CertificateParams) {
    parameters.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth];
}

fn for_code(parameters: &mut CertificateParams) {
    parameters
        .extended_key_usages
        .push(ExtendedKeyUsagePurpose::CodeSigning);
}

fn for_agreement(parameters: &mut CertificateParams) {
    parameters.key_usages = vec![KeyUsagePurpose::KeyAgreement];
}

fn as_authority(parameters: &mut CertificateParams) {
    parameters.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
}

fn for_longer(parameters: &mut CertificateParams) {
    parameters.not_after += std::time::Duration::from_hours(1);
}
