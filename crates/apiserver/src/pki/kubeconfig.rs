//! A kubeconfig with everything inside, as kubectl reads it.

use base64::{Engine as _, prelude::BASE64_STANDARD};
use secrecy::ExposeSecret as _;
use serde_json::json;

use super::Pair;

/// How cluster, user and context are called.
const NAME: &str = "hyperplane";

/// A kubeconfig for a server at a URL, which `authority` vouches for, and a client with a certificate. It holds the
/// client's key: keep it as one.
pub fn kubeconfig(server: &str, authority: &str, client: &Pair) -> String {
    let encode = |pem: &str| BASE64_STANDARD.encode(pem);
    let value = json!({
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{
            "name": NAME,
            "cluster": {"server": server, "certificate-authority-data": encode(authority)},
        }],
        "users": [{
            "name": NAME,
            "user": {
                "client-certificate-data": encode(&client.certificate),
                "client-key-data": encode(client.key.expose_secret()),
            },
        }],
        "contexts": [{"name": NAME, "context": {"cluster": NAME, "user": NAME}}],
        "current-context": NAME,
    });
    // JSON is YAML too, only harder to read.
    serde_saphyr::to_string(&value).unwrap_or_else(|_| value.to_string())
}
