//! Discovery and OpenAPI documents of what is served, made when they are first asked for and kept as long as the same
//! resources are served.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, OnceLock, PoisonError},
};

use bytes::Bytes;
use hyperplane_kinds::Resource;
use hyperplane_wire::{
    Origin,
    discovery::{self, Catalogue},
    openapi::{self, Source},
};

use crate::registry::Registry;

/// A document and the hash of its content.
#[derive(Clone, Debug)]
pub(crate) struct Document {
    /// The bytes.
    pub bytes: Bytes,
    /// Their hash.
    pub hash: Arc<str>,
}

/// The documents of one state of the registry.
#[derive(Debug, Default)]
pub(crate) struct Documents {
    catalogue: OnceLock<Catalogue>,
    aggregated: [OnceLock<Document>; 2],
    openapi: Mutex<BTreeMap<(String, String), Document>>,
}

impl Document {
    fn new(bytes: Vec<u8>) -> Self {
        Self {
            hash: discovery::content_hash(&bytes).into(),
            bytes: bytes.into(),
        }
    }
}

impl Registry {
    /// What discovery tells.
    pub(crate) fn catalogue(&self) -> &Catalogue {
        self.documents()
            .catalogue
            .get_or_init(|| Catalogue::new(self.all().map(|served| (Arc::clone(&served.resource), served.origin()))))
    }

    /// The aggregated document of the core group, or of all others.
    pub(crate) fn aggregated(&self, is_core: bool) -> &Document {
        self.documents().aggregated[usize::from(is_core)].get_or_init(|| {
            let document = self.catalogue().aggregated(is_core);
            Document::new(serde_json::to_vec(&document).expect("a value becomes JSON"))
        })
    }

    /// The OpenAPI document of a group and version; none where it is not served.
    pub(crate) fn openapi(&self, group: &str, version: &str) -> Option<Document> {
        let key = (group.to_owned(), version.to_owned());
        let mut documents = self.documents().openapi.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(document) = documents.get(&key) {
            return Some(document.clone());
        }
        if !self.has_version(group, version) {
            return None;
        }
        let document = Document::new(self.make_openapi(group, version));
        documents.insert(key, document.clone());
        Some(document)
    }

    fn make_openapi(&self, group: &str, version: &str) -> Vec<u8> {
        let resources: Vec<(&Resource, Origin)> = self
            .all()
            .filter(|served| served.resource.group == group && served.resource.version == version)
            .map(|served| (&*served.resource, served.origin()))
            .collect();
        let source = Source {
            definition: &hyperplane_kinds::definition,
            custom_schema: &|resource| resource.behaviour.openapi_schema().cloned(),
        };
        let document = openapi::document(resources, &source);
        serde_json::to_vec(&document).expect("a value becomes JSON")
    }
}
