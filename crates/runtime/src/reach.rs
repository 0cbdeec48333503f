//! How operators reach the API servers of hosted clusters: by sockets, or in memory where everything runs in one process.
//! Owns what a kubeconfig may ask of the process that reads it.

use std::{
    collections::BTreeMap,
    fmt,
    sync::{Arc, Mutex},
};

use futures::{FutureExt as _, future::BoxFuture};
use kube::{
    Client, Config,
    config::{KubeConfigOptions, Kubeconfig, KubeconfigError},
};
use sha2::{Digest as _, Sha256};
use thiserror::Error;

use crate::{failure::Failure, store::lock};

/// The longest kubeconfig that is read; ours have a few kilobytes.
const LONGEST: usize = 256 << 10;

/// The most clients that are kept for the next time. Each holds a few connections and buffers of some kilobytes; with more
/// hosted clusters than this, those that were used longest ago are made again.
const MOST_CLIENTS: usize = 1024;

/// A way to make a client for the API server that a kubeconfig names. Cheap to clone; clones share the clients.
#[derive(Clone)]
pub struct Reach(Arc<Inner>);

struct Inner {
    connect: Box<Connect>,
    clients: Mutex<Clients>,
}

type Connect = dyn Fn(Config) -> Result<Client, kube::Error> + Send + Sync;

