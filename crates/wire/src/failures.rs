//! The failures that the server knows, each with upstream's words (apimachinery, api/errors/errors.go). Knows how an
//! error reads, never when it is due.

use std::{collections::BTreeSet, fmt};

use hyperplane_schema::{FieldError, go_text::quote};

use crate::{
    Failure, GroupKind, GroupResource, Reason,
    status::{Cause, Details},
};

impl Failure {
    /// No object of this name.
    pub fn not_found(resource: &GroupResource, name: &str) -> Self {
        Self::new(Reason::NotFound, format!("{resource} {} not found", quote(name)))
            .with_details(Details::of_resource(resource, name))
    }

    /// Nothing is served under this path, although something is under its beginning.
    pub fn generic_path_not_found() -> Self {
        Self::new(Reason::NotFound, "the server could not find the requested resource").with_details(Details::default())
    }

    /// The path is served, the method is not.
    pub fn generic_method_not_allowed() -> Self {
        Self::new(
            Reason::MethodNotAllowed,
            "the server does not allow this method on the requested resource",
        )
        .with_details(Details::default())
    }

    /// The name is taken.
    pub fn already_exists(resource: &GroupResource, name: &str) -> Self {
        Self::new(
            Reason::AlreadyExists,
            format!("{resource} {} already exists", quote(name)),
        )
        .with_details(Details::of_resource(resource, name))
    }

    /// No free name was found for a `generateName`.
    pub fn generate_name_conflict(resource: &GroupResource, name: &str, retry_after_seconds: u32) -> Self {
        let message = format!(
            "{resource} {} already exists, the server was not able to generate a unique name for the object",
            quote(name)
        );
        Self::new(Reason::AlreadyExists, message).with_details(Details {
            retry_after_seconds,
            ..Details::of_resource(resource, name)
        })
    }

    /// The object is not as the client thinks.
    pub fn conflict(resource: &GroupResource, name: &str, message: impl fmt::Display) -> Self {
        Self::new(
            Reason::Conflict,
            format!("Operation cannot be fulfilled on {resource} {}: {message}", quote(name)),
        )
        .with_details(Details::of_resource(resource, name))
    }

    /// An apply that touches fields of others.
    pub fn apply_conflict(message: impl Into<String>, causes: Vec<Cause>) -> Self {
        Self::new(Reason::Conflict, message).with_details(Details {
            causes,
            ..Details::default()
        })
    }

    /// The object breaks rules.
    pub fn invalid(kind: &GroupKind, name: &str, errors: &[FieldError]) -> Self {
        let subject = format!("{kind} {} is invalid", quote(name));
        let message = match aggregate(errors) {
            Some(texts) => format!("{subject}: {texts}"),
            None => subject,
        };
        Self::new(Reason::Invalid, message).with_details(Details {
            name: name.to_owned(),
            group: kind.group.clone(),
            kind: kind.kind.clone(),
            causes: errors.iter().map(cause_of).collect(),
            ..Details::default()
        })
    }

    /// The query options of a request break rules; `kind` is such as `ListOptions`.
    pub fn invalid_options(kind: &str, errors: &[FieldError]) -> Self {
        Self::invalid(&GroupKind::new("meta.k8s.io", kind), "", errors)
    }

    /// The request cannot be understood.
    pub fn bad_request(message: impl Into<String>) -> Self {
        Self::new(Reason::BadRequest, message)
    }

    /// The user may not do this.
    pub fn forbidden(resource: &GroupResource, name: &str, message: impl fmt::Display) -> Self {
        let text = if resource.resource.is_empty() && resource.group.is_empty() {
            format!("forbidden: {message}")
        } else if name.is_empty() {
            format!("{resource} is forbidden: {message}")
        } else {
            format!("{resource} {} is forbidden: {message}", quote(name))
        };
        Self::new(Reason::Forbidden, text).with_details(Details::of_resource(resource, name))
    }

    /// The user is not known.
    pub fn unauthorized() -> Self {
        Self::new(Reason::Unauthorized, "Unauthorized")
    }

    /// The resource has no such verb.
    pub fn method_not_supported(resource: &GroupResource, verb: &str) -> Self {
        Self::new(
            Reason::MethodNotAllowed,
            format!(
                "{verb} is not supported on resources of kind {}",
                quote(&resource.to_string())
            ),
        )
        .with_details(Details::of_resource(resource, ""))
    }

