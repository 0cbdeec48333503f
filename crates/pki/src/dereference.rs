//! Reading: what the caches know of a namespace, and what the server itself does.

use std::{collections::BTreeMap, sync::Arc};

use hyperplane_objects::Kind;
use hyperplane_pki_issue::Existing;
use hyperplane_runtime::{Api, Context, Failure, NamespaceStore, Store};
use k8s_openapi::{
    NamespaceResourceScope,
    api::core::v1::{ConfigMap, Secret, Service},
};
use kube::api::ListParams;

/// The caches that are read.
#[derive(Clone, Debug)]
pub(crate) struct Stores {
    pub(crate) secrets: Store<Secret>,
    pub(crate) config_maps: Store<ConfigMap>,
    pub(crate) services: Store<Service>,
}

impl Stores {
    /// What the caches have of a namespace.
    pub(crate) fn existing(&self, namespace: &str) -> Existing {
        Existing {
            secrets: by_name(all(&self.secrets.namespace(namespace))),
            config_maps: by_name(all(&self.config_maps.namespace(namespace))),
        }
    }

    /// The Services of a namespace, which tell where it is published.
    pub(crate) fn services(&self, namespace: &str) -> Vec<Arc<Service>> {
        self.services.namespace(namespace).all()
    }
}

/// What the server has of a namespace, whatever its labels.
pub(crate) async fn live(context: &Context, namespace: &str) -> Result<Existing, Failure> {
    Ok(Existing {
        secrets: by_name(list(context, namespace).await?),
        config_maps: by_name(list(context, namespace).await?),
    })
}

async fn list<K>(context: &Context, namespace: &str) -> Result<Vec<Arc<K>>, Failure>
where
    K: Kind + kube::Resource<Scope = NamespaceResourceScope>,
{
    let api: Api<K> = Api::namespaced(context.client().clone(), namespace);
    let list = api.list(&ListParams::default()).await?;
    Ok(list.items.into_iter().map(Arc::new).collect())
}

fn all<K: Kind>(store: &NamespaceStore<K>) -> Vec<Arc<K>> {
    store.all()
}

fn by_name<K: Kind>(objects: Vec<Arc<K>>) -> BTreeMap<String, Arc<K>> {
    let named = objects.into_iter().filter_map(|object| {
        let name = object.meta().name.clone()?;
        Some((name, object))
    });
    named.collect()
}
