use super::*;

fn parse(query: &str, body: &str) -> Result<DeleteOptions, Failure> {
    DeleteOptions::parse(query, body.as_bytes(), BodyFormat::Json)
}

#[track_caller]
fn fails(query: &str, body: &str, code: u16, message: &str) {
    let failure = parse(query, body).unwrap_err();
    assert_eq!(
        (failure.code.as_u16(), failure.message.as_str()),
        (code, message),
        "{query} {body}"
    );
}

#[test]
fn options_come_from_the_query() {
    let options = parse("dryRun=All&gracePeriodSeconds=-5&propagationPolicy=Orphan", "").unwrap();
    assert!(options.dry_run);
    assert_eq!(options.grace_period_seconds, Some(-5));
    assert_eq!(options.propagation_policy, Some(DeletionPropagation::Orphan));
}

#[test]
fn a_body_wins_over_the_query() {
    let options = parse(
        "dryRun=All",
        r#"{"propagationPolicy":"Background","preconditions":{"uid":"u","resourceVersion":"1"},"gracePeriodSeconds":0,"x":1}"#,
    )
    .unwrap();
    assert!(!options.dry_run);
    assert_eq!(options.propagation_policy, Some(DeletionPropagation::Background));
    assert_eq!(options.grace_period_seconds, Some(0));
    assert_eq!(options.preconditions.uid.as_deref(), Some("u"));
    assert_eq!(options.preconditions.resource_version.as_deref(), Some("1"));
    assert!(!parse("dryRun=All", "null").unwrap().dry_run);
    let yaml = DeleteOptions::parse("", b"dryRun: [All]", BodyFormat::Yaml).unwrap();
    assert!(yaml.dry_run);
}

#[test]
fn any_group_may_carry_the_options_but_no_other_kind() {
    for version in ["v1", "meta.k8s.io/v1", "apps/v1", "nope/v1"] {
        let body = format!(r#"{{"kind":"DeleteOptions","apiVersion":"{version}","orphanDependents":false}}"#);
        assert_eq!(parse("", &body).unwrap().orphan_dependents, Some(false));
    }
    fails(
        "",
        r#"{"kind":"Foo","apiVersion":"v1"}"#,
        400,
        "no kind \"Foo\" is registered for version \"v1\" in scheme \"pkg/runtime/scheme.go:111\"",
    );
}

#[test]
fn bad_options_are_refused() {
    let invalid = |detail: &str| format!("DeleteOptions.meta.k8s.io \"\" is invalid: {detail}");
    let unsupported = "propagationPolicy: Unsupported value: \"x\": supported values: \"Foreground\", \"Background\", \"Orphan\", \"nil\"";
    fails("propagationPolicy=x", "", 422, &invalid(unsupported));
    fails("", r#"{"propagationPolicy":"x"}"#, 422, &invalid(unsupported));
    fails(
        "orphanDependents=true&propagationPolicy=Orphan",
        "",
        422,
        &invalid(
            "propagationPolicy: Invalid value: \"Orphan\": orphanDependents and deletionPropagation cannot be both set",
        ),
    );
    fails(
        "",
        r#"{"dryRun":["x"]}"#,
        422,
        &invalid("dryRun: Unsupported value: [\"x\"]: supported values: \"All\""),
    );
    fails(
        "gracePeriodSeconds=x",
        "",
        400,
        "strconv.ParseInt: parsing \"x\": invalid syntax",
    );
}

#[test]
fn bodies_of_the_wrong_shape_are_refused() {
    let mistyped = |found: &str, field: &str, wanted: &str| {
        format!("json: cannot unmarshal {found} into Go struct field {field} of type {wanted}")
    };
    for (body, found, field, wanted) in [
        (
            r#"{"gracePeriodSeconds":"x"}"#,
            "string",
            "DeleteOptions.gracePeriodSeconds",
            "int64",
        ),
        (
            r#"{"gracePeriodSeconds":1.5}"#,
            "number 1.5",
            "DeleteOptions.gracePeriodSeconds",
            "int64",
        ),
        (r#"{"dryRun":"All"}"#, "string", "DeleteOptions.dryRun", "[]string"),
        (
            r#"{"preconditions":1}"#,
            "number",
            "DeleteOptions.preconditions",
            "v1.Preconditions",
        ),
        (
            r#"{"preconditions":{"uid":1}}"#,
            "number",
            "Preconditions.preconditions.uid",
            "types.UID",
        ),
        (
            r#"{"propagationPolicy":5}"#,
            "number",
            "DeleteOptions.propagationPolicy",
            "v1.DeletionPropagation",
        ),
    ] {
        fails("", body, 400, &mistyped(found, field, wanted));
    }
    fails(
        "",
        "{",
        400,
        "couldn't get version/kind; json parse error: unexpected end of JSON input",
    );
    fails(
        "",
        "[]",
        400,
        "couldn't get version/kind; json parse error: json: cannot unmarshal array into Go value of type struct { \
         APIVersion string \"json:\\\"apiVersion,omitempty\\\"\"; Kind string \"json:\\\"kind,omitempty\\\"\" }",
    );
}
