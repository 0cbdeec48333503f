//! From credentials to a user: client certificates, bearer tokens of three kinds, and nobody. Impersonation, which
//! needs authorization, is beside it. Does no I/O: certificates and headers come in as bytes, objects by lookup.

mod bootstrap_token;
mod certificate;
mod impersonation;
mod service_account;
mod static_token;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use jiff::Timestamp;

pub(crate) use self::certificate::{common_name, organisations};
pub use self::{
    bootstrap_token::bootstrap_token,
    certificate::{AuthorityError, CertificateError, ClientAuthorities, client_certificate},
    impersonation::{Impersonated, impersonation},
    service_account::service_account,
    static_token::StaticTokens,
};
use crate::{Objects, User, text::join_errors, tokens::Issuer};

/// What a request shows.
#[derive(Clone, Copy, Debug, Default)]
pub struct Credentials<'a> {
    /// The chain of the client's certificates as the handshake brought it, the client's own first.
    pub certificates: &'a [&'a [u8]],
    /// The token behind `Authorization: Bearer`.
    pub bearer: Option<&'a str>,
}

/// Credentials were shown and are not good, or none were and nobody is not welcome. The client is told no more than
/// 401 Unauthorized; the text is for the log.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Unauthorized(pub String);

/// A token that was accepted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Authenticated {
    /// Whose it is.
    pub user: User,
    /// For which of the audiences that were asked.
    pub audiences: Vec<String>,
}

/// Everything that one cluster accepts as credentials.
#[derive(Default)]
pub struct Authenticator {
    /// Whose client certificates are accepted.
    pub authorities: Option<ClientAuthorities>,
    /// Tokens that never change, such as the administrator's.
    pub static_tokens: StaticTokens,
    /// Who makes the tokens of service accounts.
    pub issuer: Option<Arc<Issuer>>,
    /// Whether a request without credentials goes on as nobody.
    pub is_anonymous_allowed: bool,
}

impl Authenticator {
    /// The user behind a request. Whatever is shown and is not good is an error, even where nobody is welcome.
    pub fn authenticate(
        &self,
        credentials: &Credentials<'_>,
        objects: &dyn Objects,
        now: Timestamp,
    ) -> Result<User, Unauthorized> {
        let mut errors = Vec::new();
        if let Some(authorities) = self
            .authorities
            .as_ref()
            .filter(|_| !credentials.certificates.is_empty())
        {
            match client_certificate(credentials.certificates, authorities, now) {
                Ok(Some(user)) => return Ok(user.authenticated()),
                Ok(None) => {}
                Err(error) => errors.push(error.to_string()),
            }
        }
        if let Some(token) = credentials.bearer.map(str::trim).filter(|token| !token.is_empty()) {
            match self.token(token, None, objects, now) {
                Ok(authenticated) => return Ok(authenticated.user),
                Err(Unauthorized(error)) => errors.push(error),
            }
        }
        match (errors.is_empty(), self.is_anonymous_allowed) {
            (true, true) => Ok(User::anonymous()),
            (true, false) => Err(Unauthorized("no credentials were shown".to_owned())),
            (false, _) => Err(Unauthorized(join_errors(&errors))),
        }
    }

    /// The user behind a bearer token, for the API server or, in a review, for the audiences that are asked.
    pub fn token(
        &self,
        token: &str,
        audiences: Option<&[String]>,
        objects: &dyn Objects,
        now: Timestamp,
    ) -> Result<Authenticated, Unauthorized> {
        const INVALID: &str = "invalid bearer token";
        let own = self.issuer.as_ref().map_or(&[][..], |issuer| &issuer.audiences);
        let shared: Vec<String> = match audiences {
            Some(asked) => own
                .iter()
                .filter(|audience| asked.contains(audience))
                .cloned()
                .collect(),
            None => own.to_vec(),
        };
        // Tokens that know no audience are for the API server.
        if audiences.is_none() || own.is_empty() || !shared.is_empty() {
            let user = self
                .static_tokens
                .find(token)
                .or_else(|| bootstrap_token(token, objects, now));
            if let Some(user) = user {
                return Ok(Authenticated {
                    user: user.authenticated(),
                    audiences: shared,
                });
            }
        }
        let Some(issuer) = &self.issuer else {
            return Err(Unauthorized(INVALID.to_owned()));
        };
        match service_account(token, issuer, audiences.unwrap_or(own), objects, now) {
            Ok(Some(authenticated)) => Ok(authenticated),
            Ok(None) => Err(Unauthorized(INVALID.to_owned())),
            Err(error) => Err(Unauthorized(format!("[{INVALID}, {error}]"))),
        }
    }
}
