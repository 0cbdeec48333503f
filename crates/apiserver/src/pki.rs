//! Everything secret that a server needs, made in milliseconds: two certificate authorities, a serving certificate, an
//! administrator, and the key that signs tokens of service accounts. Owns what they are and when they are made anew; the
//! clock and serial numbers are parameters. Knows nothing of TLS or of requests.

mod directory;
mod files;
mod inspect;
mod issue;
mod kubeconfig;
mod names;

#[cfg(test)]
mod tests;

use jiff::Timestamp;
use rcgen::KeyPair;
use secrecy::SecretString;
use thiserror::Error;

pub use self::{
    directory::{DirectoryError, open, renew},
    files::write_private,
    kubeconfig::kubeconfig,
    names::{NameError, ServingNames},
};
use self::{
    inspect::Inspected,
    issue::{Authority, Subject},
};
use hyperplane_seams::Entropy;

/// The user that the administrator's certificate names: kubeadm's.
pub const ADMINISTRATOR: &str = "kubernetes-admin";
/// The group that may do everything, without a rule that says so.
const MASTERS: &str = "system:masters";
/// How authorities are called: kubeadm's names.
const CLUSTER: &str = "kubernetes";
const FRONT_PROXY: &str = "front-proxy-ca";
/// How the server is called in its certificate.
const SERVER: &str = "kube-apiserver";

/// A certificate and its key, both as PEM.
#[derive(Clone, Debug)]
pub struct Pair {
    /// The certificate.
    pub certificate: String,
    /// The key, PKCS#8.
    pub key: SecretString,
}

/// What a server is, proves and trusts.
#[derive(Clone, Debug)]
pub struct Credentials {
    /// Signs the serving certificate, client certificates and certificate signing requests; clients trust it.
    pub cluster: Pair,
    /// Signs the certificates of proxies, which may speak for users.
    pub front_proxy: Pair,
    /// What the server shows.
    pub serving: Pair,
    /// Who may do everything.
    pub administrator: Pair,
    /// Signs the tokens of service accounts; a P-256 key as PKCS#8 PEM.
    pub service_account_key: SecretString,
}

/// Why credentials cannot be made.
#[derive(Debug, Error)]
pub enum PkiError {
    /// A certificate cannot be made.
    #[error("no certificate can be made for {subject}")]
    Issue {
        /// For whom.
        subject: String,
        /// What the library said.
        #[source]
        source: rcgen::Error,
    },
    /// A key cannot be read.
    #[error("{what} is damaged: it is no PKCS#8 key in PEM")]
    Key {
        /// Which part of the credentials.
        what: &'static str,
        /// What the library said.
        #[source]
        source: rcgen::Error,
    },
    /// A certificate cannot be read.
    #[error("{what} is damaged: it is no certificate in PEM")]
    Certificate {
        /// Which part of the credentials.
        what: &'static str,
    },
    /// A certificate belongs to another key.
    #[error("{what} and its key do not belong together")]
    Mismatch {
        /// Which part of the credentials.
        what: &'static str,
    },
    /// An authority has ended, and with it all that it signed.
    #[error("{what} expired on {expired}")]
    Expired {
        /// Which part of the credentials.
        what: &'static str,
        /// When.
        expired: Timestamp,
    },
}

impl Credentials {
    /// New credentials, valid from now on.
    pub fn generate(names: &ServingNames, now: Timestamp, entropy: &Entropy) -> Result<Self, PkiError> {
        let authority = |name: &str| Authority::generate(name, now, entropy);
        let (cluster, front_proxy) = (authority(CLUSTER)?, authority(FRONT_PROXY)?);
        Ok(Self {
            serving: cluster.issue(&serving_subject(names), &new_key(SERVER)?, now, entropy)?,
            administrator: cluster.issue(&administrator_subject(), &new_key(ADMINISTRATOR)?, now, entropy)?,
            cluster: cluster.into_pair(),
            front_proxy: front_proxy.into_pair(),
            service_account_key: issue::pem(&new_key("service accounts")?),
        })
    }

    /// Issues anew what will expire soon, does not have the names that are asked for, or is not signed by the authority
    /// that is there; keys stay. Says which changed. Authorities never change: what they signed is out in the world.
    pub fn renew(&mut self, names: &ServingNames, now: Timestamp, entropy: &Entropy) -> Result<Renewed, PkiError> {
        let cluster = Authority::from_pair(&self.cluster, "the cluster's certificate authority", now)?;
        Authority::from_pair(&self.front_proxy, "the front proxies' certificate authority", now)?;
        issue::key(&self.service_account_key, "the key of service accounts")?;
        let serving = Leaf {
            what: "the serving certificate",
            subject: serving_subject(names),
        };
        let administrator = Leaf {
            what: "the administrator's certificate",
            subject: administrator_subject(),
        };
        Ok(Renewed {
            serving: serving.renew(&mut self.serving, &cluster, now, entropy)?,
            administrator: administrator.renew(&mut self.administrator, &cluster, now, entropy)?,
        })
    }
}

/// Which certificates were issued anew.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Renewed {
    /// The one that the server shows.
    pub serving: bool,
    /// The administrator's; their kubeconfig has to be written again.
    pub administrator: bool,
}

/// A certificate that can be issued anew at any time.
struct Leaf {
    what: &'static str,
    subject: Subject,
}

impl Leaf {
    fn renew(
        &self,
        pair: &mut Pair,
        authority: &Authority,
        now: Timestamp,
        entropy: &Entropy,
    ) -> Result<bool, PkiError> {
        let key = issue::key(&pair.key, self.what)?;
        let inspected = Inspected::read(&pair.certificate, self.what)?;
        if inspected.is_good_until(now + issue::RENEWAL)
            && inspected.is_begun(now)
            && inspected.has_key(&key)
            && inspected.names() == self.subject.names
            && inspected.is_signed_by(authority.certificate())
        {
            return Ok(false);
        }
        *pair = authority.issue(&self.subject, &key, now, entropy)?;
        Ok(true)
    }
}

fn serving_subject(names: &ServingNames) -> Subject {
    Subject::server(SERVER, names.clone())
}

fn administrator_subject() -> Subject {
    Subject::client(ADMINISTRATOR, MASTERS)
}

fn new_key(subject: &str) -> Result<KeyPair, PkiError> {
    KeyPair::generate().map_err(|source| PkiError::Issue {
        subject: subject.to_owned(),
        source,
    })
}
