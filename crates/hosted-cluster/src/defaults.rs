//! What is written back into a HostedCluster: its ids, what its platform chooses, and that it has been available. Written
//! by server-side apply, each field only where the user has left it out.
//!
//! The choice follows from the uid of the cluster, so that it is the same however often it is made.

use std::fmt::Write as _;

use hyperplane_api::{
    constants::{annotations, conditions::hosted_control_plane},
    hypershift::hosted_cluster::HostedCluster,
};
use hyperplane_objects::view_of_kind;
use hyperplane_platforms::{Choices, Chosen};
use hyperplane_runtime::{Random, conditions};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kube::ResourceExt as _;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::{NAME, dereference::Seen, names, settings::HostedClusterSettings};

/// How many letters and digits tell the names of a cluster on KubeVirt from those of others.
const GENERATED_ID: usize = 11;
const LETTERS_AND_DIGITS: &[u8; 36] = b"abcdefghijklmnopqrstuvwxyz0123456789";

/// The part of a HostedCluster that we apply. The kind is the same; its required fields are the user's business.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
pub(crate) struct Defaults {
    metadata: ObjectMeta,
    spec: Value,
}

view_of_kind!(Defaults, HostedCluster);

/// What is to be written, if anything is missing.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Completion {
    /// The intent.
    pub(crate) intent: Defaults,
    /// A Secret with a key for AES-CBC that must exist before.
    pub(crate) encryption_secret: Option<String>,
}

/// What is missing in a cluster; none if it is complete.
pub(crate) fn complete(cluster: &HostedCluster, seen: &Seen, settings: &HostedClusterSettings) -> Option<Completion> {
    let uid = cluster.uid().unwrap_or_default();
    let word = |purpose: &str, length| word(settings.seed, &uid, purpose, length);
    let suffix = word("generate-id", GENERATED_ID);
    let choices = Choices {
        suffix: &suffix,
        ingress_domain: settings.facts.ingress_domain.as_deref(),
        management_platform: settings.management_platform.as_deref(),
    };
    let platform = hyperplane_platforms::of(&cluster.spec);
    let chosen = platform
        .map(|platform| platform.defaults(cluster, &choices))
        .unwrap_or_default();
    let infra_id = names::infra_id(&cluster.name_any(), &word("infra-id", names::INFRA_ID_SUFFIX));
    let wanted = fields(&chosen, uuid(settings.seed, &uid), infra_id);
    let live = serde_json::to_value(cluster).expect("a cluster has only text keys and finite numbers");
    let owned = our_fields(cluster);
    let mut intent = json!({"spec": {}, "metadata": {"annotations": {}}});
    let mut is_complete = true;
    for (path, value) in wanted
        .into_iter()
        .chain([availability(seen)])
        .chain(annotations_of(&chosen))
    {
        match at(&live, &path) {
            Some(present) if is_owned(&owned, &path) => put(&mut intent, &path, present.clone()),
            Some(_) => {}
            None => {
                if let Some(value) = value {
                    is_complete = false;
                    put(&mut intent, &path, value);
                }
            }
        }
    }
    (!is_complete).then(|| Completion {
        intent: Defaults {
            metadata: identity(cluster, &intent),
            spec: intent["spec"].take(),
        },
        encryption_secret: chosen.encryption_secret,
    })
}

type Path = Vec<String>;

fn path(segments: &[&str]) -> Path {
    segments.iter().map(|segment| (*segment).to_owned()).collect()
}

/// Every field that we may ever write, with the value that it gets when it is missing.
fn fields(chosen: &Chosen, cluster_id: String, infra_id: String) -> Vec<(Path, Option<Value>)> {
    let key = chosen.encryption_secret.as_ref();
    vec![
        (path(&["spec", "clusterID"]), Some(cluster_id.into())),
        (path(&["spec", "infraID"]), Some(infra_id.into())),
        (
            path(&["spec", "platform", "kubevirt", "generateID"]),
            chosen.generate_id.clone().map(Value::from),
        ),
        (
            path(&["spec", "dns", "baseDomain"]),
            chosen.base_domain.clone().map(Value::from),
        ),
        (
            path(&["spec", "dns", "baseDomainPrefix"]),
            chosen.base_domain.as_ref().map(|_| Value::from("")),
        ),
        (
            path(&["spec", "secretEncryption", "type"]),
            key.map(|_| Value::from("aescbc")),
        ),
        (
            path(&["spec", "secretEncryption", "aescbc", "activeKey"]),
            key.map(|name| json!({"name": name})),
        ),
    ]
}

