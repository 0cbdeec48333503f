//! Certificate authorities of one control plane and what they sign, all ECDSA. It knows names and uses of
//! certificates, not which server presents them.

use std::{
    fs,
    net::{IpAddr, Ipv4Addr},
    path::PathBuf,
};

use rcgen::{
    BasicConstraints, Certificate, CertificateParams, CertifiedIssuer, DnType, ExtendedKeyUsagePurpose, IsCa, KeyPair,
    KeyUsagePurpose, SanType,
};

use crate::error::Error;

/// How many groups fit into a client certificate: the library keeps one value per attribute type, and the
/// organization can be spelt in two ways. A service account's two groups fit.
pub const GROUP_LIMIT: usize = 2;

/// The object identifier of the organization attribute, its second spelling.
const ORGANIZATION: [u64; 4] = [2, 5, 4, 10];

/// A certificate and its key as files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Identity {
    /// The certificate.
    pub certificate: PathBuf,
    /// Its private key.
    pub key: PathBuf,
}

impl Identity {
    /// The two files of a name in a directory.
    pub fn in_directory(directory: &std::path::Path, name: &str) -> Self {
        Self {
            certificate: directory.join(format!("{name}.crt")),
            key: directory.join(format!("{name}.key")),
        }
    }

    fn write(&self, certificate: &str, key: &KeyPair) -> Result<(), Error> {
        let file = |path: &PathBuf| Error::at(format!("writing {}", path.display()));
        fs::write(&self.certificate, certificate).map_err(file(&self.certificate))?;
        fs::write(&self.key, key.serialize_pem()).map_err(file(&self.key))
    }
}

/// A certificate authority.
pub struct Authority {
    issuer: CertifiedIssuer<'static, KeyPair>,
}

impl Authority {
    /// Makes a new authority and writes its certificate and key, which the controller manager signs with.
    pub fn create(name: &str, files: &Identity) -> Result<Self, Error> {
        let failed = |source| Error::Certificate {
            subject: name.to_owned(),
            source,
        };
        let mut parameters = CertificateParams::default();
        parameters.distinguished_name.push(DnType::CommonName, name);
        parameters.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        parameters.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::DigitalSignature];
        let key = KeyPair::generate().map_err(failed)?;
        let issuer = CertifiedIssuer::self_signed(parameters, key).map_err(failed)?;
        files.write(&issuer.pem(), issuer.key())?;
        Ok(Self { issuer })
    }

    /// This authority's certificate, for clients to trust.
    pub fn certificate(&self) -> Vec<u8> {
        self.issuer.der().to_vec()
    }

    /// Signs a certificate for a server at an address. Servers may also call others with it, as etcd does.
    pub fn sign_server(&self, name: &str, host: Ipv4Addr, files: &Identity) -> Result<(), Error> {
        self.sign_server_for(name, &[&host.to_string()], files)
    }

    /// Signs a certificate for a server that has these DNS names and addresses.
    pub fn sign_server_for(&self, name: &str, hosts: &[&str], files: &Identity) -> Result<(), Error> {
        let mut parameters = subject(name, &[]);
        for host in hosts {
            let alternative = match host.parse::<IpAddr>() {
                Ok(address) => SanType::IpAddress(address),
                Err(_) => SanType::DnsName((*host).try_into().map_err(|source| Error::Certificate {
                    subject: name.to_owned(),
                    source,
                })?),
            };
            parameters.subject_alt_names.push(alternative);
        }
        parameters.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth, ExtendedKeyUsagePurpose::ClientAuth];
        self.sign(name, &parameters, files)
    }

    /// Signs a certificate that says who a client is: Kubernetes reads the user from the common name and the
    /// groups from the organizations.
    pub fn sign_client(&self, user: &str, groups: &[&str], files: &Identity) -> Result<(), Error> {
        if groups.len() > GROUP_LIMIT {
            let user = user.to_owned();
            return Err(Error::TooManyGroups {
                user,
                groups: groups.len(),
                limit: GROUP_LIMIT,
            });
        }
        let mut parameters = subject(user, groups);
        parameters.extended_key_usages = vec![ExtendedKeyUsagePurpose::ClientAuth];
        self.sign(user, &parameters, files)
    }

    fn sign(&self, name: &str, parameters: &CertificateParams, files: &Identity) -> Result<(), Error> {
        let (certificate, key) = self
            .key_and_certificate(parameters)
            .map_err(|source| Error::Certificate {
                subject: name.to_owned(),
                source,
            })?;
        files.write(&certificate.pem(), &key)
    }

    fn key_and_certificate(&self, parameters: &CertificateParams) -> Result<(Certificate, KeyPair), rcgen::Error> {
        let key = KeyPair::generate()?;
        Ok((parameters.signed_by(&key, &self.issuer)?, key))
    }
}

/// Writes a key pair, the public key in place of a certificate: service account tokens are signed with it.
pub(crate) fn create_key_pair(files: &Identity) -> Result<(), Error> {
    let key = KeyPair::generate().map_err(|source| Error::Certificate {
        subject: "service accounts".to_owned(),
        source,
    })?;
    files.write(&key.public_key_pem(), &key)
}

fn subject(name: &str, groups: &[&str]) -> CertificateParams {
    let mut parameters = CertificateParams::default();
    let spellings = [DnType::OrganizationName, DnType::CustomDnType(ORGANIZATION.to_vec())];
    for (spelling, group) in spellings.into_iter().zip(groups) {
        parameters.distinguished_name.push(spelling, *group);
    }
    parameters.distinguished_name.push(DnType::CommonName, name);
    parameters.key_usages = vec![KeyUsagePurpose::DigitalSignature];
    parameters
}
