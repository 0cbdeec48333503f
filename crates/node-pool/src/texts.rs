//! What users' ConfigMaps say, kept as long as they stay what they are: only their metadata is watched, and every pool
//! asks again and again.

use std::{
    collections::BTreeMap,
    sync::{Mutex, PoisonError},
};

use hyperplane_api::constants::objects::keys;
use hyperplane_runtime::{Api, Context, Failure, ObjectKey};
use k8s_openapi::{api::core::v1::ConfigMap, apimachinery::pkg::apis::meta::v1::ObjectMeta};

/// The most bytes that are kept; with more, everything is read anew.
const MOST_BYTES: usize = 64 << 20;

/// A ConfigMap that a pool refers to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Source {
    /// Its name.
    pub(crate) name: String,
    /// What is in it.
    pub(crate) content: Content,
}

/// What is in a ConfigMap.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Content {
    /// It does not exist.
    Missing,
    /// It has nothing under the key that is looked at.
    Empty,
    /// This.
    Text(String),
}

/// What was read, by which object in which state.
#[derive(Debug, Default)]
pub(crate) struct Texts(Mutex<Kept>);

#[derive(Debug, Default)]
struct Kept {
    bytes: usize,
    by_key: BTreeMap<ObjectKey, (String, Content)>,
}

impl Texts {
    /// What the ConfigMap with this metadata says.
    pub(crate) async fn read(&self, context: &Context, metadata: &ObjectMeta) -> Result<Content, Failure> {
        let key = ObjectKey::namespaced(
            metadata.namespace.clone().unwrap_or_default(),
            metadata.name.clone().unwrap_or_default(),
        );
        if let Some(content) = self.find(&key, &stamp(metadata)) {
            return Ok(content);
        }
        let api: Api<ConfigMap> = Api::namespaced(context.client().clone(), &key.namespace);
        let Some(found) = api.get_opt(&key.name).await? else {
            return Ok(Content::Missing);
        };
        let text = found.data.as_ref().and_then(|data| data.get(keys::CONFIG));
        let content = text.map_or(Content::Empty, |text| Content::Text(text.clone()));
        self.keep(key, stamp(&found.metadata), content.clone());
        Ok(content)
    }

    fn find(&self, key: &ObjectKey, stamp: &str) -> Option<Content> {
        let kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let (of, content) = kept.by_key.get(key)?;
        (of == stamp).then(|| content.clone())
    }

    fn keep(&self, key: ObjectKey, stamp: String, content: Content) {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        kept.bytes += size(&content);
        if let Some((_, before)) = kept.by_key.insert(key, (stamp, content)) {
            kept.bytes = kept.bytes.saturating_sub(size(&before));
        }
        if kept.bytes > MOST_BYTES {
            *kept = Kept::default();
        }
    }
}

fn stamp(metadata: &ObjectMeta) -> String {
    let uid = metadata.uid.as_deref().unwrap_or_default();
    format!("{uid}/{}", metadata.resource_version.as_deref().unwrap_or_default())
}

fn size(content: &Content) -> usize {
    match content {
        Content::Text(text) => text.len(),
        Content::Missing | Content::Empty => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_state_is_read_anew_and_the_memory_has_an_end() {
        let texts = Texts::default();
        let key = |name: &str| ObjectKey::namespaced("clusters", name);
        texts.keep(key("one"), "uid/1".to_owned(), Content::Text("a".to_owned()));
        assert_eq!(texts.find(&key("one"), "uid/1"), Some(Content::Text("a".to_owned())));
        assert_eq!(texts.find(&key("one"), "uid/2"), None);
        texts.keep(key("one"), "uid/2".to_owned(), Content::Empty);
        assert_eq!(texts.0.lock().unwrap().bytes, 0);
        texts.keep(
            key("two"),
            "uid/1".to_owned(),
            Content::Text("a".repeat(MOST_BYTES + 1)),
        );
        assert_eq!(texts.find(&key("one"), "uid/2"), None, "everything begins anew");
    }
}
