//! Kinds that are asked and answered, and never stored: bindings, reviews of tokens and of access.

use super::review_rules::{
    validate_access_review, validate_binding, validate_local_access_review, validate_self_access_review,
};
use crate::{
    Scope,
    row::{REVIEW, Row},
};

pub(super) const BINDING: &[Row] = &[Row {
    plural: "bindings",
    singular: "binding",
    kind: "Binding",
    type_name: "core.Binding",
    scope: Scope::Namespaced,
    validate: validate_binding,
    ..REVIEW
}];

pub(super) const ROWS: &[Row] = &[
    Row {
        plural: "selfsubjectreviews",
        singular: "selfsubjectreview",
        kind: "SelfSubjectReview",
        type_name: "authentication.SelfSubjectReview",
        ..AUTHENTICATION
    },
    Row {
        plural: "tokenreviews",
        singular: "tokenreview",
        kind: "TokenReview",
        type_name: "authentication.TokenReview",
        ..AUTHENTICATION
    },
    Row {
        plural: "localsubjectaccessreviews",
        singular: "localsubjectaccessreview",
        kind: "LocalSubjectAccessReview",
        type_name: "authorization.LocalSubjectAccessReview",
        scope: Scope::Namespaced,
        validate: validate_local_access_review,
        ..AUTHORIZATION
    },
    Row {
        plural: "selfsubjectaccessreviews",
        singular: "selfsubjectaccessreview",
        kind: "SelfSubjectAccessReview",
        type_name: "authorization.SelfSubjectAccessReview",
        validate: validate_self_access_review,
        ..AUTHORIZATION
    },
    Row {
        plural: "selfsubjectrulesreviews",
        singular: "selfsubjectrulesreview",
        kind: "SelfSubjectRulesReview",
        type_name: "authorization.SelfSubjectRulesReview",
        ..AUTHORIZATION
    },
    Row {
        plural: "subjectaccessreviews",
        singular: "subjectaccessreview",
        kind: "SubjectAccessReview",
        type_name: "authorization.SubjectAccessReview",
        validate: validate_access_review,
        ..AUTHORIZATION
    },
];

const AUTHENTICATION: Row = Row {
    group: "authentication.k8s.io",
    ..REVIEW
};

const AUTHORIZATION: Row = Row {
    group: "authorization.k8s.io",
    ..REVIEW
};
