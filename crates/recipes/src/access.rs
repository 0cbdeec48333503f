//! What a cluster is let in with: registry credentials, SSH keys, trusted certificates and mirrors of images.

use std::path::PathBuf;

use clap::Args;
use hyperplane_api::{
    common::LocalObjectReference, constants::objects::keys, hypershift::image_content_source::ImageContentSource,
};
use hyperplane_objects::YamlError;
use serde_json::{Value, json};

use crate::{
    beside,
    given::{FileFlag, Given, files},
    judge::Judge,
    manifest::Manifest,
    ssh,
};

const PULL_SECRET: &str = "--pull-secret";
const SSH_KEY: &str = "--ssh-key";
const TRUST_BUNDLE: &str = "--additional-trust-bundle";
const MIRRORS: &str = "--image-content-sources";

/// Registry credentials of which there are none.
const NO_CREDENTIALS: &str = r#"{"auths":{}}"#;
/// What every PEM block begins with.
const PEM: &str = "-----BEGIN CERTIFICATE-----";

/// What a cluster is let in with.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Access")]
pub(crate) struct AccessFlags {
    /// A file with registry credentials, as docker keeps them [default: none]
    #[arg(long, value_name = "FILE")]
    pull_secret: Option<PathBuf>,
    /// A file with the public SSH keys of nodes
    #[arg(long, value_name = "FILE")]
    ssh_key: Option<PathBuf>,
    /// Make an SSH key for nodes; both halves are kept in Secret NAME-ssh-key
    #[arg(long, conflicts_with = "ssh_key")]
    pub(crate) generate_ssh: bool,
    /// A file with further certificates that the cluster trusts
    #[arg(long, value_name = "FILE")]
    additional_trust_bundle: Option<PathBuf>,
    /// A file with a list of source and mirrors, from which nodes pull images
    #[arg(long, value_name = "FILE")]
    image_content_sources: Option<PathBuf>,
}

/// Objects beside the cluster, and how it names them.
#[derive(Debug, Default)]
pub(crate) struct Access {
    pub(crate) objects: Vec<Manifest>,
    pub(crate) pull_secret: LocalObjectReference,
    pub(crate) ssh_key: Option<LocalObjectReference>,
    pub(crate) trust_bundle: Option<LocalObjectReference>,
    pub(crate) mirrors: Vec<ImageContentSource>,
}

impl AccessFlags {
    /// The files that flags name.
    pub(crate) fn files(&self) -> Vec<FileFlag> {
        files([
            (PULL_SECRET, self.pull_secret.as_ref()),
            (SSH_KEY, self.ssh_key.as_ref()),
            (TRUST_BUNDLE, self.additional_trust_bundle.as_ref()),
            (MIRRORS, self.image_content_sources.as_ref()),
        ])
    }

    /// Everything that is asked for. Objects carry these labels.
    pub(crate) fn build(
        &self,
        namespace: &str,
        name: &str,
        labels: &Value,
        given: &Given,
        judge: &mut Judge,
    ) -> Access {
        let pull_secret = pull_secret(namespace, name, given, judge);
        let ssh_key = self.ssh_key(namespace, name, given, judge);
        let trust_bundle = trust_bundle(namespace, name, given, judge);
        let objects = [Some(pull_secret), ssh_key, trust_bundle];
        let [pull_secret, ssh_key, trust_bundle] = objects.map(|object| object.map(|object| object.labelled(labels)));
        Access {
            pull_secret: reference(pull_secret.as_ref()).unwrap_or_default(),
            ssh_key: reference(ssh_key.as_ref()),
            trust_bundle: reference(trust_bundle.as_ref()),
            mirrors: mirrors(given, judge),
            objects: [pull_secret, ssh_key, trust_bundle].into_iter().flatten().collect(),
        }
    }

    fn ssh_key(&self, namespace: &str, name: &str, given: &Given, judge: &mut Judge) -> Option<Manifest> {
        let name = format!("{name}{}", beside::SSH_KEY);
        if let Some(text) = given.file(SSH_KEY) {
            ssh::check(text).unwrap_or_else(|rule| judge.wrong(SSH_KEY, rule));
            return Some(Manifest::secret(namespace, &name, "Opaque", &[(keys::SSH_KEY, text)]));
        }
        let pair = given.ssh.as_ref().filter(|_| self.generate_ssh)?;
        let texts = [(keys::SSH_KEY, &*pair.public), ("id_rsa", &*pair.private)];
        Some(Manifest::secret(namespace, &name, "Opaque", &texts))
    }
}

fn reference(object: Option<&Manifest>) -> Option<LocalObjectReference> {
    object.map(|object| LocalObjectReference {
        name: object.name().to_owned(),
    })
}

/// Nothing in the credentials that nobody gave is sensitive.
fn pull_secret(namespace: &str, name: &str, given: &Given, judge: &mut Judge) -> Manifest {
    let text = given.file(PULL_SECRET);
    if text.is_some_and(|text| !has_credentials(text)) {
        judge.wrong(
            PULL_SECRET,
            "the file holds no registry credentials: use JSON with a field auths, as docker writes it",
        );
    }
    let texts = [(keys::PULL_SECRET, text.unwrap_or(NO_CREDENTIALS))];
    let kind = "kubernetes.io/dockerconfigjson";
    let name = format!("{name}{}", beside::PULL_SECRET);
    let mut secret = Manifest::secret(namespace, &name, kind, &texts);
    secret.is_sensitive = text.is_some();
    secret
}

fn has_credentials(text: &str) -> bool {
    let value: Option<Value> = serde_json::from_str(text).ok();
    value.is_some_and(|value| value["auths"].is_object())
}

fn trust_bundle(namespace: &str, name: &str, given: &Given, judge: &mut Judge) -> Option<Manifest> {
    let text = given.file(TRUST_BUNDLE)?;
    if !text.contains(PEM) {
        judge.wrong(
            TRUST_BUNDLE,
            format!("the file holds no certificate: it must have a block {PEM}"),
        );
    }
    let object = json!({
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": format!("{name}{}", beside::TRUST_BUNDLE), "namespace": namespace},
        "data": {keys::USER_CA_BUNDLE: text},
    });
    Some(Manifest::open(&object))
}

fn mirrors(given: &Given, judge: &mut Judge) -> Vec<ImageContentSource> {
    let Some(text) = given.file(MIRRORS) else {
        return Vec::new();
    };
    hyperplane_objects::read_yaml(text).unwrap_or_else(|error: YamlError| {
        let place = error
            .line()
            .map_or_else(String::new, |line| format!("look at line {line}: "));
        judge.wrong(
            MIRRORS,
            format!("{place}the file must be a list of entries with source and mirrors"),
        );
        Vec::new()
    })
}
