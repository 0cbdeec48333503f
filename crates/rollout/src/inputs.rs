//! What rolls the nodes of a pool, and nothing else: the inputs of the rollout hash by name.
//!
//! An input that is empty is left out of the hash altogether, and each that is not is preceded by its name. So an input
//! that a later release adds rolls nobody who does not use it.

use crate::hash::Framed;

/// Everything of which a change rolls nodes. Texts that are not set are empty.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RolloutInputs {
    /// By which revision of our own rendering machines are configured. It is raised only on purpose.
    pub render_revision: u32,
    /// The version of the pool's release.
    pub release_version: String,
    /// What every node of the cluster is configured with.
    pub core_ignition: Vec<ConfigDocument>,
    /// What the pool adds.
    pub config: Vec<ConfigDocument>,
    /// Where images are mirrored.
    pub image_sources: Vec<ConfigDocument>,
    /// The name of the pull secret; its content reaches nodes without a rollout.
    pub pull_secret: String,
    /// The name of the additional trust bundle.
    pub trust_bundle: String,
    /// Who may log in: public keys as they are. Whoever takes one away wants it gone from every node, under whichever name
    /// the keys are kept.
    pub ssh_keys: String,
    /// The proxy of the cluster, as canonical JSON.
    pub proxy: String,
    /// The image configuration of the cluster, as canonical JSON.
    pub image: String,
    /// The TLS profile of the cluster, as canonical JSON.
    pub tls_profile: String,
    /// Host and port by which nodes reach the API server.
    pub api_endpoint: String,
    /// The stream of the operating system, where it is not the default of the release.
    pub os_stream: String,
}

/// One document of configuration.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct ConfigDocument {
    /// What it is: kind and name, such as `KubeletConfig/big-pods`.
    pub title: String,
    /// Its normalised content, as canonical JSON.
    pub text: String,
}

impl RolloutInputs {
    /// The hash of all inputs: nodes with another one are outdated.
    pub fn rollout_hash(&self) -> String {
        self.hash(true)
    }

    /// The same without the version: tells a new configuration from an upgrade.
    pub fn config_hash(&self) -> String {
        self.hash(false)
    }

    fn hash(&self, with_version: bool) -> String {
        let mut hash = Framed::default();
        hash.add(if with_version { "rollout" } else { "config" });
        let revision = self.render_revision.to_string();
        let version = if with_version { &*self.release_version } else { "" };
        for (name, text) in [
            ("render-revision", &*revision),
            ("release-version", version),
            ("pull-secret", &*self.pull_secret),
            ("trust-bundle", &*self.trust_bundle),
            ("ssh-keys", &*self.ssh_keys),
            ("proxy", &*self.proxy),
            ("image", &*self.image),
            ("tls-profile", &*self.tls_profile),
            ("api-endpoint", &*self.api_endpoint),
            ("os-stream", &*self.os_stream),
        ] {
            if !text.is_empty() {
                hash.add(name);
                hash.add(text);
            }
        }
        for (name, documents) in [
            ("core-ignition", &self.core_ignition),
            ("config", &self.config),
            ("image-sources", &self.image_sources),
        ] {
            add_documents(&mut hash, name, documents);
        }
        hash.finish()
    }
}

