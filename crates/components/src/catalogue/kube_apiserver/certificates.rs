//! Certificates that the API server shows for names of the user's own.

use hyperplane_api::{
    common::SecretName, constants::objects::keys, hypershift::configuration::api_server::NamedCertificate,
};

use super::{NAME, add_volume, only};
use crate::{flags, inputs::Inputs, manifest::Workload, volumes::secret_volume};

/// The most certificates that are mounted, as the schema of the spec has it.
const MOST: usize = 32;

/// Mounts each certificate, and says for which names it is shown.
pub(super) fn mount_named(inputs: &Inputs<'_>, workload: &mut Workload) {
    for (index, certificate) in named(inputs).enumerate() {
        let Some(secret) = secret(certificate) else { continue };
        let path = format!("/etc/kubernetes/named-certificates/{index}");
        let mut volume = secret_volume(&format!("named-certificate-{index}"), secret);
        only(&mut volume, &[keys::TLS_CERTIFICATE, keys::TLS_KEY]);
        add_volume(workload, volume, &path);
        let mut pair = format!("{path}/{},{path}/{}", keys::TLS_CERTIFICATE, keys::TLS_KEY);
        let names: Vec<&str> = certificate
            .names
            .iter()
            .map(String::as_str)
            .filter(|name| is_name(name))
            .collect();
        if !names.is_empty() {
            pair.push(':');
            pair.push_str(&names.join(","));
        }
        if let Some(container) = workload.container_mut(NAME) {
            flags::add(container, "tls-sni-cert-key", pair);
        }
    }
}

/// What is left out.
pub(super) fn warnings(inputs: &Inputs<'_>) -> Vec<String> {
    let path = "configuration.apiServer.servingCerts.namedCertificates";
    let mut warnings = Vec::new();
    for (index, certificate) in named(inputs).enumerate() {
        if secret(certificate).is_none() {
            warnings.push(format!(
                "{path}[{index}].servingCertificate.name must be the name of a Secret"
            ));
        }
        let wrong = certificate.names.iter().filter(|name| !is_name(name));
        warnings.extend(wrong.map(|name| format!("{path}[{index}].names: {name:?} is not a host name")));
    }
    warnings
}

fn named<'a>(inputs: &Inputs<'a>) -> impl Iterator<Item = &'a NamedCertificate> {
    let api_server = inputs.api_server();
    let certificates = api_server.and_then(|api_server| api_server.serving_certs.as_ref());
    certificates
        .into_iter()
        .flat_map(|certificates| certificates.named_certificates.iter().take(MOST))
}

fn secret(certificate: &NamedCertificate) -> Option<&str> {
    let name = certificate.serving_certificate.as_ref()?.name.as_str();
    name.parse::<SecretName>().is_ok().then_some(name)
}

/// Whether a text can be a host name with or without a wildcard, and so cannot end the list that it stands in.
fn is_name(text: &str) -> bool {
    const LONGEST: usize = 253;
    let rest = text.strip_prefix("*.").unwrap_or(text);
    let is_inner = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.');
    !rest.is_empty() && text.len() <= LONGEST && rest.bytes().all(is_inner)
}
