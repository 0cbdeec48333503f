//! `token-minter`: keeps a token of a service account of the hosted cluster in a file, for a component that acts there.
//! Owns when it is asked for anew, and how it is written; the token itself is shown to nobody.

use std::{
    io,
    os::unix::fs::PermissionsExt as _,
    path::{Path, PathBuf},
    time::Duration,
};

use hyperplane_runtime::Api;
use hyperplane_seams::Clock;
use jiff::Timestamp;
use k8s_openapi::api::{
    authentication::v1::{TokenRequest, TokenRequestSpec},
    core::v1::ServiceAccount,
};
use kube::api::{ObjectMeta, PostParams};
use secrecy::{ExposeSecret as _, SecretString};
use thiserror::Error;
use tokio::{
    fs,
    io::AsyncWriteExt as _,
    time::{sleep, timeout},
};

use crate::{
    kubeconfig::{self, ClientError},
    patience,
};

/// How long one request may take.
const ATTEMPT: Duration = Duration::from_secs(30);

/// The shortest time between two tokens, whatever they say about themselves.
const SHORTEST: Duration = Duration::from_secs(10);

/// How much of its life a token is used for, in percent, if nothing else is asked for. Kubelets do the same.
const USED_PERCENT: u32 = 80;

/// Only the owner may read the file.
const MODE: u32 = 0o600;

/// What the program is to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings {
    /// Which API server, and as whom.
    pub kubeconfig: PathBuf,
    /// The namespace of the service account.
    pub namespace: String,
    /// The service account.
    pub name: String,
    /// For whom the token is.
    pub audience: String,
    /// Where the token goes.
    pub file: PathBuf,
    /// How long before its end a token is replaced; by default, after four fifths of its life.
    pub renew_before: Option<Duration>,
}

/// Why there is no new token.
#[derive(Debug, Error)]
pub enum TokenError {
    /// There is no client.
    #[error(transparent)]
    Client(#[from] ClientError),
    /// The server gives none.
    #[error(
        "no token for service account {namespace}/{name}: see that it exists, and that the kubeconfig may ask for its tokens"
    )]
    Request {
        /// The namespace of the service account.
        namespace: String,
        /// The service account.
        name: String,
        /// The server's answer.
        #[source]
        source: Box<kube::Error>,
    },
    /// The server answers without one.
    #[error("the API server answers a request for a token without a token")]
    Empty,
    /// The server does not answer in time.
    #[error("the API server does not answer a request for a token within {} s", ATTEMPT.as_secs())]
    Slow,
    /// The file cannot be written.
    #[error("{} cannot be written: look at the volume that is mounted there", path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// The system's answer.
        #[source]
        source: io::Error,
    },
}

/// A token that was given.
struct Token {
    text: SecretString,
    end: Timestamp,
}

/// Keeps the file fresh until it is dropped. A token that is there stays until a new one is.
pub async fn run(settings: &Settings, clock: &Clock) {
    loop {
        let end = patience::until("a token", async || renew(settings).await).await;
        sleep(pause(clock.now(), end, settings.renew_before)).await;
    }
}

/// Asks for a token, writes it, and says when it ends.
pub async fn renew(settings: &Settings) -> Result<Timestamp, TokenError> {
    let token = timeout(ATTEMPT, request(settings))
        .await
        .map_err(|_| TokenError::Slow)??;
    write(&settings.file, &token.text)
        .await
        .map_err(|source| TokenError::Write {
            path: settings.file.clone(),
            source,
        })?;
    tracing::info!(end = %token.end, "A new token is there.");
    Ok(token.end)
}

/// How long a token is used.
fn pause(now: Timestamp, end: Timestamp, renew_before: Option<Duration>) -> Duration {
    // A token whose end has passed already is replaced as soon as may be.
    let life = Duration::try_from(end.duration_since(now)).unwrap_or_default();
    let used = match renew_before {
        Some(before) => life.saturating_sub(before),
        None => life * USED_PERCENT / 100,
    };
    used.max(SHORTEST)
}

async fn request(settings: &Settings) -> Result<Token, TokenError> {
    let client = kubeconfig::client(&settings.kubeconfig).await?;
    let accounts: Api<ServiceAccount> = Api::namespaced(client, &settings.namespace);
    let request = TokenRequest {
        metadata: ObjectMeta::default(),
        spec: Some(TokenRequestSpec {
            audiences: Some(vec![settings.audience.clone()]),
            ..TokenRequestSpec::default()
        }),
        status: None,
    };
    let options = PostParams::default();
    let answer = accounts.create_token_request(&settings.name, &options, &request).await;
    let answer = answer.map_err(|source| TokenError::Request {
        namespace: settings.namespace.clone(),
        name: settings.name.clone(),
        source: Box::new(source),
    })?;
    let status = answer.status.unwrap_or_default();
    match (status.token, status.expiration_timestamp) {
        (Some(text), Some(end)) if !text.is_empty() => Ok(Token {
            text: SecretString::from(text),
            end: end.0,
        }),
        _ => Err(TokenError::Empty),
    }
}

/// Writes beside the file first, so that a reader sees the old token or the new one, never a part.
async fn write(path: &Path, token: &SecretString) -> io::Result<()> {
    let name = path.file_name().ok_or(io::ErrorKind::InvalidInput)?;
    let partial = path.with_file_name(format!(".{}.part", name.to_string_lossy()));
    let mut options = fs::OpenOptions::new();
    let mut file = options
        .create(true)
        .truncate(true)
        .write(true)
        .mode(MODE)
        .open(&partial)
        .await?;
    // One that a container left behind may have another mode.
    file.set_permissions(std::fs::Permissions::from_mode(MODE)).await?;
    file.write_all(token.expose_secret().as_bytes()).await?;
    file.sync_all().await?;
    fs::rename(partial, path).await
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_is_used_for_most_of_its_life() {
        let second = |second| Timestamp::from_second(second).unwrap();
        let minutes = |minutes: u64| Duration::from_secs(minutes * 60);
        let cases = [
            (3600, None, minutes(48)),
            (3600, Some(minutes(10)), minutes(50)),
            (3600, Some(minutes(90)), SHORTEST),
            (5, None, SHORTEST),
            (-5, None, SHORTEST),
        ];
        for (end, before, expected) in cases {
            assert_eq!(pause(second(0), second(end), before), expected, "{end} {before:?}");
        }
    }

    #[tokio::test]
    async fn a_real_file_is_replaced_as_a_whole_and_is_for_its_owner_alone() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("token");
        for text in ["a long first token", "short"] {
            write(&path, &SecretString::from(text)).await.unwrap();
            assert_eq!(fs::read_to_string(&path).await.unwrap(), text);
            let mode = fs::metadata(&path).await.unwrap().permissions().mode() & 0o777;
            assert_eq!(mode, MODE);
        }
        let mut entries = fs::read_dir(directory.path()).await.unwrap();
        assert_eq!(entries.next_entry().await.unwrap().unwrap().file_name(), "token");
        assert!(entries.next_entry().await.unwrap().is_none());
    }
}
