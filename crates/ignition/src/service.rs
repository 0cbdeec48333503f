//! From a request to a response: looks the token up, counts, notes who came. What is answered is decided in `answer`.

use std::sync::Arc;

use bytes::Bytes;
use http::{
    HeaderValue, Method, Request, Response, StatusCode,
    header::{ALLOW, AUTHORIZATION, CACHE_CONTROL, CONNECTION, CONTENT_TYPE, RETRY_AFTER, WWW_AUTHENTICATE},
};
use http_body_util::Full;
use hyperplane_runtime::{Clock, Store};
use k8s_openapi::api::core::v1::Secret;

use crate::{
    answer::{Answer, Asked, Refusal, answer},
    counts::Counts,
    payload::{NotMade, Payloads},
    reached::Reached,
    token,
};

/// The index of Secrets by the fingerprints of their tokens.
pub const INDEX: &str = "token";

/// Seconds after which a machine may come again.
const RETRY_SECONDS: &str = "5";

/// Answers machines. Cheap to clone.
#[derive(Clone)]
pub struct Service {
    secrets: Store<Secret>,
    clock: Clock,
    counts: Counts,
    reached: Arc<Reached>,
    payloads: Arc<Payloads>,
}

impl Service {
    /// A service on the Secrets of a watch, which gets its index here.
    pub fn new(
        secrets: Store<Secret>,
        clock: Clock,
        counts: Counts,
        reached: Arc<Reached>,
        payloads: Arc<Payloads>,
    ) -> Self {
        secrets.add_index(INDEX, token::index);
        Self {
            secrets,
            clock,
            counts,
            reached,
            payloads,
        }
    }

    /// The answer to a request, whose body is not looked at.
    pub fn respond<B>(&self, request: &Request<B>) -> Response<Full<Bytes>> {
        let asked = Asked {
            method: request.method(),
            path: request.uri().path(),
            authorization: request.headers().get(AUTHORIZATION).map(HeaderValue::as_bytes),
        };
        let find = |fingerprint: &str| {
            let is_known = self.secrets.is_synced();
            is_known.then(|| self.secrets.by_index(INDEX, fingerprint))
        };
        let make = |secret: &Secret| self.payloads.of(secret).map_err(NotMade::refusal);
        let answer = answer(&asked, self.clock.now(), find, make);
        self.counts.count(&answer);
        match answer {
            Answer::Alive => text(StatusCode::OK, "ok\n"),
            Answer::Refused(refusal) => refused(refusal),
            Answer::Payload { secret, payload } => {
                // Whoever only asks whether there is something has not fetched it.
                if *request.method() == Method::GET {
                    self.reached.note(&secret);
                }
                handed_out(payload)
            }
        }
    }
}

fn handed_out(payload: Bytes) -> Response<Full<Bytes>> {
    let mut response = Response::new(Full::new(payload));
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    // It holds credentials.
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
}

fn refused(refusal: Refusal) -> Response<Full<Bytes>> {
    let mut response = text(refusal.status(), refusal.message());
    let header = match refusal {
        Refusal::Method => Some((ALLOW, "GET, HEAD")),
        Refusal::NoToken => Some((WWW_AUTHENTICATE, "Bearer")),
        Refusal::NotReady | Refusal::NoPayload | Refusal::UnknownToken => Some((RETRY_AFTER, RETRY_SECONDS)),
        Refusal::Path | Refusal::BadPayload => None,
    };
    if let Some((name, value)) = header {
        response.headers_mut().insert(name, HeaderValue::from_static(value));
    }
    response
}

/// An answer to somebody who has shown no token that is good, or only asks whether the server is there. The connection ends
/// with it: there are only so many, and they are for machines.
fn text(status: StatusCode, text: &'static str) -> Response<Full<Bytes>> {
    let mut response = Response::new(Full::new(Bytes::from_static(text.as_bytes())));
    *response.status_mut() = status;
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("text/plain; charset=utf-8"));
    headers.insert(CONNECTION, HeaderValue::from_static("close"));
    response
}
