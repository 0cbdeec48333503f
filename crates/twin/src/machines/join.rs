//! Joining a hosted cluster as a kubelet does: a key, a request for a certificate with the credentials that all machines
//! share, waiting for somebody to approve it, and a Node with the certificate. Owns the exchange; every step can be
//! repeated, and hits the same objects each time.

use std::net::{IpAddr, Ipv4Addr};

use base64::{Engine as _, prelude::BASE64_STANDARD};
use hyperplane_runtime::{Api, Failure, Reach};
use hyperplane_seams::Random;
use k8s_openapi::{
    ByteString,
    api::{
        certificates::v1::{CertificateSigningRequest, CertificateSigningRequestSpec},
        core::v1::Node,
    },
    apimachinery::pkg::apis::meta::v1::ObjectMeta,
};
use kube::{Client, api::PostParams};
use rcgen::{CertificateParams, DistinguishedName, DnType, KeyPair, SanType, string::Ia5String};
use rustls_pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer};
use serde_json::{Value, json};

use super::{instance::Trouble, node, obey::Host};
use crate::names;

/// Who signs certificates of kubelets, as clients and as servers.
const CLIENT_SIGNER: &str = "kubernetes.io/kube-apiserver-client-kubelet";
const SERVING_SIGNER: &str = "kubernetes.io/kubelet-serving";
/// What comes before the 32 bytes of an Ed25519 key in PKCS #8 (RFC 8410).
const ED25519: [u8; 16] = [
    0x30, 0x2e, 0x02, 0x01, 0x00, 0x30, 0x05, 0x06, 0x03, 0x2b, 0x65, 0x70, 0x04, 0x22, 0x04, 0x20,
];

/// An instance whose kubelet joins.
pub(super) struct Joiner<'a> {
    /// The name of the twin.
    pub(super) twin: &'a str,
    /// The name of the host, and of its Node.
    pub(super) name: &'a str,
    /// The uid of its infrastructure machine.
    pub(super) uid: &'a str,
    /// The identity of its machine, where somebody else than its configuration tells it.
    pub(super) provider_id: Option<&'a str>,
    /// Its address.
    pub(super) address: Ipv4Addr,
    /// What it was configured to be.
    pub(super) host: &'a Host,
    /// The key follows from it: a seed that nobody can guess gives a key that nobody can.
    pub(super) seed: u64,
}

/// Goes on with joining; true when the Node is there.
pub(super) async fn join(reach: &Reach, joiner: &Joiner<'_>) -> Result<bool, Trouble> {
    let key = key(joiner.seed, joiner.uid).map_err(|_| Trouble::Final("no key can be made".to_owned()))?;
    let shared = reach
        .client(joiner.host.bootstrap.to_string().as_bytes())
        .await
        .map_err(|failure| unreached(&failure))?;
    let request = joiner.request(CLIENT_SIGNER, &["digital signature", "client auth"], Vec::new(), &key)?;
    let Some(certificate) = certificate(&shared, &request).await? else {
        return Ok(false);
    };
    let own = as_node(&joiner.host.bootstrap, &certificate, &key.serialize_pem());
    // Once per node: a client that is kept would hold a connection for ever.
    let own = reach
        .fresh_client(own.to_string().as_bytes())
        .await
        .map_err(|failure| unreached(&failure))?;
    let provider_id = joiner.host.provider_id.as_deref().or(joiner.provider_id);
    let node = node::registration(joiner.twin, joiner.name, provider_id, joiner.host);
    created(
        Api::<Node>::all(own.clone())
            .create(&PostParams::default(), &node)
            .await,
    )?;
    if joiner.host.asks_to_serve {
        let names = joiner.names()?;
        let request = joiner.request(SERVING_SIGNER, &["digital signature", "server auth"], names, &key)?;
        created(Api::all(own).create(&PostParams::default(), &request).await)?;
    }
    Ok(true)
}

impl Joiner<'_> {
    /// The names under which it serves.
    fn names(&self) -> Result<Vec<SanType>, Trouble> {
        let host = Ia5String::try_from(self.name);
        let host = host.map_err(|_| Trouble::Final("its name is no name of a host".to_owned()))?;
        Ok(vec![
            SanType::DnsName(host),
            SanType::IpAddress(IpAddr::V4(self.address)),
        ])
    }

    /// A request for a certificate. Its name follows from what is asked, so that asking again finds it.
    fn request(
        &self,
        signer: &str,
        usages: &[&str],
        names: Vec<SanType>,
        key: &KeyPair,
    ) -> Result<CertificateSigningRequest, Trouble> {
        let mut parameters = CertificateParams::default();
        let mut subject = DistinguishedName::new();
        subject.push(DnType::OrganizationName, "system:nodes");
        subject.push(DnType::CommonName, format!("system:node:{}", self.name));
        parameters.distinguished_name = subject;
        parameters.subject_alt_names = names;
        let pem = parameters.serialize_request(key).and_then(|request| request.pem());
        let pem = pem.map_err(|_| Trouble::Final("no certificate can be asked for".to_owned()))?;
        let identity = format!("{}/{signer}/{pem}", self.uid);
        Ok(CertificateSigningRequest {
            metadata: ObjectMeta {
                name: Some(names::named(&format!("csr-{}", self.name), &identity)),
                ..ObjectMeta::default()
            },
            spec: CertificateSigningRequestSpec {
                request: ByteString(pem.into_bytes()),
                signer_name: signer.to_owned(),
                usages: Some(usages.iter().map(|usage| (*usage).to_owned()).collect()),
                ..CertificateSigningRequestSpec::default()
            },
            ..CertificateSigningRequest::default()
        })
    }
}

