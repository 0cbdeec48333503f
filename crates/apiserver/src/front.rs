//! What requests share besides the heart of the server: who is let in, how many at once, and what is noted of them.

use http::{Response, StatusCode};
use hyperplane_access::{authenticate::Authenticator, tokens};
use hyperplane_wire::version::VersionInfo;
use serde_json::Value;

use crate::{audit::Audit, body::Body, call::Warnings, metrics::Metrics, paths, render::respond, slots::Slots};

/// How long relying parties may keep what they verify tokens by.
const AN_HOUR: &str = "public, max-age=3600";

/// What requests share.
pub(crate) struct Front {
    /// Who is let in.
    pub authenticator: Authenticator,
    /// How many requests run at once.
    pub requests: Slots,
    /// How many bodies of requests are on their way.
    pub bodies: Slots,
    /// How many watches there are.
    pub watches: Slots,
    /// What is written about requests that change something.
    pub audit: Audit,
    /// What is counted.
    pub metrics: Metrics,
    /// What `/version` says.
    pub version: VersionInfo,
    /// Where clients reach the server, for discovery.
    pub address: String,
}

impl Front {
    /// Where relying parties find the keys of service-account tokens.
    pub(crate) fn openid_configuration(&self) -> Response<Body> {
        let Some(issuer) = &self.authenticator.issuer else {
            return paths::not_found();
        };
        let document = issuer.openid_configuration(&format!("{}{}", issuer.url, tokens::JWKS_PATH));
        published("application/json", &document)
    }

    /// The keys of service-account tokens.
    pub(crate) fn jwks(&self) -> Response<Body> {
        let Some(issuer) = &self.authenticator.issuer else {
            return paths::not_found();
        };
        published("application/jwk-set+json", &issuer.jwks())
    }
}

fn published(content_type: &'static str, document: &Value) -> Response<Body> {
    let bytes = document.to_string().into_bytes();
    let response = respond(StatusCode::OK, content_type, bytes, &Warnings::default());
    paths::cached(response, AN_HOUR)
}
