//! Why nodes roll: two sets of inputs compared field by field, in words. Texts that may hold credentials, such as the
//! proxy, are shown by their hash only.

use std::collections::BTreeMap;

use crate::{
    hash::{fingerprint, short},
    inputs::{ConfigDocument, RolloutInputs},
};

/// One field that differs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// The field, as users know it.
    pub field: &'static str,
    /// What it was.
    pub from: String,
    /// What it is.
    pub to: String,
    /// Whether nodes are replaced because of it.
    pub rolls: bool,
}

/// What differs between two sets of inputs; nothing if they are equal.
pub fn explain(before: &RolloutInputs, after: &RolloutInputs) -> Vec<Change> {
    let mut changes = Vec::new();
    let revisions = (before.render_revision.to_string(), after.render_revision.to_string());
    for (field, from, to) in [
        ("render revision", &revisions.0, &revisions.1),
        ("spec.release", &before.release_version, &after.release_version),
        ("spec.pullSecret", &before.pull_secret, &after.pull_secret),
        ("spec.additionalTrustBundle", &before.trust_bundle, &after.trust_bundle),
        ("spec.sshKey", &before.ssh_keys, &after.ssh_keys),
        ("address of the API server", &before.api_endpoint, &after.api_endpoint),
        ("spec.osImageStream", &before.os_stream, &after.os_stream),
    ] {
        changes.extend(differs(field, from, to, shown));
    }
    for (field, from, to) in [
        ("spec.configuration.proxy", &before.proxy, &after.proxy),
        ("spec.configuration.image", &before.image, &after.image),
        (
            "spec.configuration.apiServer.tlsSecurityProfile",
            &before.tls_profile,
            &after.tls_profile,
        ),
    ] {
        changes.extend(differs(field, from, to, digest));
    }
    for (field, from, to) in [
        ("core ignition", &before.core_ignition, &after.core_ignition),
        ("spec.config", &before.config, &after.config),
        ("spec.imageContentSources", &before.image_sources, &after.image_sources),
    ] {
        changes.extend(documents(field, from, to));
    }
    changes
}

fn differs(field: &'static str, from: &str, to: &str, show: fn(&str) -> String) -> Option<Change> {
    (from != to).then(|| Change {
        field,
        from: show(from),
        to: show(to),
        rolls: true,
    })
}

fn shown(text: &str) -> String {
    let text = if text.is_empty() { "not set" } else { text };
    text.to_owned()
}

fn digest(text: &str) -> String {
    if text.is_empty() {
        "not set".to_owned()
    } else {
        format!("content {}", short(&fingerprint([text])))
    }
}

/// One change per document that came, went or differs; one that does not roll if only their order does.
fn documents(field: &'static str, from: &[ConfigDocument], to: &[ConfigDocument]) -> Vec<Change> {
    if from == to {
        return Vec::new();
    }
    let (before, after) = (by_title(from), by_title(to));
    let mut titles: Vec<&str> = before.keys().chain(after.keys()).copied().collect();
    titles.sort_unstable();
    titles.dedup();
    let changes: Vec<Change> = titles
        .into_iter()
        .filter(|title| before.get(title) != after.get(title))
        .map(|title| Change {
            field,
            from: described(title, before.get(title)),
            to: described(title, after.get(title)),
            rolls: true,
        })
        .collect();
    if !changes.is_empty() {
        return changes;
    }
    let order = |documents: &[ConfigDocument]| {
        let titles: Vec<&str> = documents.iter().map(|document| &*document.title).collect();
        titles.join(", ")
    };
    vec![Change {
        field,
        from: order(from),
        to: order(to),
        rolls: false,
    }]
}

/// All texts under each title, in order. A title that stands twice is not lost.
fn by_title(documents: &[ConfigDocument]) -> BTreeMap<&str, Vec<&str>> {
    let mut titles: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for document in documents {
        titles.entry(&document.title).or_default().push(&document.text);
    }
    for texts in titles.values_mut() {
        texts.sort_unstable();
    }
    titles
}

fn described(title: &str, texts: Option<&Vec<&str>>) -> String {
    match texts {
        None => format!("no {title}"),
        Some(texts) => {
            let hash = fingerprint(texts.iter().copied());
            format!("{title} with content {}", short(&hash))
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::inputs::tests::{EDITS, document, inputs};

    #[test]
    fn each_edit_is_named_once() {
        let before = inputs();
        assert!(explain(&before, &before).is_empty());
        for (field, _, edit) in EDITS {
            let mut after = before.clone();
            edit(&mut after);
            let changes = explain(&before, &after);
            let fields: Vec<(&str, bool)> = changes.iter().map(|change| (change.field, change.rolls)).collect();
            assert_eq!(fields, [(*field, true)]);
            assert_ne!(changes[0].from, changes[0].to, "{field}");
        }
    }

    #[test]
    fn a_version_is_shown_and_a_proxy_is_not() {
        let before = inputs();
        let mut after = before.clone();
        after.release_version = "1.36.3".to_owned();
        after.proxy = r#"{"httpProxy":"http://user:word@proxy"}"#.to_owned();
        let changes = explain(&before, &after);
        assert_eq!(changes[0].from, "1.36.2");
        assert_eq!(changes[0].to, "1.36.3");
        assert_eq!(changes[1].from, "not set");
        assert!(!changes[1].to.contains("word"), "{}", changes[1].to);
    }

    #[test]
    fn documents_come_and_go_by_their_titles() {
        let before = inputs();
        let mut after = before.clone();
        after.config = vec![document("MachineConfig/a", "{}"), document("MachineConfig/b", "{}")];
        let changes = explain(&before, &after);
        assert_eq!(changes.len(), 2);
        assert_eq!(changes[0].to, "no KubeletConfig/big");
        assert_eq!(changes[1].from, "no MachineConfig/b");
    }

    #[test]
    fn another_order_is_told_and_rolls_nobody() {
        let before = inputs();
        let mut after = before.clone();
        after.config.reverse();
        let changes = explain(&before, &after);
        assert_eq!(changes.len(), 1);
        assert!(!changes[0].rolls);
    }

    fn documents_of_any_kind() -> impl Strategy<Value = Vec<ConfigDocument>> {
        proptest::collection::vec(
            ("[ab]", "[xy]{0,1}").prop_map(|(title, text)| document(&title, &text)),
            0..4,
        )
    }

    fn any_inputs() -> impl Strategy<Value = RolloutInputs> {
        let texts = proptest::collection::vec("[ab]{0,1}", 9);
        let lists = proptest::collection::vec(documents_of_any_kind(), 3);
        (0_u32..2, texts, lists).prop_map(|(render_revision, texts, lists)| RolloutInputs {
            render_revision,
            release_version: texts[0].clone(),
            core_ignition: lists[0].clone(),
            config: lists[1].clone(),
            image_sources: lists[2].clone(),
            pull_secret: texts[1].clone(),
            trust_bundle: texts[2].clone(),
            proxy: texts[3].clone(),
            image: texts[4].clone(),
            tls_profile: texts[5].clone(),
            api_endpoint: texts[6].clone(),
            os_stream: texts[7].clone(),
            ssh_keys: texts[8].clone(),
        })
    }

    proptest! {
        #[test]
        fn nodes_roll_exactly_if_a_change_says_so(before in any_inputs(), after in any_inputs()) {
            let changes = explain(&before, &after);
            prop_assert_eq!(changes.is_empty(), before == after);
            let rolls = changes.iter().any(|change| change.rolls);
            prop_assert_eq!(rolls, before.rollout_hash() != after.rollout_hash());
        }
    }
}
