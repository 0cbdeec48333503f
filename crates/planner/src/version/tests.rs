//! Versions that exist, or that someone will write, as tables. Texts that are refused are in `errors`, and what holds
//! for all texts is in `laws`.

mod errors;
mod laws;

use std::{cmp::Ordering, collections::BTreeSet};

use super::*;

fn version(scheme: Scheme, text: &str) -> Version {
    Version::parse(scheme, text).unwrap_or_else(|error| panic!("{error}"))
}

fn versions(scheme: Scheme, texts: &[&str]) -> Vec<Version> {
    texts.iter().map(|text| version(scheme, text)).collect()
}

/// Every version of the list comes after all versions before it.
#[track_caller]
fn check_ascending(scheme: Scheme, texts: &[&str]) {
    let versions = versions(scheme, texts);
    for (left_index, left) in versions.iter().enumerate() {
        for (right_index, right) in versions.iter().enumerate() {
            let expected = left_index.cmp(&right_index);
            assert_eq!(left.precedence(right), expected, "precedence of {left:?} and {right:?}");
            assert_eq!(left.cmp(right), expected, "order of {left:?} and {right:?}");
        }
    }
}

/// All versions of the list are one version to a policy, and different ones to a map.
#[track_caller]
fn check_same(scheme: Scheme, texts: &[&str]) {
    let versions = versions(scheme, texts);
    for left in &versions {
        for right in &versions {
            assert_eq!(left.precedence(right), Ordering::Equal, "{left:?} and {right:?}");
            assert_eq!(left.is_pre_release(), right.is_pre_release(), "{left:?} and {right:?}");
            assert!(left.same_minor(right), "{left:?} and {right:?}");
            assert_eq!(left.generation(), right.generation(), "{left:?} and {right:?}");
        }
    }
    assert_eq!(versions.iter().collect::<BTreeSet<_>>().len(), texts.len());
}

#[test]
fn kubernetes_follows_semver() {
    check_ascending(
        Scheme::Kubernetes,
        &[
            "0.0.0",
            "v0.9.9",
            "1.0.0-alpha",
            "1.0.0-alpha.1",
            "1.0.0-alpha.beta",
            "1.0.0-beta",
            "1.0.0-beta.2",
            "1.0.0-beta.11",
            "1.0.0-rc.1",
            "1.0.0",
            "v1.9.11",
            "v1.10.0",
            "v1.22.9+vmware.1",
            "v1.31.14-2",
            "v1.31.14",
            "v1.36.0-alpha.0",
            "v1.36.0-alpha.0.57+1b4c6d70a8d1c2",
            "v1.36.0-alpha.2",
            "v1.36.0-beta.0",
            "v1.36.0-rc.0",
            "v1.36.0-rc.1",
            "v1.36",
            "v1.36.1",
            "v1.36.10",
            "2.0.0",
            "2.1.0",
            "2.1.1",
        ],
    );
}

#[test]
fn semver_identifiers_are_numbers_before_words_and_short_before_long() {
    check_ascending(
        Scheme::Kubernetes,
        &[
            "1.2.3-0",
            "1.2.3-2",
            "1.2.3-10",
            "1.2.3-18446744073709551615",
            "1.2.3--",
            "1.2.3--1",
            "1.2.3-0a",
            "1.2.3-RC",
            "1.2.3-rc",
            "1.2.3-rc.0",
            "1.2.3-rc.0.0",
            "1.2.3-rc.x",
            "1.2.3-rc-1",
            "1.2.3-rc10",
            "1.2.3-rc2",
            "1.2.3",
        ],
    );
}

#[test]
fn openshift_continues_4_22_with_5_0() {
    check_ascending(
        Scheme::OpenShift,
        &[
            "0.0.0",
            "4.1.0-rc.7",
            "4.1.0",
            "4.2.11-s390x",
            "4.2.14+amd64",
            "4.5.0-0.hotfix-2020-08-24-185832",
            "4.5.0-rc.1",
            "4.5.0",
            "4.16.0-0.nightly-2024-01-02-030405",
            "4.16.0-ec.1",
            "4.16.0-ec.2",
            "4.16.0-rc.3",
            "4.16.0-rc.10-x86_64",
            "4.16.0",
            "4.18.0",
            "4.18.1",
            "4.19.0-0.nightly-2025-01-02-030405",
            "4.19.0-0.nightly-2025-01-03-010203",
            "4.19.0-okd-scos.9",
            "4.19.0-okd-scos.16",
            "4.19.0-okd-scos.ec.1",
            "4.19.0-rc.0",
            "4.19.0",
            "4.22.9",
            "5.0.0-ec.0",
            "5.0.0-rc.0",
            "4.23.0",
            "5.0.1",
            "4.23.2",
            "5.1.0",
            "4.24.1",
            "5.2.0",
        ],
    );
}

