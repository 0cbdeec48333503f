//! The operators' own account on a cluster that exists: they run with the rights that were rendered for them, not with
//! those of whoever started them. Owns the token of the account, which ends and is renewed before it does.

use std::{
    path::{Path, PathBuf},
    time::Duration,
};

use anyhow::Context as _;
use hyperplane_apiserver::pki::write_private;
use hyperplane_runtime::Api;
use k8s_openapi::api::{
    authentication::v1::{TokenRequest, TokenRequestSpec},
    core::v1::ServiceAccount,
};
use kube::{Client, Config, api::PostParams, config::AuthInfo};
use secrecy::SecretString;
use tempfile::TempDir;
use tokio::time::sleep;
use tokio_util::sync::CancellationToken;

use crate::failing::failed;

/// How long a token is good for.
const LIFE: Duration = Duration::from_hours(1);
/// When it is renewed: well before its end, and a server may shorten its life.
const RENEWAL: Duration = Duration::from_mins(8);
/// When a renewal that failed is tried again.
const AGAIN: Duration = Duration::from_secs(20);
/// What to do where no temporary file can be written.
const MAKE_ROOM: &str = "free space there, or name another directory in TMPDIR";
/// What to do about a server that answers and gives nothing.
const NO_TOKEN: &str = "the API server made no token: see that it signs tokens of service accounts";

/// An account with a token that is kept fresh.
pub(super) struct Account {
    accounts: Api<ServiceAccount>,
    name: &'static str,
    /// Only its owner may look into it.
    directory: TempDir,
}

impl Account {
    /// Fetches the first token.
    pub(super) async fn open(administrator: &Client, namespace: &str, name: &'static str) -> anyhow::Result<Self> {
        let directory = tempfile::Builder::new().prefix("hyperplane-").tempdir();
        let account = Self {
            accounts: Api::namespaced(administrator.clone(), namespace),
            name,
            directory: directory
                .map_err(|error| failed("no temporary directory can be made for a token", error, MAKE_ROOM))?,
        };
        account.renew().await?;
        Ok(account)
    }

    /// A client that is this account, where an administrator's configuration leads.
    pub(super) fn client(&self, administrator: &Config) -> anyhow::Result<Client> {
        let mut config = administrator.clone();
        config.auth_info = AuthInfo {
            token_file: Some(self.file().to_string_lossy().into_owned()),
            ..AuthInfo::default()
        };
        Ok(Client::try_from(config)?)
    }

    /// A directory that only its owner may look into, and that is gone at the end.
    pub(super) fn directory(&self) -> &Path {
        self.directory.path()
    }

    /// Renews the token until it is told to end.
    pub(super) async fn keep(self, stop: CancellationToken) -> anyhow::Result<()> {
        let mut pause = RENEWAL;
        while stop.run_until_cancelled(sleep(pause)).await.is_some() {
            pause = match self.renew().await {
                Ok(()) => RENEWAL,
                Err(error) => {
                    tracing::warn!(
                        error = format!("{error:#}"),
                        "The operators' token could not be renewed."
                    );
                    AGAIN
                }
            };
        }
        Ok(())
    }

    async fn renew(&self) -> anyhow::Result<()> {
        let wanted = TokenRequest {
            spec: Some(TokenRequestSpec {
                expiration_seconds: i64::try_from(LIFE.as_secs()).ok(),
                ..TokenRequestSpec::default()
            }),
            ..TokenRequest::default()
        };
        let made = self
            .accounts
            .create_token_request(self.name, &PostParams::default(), &wanted)
            .await
            .context("the operators' account gets no token")?;
        let token = made.status.and_then(|status| status.token).map(SecretString::from);
        write_token(&self.file(), &token.context(NO_TOKEN)?)
    }

    fn file(&self) -> PathBuf {
        self.directory.path().join("token")
    }
}

fn write_token(path: &Path, token: &SecretString) -> anyhow::Result<()> {
    use secrecy::ExposeSecret as _;

    write_private(path, token.expose_secret())
        .map_err(|error| failed(format!("{} cannot be written", path.display()), error, MAKE_ROOM))
}
