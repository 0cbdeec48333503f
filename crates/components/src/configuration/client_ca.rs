//! An authority of the user's own for certificates of clients, beside those of the control plane. It is trusted as long as
//! it is given, and not a moment longer; which is why it is not put into the bundle itself, where whoever was trusted
//! before stays for as long as its certificate does.

use base64::{Engine as _, engine::general_purpose::STANDARD};
use hyperplane_api::{
    common::SecretName,
    constants::objects::{bundles, keys},
};

use crate::inputs::Inputs;

/// The ConfigMap with both.
pub(crate) const BOTH: &str = "kas-client-ca";

const PATH: &str = "configuration.apiServer.clientCA";
const BEGIN: &str = "-----BEGIN CERTIFICATE-----";
const END: &str = "-----END CERTIFICATE-----";

/// Whether there is one.
pub(crate) fn is_wanted(inputs: &Inputs<'_>) -> bool {
    name(inputs).is_some()
}

/// Everybody who is trusted; none while somebody is missing. A file that the API server cannot read would keep it from
/// starting, so that what is no certificate is left out.
pub(crate) fn bundle(inputs: &Inputs<'_>) -> Option<String> {
    let ours = inputs.objects.config_map_value(bundles::CLIENT, keys::CA_CERTIFICATE)?;
    let theirs = given(inputs)?;
    let mut text = format!("{}\n", ours.trim_end());
    if let Some(certificates) = certificates(theirs) {
        text.push_str(&certificates);
    }
    Some(text)
}

/// What is waited for.
pub(crate) fn waits(inputs: &Inputs<'_>) -> Vec<String> {
    let Some(theirs) = name(inputs) else { return Vec::new() };
    let wanted = [(bundles::CLIENT, keys::CA_CERTIFICATE), (theirs, keys::USER_CA_BUNDLE)];
    let absent = wanted
        .into_iter()
        .filter(|(name, key)| inputs.objects.config_map_value(name, key).is_none());
    absent
        .map(|(name, key)| format!("ConfigMap {name} does not exist or has no key {key}"))
        .collect()
}

/// What is left out.
pub(crate) fn warnings(inputs: &Inputs<'_>) -> Vec<String> {
    let is_named = given_name(inputs).is_some_and(|name| !name.is_empty());
    if is_named && name(inputs).is_none() {
        return vec![format!("{PATH}.name must be the name of a ConfigMap")];
    }
    let is_odd = given(inputs).is_some_and(|text| certificates(text).is_none());
    let sentence = format!(
        "{PATH}: {} of the ConfigMap must hold certificates in PEM",
        keys::USER_CA_BUNDLE
    );
    is_odd.then_some(sentence).into_iter().collect()
}

fn name<'a>(inputs: &Inputs<'a>) -> Option<&'a str> {
    given_name(inputs).filter(|name| name.parse::<SecretName>().is_ok())
}

fn given_name<'a>(inputs: &Inputs<'a>) -> Option<&'a str> {
    let reference = inputs.api_server()?.client_ca.as_ref()?;
    Some(&reference.name)
}

fn given<'a>(inputs: &Inputs<'a>) -> Option<&'a str> {
    inputs.objects.config_map_value(name(inputs)?, keys::USER_CA_BUNDLE)
}

/// The certificates of a text and nothing else of it; none if there is none, or one that is broken.
fn certificates(text: &str) -> Option<String> {
    let mut found = String::new();
    for part in text.split(BEGIN).skip(1) {
        let (body, _) = part.split_once(END)?;
        let body: String = body.split_whitespace().collect();
        let bytes = STANDARD.decode(&body).ok().filter(|bytes| is_sequence(bytes))?;
        found.push_str(BEGIN);
        for line in STANDARD.encode(bytes).as_bytes().chunks(64) {
            found.push('\n');
            found.extend(line.iter().copied().map(char::from));
        }
        found.push('\n');
        found.push_str(END);
        found.push('\n');
    }
    (!found.is_empty()).then_some(found)
}

/// Whether bytes are one sequence of DER and nothing besides, as every certificate is.
fn is_sequence(bytes: &[u8]) -> bool {
    const SEQUENCE: u8 = 0x30;
    const LONG: u8 = 0x80;
    let [SEQUENCE, first, rest @ ..] = bytes else {
        return false;
    };
    if *first < LONG {
        return rest.len() == usize::from(*first);
    }
    let count = usize::from(*first - LONG);
    if count == 0 || count > size_of::<u32>() || rest.len() < count {
        return false;
    }
    let (length, body) = rest.split_at(count);
    let length = length.iter().fold(0_usize, |sum, byte| sum << 8 | usize::from(*byte));
    body.len() == length
}
