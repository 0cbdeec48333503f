//! A request that is refused, and everything that the Status of the answer says. Knows nothing of HTTP but the codes.

use std::fmt;

use crate::{
    attributes::{forbidden, qualified},
    text::quote,
};

/// Why a request is refused; printed, it is the message of the Status.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// The request makes no sense.
    BadRequest(String),
    /// The user may not.
    Forbidden {
        /// About what.
        subject: Subject,
        /// Why.
        complaint: String,
    },
    /// Something that the request names does not exist.
    NotFound(Subject),
    /// Something that the request names is another than it says.
    Conflict {
        /// About what.
        subject: Subject,
        /// Why.
        complaint: String,
    },
    /// Fields of the object break rules. The subject's resource is the kind, or empty as upstream leaves it.
    Invalid {
        /// About what.
        subject: Subject,
        /// Field by field.
        causes: Vec<Cause>,
    },
    /// Something may come right if the request is repeated.
    Internal(String),
}

/// What a refusal is about: the details of the Status.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Subject {
    /// The API group.
    pub group: String,
    /// The resource; the kind where validation complains.
    pub resource: String,
    /// The object.
    pub name: String,
}

/// One cause of a Status.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cause {
    /// `FieldValueInvalid`, `FieldValueRequired`, ….
    pub reason: &'static str,
    /// What is wrong with the value.
    pub message: String,
    /// Where it is.
    pub field: String,
}

impl Refusal {
    /// The code of the answer.
    pub const fn code(&self) -> u16 {
        match self {
            Self::BadRequest(_) => 400,
            Self::Forbidden { .. } => 403,
            Self::NotFound(_) => 404,
            Self::Conflict { .. } => 409,
            Self::Invalid { .. } => 422,
            Self::Internal(_) => 500,
        }
    }

    /// The reason of the Status.
    pub const fn reason(&self) -> &'static str {
        match self {
            Self::BadRequest(_) => "BadRequest",
            Self::Forbidden { .. } => "Forbidden",
            Self::NotFound(_) => "NotFound",
            Self::Conflict { .. } => "Conflict",
            Self::Invalid { .. } => "Invalid",
            Self::Internal(_) => "InternalError",
        }
    }

    /// What the details of the Status are about.
    pub const fn subject(&self) -> Option<&Subject> {
        match self {
            Self::BadRequest(_) | Self::Internal(_) => None,
            Self::NotFound(subject)
            | Self::Forbidden { subject, .. }
            | Self::Conflict { subject, .. }
            | Self::Invalid { subject, .. } => Some(subject),
        }
    }

    /// The causes in the details of the Status.
    pub fn causes(&self) -> &[Cause] {
        if let Self::Invalid { causes, .. } = self {
            causes
        } else {
            &[]
        }
    }

    pub(crate) fn forbidden(group: &str, resource: &str, name: &str, complaint: impl Into<String>) -> Self {
        Self::Forbidden {
            subject: Subject::new(group, resource, name),
            complaint: complaint.into(),
        }
    }

    pub(crate) fn not_found(group: &str, resource: &str, name: &str) -> Self {
        Self::NotFound(Subject::new(group, resource, name))
    }
}

impl Subject {
    pub(crate) fn new(group: &str, resource: &str, name: &str) -> Self {
        Self {
            group: group.to_owned(),
            resource: resource.to_owned(),
            name: name.to_owned(),
        }
    }

    fn qualified(&self) -> String {
        qualified(&self.group, &self.resource)
    }
}

impl Cause {
    pub(crate) fn invalid(field: &str, value: &str, complaint: &str) -> Self {
        Self {
            reason: "FieldValueInvalid",
            message: format!("Invalid value: {value}: {complaint}"),
            field: field.into(),
        }
    }

    pub(crate) fn required(field: &str, complaint: &str) -> Self {
        Self {
            reason: "FieldValueRequired",
            message: format!("Required value: {complaint}"),
            field: field.into(),
        }
    }

    pub(crate) fn forbidden(field: &str, complaint: &str) -> Self {
        Self {
            reason: "FieldValueForbidden",
            message: format!("Forbidden: {complaint}"),
            field: field.into(),
        }
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::BadRequest(message) => formatter.write_str(message),
            Self::Forbidden { subject, complaint } => {
                formatter.write_str(&forbidden(&subject.group, &subject.resource, &subject.name, complaint))
            }
            Self::NotFound(subject) => write!(formatter, "{} {} not found", subject.qualified(), quote(&subject.name)),
            Self::Conflict { subject, complaint } => write!(
                formatter,
                "Operation cannot be fulfilled on {} {}: {complaint}",
                subject.qualified(),
                quote(&subject.name)
            ),
            Self::Invalid { subject, causes } => {
                let causes: Vec<String> = causes
                    .iter()
                    .map(|cause| format!("{}: {}", cause.field, cause.message))
                    .collect();
                let causes = if let [alone] = causes.as_slice() {
                    alone.clone()
                } else {
                    format!("[{}]", causes.join(", "))
                };
                write!(
                    formatter,
                    "{} {} is invalid: {causes}",
                    subject.qualified(),
                    quote(&subject.name)
                )
            }
            Self::Internal(message) => write!(formatter, "Internal error occurred: {message}"),
        }
    }
}

impl std::error::Error for Refusal {}
