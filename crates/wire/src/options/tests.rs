use super::*;

#[track_caller]
fn list_fails(query: &str, code: u16, message: &str) {
    let failure = ListOptions::parse(query).unwrap_err();
    assert_eq!(
        (failure.code.as_u16(), failure.message.as_str()),
        (code, message),
        "{query}"
    );
}

fn invalid_list(detail: &str) -> String {
    format!("ListOptions.meta.k8s.io \"\" is invalid: {detail}")
}

#[test]
fn lists_are_read() {
    let options = ListOptions::parse(
        "labelSelector=a%3Db&fieldSelector=metadata.name%3Dx&resourceVersion=7&resourceVersionMatch=NotOlderThan&limit=5\
         &timeoutSeconds=9&allowWatchBookmarks=true",
    )
    .unwrap();
    assert_eq!(options.label_selector.to_string(), "a=b");
    assert_eq!(options.field_selector.requires_name(), Some("x"));
    assert_eq!(options.revision().unwrap(), Some(7));
    assert_eq!(options.resource_version_match, Some(ResourceVersionMatch::NotOlderThan));
    assert_eq!((options.limit, options.timeout_seconds), (Some(5), Some(9)));
    assert!(options.allow_watch_bookmarks && !options.watch);
    assert_eq!(ListOptions::parse("limit=-1").unwrap().limit, None);
    assert_eq!(ListOptions::parse("").unwrap(), ListOptions::default());
}

#[test]
fn numbers_and_selectors_are_checked_first() {
    list_fails("limit=x", 400, "strconv.ParseInt: parsing \"x\": invalid syntax");
    list_fails("limit=", 400, "strconv.ParseInt: parsing \"\": invalid syntax");
    list_fails("limit=1.5", 400, "strconv.ParseInt: parsing \"1.5\": invalid syntax");
    list_fails(
        "limit=99999999999999999999",
        400,
        "strconv.ParseInt: parsing \"99999999999999999999\": value out of range",
    );
    list_fails(
        "labelSelector=%3D&limit=x",
        400,
        "strconv.ParseInt: parsing \"x\": invalid syntax",
    );
    list_fails(
        "fieldSelector=a&labelSelector=a,",
        400,
        "found '', expected: identifier after ','",
    );
}

#[test]
fn combinations_of_list_options_are_refused() {
    let forbidden = "resourceVersionMatch: Forbidden: resourceVersionMatch";
    list_fails(
        "resourceVersionMatch=Exact",
        422,
        &invalid_list(&format!("{forbidden} is forbidden unless resourceVersion is provided")),
    );
    list_fails(
        "resourceVersion=1&resourceVersionMatch=Foo",
        422,
        &invalid_list(
            "resourceVersionMatch: Unsupported value: \"Foo\": supported values: \"Exact\", \"NotOlderThan\", \"\"",
        ),
    );
    list_fails(
        "resourceVersion=0&resourceVersionMatch=Exact",
        422,
        &invalid_list(&format!("{forbidden} \"exact\" is forbidden for resourceVersion \"0\"")),
    );
    list_fails(
        "continue=x&resourceVersion=1&resourceVersionMatch=Exact",
        422,
        &invalid_list(&format!("{forbidden} is forbidden when continue is provided")),
    );
    list_fails(
        "sendInitialEvents=x",
        422,
        &invalid_list("sendInitialEvents: Forbidden: sendInitialEvents is forbidden for list"),
    );
}

#[test]
fn combinations_of_watch_options_are_refused() {
    let needs =
        "resourceVersionMatch: Forbidden: sendInitialEvents requires setting resourceVersionMatch to NotOlderThan";
    let unsupported = "resourceVersionMatch: Unsupported value: \"Exact\": supported values: \"NotOlderThan\"";
    list_fails("watch=1&sendInitialEvents=true", 422, &invalid_list(needs));
    list_fails(
        "watch=1&sendInitialEvents=true&resourceVersionMatch=Exact",
        422,
        &invalid_list(&format!("[{needs}, {unsupported}]")),
    );
    list_fails(
        "watch=1&resourceVersionMatch=Exact",
        422,
        &invalid_list(&format!(
            "[resourceVersionMatch: Forbidden: resourceVersionMatch is forbidden for watch unless sendInitialEvents is \
             provided, {unsupported}]"
        )),
    );
    list_fails(
        "watch=1&continue=x",
        422,
        &invalid_list("resourceVersionMatch: Forbidden: resourceVersionMatch is forbidden when continue is provided"),
    );
}

