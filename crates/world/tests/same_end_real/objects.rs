//! All objects of a cluster on a server, masked, by kind and name.

use std::collections::BTreeMap;

use hyperplane_api::constants::ours;
use hyperplane_world::NAMESPACE;
use kube::{
    Api, Client, ResourceExt as _,
    api::{DynamicObject, ListParams},
    discovery::{ApiResource, Discovery, Scope, verbs},
};
use serde_json::Value;

use crate::{both::users::NAMESPACE as USERS, mask};

/// Objects on a page.
const PAGE: u32 = 500;

/// Everything that belongs to users, clusters and the manager.
pub async fn collect(client: &Client) -> BTreeMap<String, Value> {
    let discovery = Discovery::new(client.clone()).run().await.unwrap();
    let mut found = BTreeMap::new();
    for (resource, capabilities) in discovery
        .groups()
        .flat_map(kube::discovery::ApiGroup::recommended_resources)
    {
        if !capabilities.supports_operation(verbs::LIST) || mask::is_ignored(&resource.kind) {
            continue;
        }
        for object in list(client, &resource).await {
            if belongs(&object, &capabilities.scope) {
                let title = format!(
                    "{} {}/{}",
                    resource.kind,
                    object.namespace().unwrap_or_default(),
                    object.name_any()
                );
                let value = serde_json::to_value(object).unwrap();
                found.insert(title, mask::masked(&resource.kind, value));
            }
        }
    }
    found
}

async fn list(client: &Client, resource: &ApiResource) -> Vec<DynamicObject> {
    let api: Api<DynamicObject> = Api::all_with(client.clone(), resource);
    let list = api.list(&ListParams::default().limit(PAGE)).await.unwrap();
    assert!(
        list.metadata.continue_.is_none_or(|token| token.is_empty()),
        "there are few objects"
    );
    list.items
}

fn belongs(object: &DynamicObject, scope: &Scope) -> bool {
    if *scope == Scope::Namespaced {
        let namespace = object.namespace().unwrap_or_default();
        return namespace == NAMESPACE || namespace == USERS || namespace.starts_with(&format!("{USERS}-"));
    }
    let owner = object.labels().get(ours::MANAGED_BY.as_str());
    let name = object.name_any();
    owner.is_some_and(|owner| owner == ours::MANAGED_BY_US) || [USERS, NAMESPACE].iter().any(|it| name.starts_with(it))
}
