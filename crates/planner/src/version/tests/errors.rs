//! Texts that are refused, with all that is said about them.

use super::*;

/// What stands between the text and the advice how to write it.
#[track_caller]
fn check(scheme: Scheme, text: &str, expected: &str) {
    let error = Version::parse(scheme, text).expect_err(text).to_string();
    let example = scheme.example();
    assert_eq!(
        error,
        format!("{text:?} is not a version of {scheme}: {expected}; write it like {example}")
    );
    version(scheme, example);
}

#[test]
fn a_bad_text_is_told_what_is_wrong_with_it() {
    let cases = [
        ("", "it is empty"),
        ("v", "the major is missing"),
        (".1", "the major is missing"),
        ("-1.2", "the major is missing"),
        ("1", "the minor is missing"),
        ("1.", "the minor is missing"),
        ("1..3", "the minor is missing"),
        ("1-rc.1", "the minor is missing"),
        ("1.36.", "the patch is missing"),
        ("latest", r#"the major "latest" is not a number"#),
        ("V1.36", r#"the major "V1" is not a number"#),
        ("vv1.36", r#"the major "v1" is not a number"#),
        ("1.x", r#"the minor "x" is not a number"#),
        ("1.36.2a", r#"the patch "2a" is not a number"#),
        ("01.2", r#"the major "01" begins with a zero"#),
        ("1.08", r#"the minor "08" begins with a zero"#),
        ("1.2.00", r#"the patch "00" begins with a zero"#),
        ("1.2.3-rc.01", r#"the number "01" begins with a zero"#),
        (
            "100000000.0",
            "the major 100000000 is too large, 99999999 is the largest",
        ),
        ("1.1000.0", "the minor 1000 is too large, 999 is the largest"),
        (
            "1.2.18446744073709551616",
            "the patch 18446744073709551616 is too large, 18446744073709551615 is the largest",
        ),
        (
            "1.2.3-18446744073709551616",
            "the number 18446744073709551616 is too large, 18446744073709551615 is the largest",
        ),
        ("1.2.3.4", r#"there is "4" after major, minor and patch"#),
        ("1.2.3.4.5", r#"there is "4.5" after major, minor and patch"#),
        (
            "1.36 ",
            r#"' ' is not allowed, only letters, digits, ".", "-" and "+" are"#,
        ),
        (
            "1.36\n",
            r#"'\n' is not allowed, only letters, digits, ".", "-" and "+" are"#,
        ),
        (
            "1.３６",
            r#"'３' is not allowed, only letters, digits, ".", "-" and "+" are"#,
        ),
        (
            "1.36.0-x_y",
            r#"'_' is not allowed, only letters, digits, ".", "-" and "+" are"#,
        ),
        (
            "1.36.0+x~",
            r#"'~' is not allowed, only letters, digits, ".", "-" and "+" are"#,
        ),
        ("1.36.0-", r#"there is an empty part after "-""#),
        ("1.36.0-a..b", r#"there is an empty part after "-""#),
        ("1.31+", r#"there is an empty part after "+""#),
        ("1.31+a.", r#"there is an empty part after "+""#),
        ("1.31+a+b", r#"it has more than one "+""#),
    ];
    for (text, expected) in cases {
        check(Scheme::Kubernetes, text, expected);
    }
}

#[test]
fn schemes_refuse_what_they_never_write() {
    let cases = [
        (Scheme::OpenShift, "1.36.2", "the major 1 does not exist, 4 and 5 do"),
        (Scheme::OpenShift, "3.11.0", "the major 3 does not exist, 4 and 5 do"),
        (Scheme::OpenShift, "6.0.0", "the major 6 does not exist, 4 and 5 do"),
        (
            Scheme::OpenShift,
            "4.2.11--s390x",
            r#"there is an empty part after "-""#,
        ),
        (Scheme::Gke, "1.33.4-gke.next", r#""next" after "gke" is not a number"#),
        (Scheme::K0s, "v1.31.3+k0s.x", r#""x" after "k0s" is not a number"#),
        (Scheme::K0s, "v1.31.3-k0s.rc.1", r#""rc.1" after "k0s" is not a number"#),
        (
            Scheme::Acp,
            "v3.5.25-99999999999999999999",
            "the number 99999999999999999999 is too large, 18446744073709551615 is the largest",
        ),
        (
            Scheme::Kubernetes,
            "4.18.3-x86_64",
            r#"'_' is not allowed, only letters, digits, ".", "-" and "+" are"#,
        ),
    ];
    for (scheme, text, expected) in cases {
        check(scheme, text, expected);
    }
}

#[test]
fn a_long_text_is_not_repeated_as_a_whole() {
    let error = Version::parse(Scheme::OpenShift, &"1".repeat(TEXT_LIMIT + 1)).expect_err("one too long");
    assert_eq!(
        error.to_string(),
        "\"11111111111111111111111111111111…\" is not a version of openshift: it has 129 characters, and 128 are \
         allowed; write it like 4.18.3"
    );
    let longest = format!("1.36.0+{}", "x".repeat(TEXT_LIMIT - 7));
    assert_eq!(version(Scheme::Kubernetes, &longest).as_str().len(), TEXT_LIMIT);
}
