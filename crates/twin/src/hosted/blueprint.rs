//! What an API server and a controller manager are made of, read from their flags and the files of their pods. Pure.

use hyperplane_apiserver::{ServiceRange, pki::Pair};
use rustls_pki_types::{CertificateDer, pem::PemObject as _};
use secrecy::{ExposeSecret as _, SecretString};
use x509_parser::prelude::{FromDer as _, GeneralName, X509Certificate};

use crate::programs::{Content, Flags, Read};

/// The port of an API server where nobody says.
const PORT: u16 = 6443;
/// What comes before a public key in PEM, and after it.
const KEY_BEGIN: &str = "-----BEGIN PUBLIC KEY-----";
const KEY_END: &str = "-----END PUBLIC KEY-----";

/// Names, and the certificate for them.
type Named = (Vec<String>, Pair);

/// An API server.
#[derive(Clone)]
pub(crate) struct Blueprint {
    /// The certificate that it shows.
    pub(super) serving: Pair,
    /// Those for certain names.
    pub(super) named: Vec<Named>,
    /// Whose client certificates count, as PEM.
    pub(super) client_authorities: String,
    /// Signs tokens of service accounts.
    pub(super) signing_key: SecretString,
    /// Keys whose tokens count, too, each as PEM.
    pub(super) verifying_keys: Vec<String>,
    /// The name in the tokens.
    pub(super) issuer: String,
    /// For whom tokens are.
    pub(super) audiences: Vec<String>,
    /// Where pods of the hosted cluster reach it.
    pub(super) address: String,
    /// The addresses of Services.
    pub(super) service_range: ServiceRange,
    /// The port on which it listens.
    pub(super) port: u16,
    /// What it says it is.
    pub(super) version: Option<String>,
}

/// A controller manager.
#[derive(Clone)]
pub(crate) struct ManagerBlueprint {
    /// The certificates that pods trust, as PEM.
    pub(super) root_certificates: String,
    /// Who signs the certificates that are asked for.
    pub(super) signer: Option<Pair>,
}

impl Blueprint {
    /// Reads it, or says what the program would say before it ends.
    pub(crate) fn read(flags: &Flags, image: &str, read: &Read<'_>) -> Result<Self, String> {
        let port = match flags.last("secure-port") {
            None => PORT,
            Some(text) => text
                .parse()
                .map_err(|_| format!("Error: invalid argument {text:?} for \"--secure-port\" flag"))?,
        };
        let host = flags.last("advertise-address").unwrap_or("127.0.0.1");
        let address = if host.contains(':') {
            format!("[{host}]:{port}")
        } else {
            format!("{host}:{port}")
        };
        let range = flags.list("service-cluster-ip-range");
        let verifying = flags
            .of("service-account-key-file")
            .map(|path| text("service-account-key-file", path, read));
        let verifying: Vec<String> = verifying.collect::<Result<_, _>>()?;
        Ok(Self {
            serving: pair(flags, ("tls-cert-file", "tls-private-key-file"), read)?,
            named: named(flags, read)?,
            client_authorities: named_file(flags, "client-ca-file", read)?,
            signing_key: named_file(flags, "service-account-signing-key-file", read)?.into(),
            verifying_keys: verifying.iter().flat_map(|text| public_keys(text)).collect(),
            issuer: flags.of("service-account-issuer").next().cloned().unwrap_or_default(),
            audiences: flags.list("api-audiences").into_iter().map(str::to_owned).collect(),
            address,
            // The embedded server has addresses of one family only.
            service_range: range.iter().find_map(|range| range.parse().ok()).unwrap_or_default(),
            port,
            version: version(image),
        })
    }
}

impl PartialEq for Blueprint {
    fn eq(&self, other: &Self) -> bool {
        let is_same = |(left, right): (&Named, &Named)| left.0 == right.0 && same(&left.1, &right.1);
        same(&self.serving, &other.serving)
            && self.named.len() == other.named.len()
            && self.named.iter().zip(&other.named).all(is_same)
            && self.signing_key.expose_secret() == other.signing_key.expose_secret()
            && (
                &self.client_authorities,
                &self.verifying_keys,
                &self.issuer,
                &self.audiences,
            ) == (
                &other.client_authorities,
                &other.verifying_keys,
                &other.issuer,
                &other.audiences,
            )
            && (&self.address, self.port, &self.version) == (&other.address, other.port, &other.version)
    }
}

fn same(left: &Pair, right: &Pair) -> bool {
    left.certificate == right.certificate && left.key.expose_secret() == right.key.expose_secret()
}

impl ManagerBlueprint {
    /// Reads it. What is missing is not published, or not signed.
    pub(crate) fn read(flags: &Flags, read: &Read<'_>) -> Self {
        Self {
            root_certificates: named_file(flags, "root-ca-file", read).unwrap_or_default(),
            signer: pair(flags, ("cluster-signing-cert-file", "cluster-signing-key-file"), read).ok(),
        }
    }
}

/// The text of the file that a flag names, which has to be given.
fn named_file(flags: &Flags, flag: &str, read: &Read<'_>) -> Result<String, String> {
    let path = flags
        .last(flag)
        .ok_or_else(|| format!("Error: --{flag} is needed: nothing is made up here"))?;
    text(flag, path, read)
}

fn text(flag: &str, path: &str, read: &Read<'_>) -> Result<String, String> {
    let Content::Bytes(bytes) = read(path) else {
        return Err(format!("Error: --{flag}: open {path}: no such file or directory"));
    };
    String::from_utf8(bytes).map_err(|_| format!("Error: --{flag}: {path} is no text"))
}

