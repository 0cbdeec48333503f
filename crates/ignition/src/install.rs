//! What answers machines of one namespace, put on a manager: for a process of its own, or for one that has many.

use std::{collections::BTreeSet, convert::Infallible, sync::Arc};

use hyperplane_api::constants::objects::keys;
use hyperplane_objects::Kind;
use hyperplane_runtime::{Clock, Manager, ObjectKey, Store};
use k8s_openapi::api::core::v1::Secret;
use kube::Client;

use crate::{
    counts::Counts,
    payload::{Generator, Payloads},
    reached::Reached,
    service::Service,
    sources::{self, Sources},
    tls::{Certificate, CertificateFiles, TlsError},
    token,
};

/// The controller, and with it the manager of what it writes.
const CONTROLLER: &str = "ignition-server";

/// The index of Secrets that hold tokens, and the one value that it has.
const TOKENS: &str = "is-token";
const IS_TOKEN: &str = "true";

/// What was put on a manager.
pub struct Installed {
    /// Answers machines.
    pub service: Service,
    reached: Arc<Reached>,
    secrets: Store<Secret>,
    namespace: String,
}

impl Installed {
    /// The certificate that a Secret of the namespace holds at this moment, for a process without the files of a pod; none
    /// while it holds none.
    pub fn certificate(&self, secret: &str, files: &CertificateFiles) -> Option<Result<Certificate, TlsError>> {
        let secret = self.secrets.namespace(&self.namespace).get(secret)?;
        let value = |key: &str| token::data(&secret, key).map(<[u8]>::to_vec);
        let (certificate, key) = (value(keys::TLS_CERTIFICATE)?, value(keys::TLS_KEY)?);
        Some(Certificate::in_memory(files.clone(), certificate, key))
    }

    /// Writes on the Secrets of tokens that machines came, until it is dropped.
    pub async fn write_marks(&self, client: &Client) -> Infallible {
        self.reached.write(client, &self.secrets).await
    }
}

/// Puts on a manager what answers machines of one namespace. The manager runs it; whoever accepts connections hands them
/// to [`serve_machine`](crate::serve_machine) with the service.
pub fn install(manager: &mut Manager, namespace: &str, clock: Clock) -> Installed {
    let mut counts = Counts::default();
    manager.metrics().extend(|registry| counts = Counts::register(registry));
    let sources = Sources::watch(manager, namespace);
    let payloads = Arc::new(Payloads::new(sources.clone(), counts.clone()));
    let secrets = sources.secrets.clone();
    secrets.add_index(TOKENS, |secret| {
        let is_token = token::is_token(secret);
        is_token.then(|| IS_TOKEN.to_owned()).into_iter().collect()
    });
    let reached = Arc::new(Reached::default());
    let generator = Generator {
        payloads: Arc::clone(&payloads),
        reached: Arc::clone(&reached),
    };
    manager
        .controller(CONTROLLER, sources::secrets(namespace), generator)
        .watches(sources::secrets(namespace), all_tokens(&secrets))
        .watches(sources::config_maps(namespace), all_tokens(&secrets))
        .watches(sources::control_planes(namespace), all_tokens(&secrets))
        .watches(sources::releases(), all_tokens(&secrets))
        .reads(&sources.config_maps)
        .reads(&sources.control_planes)
        .reads(&sources.releases)
        .register();
    Installed {
        service: Service::new(secrets.clone(), clock, counts, Arc::clone(&reached), payloads),
        reached,
        secrets,
        namespace: namespace.to_owned(),
    }
}

/// Whatever changes concerns every token: there are few of them, and a payload that stays the same costs a digest.
fn all_tokens<K: Kind>(secrets: &Store<Secret>) -> impl Fn(&K) -> BTreeSet<ObjectKey> + Send + Sync + use<K> {
    let secrets = secrets.clone();
    move |_: &K| {
        let tokens = secrets.by_index(TOKENS, IS_TOKEN);
        tokens.iter().map(|secret| ObjectKey::of(secret.as_ref())).collect()
    }
}