#[test]
fn acp_rebuilds_come_after_the_release() {
    check_ascending(
        Scheme::Acp,
        &[
            "0.0.1",
            "1.0.15",
            "1.0.21",
            "v1.33.7-alpha.1",
            "v1.33.7-beta.9",
            "v1.33.7-beta.44.g0a1b2c3",
            "v1.33.7-dev",
            "v1.33.7-nightly-2025-01-02",
            "v1.33.7-rc.2",
            "v1.33.7-rc10",
            "v1.33.7-snapshot",
            "v1.33.7",
            "v1.33.7-1",
            "v1.33.7-3-rc.1",
            "v1.33.7-3",
            "v1.33.7-10",
            "v1.33.7-acp.0",
            "v1.33.7-acp.1-rc.1",
            "v1.33.7-acp.1",
            "v1.33.7-acp.10",
            "v1.34.5",
            "v1.34.5-1",
            "v1.34.5-3",
            "v1.35.6",
            "v1.35.6-acp.1",
            "v1.35.7-1",
        ],
    );
}

#[test]
fn the_columns_of_the_acp_matrix_ascend() {
    let columns: [&[&str]; 6] = [
        &[
            "v4.0.9", "v4.0.10", "v4.0.11", "v4.1.0", "v4.1.1", "v4.1.2", "v4.1.3", "v4.1.5", "v4.1.6", "v4.2.0",
            "v4.2.1", "v4.2.2", "v4.2.3", "v4.2.4", "v4.2.5", "v4.3.0", "v4.3.1", "v4.3.2", "v4.4.0",
        ],
        &[
            "v1.31.14-2",
            "v1.32.7",
            "v1.32.11-2",
            "v1.33.6",
            "v1.33.7-1",
            "v1.33.7-2",
            "v1.33.7-3",
            "v1.33.7-4",
            "v1.34.5",
            "v1.34.5-1",
            "v1.34.5-3",
            "v1.35.6-acp.1",
        ],
        &["1.7.23-4", "1.7.27-4", "1.7.29-4", "2.2.1-5", "2.2.6-3"],
        &[
            "1.11.3-v4.1.0",
            "1.12.4-v4.0.20",
            "1.12.4-v4.1.2",
            "1.12.4-v4.1.5",
            "1.12.4-v4.2.3",
            "1.12.4-v4.2.4",
            "1.12.4-v4.2.7",
            "1.12.4-v4.2.8",
            "1.14.2-v4.3.4",
            "1.14.2-v4.3.9",
            "1.14.2-v4.3.11",
            "1.14.3-v4.2.11",
            "1.14.3-v4.4.6",
        ],
        &[
            "v3.5.21",
            "v3.5.21-251117",
            "v3.5.25-251215",
            "v3.5.27-260305",
            "v3.5.28-260325",
            "v3.5.28-260421",
            "v3.5.28-260625",
            "v3.6.13-acp.0",
        ],
        &[
            "v4.0.39", "v4.0.46", "v4.0.47", "v4.1.4", "v4.1.5", "v4.1.9", "v4.1.11", "v4.1.25", "v4.1.32", "v4.2.6",
            "v4.2.15", "v4.2.24", "v4.2.26", "v4.2.33", "v4.3.3", "v4.3.5", "v4.3.11", "v4.4.1",
        ],
    ];
    for column in columns {
        check_ascending(Scheme::Acp, column);
        assert!(
            versions(Scheme::Acp, column)
                .iter()
                .all(|version| !version.is_pre_release())
        );
    }
}

#[test]
fn k0s_counts_rebuilds_of_releases_and_of_pre_releases() {
    check_ascending(
        Scheme::K0s,
        &[
            "v1.31.3-alpha.1+k0s.0",
            "v1.31.3-rc.1",
            "v1.31.3-rc.1+k0s.0",
            "v1.31.3-rc.1-k0s.1",
            "v1.31.3-rc.1.1+k0s.0",
            "v1.31.3-rc.2+k0s.0",
            "v1.31.3",
            "v1.31.3+k0s.0",
            "v1.31.3+k0s.0-12-g0a1b2c3",
            "v1.31.3-k0s.1",
            "v1.31.3+k0s.2",
            "v1.31.3+k0s.10",
            "v1.31.4+k0s.0",
        ],
    );
}

