//! The objects that a cluster refers to: that they exist, and that in each is what it is there for. What is in a Secret is
//! never shown.

use hyperplane_api::constants::{
    objects::{bundles, certificates as leaves, copies, keys, kubeconfigs, signers},
    ours,
};
use hyperplane_pki_issue::service_account;
use hyperplane_platforms::{Problem, Rule};
use hyperplane_runtime::Reach;
use serde_json::Value;

use super::{Case, Verdict};
use crate::{
    certificates,
    dereference::{Content, Source, State},
    references::{Order, Purpose, SIGNING_KEY, SourceKind},
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
const RESERVED: Rule = Rule {
    name: "source-reserved-name",
    asks: "what the configuration refers to must not have a name that the control plane uses itself",
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
    RESERVED,
    PROXY,
];

/// The key of a Secret with the kubeconfig of a webhook that authenticates.
const WEBHOOK_KUBECONFIG: &str = "kubeConfig";

pub(super) fn judge(case: &Case<'_>, verdict: &mut Verdict) {
    for source in &case.seen.sources {
        let mut problems: Vec<Problem> = one(source).into_iter().collect();
        problems.extend(reserved(case, source));
        let list = match source.order.purpose {
            Purpose::Credentials => &mut verdict.credentials,
            _ => &mut verdict.configuration,
        };
        list.extend(problems);
        verdict.proxy.extend(proxy(case, source));
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
        Purpose::SigningKey => signing_key(order, value(SIGNING_KEY)),
        Purpose::AuditWebhook | Purpose::Credentials => kubeconfig(order, first(order)),
        Purpose::Configuration => content
            .data
            .get(WEBHOOK_KUBECONFIG)
            .and_then(|text| kubeconfig(order, text)),
        Purpose::SshKey | Purpose::EtcdClient => None,
    }
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

fn kubeconfig(order: &Order, text: &[u8]) -> Option<Problem> {
    let error = Reach::check(text).err()?;
    Some(Problem::new(
        &KUBECONFIG,
        order.field.clone(),
        format!("Secret {}: {error}", order.source),
        "give a kubeconfig that holds everything it needs",
    ))
}

/// Names in the namespace of a control plane that have a meaning of their own.
const MEANINGS: &[&str] = &[
    bundles::ROOT,
    bundles::ETCD,
    bundles::ETCD_METRICS,
    bundles::AGGREGATOR_CLIENT,
    bundles::CLIENT,
    bundles::KUBELET_CLIENT,
    bundles::KONNECTIVITY,
    signers::CLUSTER,
    signers::ETCD,
    signers::ETCD_METRICS,
    signers::AGGREGATOR_CLIENT,
    signers::CONTROL_PLANE,
    signers::KUBELET_CLIENT,
    signers::SYSTEM_ADMIN,
    signers::CONFIG_OPERATOR,
    signers::BOOTSTRAP,
    signers::KONNECTIVITY,
    signers::IGNITION,
    leaves::API_SERVER,
    leaves::API_SERVER_KUBELET_CLIENT,
    leaves::AGGREGATOR_CLIENT,
    leaves::SYSTEM_ADMIN,
    leaves::BOOTSTRAP,
    leaves::CONFIG_OPERATOR,
    leaves::SCHEDULER_CLIENT,
    leaves::SCHEDULER_SERVER,
    leaves::CONTROLLER_MANAGER_CLIENT,
    leaves::CONTROLLER_MANAGER_SERVER,
    leaves::ETCD_CLIENT,
    leaves::ETCD_SERVER,
    leaves::ETCD_PEER,
    leaves::ETCD_METRICS_CLIENT,
    leaves::METRICS_CLIENT,
    leaves::KONNECTIVITY_SERVER,
    leaves::KONNECTIVITY_CLUSTER,
    leaves::KONNECTIVITY_CLIENT,
    leaves::KONNECTIVITY_AGENT,
    leaves::IGNITION_SERVER,
    leaves::OPENSHIFT_API_SERVER,
    leaves::SERVICE_ACCOUNT_KEYS,
    kubeconfigs::ADMIN,
    kubeconfigs::CUSTOM_ADMIN,
    kubeconfigs::LOCALHOST,
    kubeconfigs::SERVICE_NETWORK_ADMIN,
    kubeconfigs::BOOTSTRAP,
    kubeconfigs::CONFIG_OPERATOR,
    kubeconfigs::CONTROLLER_MANAGER,
    kubeconfigs::SCHEDULER,
    copies::PULL_SECRET,
    copies::SSH_KEY,
    copies::USER_CA_BUNDLE,
    copies::ENCRYPTION_KEY,
    copies::ENCRYPTION_KEY_BEFORE,
    copies::AUDIT_WEBHOOK,
];

/// A copy under a name that the control plane uses would overwrite what it needs.
fn reserved(case: &Case<'_>, source: &Source) -> Option<Problem> {
    let order = &source.order;
    if order.purpose != Purpose::Configuration {
        return None;
    }
    let objects = &case.seen.objects;
    let is_copy = |value: Option<&str>| value.is_some();
    let is_taken = match order.kind {
        SourceKind::Secret => objects
            .secrets
            .get(&order.target)
            .is_some_and(|found| !is_copy(ours::COPIED_FROM.of(found.as_ref()))),
        SourceKind::ConfigMap => objects
            .config_maps
            .get(&order.target)
            .is_some_and(|found| !is_copy(ours::COPIED_FROM.of(found.as_ref()))),
    };
    let is_meant = MEANINGS.contains(&order.target.as_str()) || order.target.ends_with("-kubeconfig");
    (is_taken || is_meant).then(|| {
        Problem::new(
            &RESERVED,
            order.field.clone(),
            format!(
                "{} is the name of an object that control planes have themselves",
                order.target
            ),
            "give the object another name",
        )
    })
}

/// The certificates of a proxy are told by a condition of their own, and stop nothing.
fn proxy(case: &Case<'_>, source: &Source) -> Option<Problem> {
    if !source.order.field.starts_with("spec.configuration.proxy.trustedCA") {
        return None;
    }
    let text = source.content()?.data.get(keys::USER_CA_BUNDLE)?;
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
