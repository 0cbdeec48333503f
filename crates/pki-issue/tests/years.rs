//! Virtual years: leaves are renewed in time and together, and an authority's end is told long before.

use hyperplane_api::constants::objects::{bundles, keys, signers};
use hyperplane_pki_issue::{Lifetime, Reason};
use jiff::{SignedDuration, Timestamp};
use rustls_pki_types::{CertificateDer, pem::PemObject as _};
use x509_parser::parse_x509_certificate;

use crate::support::{DAY, LEAVES, START, World, wanted};

/// From when to when a certificate is valid.
fn validity(pem: &str) -> (Timestamp, Timestamp) {
    let der = CertificateDer::from_pem_slice(pem.as_bytes()).unwrap();
    let (_, certificate) = parse_x509_certificate(&der).unwrap();
    let second = |time: x509_parser::time::ASN1Time| Timestamp::from_second(time.timestamp()).unwrap();
    (
        second(certificate.validity().not_before),
        second(certificate.validity().not_after),
    )
}

/// The first end of all leaves.
fn first_end(world: &World) -> Timestamp {
    let leaves = world.existing.secrets.values().filter_map(|secret| {
        let data = secret.data.as_ref()?;
        let pem = data
            .get(keys::TLS_CERTIFICATE)
            .or_else(|| data.get(keys::ETCD_CLIENT_CERTIFICATE))?;
        let (begin, end) = validity(str::from_utf8(&pem.0).unwrap());
        assert!(begin < world.now);
        Some(end)
    });
    leaves.min().unwrap()
}

#[test]
fn leaves_are_valid_at_every_moment_until_their_authorities_end() {
    for validity in ["720h", "8760h", "26280h"] {
        let mut wanted = wanted();
        wanted.lifetime = Lifetime::parse(Some(validity), None).unwrap();
        let mut world = World::settled(&wanted);
        let authority_end = START + 10 * 365 * DAY;
        let (mut renewals, mut warned) = (0_i32, None);
        loop {
            let plan = world.round(&wanted);
            if let Some(step) = plan.issue.first() {
                assert_eq!(step.reason, Reason::Renewal);
                assert!(
                    plan.issue.iter().filter(|step| step.reason == Reason::Renewal).count() >= 21,
                    "all at once"
                );
                renewals += 1;
            }
            if !plan.problems.is_empty() && warned.is_none() {
                warned = Some(world.now);
            }
            let next = world.plan(&wanted).next_look;
            assert!(next > world.now);
            if next >= authority_end {
                break;
            }
            let left = first_end(&world).duration_since(next);
            assert!(
                left >= wanted.lifetime.left * 2 / 3 || first_end(&world) == authority_end,
                "{left} are left"
            );
            world.now = next;
        }
        let possible = i32::try_from(87600 / wanted.lifetime.validity.as_hours()).unwrap();
        assert!(
            (possible..=possible * 5 / 4 + 1).contains(&renewals),
            "{renewals} renewals of {validity}"
        );
        assert_eq!(warned, Some(authority_end - 365 * DAY), "{validity}");
        world.now = authority_end;
        let plan = world.round(&wanted);
        let authorities = hyperplane_pki_issue::authority_names().count();
        assert_eq!(
            plan.problems.len(),
            authorities,
            "all are over, and nothing is signed with them"
        );
        assert!(plan.issue.is_empty());
    }
}

#[test]
fn nothing_happens_before_its_time() {
    let wanted = wanted();
    let mut world = World::settled(&wanted);
    let next = world.plan(&wanted).next_look;
    let left = (START + 365 * DAY).duration_since(next);
    assert!(left > 20 * DAY && left <= 30 * DAY, "{left}");
    world.now = next - SignedDuration::from_secs(1);
    assert_eq!(world.steps(&wanted), []);
    world.now = next;
    assert!(!world.steps(&wanted).is_empty());
}

#[test]
fn what_was_issued_apart_is_renewed_together() {
    let wanted = wanted();
    let mut world = World::settled(&wanted);
    world.now = START + 5 * DAY;
    world.delete("kcm-server");
    world.round(&wanted);
    world.now = world.plan(&wanted).next_look;
    let plan = world.round(&wanted);
    let renewed = plan.issue.iter().filter(|step| step.reason == Reason::Renewal);
    // One whose window has not opened goes on; then both keep step from the next time on, or do not meet at all.
    let is_open = world.now >= START + 340 * DAY;
    assert_eq!(renewed.count(), if is_open { LEAVES } else { LEAVES - 1 });
}

#[test]
fn a_bundle_loses_an_authority_when_that_is_over() {
    let wanted = wanted();
    let mut world = World::settled(&wanted);
    world.now = START + 2 * 365 * DAY;
    world.delete(signers::KONNECTIVITY);
    world.round(&wanted);
    let count = |world: &World| world.bundle(bundles::KONNECTIVITY).matches("BEGIN").count();
    assert_eq!(count(&world), 2);
    let first = world.text(signers::KONNECTIVITY, keys::CA_CERTIFICATE);
    assert!(
        world.bundle(bundles::KONNECTIVITY).starts_with(first.trim_end()),
        "the present one is first"
    );
    world.now = START + 10 * 365 * DAY - SignedDuration::from_secs(1);
    world.round(&wanted);
    assert_eq!(count(&world), 2);
    assert_eq!(world.plan(&wanted).next_look, START + 10 * 365 * DAY);
    world.now = START + 10 * 365 * DAY;
    world.round(&wanted);
    assert_eq!(count(&world), 1);
}
