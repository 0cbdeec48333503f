//! What holds for every text: reading never panics, and every order is one.

use std::hash::{DefaultHasher, Hash, Hasher};

use proptest::prelude::*;

use super::*;

fn any_scheme() -> impl Strategy<Value = Scheme> {
    prop::sample::select(&Scheme::ALL[..])
}

/// Texts that are versions of all schemes, from so few pieces that equal and nearly equal ones meet often.
fn any_text() -> impl Strategy<Value = String> {
    let suffix = "(|-(0|2|10|3-rc\\.1|251215|v4\\.0\\.20|acp\\.[0-2]|acp1|rc\\.[0-2]|rc10|beta|alpha\\.beta|\
                  k0s\\.[0-2]|k0s1|rc\\.1-k0s\\.[0-2]|gke\\.[0-2](\\.[0-2])?|ec\\.[0-2]|s390x|\
                  rc\\.1-arm64|okd-scos\\.[0-2]|[a-z-]{1,3}))";
    (
        "v?[45]\\.([0-2]|2[2-4])(\\.[0-2])?",
        suffix,
        "(|\\+(amd64|k0s|k0s\\.[0-2]|gke\\.1|[0-9a-z]{1,3}))",
    )
        .prop_map(|(numbers, suffix, build)| numbers + &suffix + &build)
}

/// Three versions of one scheme, as the laws of order need them. What its scheme refuses is drawn again.
fn any_three() -> impl Strategy<Value = [Version; 3]> {
    let texts = [any_text(), any_text(), any_text()];
    (any_scheme(), texts).prop_filter_map("refused by its scheme", |(scheme, texts)| {
        let versions: Option<Vec<_>> = texts.iter().map(|text| Version::parse(scheme, text).ok()).collect();
        versions?.try_into().ok()
    })
}

fn any_version() -> impl Strategy<Value = Version> {
    (any_scheme(), any_text()).prop_filter_map("refused by its scheme", |(scheme, text)| {
        Version::parse(scheme, &text).ok()
    })
}

fn digest(version: &Version) -> u64 {
    let mut hasher = DefaultHasher::new();
    version.hash(&mut hasher);
    hasher.finish()
}

/// The laws of a total preorder, for three values.
fn check_order(
    compare: impl Fn(&Version, &Version) -> Ordering,
    [a, b, c]: &[Version; 3],
) -> Result<(), TestCaseError> {
    prop_assert_eq!(compare(a, a), Ordering::Equal);
    prop_assert_eq!(compare(a, b), compare(b, a).reverse());
    if compare(a, b).is_le() && compare(b, c).is_le() {
        prop_assert!(compare(a, c).is_le(), "{:?}, {:?}, {:?}", a, b, c);
    }
    if compare(a, b).is_eq() {
        prop_assert_eq!(compare(a, c), compare(b, c), "{:?}, {:?}, {:?}", a, b, c);
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 512, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn precedence_is_an_order(three in any_three()) {
        check_order(Version::precedence, &three)?;
    }

    #[test]
    fn versions_have_a_total_order_that_agrees_with_equality(three in any_three()) {
        check_order(Ord::cmp, &three)?;
        let [a, b, _] = &three;
        prop_assert_eq!(a.cmp(b).is_eq(), a == b);
        prop_assert_eq!(a.partial_cmp(b), Some(a.cmp(b)));
        if a.precedence(b).is_ne() {
            prop_assert_eq!(a.cmp(b), a.precedence(b));
        }
        if a == b {
            prop_assert_eq!(digest(a), digest(b));
        }
    }

    #[test]
    fn orders_hold_across_schemes(three in [any_version(), any_version(), any_version()]) {
        check_order(Version::precedence, &three)?;
        check_order(Ord::cmp, &three)?;
    }

    #[test]
    fn generations_never_fall(three in any_three()) {
        let [a, b, _] = &three;
        if a.precedence(b).is_le() {
            prop_assert!(a.generation() <= b.generation(), "{:?}, {:?}", a, b);
        }
        prop_assert_eq!(a.same_minor(b), a.generation() == b.generation());
    }

    #[test]
    fn a_version_reads_back_as_itself(three in any_three()) {
        for one in &three {
            let again = version(one.scheme(), &one.to_string());
            prop_assert_eq!(&again, one);
            prop_assert_eq!(again.precedence(one), Ordering::Equal);
            prop_assert_eq!(again.minor_text(), format!("{}.{}", one.major(), one.minor()));
        }
    }

    #[test]
    fn a_leading_v_never_counts(scheme in any_scheme(), text in any_text()) {
        let bare = text.trim_start_matches('v');
        let read = |text: &str| Version::parse(scheme, text).ok();
        prop_assert_eq!(read(bare).is_some(), read(&format!("v{bare}")).is_some());
        if let (Some(bare), Some(with)) = (read(bare), read(&format!("v{bare}"))) {
            prop_assert_eq!(bare.precedence(&with), Ordering::Equal);
        }
    }

    #[test]
    fn a_pre_release_comes_before_its_release(
        scheme in any_scheme(),
        numbers in "[45]\\.[0-9]\\.[0-9]",
        word in "(alpha|beta|rc)\\.[0-9]",
    ) {
        let pre_release = version(scheme, &format!("{numbers}-{word}"));
        prop_assert!(pre_release.is_pre_release());
        prop_assert_eq!(pre_release.precedence(&version(scheme, &numbers)), Ordering::Less);
    }

    #[test]
    fn any_text_is_read_or_refused(scheme in any_scheme(), text in "(?s).{0,300}") {
        check_reading(scheme, &text)?;
    }

    #[test]
    fn any_text_like_a_version_is_read_or_refused(scheme in any_scheme(), text in "v?[0-9a-z.+_-]{0,40}") {
        check_reading(scheme, &text)?;
    }

    #[test]
    fn any_suffix_is_read_or_refused(
        scheme in any_scheme(),
        text in "4\\.2(-[0-9a-zA-Z.-]{0,20}(k0s|gke|-s390x|rc)?[0-9.-]{0,25})?(\\+[0-9k0s.-]{0,9})?",
    ) {
        check_reading(scheme, &text)?;
    }
}

/// Reading ends, and whatever it says can be printed; what was read is used as callers use it.
fn check_reading(scheme: Scheme, text: &str) -> Result<(), TestCaseError> {
    match Version::parse(scheme, text) {
        Ok(version) => {
            prop_assert_eq!(version.as_str(), text);
            prop_assert!(version.generation() <= (MAJOR_LIMIT + 1) * GENERATIONS_IN_MAJOR);
            prop_assert!(version.same_minor(&version));
            prop_assert!(text.len() <= TEXT_LIMIT && text.is_ascii());
        }
        Err(error) => {
            prop_assert!(error.to_string().contains(scheme.name()));
            prop_assert!(!error.to_string().contains('\n'), "{}", error);
        }
    }
    Ok(())
}
