//! A webhook of the user's own that tells who a token is of.

use hyperplane_api::common::SecretName;

use super::{authentication::has_providers, kubeconfig};
use crate::inputs::Inputs;

/// The key with the kubeconfig that leads to the webhook.
pub(crate) const KEY: &str = "kubeConfig";

/// The Secret with the kubeconfig, if there is to be a webhook.
pub(crate) fn secret<'a>(inputs: &Inputs<'a>) -> Option<&'a str> {
    given(inputs).filter(|name| !has_providers(inputs) && name.parse::<SecretName>().is_ok())
}

/// What it waits for. That the Secret and its key exist is asked of everything that pods mount.
pub(crate) fn waits(inputs: &Inputs<'_>) -> Vec<String> {
    secret(inputs).map_or_else(Vec::new, |name| kubeconfig::waits(inputs, name, KEY))
}

/// What is left out.
pub(crate) fn warnings(inputs: &Inputs<'_>) -> Vec<String> {
    let path = "configuration.authentication.webhookTokenAuthenticator";
    match given(inputs) {
        Some(_) if has_providers(inputs) => vec![format!("{path} is not used with type OIDC")],
        Some(name) if name.parse::<SecretName>().is_err() => {
            vec![format!("{path}.kubeConfig.name must be the name of a Secret")]
        }
        None | Some(_) => Vec::new(),
    }
}

fn given<'a>(inputs: &Inputs<'a>) -> Option<&'a str> {
    let webhook = inputs.authentication()?.webhook_token_authenticator.as_ref()?;
    Some(webhook.kube_config.name.as_str()).filter(|name| !name.is_empty())
}