#[test]
fn a_watch_from_no_revision_starts_with_what_exists() {
    let starts = |query: &str| ListOptions::parse(query).unwrap().send_initial_events;
    assert_eq!(starts("watch=1"), Some(true));
    assert_eq!(starts("watch=1&resourceVersion=0"), Some(true));
    assert_eq!(starts("watch=1&resourceVersion=5"), None);
    assert_eq!(starts("resourceVersion=0"), None);
    let query = "watch=1&sendInitialEvents=true&allowWatchBookmarks=true&resourceVersionMatch=NotOlderThan";
    assert!(ListOptions::parse(query).unwrap().is_watch_list());
    assert!(!ListOptions::parse("watch=1").unwrap().is_watch_list());
}

#[test]
fn revisions_are_refused_as_the_verb_refuses_them() {
    let detail = "resourceVersion: Invalid value: \"x\": strconv.ParseUint: parsing \"x\": invalid syntax";
    let list = ListOptions::parse("resourceVersion=x").unwrap().revision().unwrap_err();
    assert_eq!(
        (list.code.as_u16(), list.message),
        (400, format!("invalid resource version: {detail}"))
    );
    let watch = ListOptions::parse("watch=1&resourceVersion=x")
        .unwrap()
        .revision()
        .unwrap_err();
    assert_eq!((watch.code.as_u16(), watch.message.as_str()), (500, detail));
    let get = GetOptions::parse("resourceVersion=x").unwrap_err();
    assert_eq!((get.code.as_u16(), get.message.as_str()), (500, detail));
    assert_eq!(GetOptions::parse("resourceVersion=0").unwrap().revision, Some(0));
    assert_eq!(GetOptions::parse("a=b").unwrap().revision, None);
}

#[track_caller]
fn write_fails(query: &str, write: Write, message: &str) {
    let failure = WriteOptions::parse(query, write).unwrap_err();
    assert_eq!(
        (failure.code.as_u16(), failure.message.as_str()),
        (422, message),
        "{query}"
    );
}

#[test]
fn writes_are_read() {
    let query = "dryRun=All&dryRun=All&fieldManager=me&fieldValidation=Strict&force=true";
    let options = WriteOptions::parse(query, Write::Apply).unwrap();
    assert!(options.dry_run && options.force);
    assert_eq!(
        (options.field_manager.as_str(), options.field_validation),
        ("me", FieldValidation::Strict)
    );
    assert_eq!(WriteOptions::parse("", Write::Create).unwrap(), WriteOptions::default());
    assert_eq!(
        WriteOptions::parse("fieldValidation=", Write::Update)
            .unwrap()
            .field_validation,
        FieldValidation::Warn
    );
    assert!(
        WriteOptions::parse("force=true", Write::Create).is_ok(),
        "only patches have the option"
    );
}

#[test]
fn bad_write_options_are_refused_in_the_name_of_their_kind() {
    let dry_run = "dryRun: Unsupported value: [\"All\",\"x\"]: supported values: \"All\"";
    for (write, kind) in [
        (Write::Create, "CreateOptions"),
        (Write::Update, "UpdateOptions"),
        (Write::Patch, "PatchOptions"),
    ] {
        let message = format!("{kind}.meta.k8s.io \"\" is invalid: {dry_run}");
        write_fails("dryRun=All&dryRun=x", write, &message);
    }
    let patch = |detail: &str| format!("PatchOptions.meta.k8s.io \"\" is invalid: {detail}");
    write_fails(
        "dryRun=",
        Write::Patch,
        &patch("dryRun: Unsupported value: [\"\"]: supported values: \"All\""),
    );
    write_fails(
        "fieldValidation=x",
        Write::Patch,
        &patch("fieldValidation: Unsupported value: \"x\": supported values: \"\", \"Ignore\", \"Strict\", \"Warn\""),
    );
    write_fails(
        "force=true",
        Write::Patch,
        &patch("force: Forbidden: may not be specified for non-apply patch"),
    );
    write_fails(
        "",
        Write::Apply,
        &patch("fieldManager: Required value: is required for apply patch"),
    );
    write_fails(
        &format!("fieldManager={}", "x".repeat(129)),
        Write::Patch,
        &patch("fieldManager: Too long: may not be more than 128 bytes"),
    );
    write_fails(
        "fieldManager=a%01b",
        Write::Patch,
        &patch("fieldManager: Invalid value: \"a\\x01b\": invalid character U+0001 (at position 1)"),
    );
}

#[test]
fn the_manager_is_the_option_or_the_user_agent() {
    let named = WriteOptions::parse("fieldManager=me", Write::Create).unwrap();
    assert_eq!(named.manager("kubectl/v1.36"), "me");
    let unnamed = WriteOptions::default();
    assert_eq!(unnamed.manager("kubectl/v1.36 (linux)"), "kubectl");
    assert_eq!(unnamed.manager("plain"), "plain");
    assert_eq!(unnamed.manager(&"y".repeat(200)).len(), 128);
    assert_eq!(unnamed.manager("a\u{1}b/c"), "a");
}