/// The key of an instance. Ed25519, because its signatures follow from what is signed: asking again is asking the same.
fn key(seed: u64, uid: &str) -> Result<KeyPair, rcgen::Error> {
    let mut random = Random::named(seed, &format!("machine-key/{uid}"));
    let mut der = ED25519.to_vec();
    for _ in 0..4 {
        der.extend(random.next_u64().to_le_bytes());
    }
    KeyPair::try_from(&PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(der)))
}

/// Asks for a certificate and gives it, once it is there.
async fn certificate(client: &Client, request: &CertificateSigningRequest) -> Result<Option<String>, Trouble> {
    let api: Api<CertificateSigningRequest> = Api::all(client.clone());
    let name = request.metadata.name.as_deref().unwrap_or_default();
    let found = api.get_opt(name).await.map_err(|error| refused(&error))?;
    let Some(found) = found else {
        created(api.create(&PostParams::default(), request).await)?;
        return Ok(None);
    };
    let status = found.status.unwrap_or_default();
    let mut conditions = status.conditions.iter().flatten();
    let denied = conditions.find(|condition| matches!(condition.type_.as_str(), "Denied" | "Failed"));
    if let Some(denied) = denied {
        let message = denied.message.as_deref().unwrap_or_default();
        return Err(Trouble::Final(format!(
            "its request for a certificate is {}: {message}",
            denied.type_
        )));
    }
    let certificate = status.certificate.filter(|certificate| !certificate.0.is_empty());
    Ok(certificate.map(|certificate| String::from_utf8_lossy(&certificate.0).into_owned()))
}

/// That something is there already is as good as having made it.
fn created<K>(outcome: Result<K, kube::Error>) -> Result<(), Trouble> {
    match outcome {
        Err(kube::Error::Api(status)) if status.code == 409 => Ok(()),
        Err(error) => Err(refused(&error)),
        Ok(_) => Ok(()),
    }
}

fn refused(error: &kube::Error) -> Trouble {
    Trouble::Again(format!("the API server: {error}"))
}

fn unreached(failure: &Failure) -> Trouble {
    Trouble::Again(format!("the API server: {}", failure.report()))
}

/// The kubeconfig of a node: the same cluster, with a certificate of its own.
fn as_node(bootstrap: &Value, certificate: &str, key: &str) -> Value {
    let mut config = bootstrap.clone();
    let user = json!({
        "client-certificate-data": BASE64_STANDARD.encode(certificate),
        "client-key-data": BASE64_STANDARD.encode(key),
    });
    let users = config.get_mut("users").and_then(Value::as_array_mut);
    for entry in users.into_iter().flatten().filter_map(Value::as_object_mut) {
        entry.insert("user".to_owned(), user.clone());
    }
    config
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use hyperplane_access::signing::{Request, Signer};

    use super::*;

    fn host() -> Host {
        Host {
            bootstrap: json!({"clusters": [], "users": [{"name": "a", "user": {"token": "shared"}}]}),
            provider_id: None,
            has_cloud: false,
            labels: BTreeMap::new(),
            taints: Vec::new(),
            asks_to_serve: true,
            pods: None,
            version: None,
        }
    }

    fn joiner<'a>(uid: &'a str, host: &'a Host) -> Joiner<'a> {
        Joiner {
            twin: "twin",
            name: "pool-a-1",
            uid,
            provider_id: None,
            address: Ipv4Addr::new(10, 64, 0, 1),
            host,
            seed: 7,
        }
    }

    #[test]
    fn requests_are_what_the_signers_take() {
        let host = host();
        let joiner = joiner("1", &host);
        let key = key(joiner.seed, joiner.uid).unwrap();
        let client = joiner.request(CLIENT_SIGNER, &["digital signature", "client auth"], Vec::new(), &key);
        let names = joiner.names().ok().unwrap();
        let serving = joiner.request(SERVING_SIGNER, &["digital signature", "server auth"], names, &key);
        for request in [client, serving] {
            let request = request.ok().unwrap();
            let asked = Request::from_pem(&request.spec.request.0).unwrap();
            asked.check_signature().unwrap();
            assert_eq!(asked.common_name, "system:node:pool-a-1");
            let signer = Signer::named(&request.spec.signer_name).unwrap();
            signer.validate(&asked, &request.spec.usages.unwrap()).unwrap();
        }
    }

    #[test]
    fn asking_again_is_asking_the_same() {
        let host = host();
        let ask = |uid: &str| {
            let joiner = joiner(uid, &host);
            let key = key(joiner.seed, uid).unwrap();
            joiner.request(CLIENT_SIGNER, &[], Vec::new(), &key).ok().unwrap()
        };
        assert_eq!(ask("1"), ask("1"));
        assert_ne!(ask("1").metadata.name, ask("2").metadata.name);
        assert_ne!(ask("1").spec.request, ask("2").spec.request);
    }

    #[test]
    fn a_node_has_credentials_of_its_own() {
        let config = as_node(&host().bootstrap, "certificate", "key");
        let user = &config["users"][0]["user"];
        assert_eq!(user["client-key-data"], "a2V5");
        assert!(user["token"].is_null());
    }
}
