//! Kubeconfigs with everything inside: writing them, and reading what stands in one. Knows no Secret.

use base64::{Engine as _, prelude::BASE64_STANDARD};
use secrecy::{ExposeSecret as _, SecretString};
use serde_json::{Value, json};

use crate::authority::Pair;

/// What stands in a kubeconfig.
#[derive(Clone, Debug)]
pub(crate) struct Content {
    pub(crate) server: String,
    /// Who signs for the server, as PEM.
    pub(crate) authority: String,
    pub(crate) client: Pair,
}

impl Content {
    /// The text, with a cluster, a user and a context of these names.
    pub(crate) fn write(&self, cluster: &str, user: &str) -> String {
        let encode = |pem: &str| BASE64_STANDARD.encode(pem);
        let value = json!({
            "apiVersion": "v1",
            "kind": "Config",
            "clusters": [{
                "name": cluster,
                "cluster": {"server": self.server, "certificate-authority-data": encode(&self.authority)},
            }],
            "users": [{
                "name": user,
                "user": {
                    "client-certificate-data": encode(&self.client.certificate),
                    "client-key-data": encode(self.client.key.expose_secret()),
                },
            }],
            "contexts": [{"name": cluster, "context": {"cluster": cluster, "user": user}}],
            "current-context": cluster,
        });
        // JSON is YAML too, only harder to read.
        serde_saphyr::to_string(&value).unwrap_or_else(|_| value.to_string())
    }

    /// What stands in a text of ours; none if it is another's, or broken.
    pub(crate) fn read(text: &[u8]) -> Option<Self> {
        let value: Value = serde_saphyr::from_str(str::from_utf8(text).ok()?).ok()?;
        let [cluster, user] = ["/clusters/0/cluster", "/users/0/user"].map(|path| value.pointer(path));
        let (cluster, user) = (cluster?, user?);
        let decode = |value: &Value| {
            let bytes = BASE64_STANDARD.decode(value.as_str()?).ok()?;
            String::from_utf8(bytes).ok()
        };
        let context = value.pointer("/contexts/0")?;
        let is_joined = value.get("current-context") == context.get("name")
            && context.pointer("/context/cluster") == value.pointer("/clusters/0/name")
            && context.pointer("/context/user") == value.pointer("/users/0/name");
        is_joined.then_some(())?;
        Some(Self {
            server: cluster.get("server")?.as_str()?.to_owned(),
            authority: decode(cluster.get("certificate-authority-data")?)?,
            client: Pair {
                certificate: decode(user.get("client-certificate-data")?)?,
                key: SecretString::from(decode(user.get("client-key-data")?)?),
            },
        })
    }

    /// Whether two lead to the same: how the texts are spelled does not matter.
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        self.server == other.server
            && self.authority == other.authority
            && self.client.certificate == other.client.certificate
            && self.client.key.expose_secret() == other.client.key.expose_secret()
    }
}