#[test]
fn gke_counts_rebuilds() {
    check_ascending(
        Scheme::Gke,
        &[
            "1.33.4-alpha.1-gke.100",
            "1.33.4",
            "1.33.4-gke.0",
            "1.33.4-gke.999",
            "1.33.4-gke.1350000",
            "1.33.4-gke.1350000.1",
            "1.33.4-gke.1350000.10",
            "v1.33.4-gke.1350001",
            "1.33.5-gke.1",
        ],
    );
}

#[test]
fn spellings_do_not_count() {
    let groups: [(Scheme, &[&str]); 13] = [
        (
            Scheme::Kubernetes,
            &["1.36", "v1.36", "1.36.0", "v1.36.0", "v1.36.0+eks.1"],
        ),
        (Scheme::Kubernetes, &["1.0.0-rc.1", "v1.0.0-rc.1+build.007", "1.0-rc.1"]),
        (Scheme::Kubernetes, &["v1.22.9", "v1.22.9+vmware.1", "v1.22.9+vmware.2"]),
        (Scheme::OpenShift, &["5.0.3", "4.23.3", "v5.0.3", "5.0.3-multi"]),
        (Scheme::OpenShift, &["5.0.0-ec.0", "4.23.0-ec.0"]),
        (
            Scheme::OpenShift,
            &[
                "4.2.11",
                "4.2.11-s390x",
                "4.2.11+amd64",
                "4.2.11-multi-x86_64",
                "4.2.11-aarch64",
            ],
        ),
        (
            Scheme::OpenShift,
            &["4.16.0-rc.3", "4.16.0-rc.3-x86_64", "4.16.0-rc.3-ppc64le+a"],
        ),
        (Scheme::Acp, &["v1.33.7-3", "1.33.7-3", "v1.33.7-3+build"]),
        (Scheme::Acp, &["v1.35.6-acp.1", "v1.35.6-acp1", "v1.35.6-acp-1"]),
        (Scheme::Acp, &["v1.33.7-rc.1", "v1.33.7-rc1", "v1.33.7-rc-01"]),
        (
            Scheme::K0s,
            &["v1.31.3+k0s.0", "v1.31.3-k0s.0", "1.31.3+k0s.0", "v1.31.3-k0s0"],
        ),
        (
            Scheme::K0s,
            &["v1.31.3", "v1.31.3+k0s", "v1.31.3-k0s", "v1.31.3+other.1"],
        ),
        (
            Scheme::Gke,
            &["1.33.4-gke.1350000", "v1.33.4-gke.1350000", "1.33.4+gke.1350000"],
        ),
    ];
    for (scheme, texts) in groups {
        check_same(scheme, texts);
    }
}

#[test]
fn the_traps_of_the_data_are_read() {
    let traps = [
        (Scheme::OpenShift, "4.5.0-0.hotfix-2020-08-24-185832", true),
        (Scheme::OpenShift, "4.2.11-s390x", false),
        (Scheme::OpenShift, "4.2.14+amd64", false),
        (Scheme::OpenShift, "4.19.0-okd-scos.16", true),
        (Scheme::OpenShift, "5.0.0-ec.0", true),
        (Scheme::OpenShift, "4.18.1", false),
        (Scheme::OpenShift, "0.0.0", false),
        (Scheme::Acp, "v1.33.7-3", false),
        (Scheme::Acp, "v1.35.6-acp.1", false),
        (Scheme::Acp, "v1.35.6-acp.1-beta.2", true),
        (Scheme::Acp, "v1.35.6-SNAPSHOT", true),
        (Scheme::K0s, "v1.31.3+k0s.0", false),
        (Scheme::K0s, "v1.31.3-k0s.0", false),
        (Scheme::K0s, "v1.31.3-rc.1+k0s.0", true),
        (Scheme::K0s, "v1.20.4-k0s1", false),
        (Scheme::Gke, "1.33.4-gke.1350000", false),
        (Scheme::Gke, "1.33.4-rc.1", true),
        (Scheme::Kubernetes, "v1.22.9+vmware.1", false),
        (Scheme::Kubernetes, "v1.33.7-3", true),
    ];
    for (scheme, text, is_pre_release) in traps {
        assert_eq!(
            version(scheme, text).is_pre_release(),
            is_pre_release,
            "{scheme} {text}"
        );
    }
}