fn pair(flags: &Flags, (certificate, key): (&str, &str), read: &Read<'_>) -> Result<Pair, String> {
    Ok(Pair {
        certificate: named_file(flags, certificate, read)?,
        key: named_file(flags, key, read)?.into(),
    })
}

/// Certificates for certain names: `certificate,key:name,name`; without names those in the certificate count.
fn named(flags: &Flags, read: &Read<'_>) -> Result<Vec<Named>, String> {
    let flag = "tls-sni-cert-key";
    let pairs = flags.of(flag).map(|value| {
        let (files, names) = value.split_once(':').unwrap_or((value, ""));
        let (certificate, key) = files
            .split_once(',')
            .ok_or_else(|| format!("Error: --{flag}: expected comma separated certificate and key file paths"))?;
        let pair = Pair {
            certificate: text(flag, certificate, read)?,
            key: text(flag, key, read)?.into(),
        };
        let given: Vec<String> = names
            .split(',')
            .filter(|name| !name.is_empty())
            .map(str::to_owned)
            .collect();
        let names = if given.is_empty() {
            names_of(&pair.certificate)
        } else {
            given
        };
        Ok((names, pair))
    });
    pairs.collect()
}

/// The host names that a certificate is for.
fn names_of(certificate: &str) -> Vec<String> {
    let Ok(der) = CertificateDer::from_pem_slice(certificate.as_bytes()) else {
        return Vec::new();
    };
    let Ok((_, parsed)) = X509Certificate::from_der(&der) else {
        return Vec::new();
    };
    let names = parsed.subject_alternative_name().ok().flatten();
    let names = names.into_iter().flat_map(|names| &names.value.general_names);
    let hosts = names.filter_map(|name| match name {
        GeneralName::DNSName(name) => Some((*name).to_owned()),
        _ => None,
    });
    hosts.collect()
}

/// Every public key in a file.
fn public_keys(text: &str) -> Vec<String> {
    let parts = text
        .split(KEY_BEGIN)
        .skip(1)
        .filter_map(|part| part.split_once(KEY_END));
    parts.map(|(body, _)| format!("{KEY_BEGIN}{body}{KEY_END}\n")).collect()
}

/// The version that the tag of an image tells.
fn version(image: &str) -> Option<String> {
    let name = image.split('@').next().unwrap_or_default();
    let tag = name.rsplit('/').next().unwrap_or_default().rsplit_once(':')?.1;
    let is_version = tag
        .strip_prefix('v')
        .is_some_and(|rest| rest.starts_with(|letter: char| letter.is_ascii_digit()));
    is_version.then(|| tag.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(arguments: &str) -> Result<Blueprint, String> {
        let files = |path: &str| match path {
            "/absent" => Content::Missing,
            path => Content::Bytes(path.as_bytes().to_vec()),
        };
        let words: Vec<String> = arguments.split_whitespace().map(str::to_owned).collect();
        Blueprint::read(
            &Flags::loose(&words),
            "r.example/kube-apiserver:v1.35.2@sha256:abc",
            &files,
        )
    }

    const ALL: &str = "--tls-cert-file=/c --tls-private-key-file=/k --client-ca-file=/ca --secure-port=7443 \
        --service-account-signing-key-file=/s --service-account-key-file=/p --service-account-issuer=https://i \
        --advertise-address=172.20.0.1 --service-cluster-ip-range=172.31.0.0/16 --api-audiences=a,b";

    #[test]
    fn flags_and_files_make_a_server() {
        let blueprint = read(ALL).ok().unwrap();
        assert_eq!(blueprint.serving.certificate, "/c");
        assert_eq!(blueprint.signing_key.expose_secret(), "/s");
        assert_eq!((blueprint.port, blueprint.address.as_str()), (7443, "172.20.0.1:7443"));
        assert_eq!(blueprint.service_range.to_string(), "172.31.0.0/16");
        assert_eq!(
            (blueprint.version.as_deref(), blueprint.audiences.len()),
            (Some("v1.35.2"), 2)
        );
        let again = read(ALL).ok().unwrap();
        assert!(blueprint == again);
        let named = read(&format!("{ALL} --tls-sni-cert-key=/nc,/nk:a.example,*.b.example"))
            .ok()
            .unwrap();
        assert_eq!(named.named[0].0, ["a.example", "*.b.example"]);
        assert!(blueprint != named);
    }

    #[test]
    fn what_is_missing_is_said() {
        let cases = [
            (
                ALL.replace("--client-ca-file=/ca", ""),
                "Error: --client-ca-file is needed: nothing is made up here",
            ),
            (
                ALL.replace("=/k ", "=/absent "),
                "Error: --tls-private-key-file: open /absent: no such file or directory",
            ),
        ];
        for (arguments, expected) in cases {
            assert_eq!(read(&arguments).err().as_deref(), Some(expected));
        }
    }

    #[test]
    fn versions_are_in_tags() {
        let cases = [
            ("r.example:5000/a/kube-apiserver", None),
            ("a:v1.36.0-rc.1", Some("v1.36.0-rc.1")),
            ("a:latest", None),
        ];
        for (image, expected) in cases {
            assert_eq!(version(image).as_deref(), expected, "{image}");
        }
    }

    #[test]
    fn a_file_may_have_several_keys() {
        let one = format!("{KEY_BEGIN}\nAA\n{KEY_END}\n");
        assert_eq!(public_keys(&format!("{one}{one}")), [one.clone(), one]);
    }
}
