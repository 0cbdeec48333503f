//! What a request is answered with. Pure: a request and the Secrets that may concern it in, an answer out.

use std::sync::Arc;

use bytes::Bytes;
use http::{Method, StatusCode};
use hyperplane_api::constants::annotations;
use jiff::Timestamp;
use k8s_openapi::api::core::v1::Secret;

use crate::token::{self, Fingerprint};

/// The path of everything that machines ask for.
pub const PATH: &str = "/ignition";

/// What is asked, as far as it matters.
#[derive(Clone, Copy, Debug)]
pub struct Asked<'a> {
    /// The method.
    pub method: &'a Method,
    /// The path.
    pub path: &'a str,
    /// The header `Authorization`.
    pub authorization: Option<&'a [u8]>,
}

/// What is answered.
#[derive(Clone, Debug)]
pub enum Answer {
    /// The server is alive.
    Alive,
    /// The payload of a token.
    Payload {
        /// The Secret with the token.
        secret: Arc<Secret>,
        /// What its machines are given.
        payload: Bytes,
    },
    /// Nothing, for this reason.
    Refused(Refusal),
}

/// Why a request gets nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// There is nothing under this path.
    Path,
    /// Only GET and HEAD are served.
    Method,
    /// No token is shown, or it is not in the form of one.
    NoToken,
    /// It is not known yet which tokens there are.
    NotReady,
    /// The token is not known, or not good any more.
    UnknownToken,
    /// The token is good; what it is for is not made yet.
    NoPayload,
    /// The token is good; what it is for cannot be made.
    BadPayload,
}

impl Refusal {
    /// All of them.
    pub const ALL: [Self; 7] = [
        Self::Path,
        Self::Method,
        Self::NoToken,
        Self::NotReady,
        Self::UnknownToken,
        Self::NoPayload,
        Self::BadPayload,
    ];

    /// The status of the answer. Machines try again after those from 500 on and give up after others: a token may become
    /// known, so it is 511, as the reference has it.
    pub const fn status(self) -> StatusCode {
        match self {
            Self::Path => StatusCode::NOT_FOUND,
            Self::Method => StatusCode::METHOD_NOT_ALLOWED,
            Self::NoToken => StatusCode::UNAUTHORIZED,
            Self::NotReady | Self::NoPayload => StatusCode::SERVICE_UNAVAILABLE,
            Self::UnknownToken => StatusCode::NETWORK_AUTHENTICATION_REQUIRED,
            Self::BadPayload => StatusCode::INTERNAL_SERVER_ERROR,
        }
    }

    /// What the answer says, for whoever looks at the console of a machine.
    pub const fn message(self) -> &'static str {
        match self {
            Self::Path => "there is only /ignition here\n",
            Self::Method => "only GET is served here\n",
            Self::NoToken => "a token is needed: Authorization: Bearer, and the token in base64\n",
            Self::NotReady => "the server has just started: try again\n",
            Self::UnknownToken => "the token is not known, or not good any more: try again, or make the machine anew\n",
            Self::NoPayload => "the configuration for this token is not made yet: try again\n",
            Self::BadPayload => "the configuration for this token is broken: look at its NodePool\n",
        }
    }

    /// The value of a label of metrics.
    pub const fn label(self) -> &'static str {
        match self {
            Self::Path => "path",
            Self::Method => "method",
            Self::NoToken => "no_token",
            Self::NotReady => "not_ready",
            Self::UnknownToken => "unknown_token",
            Self::NoPayload => "no_payload",
            Self::BadPayload => "bad_payload",
        }
    }
}

/// Answers a request. `find` gives the Secrets that an index has under the fingerprint of a token, or nothing as long as
/// it is not known which there are; `make` gives what machines of one of them are given.
pub fn answer(
    asked: &Asked<'_>,
    now: Timestamp,
    find: impl FnOnce(&str) -> Option<Vec<Arc<Secret>>>,
    make: impl FnOnce(&Secret) -> Result<Bytes, Refusal>,
) -> Answer {
    match judge(asked, now, find, make) {
        Ok(answer) => answer,
        Err(refusal) => Answer::Refused(refusal),
    }
}

fn judge(
    asked: &Asked<'_>,
    now: Timestamp,
    find: impl FnOnce(&str) -> Option<Vec<Arc<Secret>>>,
    make: impl FnOnce(&Secret) -> Result<Bytes, Refusal>,
) -> Result<Answer, Refusal> {
    if !matches!(asked.path, PATH | "/healthz") {
        return Err(Refusal::Path);
    }
    if !matches!(*asked.method, Method::GET | Method::HEAD) {
        return Err(Refusal::Method);
    }
    if asked.path == "/healthz" {
        return Ok(Answer::Alive);
    }
    let shown = asked
        .authorization
        .and_then(Fingerprint::shown)
        .ok_or(Refusal::NoToken)?;
    let found = find(&shown.text()).ok_or(Refusal::NotReady)?;
    let mut accepted = found
        .into_iter()
        .filter(|secret| token::is_accepted(secret, &shown, now));
    let secret = accepted.next().ok_or(Refusal::UnknownToken)?;
    let payload = make(&secret)?;
    Ok(Answer::Payload { secret, payload })
}

/// Whether it has to be noted on a Secret that a machine has fetched its payload.
pub fn is_news(secret: &Secret) -> bool {
    annotations::IGNITION_REACHED.of(secret) != Some("True")
}
