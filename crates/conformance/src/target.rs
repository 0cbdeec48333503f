//! The servers that a table can be run on. A server is a client that reaches it and a way to say who asks; nothing else
//! about it is known here.

use std::path::Path;

use http::{HeaderName, HeaderValue, Request, header::AUTHORIZATION};
use kube::{
    Client, Config,
    client::Body,
    config::{AuthInfo, KubeConfigOptions, Kubeconfig},
};
use thiserror::Error;

use crate::{table::CallerTable, variables::Variables};

const IMPERSONATE_USER: HeaderName = HeaderName::from_static("impersonate-user");
const IMPERSONATE_GROUP: HeaderName = HeaderName::from_static("impersonate-group");

/// A server under test.
pub trait Target: Sync {
    /// What reports call it.
    fn name(&self) -> &str;

    /// Marks a request as coming from a caller and gives the client to send it by.
    fn prepare(&self, caller: &Caller, request: &mut Request<Body>) -> Result<Client, Error>;
}

/// Who makes a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Caller {
    /// A member of `system:masters`.
    Administrator,
    /// Nobody: no credentials.
    Anonymous,
    /// Whoever this bearer token belongs to.
    Token(String),
    /// This user, by whatever means the target has.
    User {
        /// The name.
        name: String,
        /// The groups beyond those that every user has.
        groups: Vec<String>,
    },
}

/// Why a request cannot be sent.
#[derive(Debug, Error)]
pub enum Error {
    /// A table names a caller that does not exist.
    #[error("{0:?} is no caller: say anonymous, or give a token or a user")]
    Caller(String),
    /// A name or a token does not fit into a header.
    #[error("{0:?} does not fit into a header")]
    Header(String),
    /// The kubeconfig is unusable.
    #[error("the kubeconfig is unusable")]
    Kubeconfig(#[from] kube::config::KubeconfigError),
    /// No client can be made.
    #[error("no client can be made of the kubeconfig")]
    Client(#[from] kube::Error),
}

impl Caller {
    /// The caller of a step.
    pub fn of_table(table: Option<&CallerTable>, variables: &Variables) -> Result<Self, Error> {
        Ok(match table {
            None => Self::Administrator,
            Some(CallerTable::Word(word)) if word == "anonymous" => Self::Anonymous,
            Some(CallerTable::Word(word)) => return Err(Error::Caller(word.clone())),
            Some(CallerTable::Token { token }) => Self::Token(variables.in_text(token)),
            Some(CallerTable::User { user, groups }) => Self::User {
                name: variables.in_text(user),
                groups: groups.iter().map(|group| variables.in_text(group)).collect(),
            },
        })
    }
}

/// A server behind a socket, known by a kubeconfig whose user may do everything. Other users are impersonated.
pub struct Remote {
    administrator: Client,
    stranger: Client,
}

impl Remote {
    /// The server of the current context of a kubeconfig.
    pub async fn of_kubeconfig(path: &Path) -> Result<Self, Error> {
        let kubeconfig = Kubeconfig::read_from(path)?;
        let mut config = Config::from_custom_kubeconfig(kubeconfig, &KubeConfigOptions::default()).await?;
        // A refusal is an answer to compare, not a reason to ask again.
        config.default_retry = false;
        let administrator = Client::try_from(config.clone())?;
        config.auth_info = AuthInfo::default();
        let stranger = Client::try_from(config)?;
        Ok(Self {
            administrator,
            stranger,
        })
    }
}

impl Target for Remote {
    fn name(&self) -> &'static str {
        "real"
    }

    fn prepare(&self, caller: &Caller, request: &mut Request<Body>) -> Result<Client, Error> {
        let headers = request.headers_mut();
        match caller {
            Caller::Administrator => Ok(self.administrator.clone()),
            Caller::Anonymous => Ok(self.stranger.clone()),
            Caller::Token(token) => {
                headers.insert(AUTHORIZATION, header_value(&format!("Bearer {token}"))?);
                Ok(self.stranger.clone())
            }
            Caller::User { name, groups } => {
                headers.insert(IMPERSONATE_USER, header_value(name)?);
                for group in groups {
                    headers.append(IMPERSONATE_GROUP, header_value(group)?);
                }
                Ok(self.administrator.clone())
            }
        }
    }
}

fn header_value(text: &str) -> Result<HeaderValue, Error> {
    HeaderValue::from_str(text).map_err(|_| Error::Header(text.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn callers_are_read_with_variables_in_place() {
        let variables = Variables::of_case("here");
        let user = CallerTable::User {
            user: "system:serviceaccount:${ns}:a".to_owned(),
            groups: vec!["g-${ns}".to_owned()],
        };
        let caller = Caller::of_table(Some(&user), &variables).unwrap();
        let name = "system:serviceaccount:here:a".to_owned();
        let groups = vec!["g-here".to_owned()];
        assert_eq!(caller, Caller::User { name, groups });
        assert_eq!(Caller::of_table(None, &variables).unwrap(), Caller::Administrator);
        let word = CallerTable::Word("somebody".to_owned());
        assert!(Caller::of_table(Some(&word), &variables).is_err());
    }
}
