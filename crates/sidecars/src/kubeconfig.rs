//! A client of the hosted API server by a mounted kubeconfig. Owns how it is read; knows nothing of what is asked.

use std::{
    io,
    path::{Path, PathBuf},
};

use kube::{
    Client, Config,
    config::{KubeConfigOptions, Kubeconfig},
};
use thiserror::Error;

/// Why a kubeconfig is of no use.
#[derive(Debug, Error)]
pub enum ClientError {
    /// It cannot be read.
    #[error("{} cannot be read: look at the Secret that is mounted there", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// The system's answer.
        #[source]
        source: io::Error,
    },
    /// It is none. What the parser says is not told: it quotes the text, and there are keys in it.
    #[error("{} is no kubeconfig that can be used: look at the Secret that is mounted there", path.display())]
    Form {
        /// The file.
        path: PathBuf,
    },
    /// No client can be made from it.
    #[error("no client can be made from {}: look at the certificates in it", path.display())]
    Client {
        /// The file.
        path: PathBuf,
        /// The library's answer.
        #[source]
        source: Box<kube::Error>,
    },
}

/// Reads the file, which may have changed since, and makes a client. It does not ask again by itself: whoever asks does.
pub(crate) async fn client(path: &Path) -> Result<Client, ClientError> {
    let text = tokio::fs::read_to_string(path).await;
    let text = text.map_err(|source| ClientError::Read {
        path: path.to_owned(),
        source,
    })?;
    let mut config = config(&text)
        .await
        .ok_or_else(|| ClientError::Form { path: path.to_owned() })?;
    config.default_retry = false;
    Client::try_from(config).map_err(|source| ClientError::Client {
        path: path.to_owned(),
        source: Box::new(source),
    })
}

async fn config(text: &str) -> Option<Config> {
    let kubeconfig = Kubeconfig::from_yaml(text).ok()?;
    Config::from_custom_kubeconfig(kubeconfig, &KubeConfigOptions::default())
        .await
        .ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn the_text_of_a_real_file_is_never_told() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("kubeconfig");
        tokio::fs::write(&path, "users: [{name: a, user: {token: s3cr3t, client-key-data: [}}")
            .await
            .unwrap();
        let refused = client(&path).await.err().unwrap();
        let told = format!("{} {refused:?}", crate::patience::chain(&refused));
        assert!(told.contains("is no kubeconfig"), "{told}");
        assert!(!told.contains("s3cr3t"), "{told}");
    }
}
