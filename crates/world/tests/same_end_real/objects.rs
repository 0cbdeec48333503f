//! All objects of a cluster on a server and the nodes of its hosted cluster, masked, by kind and name.

use std::collections::BTreeMap;

use hyperplane_api::constants::ours;
use hyperplane_world::NAMESPACE;
use kube::{
    Api, Client, ResourceExt as _,
    api::{DynamicObject, ListParams},
    discovery::{ApiResource, Discovery, Scope, verbs},
};
use serde_json::{Value, json};

use crate::{both::users::NAMESPACE as USERS, drawn::Drawn, mask, site::Site};

/// Objects on a page.
const PAGE: u32 = 500;

/// An object as it was found: where, of which kind, and what it is.
struct Found {
    title: String,
    kind: String,
    value: Value,
}

/// Everything that belongs to users, clusters and the manager.
pub async fn collect(site: &Site) -> BTreeMap<String, Value> {
    let mut found = managed(&site.users.client).await;
    let nodes = site.nodes().await.unwrap_or_default();
    found.extend(nodes.into_iter().map(|(name, node)| Found {
        title: format!("hosted Node {name}"),
        kind: "Node".to_owned(),
        value: json!(node),
    }));
    let drawn = Drawn::of(found.iter().map(|found| (found.kind.as_str(), &found.value)));
    let mut titled: BTreeMap<String, Vec<Value>> = BTreeMap::new();
    for Found { title, kind, value } in found {
        let value = drawn.hide_in(mask::masked(&kind, value));
        titled.entry(drawn.hide(&title)).or_default().push(value);
    }
    titled.into_iter().flat_map(numbered).collect()
}

/// Objects whose titles are the same are told apart by a number, in an order that follows from what they are.
fn numbered((title, mut values): (String, Vec<Value>)) -> Vec<(String, Value)> {
    if values.len() == 1 {
        return values.into_iter().map(|value| (title.clone(), value)).collect();
    }
    values.sort_by_key(Value::to_string);
    let number = |(number, value)| (format!("{title} {number}"), value);
    (1..).zip(values).map(number).collect()
}

async fn managed(client: &Client) -> Vec<Found> {
    let discovery = Discovery::new(client.clone()).run().await.unwrap();
    let resources = discovery
        .groups()
        .flat_map(kube::discovery::ApiGroup::recommended_resources);
    let mut all = Vec::new();
    for (resource, capabilities) in resources {
        if !capabilities.supports_operation(verbs::LIST) || mask::is_ignored(&resource.kind) {
            continue;
        }
        let objects = list(client, &resource).await.into_iter();
        let ours = objects.filter(|object| belongs(object, &capabilities.scope));
        all.extend(ours.map(|object| Found {
            title: format!(
                "{} {}/{}",
                resource.kind,
                object.namespace().unwrap_or_default(),
                object.name_any()
            ),
            kind: resource.kind.clone(),
            value: json!(object),
        }));
    }
    all
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
