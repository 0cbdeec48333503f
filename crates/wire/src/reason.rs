//! Why requests fail: the one table of the words that programs read and the codes that go with them.

use http::StatusCode;

/// Why a request failed, as programs read it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Reason {
    /// No reason is given; upstream leaves it out where a plain error reaches the client.
    Unknown,
    /// 400.
    BadRequest,
    /// 401.
    Unauthorized,
    /// 403.
    Forbidden,
    /// 404.
    NotFound,
    /// 405.
    MethodNotAllowed,
    /// 406.
    NotAcceptable,
    /// 409, on create.
    AlreadyExists,
    /// 409, on update.
    Conflict,
    /// 410, for something that existed.
    Gone,
    /// 410, for a revision that is no longer kept.
    Expired,
    /// 413.
    RequestEntityTooLarge,
    /// 415.
    UnsupportedMediaType,
    /// 422.
    Invalid,
    /// 429.
    TooManyRequests,
    /// 500.
    InternalError,
    /// 500, for what may succeed when it is tried again.
    ServerTimeout,
    /// 503.
    ServiceUnavailable,
    /// 504.
    Timeout,
}

impl Reason {
    /// Every reason.
    pub const ALL: [Self; 19] = [
        Self::Unknown,
        Self::BadRequest,
        Self::Unauthorized,
        Self::Forbidden,
        Self::NotFound,
        Self::MethodNotAllowed,
        Self::NotAcceptable,
        Self::AlreadyExists,
        Self::Conflict,
        Self::Gone,
        Self::Expired,
        Self::RequestEntityTooLarge,
        Self::UnsupportedMediaType,
        Self::Invalid,
        Self::TooManyRequests,
        Self::InternalError,
        Self::ServerTimeout,
        Self::ServiceUnavailable,
        Self::Timeout,
    ];

    /// The word on the wire and the code that goes with it: the one table of both.
    const fn row(self) -> (&'static str, StatusCode) {
        match self {
            Self::Unknown => ("", StatusCode::INTERNAL_SERVER_ERROR),
            Self::BadRequest => ("BadRequest", StatusCode::BAD_REQUEST),
            Self::Unauthorized => ("Unauthorized", StatusCode::UNAUTHORIZED),
            Self::Forbidden => ("Forbidden", StatusCode::FORBIDDEN),
            Self::NotFound => ("NotFound", StatusCode::NOT_FOUND),
            Self::MethodNotAllowed => ("MethodNotAllowed", StatusCode::METHOD_NOT_ALLOWED),
            Self::NotAcceptable => ("NotAcceptable", StatusCode::NOT_ACCEPTABLE),
            Self::AlreadyExists => ("AlreadyExists", StatusCode::CONFLICT),
            Self::Conflict => ("Conflict", StatusCode::CONFLICT),
            Self::Gone => ("Gone", StatusCode::GONE),
            Self::Expired => ("Expired", StatusCode::GONE),
            Self::RequestEntityTooLarge => ("RequestEntityTooLarge", StatusCode::PAYLOAD_TOO_LARGE),
            Self::UnsupportedMediaType => ("UnsupportedMediaType", StatusCode::UNSUPPORTED_MEDIA_TYPE),
            Self::Invalid => ("Invalid", StatusCode::UNPROCESSABLE_ENTITY),
            Self::TooManyRequests => ("TooManyRequests", StatusCode::TOO_MANY_REQUESTS),
            Self::InternalError => ("InternalError", StatusCode::INTERNAL_SERVER_ERROR),
            Self::ServerTimeout => ("ServerTimeout", StatusCode::INTERNAL_SERVER_ERROR),
            Self::ServiceUnavailable => ("ServiceUnavailable", StatusCode::SERVICE_UNAVAILABLE),
            Self::Timeout => ("Timeout", StatusCode::GATEWAY_TIMEOUT),
        }
    }

    /// The word on the wire.
    pub const fn word(self) -> &'static str {
        self.row().0
    }

    /// The HTTP status that goes with it.
    pub const fn code(self) -> StatusCode {
        self.row().1
    }
}