/// Documents count in the order of their titles, whichever order they were found in.
fn add_documents(hash: &mut Framed, name: &str, documents: &[ConfigDocument]) {
    if documents.is_empty() {
        return;
    }
    let mut sorted: Vec<&ConfigDocument> = documents.iter().collect();
    sorted.sort();
    hash.add(name);
    hash.count(sorted.len());
    for document in sorted {
        hash.add(&document.title);
        hash.add(&document.text);
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    pub(crate) fn document(title: &str, text: &str) -> ConfigDocument {
        ConfigDocument {
            title: title.to_owned(),
            text: text.to_owned(),
        }
    }

    pub(crate) fn inputs() -> RolloutInputs {
        RolloutInputs {
            render_revision: 1,
            release_version: "1.36.2".to_owned(),
            core_ignition: vec![document("MachineConfig/core", "{}")],
            config: vec![
                document("KubeletConfig/big", r#"{"maxPods":500}"#),
                document("MachineConfig/a", "{}"),
            ],
            pull_secret: "pull".to_owned(),
            ..RolloutInputs::default()
        }
    }

    /// A change of one input.
    pub(crate) type Edit = fn(&mut RolloutInputs);

    /// Each input changed, with its name as users know it and whether it is part of the config hash.
    pub(crate) const EDITS: &[(&str, bool, Edit)] = &[
        ("render revision", true, |inputs| inputs.render_revision = 2),
        ("spec.release", false, |inputs| {
            inputs.release_version = "1.36.3".to_owned();
        }),
        ("core ignition", true, |inputs| {
            inputs.core_ignition[0].text = "{1}".to_owned();
        }),
        ("spec.config", true, |inputs| inputs.config[0].text.push(' ')),
        ("spec.imageContentSources", true, |inputs| {
            inputs
                .image_sources
                .push(document("ImageDigestMirrorSet/hosted-cluster", "{}"));
        }),
        ("spec.pullSecret", true, |inputs| {
            inputs.pull_secret = "other".to_owned();
        }),
        ("spec.additionalTrustBundle", true, |inputs| {
            inputs.trust_bundle = "trust".to_owned();
        }),
        ("spec.sshKey", true, |inputs| {
            inputs.ssh_keys = "ssh-ed25519 AAAA a@b".to_owned();
        }),
        ("spec.configuration.proxy", true, |inputs| {
            inputs.proxy = "{}".to_owned();
        }),
        ("spec.configuration.image", true, |inputs| {
            inputs.image = "{}".to_owned();
        }),
        ("spec.configuration.apiServer.tlsSecurityProfile", true, |inputs| {
            inputs.tls_profile = "{}".to_owned();
        }),
        ("address of the API server", true, |inputs| {
            inputs.api_endpoint = "api:6443".to_owned();
        }),
        ("spec.osImageStream", true, |inputs| {
            inputs.os_stream = "stream".to_owned();
        }),
    ];

    #[test]
    fn every_input_counts_once() {
        let before = inputs();
        let mut seen = vec![before.rollout_hash()];
        for (name, is_config, edit) in EDITS {
            let mut after = before.clone();
            edit(&mut after);
            let hash = after.rollout_hash();
            assert!(!seen.contains(&hash), "{name}");
            assert_eq!(before.config_hash() != after.config_hash(), *is_config, "{name}");
            seen.push(hash);
        }
    }

    #[test]
    fn the_order_in_which_documents_are_found_does_not_count() {
        let before = inputs();
        let mut after = before.clone();
        after.config.reverse();
        assert_eq!(before.rollout_hash(), after.rollout_hash());
    }

    #[test]
    fn documents_of_one_list_are_not_those_of_another() {
        let mut one = RolloutInputs::default();
        let mut other = one.clone();
        one.core_ignition.push(document("a", "b"));
        other.config.push(document("a", "b"));
        assert_ne!(one.rollout_hash(), other.rollout_hash());
        assert_ne!(one.rollout_hash(), one.config_hash());
    }

    /// Another hash for the same inputs rolls every node of every user: this may only change on purpose.
    #[test]
    fn hashes_stay_the_same_for_ever() {
        assert_eq!(
            inputs().rollout_hash(),
            "f5de77907951cbaee9546a832b55bd7923477f920987168a10d91244db59dc0f"
        );
        assert_eq!(
            inputs().config_hash(),
            "a28700bea83cec1d6e8d20339941a6be916575ffd80f8cef2c9a24445d11b0bb"
        );
        assert_eq!(
            RolloutInputs::default().rollout_hash(),
            "a51cc460812721fb9e4fb9bdd0325a31cbf48c61451dfe83f927ec97a3c77929"
        );
    }
}