fn availability(seen: &Seen) -> (Path, Option<Value>) {
    let status = seen.control_plane.as_ref().and_then(|found| found.status.as_ref());
    let is_available =
        status.is_some_and(|status| conditions::holds(&status.conditions, hosted_control_plane::AVAILABLE.as_str()));
    let key = annotations::HAS_BEEN_AVAILABLE.as_str();
    (
        path(&["metadata", "annotations", key]),
        is_available.then(|| "true".into()),
    )
}

fn annotations_of(chosen: &Chosen) -> Vec<(Path, Option<Value>)> {
    let annotation = |(key, value): (&String, &String)| {
        let path = path(&["metadata", "annotations", key]);
        (path, Some(Value::from(value.as_str())))
    };
    chosen.annotations.iter().map(annotation).collect()
}

/// An empty text counts as missing: it is what a base domain starts out as.
fn at<'a>(value: &'a Value, path: &Path) -> Option<&'a Value> {
    let found = path.iter().try_fold(value, |value, segment| value.get(segment))?;
    let is_base_domain = path.last().is_some_and(|last| last == "baseDomain");
    let is_missing = found.is_null() || (is_base_domain && found == "");
    (!is_missing).then_some(found)
}

fn put(value: &mut Value, path: &Path, content: Value) {
    let mut place = value;
    for segment in path {
        place = &mut place[segment];
    }
    *place = content;
}

/// The fields that our own applies have written, in the form of managedFields.
fn our_fields(cluster: &HostedCluster) -> Value {
    let entries = cluster.metadata.managed_fields.iter().flatten();
    let ours = entries.into_iter().find(|entry| {
        let manager = entry.manager.as_deref().unwrap_or_default();
        manager.rsplit('/').next() == Some(NAME) && entry.subresource.is_none()
    });
    let fields = ours.and_then(|entry| entry.fields_v1.as_ref());
    fields.map(|fields| fields.0.clone()).unwrap_or_default()
}

fn is_owned(owned: &Value, path: &Path) -> bool {
    let found = path
        .iter()
        .try_fold(owned, |fields, segment| fields.get(format!("f:{segment}")));
    found.is_some()
}

/// Exactly this object in exactly this state: a copy that is behind must not undo what a user has just changed.
fn identity(cluster: &HostedCluster, intent: &Value) -> ObjectMeta {
    let annotations = hyperplane_objects::read(&intent["metadata"]["annotations"]);
    ObjectMeta {
        name: cluster.metadata.name.clone(),
        namespace: cluster.metadata.namespace.clone(),
        uid: cluster.metadata.uid.clone(),
        resource_version: cluster.metadata.resource_version.clone(),
        annotations: Some(annotations.unwrap_or_default()),
        ..ObjectMeta::default()
    }
}

/// Letters and digits that follow from the uid of a cluster.
fn word(seed: u64, uid: &str, purpose: &str, length: usize) -> String {
    let mut random = Random::named(seed, &format!("{purpose}/{uid}"));
    let letter = |_| {
        let number = random.below(LETTERS_AND_DIGITS.len() as u64);
        let number = usize::try_from(number).expect("it is below the number of letters and digits");
        char::from(LETTERS_AND_DIGITS[number])
    };
    (0..length).map(letter).collect()
}

/// A UUID of version 4 that follows from the uid of a cluster.
fn uuid(seed: u64, uid: &str) -> String {
    let mut random = Random::named(seed, &format!("cluster-id/{uid}"));
    let bits = (u128::from(random.next_u64()) << 64) | u128::from(random.next_u64());
    let bits = (bits & !(0xf << 76) & !(0x3 << 62)) | (0x4 << 76) | (0x2 << 62);
    let digits = format!("{bits:032x}");
    let mut text = String::with_capacity(36);
    for (number, part) in [(0, 8), (8, 12), (12, 16), (16, 20), (20, 32)].into_iter().enumerate() {
        let dash = if number == 0 { "" } else { "-" };
        write!(text, "{dash}{}", &digits[part.0..part.1]).expect("writing to a String does not fail");
    }
    text
}

#[cfg(test)]
mod tests {
    use hyperplane_api::hypershift::hosted_cluster::{ClusterId, InfraId};

    use super::*;

    #[test]
    fn ids_are_what_their_types_ask_for_and_always_the_same() {
        for number in 0..200 {
            let uid = format!("uid-{number}");
            let id = uuid(7, &uid);
            assert!(id.parse::<ClusterId>().is_ok(), "{id}");
            assert_eq!(id, uuid(7, &uid));
            assert_eq!((&id[14..15], "89ab".contains(&id[19..20])), ("4", true), "{id}");
            let infra = names::infra_id("blue", &word(7, &uid, "infra-id", names::INFRA_ID_SUFFIX));
            assert!(infra.parse::<InfraId>().is_ok(), "{infra}");
        }
        assert_ne!(uuid(7, "a"), uuid(7, "b"));
    }
}