    /// None of the formats that the client accepts can be given.
    pub fn not_acceptable(media_types: &[&str]) -> Self {
        Self::new(
            Reason::NotAcceptable,
            format!(
                "only the following media types are accepted: {}",
                media_types.join(", ")
            ),
        )
    }

    /// The body is in a format that is not read.
    pub fn unsupported_media_type(media_types: &[&str]) -> Self {
        Self::new(
            Reason::UnsupportedMediaType,
            format!(
                "the body of the request was in an unknown format - accepted media types include: {}",
                media_types.join(", ")
            ),
        )
    }

    /// The body, or what it asks for, is too large.
    pub fn too_large(message: impl fmt::Display) -> Self {
        Self::new(
            Reason::RequestEntityTooLarge,
            format!("Request entity too large: {message}"),
        )
    }

    /// The body exceeds the limit in bytes.
    pub fn body_too_large(limit_bytes: usize) -> Self {
        Self::too_large(format_args!("limit is {limit_bytes}"))
    }

    /// What was asked for no longer exists.
    pub fn gone(message: impl Into<String>) -> Self {
        Self::new(Reason::Gone, message)
    }

    /// The revision that was asked for is no longer kept.
    pub fn expired(message: impl Into<String>) -> Self {
        Self::new(Reason::Expired, message)
    }

    /// The revision that was asked for is not reached yet.
    pub fn resource_version_too_large(wanted: u64, current: u64, retry_after_seconds: u32) -> Self {
        Self::timeout(
            format_args!("Too large resource version: {wanted}, current: {current}"),
            retry_after_seconds,
        )
        .with_cause(Cause {
            reason: "ResourceVersionTooLarge".to_owned(),
            message: "Too large resource version".to_owned(),
            field: String::new(),
        })
    }

    /// The client must slow down.
    pub fn too_many_requests(message: impl Into<String>, retry_after_seconds: u32) -> Self {
        Self::new(Reason::TooManyRequests, message).with_details(Details::waiting(retry_after_seconds))
    }

    /// The server is at fault.
    pub fn internal(message: impl fmt::Display) -> Self {
        let message = message.to_string();
        Self::new(Reason::InternalError, format!("Internal error occurred: {message}")).with_cause(Cause {
            message,
            ..Cause::default()
        })
    }

    /// An error that upstream hands to the client as it is: code 500 and no reason.
    pub fn unclassified(message: impl Into<String>) -> Self {
        Self::new(Reason::Unknown, message)
    }

    /// The time is over; the request may still be carried out.
    pub fn timeout(message: impl fmt::Display, retry_after_seconds: u32) -> Self {
        Self::new(Reason::Timeout, format!("Timeout: {message}")).with_details(Details::waiting(retry_after_seconds))
    }

    /// The request could not be carried out now and can be tried again.
    pub fn server_timeout(resource: &GroupResource, operation: &str, retry_after_seconds: u32) -> Self {
        let message = format!(
            "The {operation} operation against {resource} could not be completed at this time, please try again."
        );
        Self::new(Reason::ServerTimeout, message).with_details(Details {
            retry_after_seconds,
            ..Details::of_resource(resource, operation)
        })
    }

    /// The server cannot serve this now.
    pub fn service_unavailable(message: impl Into<String>) -> Self {
        Self::new(Reason::ServiceUnavailable, message)
    }

    /// The body is well formed but cannot be processed, and upstream does not say why.
    pub fn unprocessable() -> Self {
        Self::new(
            Reason::Invalid,
            "the server rejected our request due to an error in our request",
        )
        .with_details(Details::default())
    }
}

fn cause_of(error: &FieldError) -> Cause {
    Cause {
        reason: error.kind.reason().to_owned(),
        message: error.body(),
        field: error.field.clone(),
    }
}

/// Several complaints as one text: alone as it is, more in brackets, each text once (utilerrors.Aggregate).
fn aggregate(errors: &[FieldError]) -> Option<String> {
    let mut seen = BTreeSet::new();
    let texts: Vec<String> = errors
        .iter()
        .map(ToString::to_string)
        .filter(|text| seen.insert(text.clone()))
        .collect();
    match texts.as_slice() {
        [] => None,
        [only] => Some(only.clone()),
        _ => Some(format!("[{}]", texts.join(", "))),
    }
}
