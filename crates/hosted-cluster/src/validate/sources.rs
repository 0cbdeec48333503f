//! The objects that a cluster refers to: that they exist, and that in each is what it is there for. What is in a Secret is
//! never shown.

use hyperplane_api::constants::objects::keys;
use hyperplane_pki_issue::service_account;
use hyperplane_platforms::{Problem, Rule};
use hyperplane_runtime::Reach;
use serde_json::Value;

use super::{Case, Verdict, authentication::PROVIDERS, reserved};
use crate::{
    certificates,
    dereference::{Content, Source, State},
    references::{OLD_SIGNING_KEY, Order, Purpose, SIGNING_KEY},
    verifying_keys,
};

const EXISTS: Rule = Rule {
    name: "source-exists",
    asks: "everything that a cluster refers to must exist",
};
const KEYS: Rule = Rule {
    name: "source-keys",
    asks: "an object must have the keys that it is there for",
};
const PULL_SECRET: Rule = Rule {
    name: "source-pull-secret",
    asks: "registry credentials must be JSON with auths",
};
const TRUST_BUNDLE: Rule = Rule {
    name: "source-trust-bundle",
    asks: "a trust bundle must consist of certificates",
};
const ENCRYPTION_KEY: Rule = Rule {
    name: "source-encryption-key",
    asks: "a key for AES must have 16, 24 or 32 bytes",
};
const SIGNING: Rule = Rule {
    name: "source-signing-key",
    asks: "the key of service account tokens must be a private key that can sign",
};
const KUBECONFIG: Rule = Rule {
    name: "source-kubeconfig",
    asks: "a kubeconfig must not run programs or read files where it is used",
};
const PROXY: Rule = Rule {
    name: "source-proxy-bundle",
    asks: "the certificates of a proxy must be readable and not have expired",
};

pub(super) const RULES: &[Rule] = &[
    EXISTS,
    KEYS,
    PULL_SECRET,
    TRUST_BUNDLE,
    ENCRYPTION_KEY,
    SIGNING,
    KUBECONFIG,
    PROXY,
];

/// Whose clients the API server trusts.
const CLIENT_AUTHORITY: &str = "spec.configuration.apiServer.clientCA";

/// The key of a Secret with the kubeconfig of a webhook that authenticates.
const WEBHOOK_KUBECONFIG: &str = "kubeConfig";

pub(super) fn judge(case: &Case<'_>, verdict: &mut Verdict) {
    for source in &case.seen.sources {
        let mut problems: Vec<Problem> = one(source).into_iter().collect();
        problems.extend(reserved::judge(case, source));
        let list = match source.order.purpose {
            Purpose::Credentials => &mut verdict.credentials,
            _ => &mut verdict.configuration,
        };
        list.extend(problems);
        if is_of_proxy(source) {
            verdict.proxy.extend(proxy(case, source));
            verdict.lacks_proxy_bundle |= proxy_bundle(source).is_none();
        }
        let is_pull_secret = source.order.purpose == Purpose::PullSecret;
        verdict.lacks_pull_secret |= is_pull_secret && matches!(source.state, State::Missing);
    }
}

fn one(source: &Source) -> Option<Problem> {
    let order = &source.order;
    let Some(content) = source.content() else {
        return Some(Problem::new(
            &EXISTS,
            order.field.clone(),
            format!(
                "there is no {} {:?} beside the cluster",
                order.kind.name(),
                order.source
            ),
            "create it, or refer to another",
        ));
    };
    // What was copied was judged then; what is made of it may not be what it was made from.
    if matches!(source.state, State::Current(_)) && order.purpose == Purpose::SigningKey {
        return None;
    }
    missing_keys(order, content).or_else(|| judge_content(order, content))
}

fn missing_keys(order: &Order, content: &Content) -> Option<Problem> {
    let is_missing = |key: &&str| content.data.get(*key).is_none_or(Vec::is_empty);
    let missing: Vec<&str> = order
        .keys
        .iter()
        .map(|key| key.from.as_str())
        .filter(is_missing)
        .collect();
    (!missing.is_empty()).then(|| {
        Problem::new(
            &KEYS,
            order.field.clone(),
            format!("{} {} lacks {}", order.kind.name(), order.source, missing.join(", ")),
            "add what is missing, or refer to another",
        )
    })
}