#[test]
fn minors_have_a_number_to_count_by() {
    let cases = [
        (Scheme::Kubernetes, "v1.36.2", 36, "1.36"),
        (Scheme::Kubernetes, "2.0", 2000, "2.0"),
        (Scheme::Kubernetes, "0.15.1", 0, "0.15"),
        (Scheme::OpenShift, "0.0.0", 0, "0.0"),
        (Scheme::OpenShift, "4.22.9", 22, "4.22"),
        (Scheme::OpenShift, "4.23.0", 23, "4.23"),
        (Scheme::OpenShift, "5.0.1", 23, "5.0"),
        (Scheme::OpenShift, "5.1.0-rc.0", 24, "5.1"),
        (Scheme::Acp, "v1.35.6-acp.1", 35, "1.35"),
        (Scheme::Acp, "v4.3.2", 4003, "4.3"),
        (Scheme::Acp, "v3.18.0", 3018, "3.18"),
        (Scheme::K0s, "v1.31.3+k0s.0", 31, "1.31"),
        (Scheme::Gke, "1.33.4-gke.1350000", 33, "1.33"),
    ];
    for (scheme, text, generation, minor_text) in cases {
        let version = version(scheme, text);
        assert_eq!(version.generation(), generation, "{version:?}");
        assert_eq!(version.minor_text(), minor_text, "{version:?}");
    }
}

#[test]
fn two_names_of_one_openshift_minor_are_one_minor() {
    let cases = [
        ("5.0.3", "4.23.9", true),
        ("5.1.0", "4.24.0", true),
        ("5.0.0", "5.1.0", false),
        ("4.0.0", "5.0.0", false),
        ("0.0.0", "4.0.0", false),
        ("4.18.3", "4.18.9-rc.1", true),
    ];
    for (left, right, expected) in cases {
        let (left, right) = (version(Scheme::OpenShift, left), version(Scheme::OpenShift, right));
        assert_eq!(left.same_minor(&right), expected, "{left} and {right}");
    }
}

#[test]
fn numbers_are_those_that_were_written() {
    let cases = [
        (Scheme::OpenShift, "5.0.3", (5, 0, 3)),
        (Scheme::Kubernetes, "v1.36", (1, 36, 0)),
        (
            Scheme::Kubernetes,
            "99999999.999.18446744073709551615",
            (99_999_999, 999, u64::MAX),
        ),
        (Scheme::Acp, "1.12.4-v4.0.20", (1, 12, 4)),
    ];
    for (scheme, text, numbers) in cases {
        let version = version(scheme, text);
        assert_eq!(
            (version.major(), version.minor(), version.patch()),
            numbers,
            "{version:?}"
        );
    }
}

#[test]
fn versions_of_different_schemes_are_sorted_by_scheme_first() {
    let later = version(Scheme::Kubernetes, "v1.36.0");
    let earlier = version(Scheme::K0s, "v1.31.3+k0s.0");
    assert_eq!(later.precedence(&earlier), Ordering::Greater);
    assert_eq!(later.cmp(&earlier), Ordering::Less);
    assert_ne!(version(Scheme::Kubernetes, "1.36.0"), version(Scheme::K0s, "1.36.0"));
}

#[test]
fn schemes_have_one_name_everywhere() {
    for (scheme, name) in Scheme::ALL
        .into_iter()
        .zip(["kubernetes", "openshift", "acp", "k0s", "gke"])
    {
        assert_eq!(scheme.to_string(), name);
        assert_eq!(name.parse(), Ok(scheme));
        assert_eq!(serde_json::to_value(scheme).unwrap(), name);
        assert_eq!(hyperplane_objects::read::<Scheme>(&name.into()).unwrap(), scheme);
    }
    assert_eq!(
        "OpenShift".parse::<Scheme>().unwrap_err().to_string(),
        r#""OpenShift" is not a scheme of versions: write one of kubernetes, openshift, acp, k0s, gke"#
    );
}

#[test]
fn a_version_is_written_as_its_text() {
    let version = version(Scheme::K0s, "v1.31.3+k0s.0");
    assert_eq!(serde_json::to_string(&version).unwrap(), r#""v1.31.3+k0s.0""#);
    assert_eq!(format!("{version:>15}"), "  v1.31.3+k0s.0");
    assert_eq!(format!("{version:?}"), r#"Version(k0s "v1.31.3+k0s.0")"#);
}