/// Why a kubeconfig cannot be used.
#[derive(Debug, Error)]
pub enum ReachError {
    /// It is too long to be one.
    #[error("the kubeconfig has {0} bytes: at most {LONGEST}")]
    Length(usize),
    /// It is no text.
    #[error("the kubeconfig is not UTF-8")]
    Encoding,
    /// It is not one; what is wrong is not shown, because it may be a key.
    #[error("the kubeconfig cannot be read as one with clusters, users and contexts")]
    Form,
    /// It wants something of this process that only its owner may want.
    #[error("the kubeconfig uses {0}: embed certificates or a token instead")]
    Forbidden(&'static str),
    /// What it says does not go together.
    #[error("the kubeconfig does not lead to a cluster")]
    Incomplete(#[source] KubeconfigError),
}

impl Reach {
    /// By sockets, as any client does.
    pub fn sockets() -> Self {
        Self::by(Client::try_from)
    }

    /// In another way.
    pub fn by(connect: impl Fn(Config) -> Result<Client, kube::Error> + Send + Sync + 'static) -> Self {
        Self(Arc::new(Inner {
            connect: Box::new(connect),
            clients: Mutex::default(),
        }))
    }

    /// The same way, with something around every client that is made.
    #[must_use]
    pub fn around(&self, wrap: impl Fn(Client) -> Client + Send + Sync + 'static) -> Self {
        let inner = Arc::clone(&self.0);
        Self::by(move |config| (inner.connect)(config).map(&wrap))
    }

    /// Whether a kubeconfig from elsewhere may be used at all, without a connection being made.
    pub fn check(kubeconfig: &[u8]) -> Result<(), ReachError> {
        read(kubeconfig).map(drop)
    }

    /// A client for what a kubeconfig names, with connections that are kept for the next one who asks with the same text.
    /// The text may come from a tenant: it cannot run programs, read files or use the identity of this process.
    pub fn client<'a>(&'a self, kubeconfig: &'a [u8]) -> BoxFuture<'a, Result<Client, Failure>> {
        async move {
            let digest = digest(kubeconfig);
            if let Some(client) = lock(&self.0.clients).find(&digest) {
                return Ok(client);
            }
            let client = self.fresh_client(kubeconfig).await?;
            lock(&self.0.clients).keep(digest, client.clone());
            Ok(client)
        }
        .boxed()
    }

    /// The same with connections of its own, for those who ask whether one can be made.
    pub fn fresh_client<'a>(&'a self, kubeconfig: &'a [u8]) -> BoxFuture<'a, Result<Client, Failure>> {
        async move {
            let kubeconfig = read(kubeconfig).map_err(Failure::retry)?;
            let options = KubeConfigOptions::default();
            let mut config = Config::from_custom_kubeconfig(kubeconfig, &options)
                .await
                .map_err(|error| Failure::retry(ReachError::Incomplete(error)))?;
            // The environment of this process is not the tenant's, and the runner has retries of its own.
            config.proxy_url = None;
            config.default_retry = false;
            (self.0.connect)(config).map_err(Failure::from)
        }
        .boxed()
    }

    /// Drops the kept client of a kubeconfig: something went wrong with it, and its connections may lead nowhere.
    pub fn forget(&self, kubeconfig: &[u8]) {
        lock(&self.0.clients).by_digest.remove(&digest(kubeconfig));
    }
}

/// Clients that are kept, by the digest of their kubeconfig, so that another text never meets an old client.
#[derive(Default)]
struct Clients {
    /// Counts what is asked for: the order of use, without a clock.
    uses: u64,
    by_digest: BTreeMap<Key, (u64, Client)>,
}

type Key = [u8; 32];

impl Clients {
    fn find(&mut self, digest: &Key) -> Option<Client> {
        self.uses += 1;
        let (last_use, client) = self.by_digest.get_mut(digest)?;
        *last_use = self.uses;
        Some(client.clone())
    }

    fn keep(&mut self, digest: Key, client: Client) {
        self.uses += 1;
        if self.by_digest.len() >= MOST_CLIENTS {
            let oldest = self.by_digest.iter().min_by_key(|(_, (last_use, _))| *last_use);
            let oldest = oldest.map(|(digest, _)| *digest);
            oldest.and_then(|oldest| self.by_digest.remove(&oldest));
        }
        self.by_digest.insert(digest, (self.uses, client));
    }
}

fn digest(kubeconfig: &[u8]) -> Key {
    Sha256::digest(kubeconfig).into()
}

impl fmt::Debug for Reach {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Reach")
    }
}

fn read(text: &[u8]) -> Result<Kubeconfig, ReachError> {
    if text.len() > LONGEST {
        return Err(ReachError::Length(text.len()));
    }
    let text = std::str::from_utf8(text).map_err(|_| ReachError::Encoding)?;
    let kubeconfig = Kubeconfig::from_yaml(text).map_err(|_| ReachError::Form)?;
    forbidden(&kubeconfig).map_or(Ok(kubeconfig), |what| Err(ReachError::Forbidden(what)))
}

/// What a kubeconfig asks for that a text from elsewhere must not.
fn forbidden(kubeconfig: &Kubeconfig) -> Option<&'static str> {
    let users = kubeconfig.auth_infos.iter().filter_map(|user| user.auth_info.as_ref());
    for user in users {
        let wishes = [
            (user.exec.is_some(), "exec"),
            (user.auth_provider.is_some(), "auth-provider"),
            (user.client_certificate.is_some(), "client-certificate, a file"),
            (user.client_key.is_some(), "client-key, a file"),
            (user.token_file.is_some(), "tokenFile"),
        ];
        if let Some((_, what)) = wishes.into_iter().find(|(is_asked, _)| *is_asked) {
            return Some(what);
        }
    }
    let clusters = kubeconfig
        .clusters
        .iter()
        .filter_map(|cluster| cluster.cluster.as_ref());
    for cluster in clusters {
        let wishes = [
            (cluster.certificate_authority.is_some(), "certificate-authority, a file"),
            (cluster.proxy_url.is_some(), "proxy-url"),
            (
                cluster.insecure_skip_tls_verify == Some(true),
                "insecure-skip-tls-verify",
            ),
        ];
        if let Some((_, what)) = wishes.into_iter().find(|(is_asked, _)| *is_asked) {
            return Some(what);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kubeconfig(cluster: &str, user: &str) -> String {
        format!(
            "{{apiVersion: v1, kind: Config, current-context: a, \
             contexts: [{{name: a, context: {{cluster: a, user: a}}}}], \
             clusters: [{{name: a, cluster: {{server: 'https://a.example:6443', {cluster}}}}}], \
             users: [{{name: a, user: {{{user}}}}}]}}"
        )
    }

    #[test]
    fn what_only_the_owner_of_a_process_may_want_is_refused() {
        let cases = [
            (
                "",
                "exec: {apiVersion: client.authentication.k8s.io/v1, command: sh}",
                "exec",
            ),
            ("", "auth-provider: {name: gcp}", "auth-provider"),
            ("", "client-certificate: /etc/passwd", "client-certificate"),
            ("", "client-key: /etc/shadow", "client-key"),
            ("", "tokenFile: /var/run/secrets/token", "tokenFile"),
            (
                "certificate-authority: /etc/passwd",
                "token: t",
                "certificate-authority",
            ),
            ("proxy-url: 'http://10.0.0.1'", "token: t", "proxy-url"),
            ("insecure-skip-tls-verify: true", "token: t", "insecure-skip-tls-verify"),
        ];
        for (cluster, user, what) in cases {
            let error = read(kubeconfig(cluster, user).as_bytes()).unwrap_err().to_string();
            assert!(error.contains(what), "{what}: {error}");
        }
        assert!(read(kubeconfig("", "token: t").as_bytes()).is_ok());
    }

    #[test]
    fn a_text_that_is_no_kubeconfig_is_not_quoted() {
        for text in [&b"users: [secret-token"[..], b"\xff\xfe", b"- secret-token"] {
            let error = read(text).unwrap_err().to_string();
            assert!(!error.contains("secret-token"), "{error}");
        }
        assert!(matches!(read(&vec![b' '; LONGEST + 1]), Err(ReachError::Length(_))));
    }

    #[tokio::test]
    async fn the_client_is_made_by_whoever_knows_the_way() {
        let reach = Reach::by(|config| {
            assert_eq!(config.cluster_url.host(), Some("a.example"));
            Client::try_from(Config::new("http://127.0.0.1:1".parse().expect("it is an address")))
        });
        reach.client(kubeconfig("", "token: t").as_bytes()).await.unwrap();
        assert!(reach.client(b"{}").await.is_err());
    }

    #[tokio::test]
    async fn what_is_around_clients_is_around_each() {
        let (reach, made) = counted();
        let wrapped = Arc::<Mutex<u32>>::default();
        let counter = wrapped.clone();
        let reach = reach.around(move |client| {
            *lock(&counter) += 1;
            client
        });
        for user in ["token: t", "token: u"] {
            reach.client(kubeconfig("", user).as_bytes()).await.unwrap();
        }
        assert_eq!((*lock(&made), *lock(&wrapped)), (2, 2));
    }

    /// Counts the clients that are made.
    fn counted() -> (Reach, Arc<Mutex<u32>>) {
        let made = Arc::<Mutex<u32>>::default();
        let counter = made.clone();
        let reach = Reach::by(move |_| {
            *lock(&counter) += 1;
            Client::try_from(Config::new("http://127.0.0.1:1".parse().expect("it is an address")))
        });
        (reach, made)
    }

    #[tokio::test]
    async fn one_text_has_one_client_until_it_is_forgotten() {
        let (reach, made) = counted();
        let (first, other) = (kubeconfig("", "token: t"), kubeconfig("", "token: u"));
        for _ in 0..3 {
            reach.clone().client(first.as_bytes()).await.unwrap();
        }
        assert_eq!(*lock(&made), 1);
        reach.client(other.as_bytes()).await.unwrap();
        reach.fresh_client(first.as_bytes()).await.unwrap();
        assert_eq!(*lock(&made), 3);
        reach.forget(first.as_bytes());
        reach.client(other.as_bytes()).await.unwrap();
        assert_eq!(*lock(&made), 3);
        reach.client(first.as_bytes()).await.unwrap();
        assert_eq!(*lock(&made), 4);
    }

    #[tokio::test]
    async fn the_client_that_was_used_longest_ago_goes_first() {
        let (reach, _) = counted();
        let client = reach.fresh_client(kubeconfig("", "token: t").as_bytes()).await.unwrap();
        let mut clients = Clients::default();
        let key = |number: usize| digest(&number.to_le_bytes());
        for number in 0..MOST_CLIENTS {
            clients.keep(key(number), client.clone());
        }
        assert!(clients.find(&key(0)).is_some());
        clients.keep(key(MOST_CLIENTS), client);
        assert_eq!(clients.by_digest.len(), MOST_CLIENTS);
        assert!(clients.find(&key(0)).is_some() && clients.find(&key(1)).is_none());
    }
}