fn judge_content(order: &Order, content: &Content) -> Option<Problem> {
    let value = |key: &str| content.data.get(key).map(Vec::as_slice).unwrap_or_default();
    let first = |order: &Order| order.keys.first().map(|key| value(&key.from)).unwrap_or_default();
    match order.purpose {
        Purpose::PullSecret => pull_secret(order, value(keys::PULL_SECRET)),
        Purpose::TrustBundle => trust_bundle(order, value(keys::USER_CA_BUNDLE)),
        Purpose::EncryptionKey => encryption_key(order, value(keys::ENCRYPTION_KEY)),
        Purpose::SigningKey => signing_key(order, value(SIGNING_KEY))
            .or_else(|| old_signing_keys(order, content.data.get(OLD_SIGNING_KEY)?)),
        Purpose::AuditWebhook | Purpose::Credentials => kubeconfig(order, first(order)),
        Purpose::Configuration => configured(order, content),
        Purpose::SshKey | Purpose::EtcdClient => None,
    }
}

/// Objects of the configuration say by their keys what they hold. Those of a proxy are judged elsewhere, and what nothing
/// acts on is not judged.
fn configured(order: &Order, content: &Content) -> Option<Problem> {
    let is_used = [CLIENT_AUTHORITY, PROVIDERS]
        .iter()
        .any(|field| order.field.starts_with(field));
    let webhook = content.data.get(WEBHOOK_KUBECONFIG);
    let authorities = content.data.get(keys::USER_CA_BUNDLE).filter(|_| is_used);
    webhook
        .and_then(|text| kubeconfig(order, text))
        .or_else(|| authorities.and_then(|text| trust_bundle(order, text)))
}

fn pull_secret(order: &Order, text: &[u8]) -> Option<Problem> {
    let parsed: Option<Value> = serde_json::from_slice(text).ok();
    let is_valid = parsed.is_some_and(|value| value["auths"].is_object());
    (!is_valid).then(|| {
        Problem::new(
            &PULL_SECRET,
            order.field.clone(),
            format!("{} of Secret {} is no JSON with auths", keys::PULL_SECRET, order.source),
            "take it from a registry login",
        )
    })
}

fn trust_bundle(order: &Order, text: &[u8]) -> Option<Problem> {
    certificates::read_all(text).is_none().then(|| {
        Problem::new(
            &TRUST_BUNDLE,
            order.field.clone(),
            format!(
                "{} of ConfigMap {} has no certificates",
                keys::USER_CA_BUNDLE,
                order.source
            ),
            "write certificates in PEM, one after the other",
        )
    })
}

fn encryption_key(order: &Order, key: &[u8]) -> Option<Problem> {
    (![16, 24, 32].contains(&key.len())).then(|| {
        Problem::new(
            &ENCRYPTION_KEY,
            order.field.clone(),
            format!("the key in Secret {} has {} bytes", order.source, key.len()),
            "use 32 bytes that nobody can guess",
        )
    })
}

fn signing_key(order: &Order, key: &[u8]) -> Option<Problem> {
    let error = service_account::public_of(key).err()?;
    Some(Problem::new(
        &SIGNING,
        order.field.clone(),
        format!("{SIGNING_KEY} of Secret {}: {error}", order.source),
        "give another key",
    ))
}

fn old_signing_keys(order: &Order, text: &[u8]) -> Option<Problem> {
    verifying_keys::read(text).is_empty().then(|| {
        Problem::new(
            &SIGNING,
            order.field.clone(),
            format!("{OLD_SIGNING_KEY} of Secret {} has no public keys", order.source),
            "write public keys in PEM, one after the other, or leave it out",
        )
    })
}

fn kubeconfig(order: &Order, text: &[u8]) -> Option<Problem> {
    let error = Reach::check(text).err()?;
    Some(Problem::new(
        &KUBECONFIG,
        order.field.clone(),
        format!("Secret {}: {error}", order.source),
        "give a kubeconfig that holds everything it needs",
    ))
}

fn is_of_proxy(source: &Source) -> bool {
    source.order.field.starts_with("spec.configuration.proxy.trustedCA")
}

fn proxy_bundle(source: &Source) -> Option<&[u8]> {
    let bundle = source.content()?.data.get(keys::USER_CA_BUNDLE)?;
    Some(bundle)
}

/// The certificates of a proxy are told by a condition of their own, and stop nothing.
fn proxy(case: &Case<'_>, source: &Source) -> Option<Problem> {
    let text = proxy_bundle(source)?;
    let what = match certificates::read_all(text) {
        None => "it has no certificates that can be read".to_owned(),
        Some(all) => {
            let expired = all.iter().find(|certificate| certificate.end <= case.now)?;
            format!("a certificate in it has expired at {}", expired.end)
        }
    };
    Some(Problem::new(
        &PROXY,
        source.order.field.clone(),
        what,
        "replace it by valid certificates in PEM",
    ))
}
