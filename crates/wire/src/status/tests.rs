use hyperplane_schema::FieldError;
use serde_json::json;

use super::*;
use crate::GroupKind;

fn foos() -> GroupResource {
    GroupResource::new("x.test", "foos")
}

#[track_caller]
fn check(failure: &Failure, expected: &Value) {
    let mut status = failure.to_status();
    for (name, value) in [("kind", "Status"), ("apiVersion", "v1"), ("status", "Failure")] {
        assert_eq!(status.as_object_mut().unwrap().remove(name), Some(value.into()));
    }
    assert_eq!(&status, expected);
}

#[test]
fn failures_about_an_object_name_it() {
    let details = json!({"name": "a", "group": "x.test", "kind": "foos"});
    for (failure, message, reason, code) in [
        (
            Failure::not_found(&foos(), "a"),
            "foos.x.test \"a\" not found",
            "NotFound",
            404,
        ),
        (
            Failure::already_exists(&foos(), "a"),
            "foos.x.test \"a\" already exists",
            "AlreadyExists",
            409,
        ),
        (
            Failure::conflict(&foos(), "a", "busy"),
            "Operation cannot be fulfilled on foos.x.test \"a\": busy",
            "Conflict",
            409,
        ),
        (
            Failure::forbidden(&foos(), "a", "no"),
            "foos.x.test \"a\" is forbidden: no",
            "Forbidden",
            403,
        ),
    ] {
        let expected =
            json!({"metadata": {}, "message": message, "reason": reason, "details": details.clone(), "code": code});
        check(&failure, &expected);
    }
}

#[test]
fn failures_about_nothing_in_particular_have_no_details() {
    for (failure, message, reason, code) in [
        (Failure::bad_request("m"), "m", "BadRequest", 400),
        (Failure::unauthorized(), "Unauthorized", "Unauthorized", 401),
        (Failure::gone("m"), "m", "Gone", 410),
        (Failure::expired("m"), "m", "Expired", 410),
        (
            Failure::body_too_large(3_145_728),
            "Request entity too large: limit is 3145728",
            "RequestEntityTooLarge",
            413,
        ),
        (Failure::service_unavailable("m"), "m", "ServiceUnavailable", 503),
    ] {
        check(
            &failure,
            &json!({"metadata": {}, "message": message, "reason": reason, "code": code}),
        );
    }
    check(
        &Failure::unclassified("m"),
        &json!({"metadata": {}, "message": "m", "code": 500}),
    );
}

#[test]
fn generic_failures_have_empty_details() {
    for (failure, message, reason, code) in [
        (
            Failure::generic_path_not_found(),
            "the server could not find the requested resource",
            "NotFound",
            404,
        ),
        (
            Failure::generic_method_not_allowed(),
            "the server does not allow this method on the requested resource",
            "MethodNotAllowed",
            405,
        ),
        (
            Failure::unprocessable(),
            "the server rejected our request due to an error in our request",
            "Invalid",
            422,
        ),
    ] {
        let expected = json!({"metadata": {}, "message": message, "reason": reason, "details": {}, "code": code});
        check(&failure, &expected);
    }
}

#[test]
fn invalid_objects_list_their_causes() {
    let errors = [
        FieldError::required("spec.a", ""),
        FieldError::invalid("spec.b", 1, "must be 2"),
        FieldError::required("spec.a", ""),
    ];
    let kind = GroupKind::new("x.test", "Foo");
    let cause_a = json!({"reason": "FieldValueRequired", "message": "Required value", "field": "spec.a"});
    let cause_b = json!({"reason": "FieldValueInvalid", "message": "Invalid value: 1: must be 2", "field": "spec.b"});
    check(
        &Failure::invalid(&kind, "a", &errors),
        &json!({
            "metadata": {},
            "message": "Foo.x.test \"a\" is invalid: [spec.a: Required value, spec.b: Invalid value: 1: must be 2]",
            "reason": "Invalid",
            "details": {"name": "a", "group": "x.test", "kind": "Foo", "causes": [cause_a, cause_b, cause_a]},
            "code": 422,
        }),
    );
    assert_eq!(
        Failure::invalid(&kind, "a", &errors[..1]).message,
        "Foo.x.test \"a\" is invalid: spec.a: Required value"
    );
    assert_eq!(Failure::invalid(&kind, "", &[]).message, "Foo.x.test \"\" is invalid");
}

#[test]
fn failures_that_pass_say_when_to_come_back() {
    let failure = Failure::resource_version_too_large(99_999, 237, 1);
    assert_eq!(failure.retry_after_seconds(), Some(1));
    check(
        &failure,
        &json!({
            "metadata": {},
            "message": "Timeout: Too large resource version: 99999, current: 237",
            "reason": "Timeout",
            "details": {
                "causes": [{"reason": "ResourceVersionTooLarge", "message": "Too large resource version"}],
                "retryAfterSeconds": 1,
            },
            "code": 504,
        }),
    );
    assert_eq!(Failure::too_many_requests("m", 5).retry_after_seconds(), Some(5));
    assert_eq!(Failure::timeout("m", 0).retry_after_seconds(), None);
    assert_eq!(Failure::bad_request("m").retry_after_seconds(), None);
}

#[test]
fn internal_errors_repeat_their_cause() {
    check(
        &Failure::internal("disk"),
        &json!({
            "metadata": {},
            "message": "Internal error occurred: disk",
            "reason": "InternalError",
            "details": {"causes": [{"message": "disk"}]},
            "code": 500,
        }),
    );
}

#[test]
fn verbs_and_scopes_are_named() {
    let failure = Failure::method_not_supported(&foos(), "create");
    assert_eq!(
        failure.message,
        "create is not supported on resources of kind \"foos.x.test\""
    );
    assert_eq!(
        failure.to_status()["details"],
        json!({"group": "x.test", "kind": "foos"})
    );
    assert_eq!(
        Failure::forbidden(&foos(), "", "no").message,
        "foos.x.test is forbidden: no"
    );
    assert_eq!(
        Failure::forbidden(&GroupResource::default(), "", "no").message,
        "forbidden: no"
    );
    assert_eq!(
        Failure::server_timeout(&foos(), "create", 2).message,
        "The create operation against foos.x.test could not be completed at this time, please try again."
    );
    assert_eq!(
        Failure::generate_name_conflict(&foos(), "a-x", 1).message,
        "foos.x.test \"a-x\" already exists, the server was not able to generate a unique name for the object"
    );
}

#[test]
fn an_expired_list_can_go_on() {
    let status = Failure::expired("m").with_continue("token").to_status();
    assert_eq!(status["metadata"], json!({"continue": "token"}));
}

#[test]
fn a_deletion_reports_what_is_gone() {
    let details = Details {
        uid: "u".to_owned(),
        ..Details::of_resource(&foos(), "a")
    };
    assert_eq!(
        success_status(&details),
        json!({
            "kind": "Status",
            "apiVersion": "v1",
            "metadata": {},
            "status": "Success",
            "details": {"name": "a", "group": "x.test", "kind": "foos", "uid": "u"},
        })
    );
}

#[test]
fn reasons_and_codes_are_one_table() {
    let words: std::collections::BTreeSet<&str> = Reason::ALL.into_iter().map(Reason::word).collect();
    assert_eq!(words.len(), Reason::ALL.len(), "no word stands for two reasons");
    assert!(Reason::ALL.into_iter().all(|reason| reason.code().as_u16() >= 400));
}
