//! Which kinds a server has, and where their objects are listed.

use std::fmt::Write as _;

use http::Request;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::APIResourceList;
use kube::Client;
use serde_json::Value;

/// Objects of one answer.
const PAGE: usize = 500;
/// The most pages of a kind: more objects than anybody reads.
const MOST_PAGES: usize = 40;
/// Groups that show what is in others, or measure.
const PASSED_OVER: &[&str] = &["events.k8s.io", "metrics.k8s.io"];

/// A kind that can be listed.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(clippy::struct_field_names, reason = "the wire calls it so")]
pub(super) struct Kind {
    /// Where its version is served, such as `/apis/apps/v1`.
    pub(super) root: String,
    pub(super) api_version: String,
    pub(super) plural: String,
    pub(super) kind: String,
    pub(super) is_namespaced: bool,
}

impl Kind {
    /// Where its objects are: of a namespace, or of all.
    pub(super) fn path(&self, namespace: Option<&str>) -> String {
        match namespace {
            Some(namespace) => format!("{}/namespaces/{namespace}/{}", self.root, self.plural),
            None => format!("{}/{}", self.root, self.plural),
        }
    }

    /// The name of its file.
    pub(super) fn file(&self) -> String {
        let group = self.api_version.split_once('/').map(|(group, _)| group);
        group.map_or_else(
            || format!("{}.yaml", self.plural),
            |group| format!("{}.{group}.yaml", self.plural),
        )
    }
}

/// All kinds of a server. Groups that do not answer are told.
pub(super) async fn all(client: &Client, unread: &mut Vec<String>) -> Result<Vec<Kind>, kube::Error> {
    let mut found = of_list(&client.list_core_api_resources("v1").await?, "/api/v1");
    for group in client.list_api_groups().await?.groups {
        let version = group.preferred_version.or_else(|| group.versions.first().cloned());
        let Some(version) = version.filter(|_| !PASSED_OVER.contains(&&*group.name)) else {
            continue;
        };
        let version = version.group_version;
        match client.list_api_group_resources(&version).await {
            Ok(list) => found.extend(of_list(&list, &format!("/apis/{version}"))),
            Err(error) => unread.push(format!("kinds of {version}: {error}")),
        }
    }
    Ok(found)
}

fn of_list(list: &APIResourceList, root: &str) -> Vec<Kind> {
    let listed = list.resources.iter().filter(|resource| {
        // A slash is in the names of parts of objects.
        !resource.name.contains('/') && resource.verbs.iter().any(|verb| verb == "list")
    });
    let kinds = listed.map(|resource| Kind {
        root: root.to_owned(),
        api_version: list.group_version.clone(),
        plural: resource.name.clone(),
        kind: resource.kind.clone(),
        is_namespaced: resource.namespaced,
    });
    kinds.collect()
}

/// All objects of a kind, each with its kind.
pub(super) async fn objects(client: &Client, kind: &Kind, namespace: Option<&str>) -> anyhow::Result<Vec<Value>> {
    let path = kind.path(namespace);
    let mut found = Vec::new();
    let mut next = String::new();
    for _ in 0..MOST_PAGES {
        let request = Request::get(format!("{path}?limit={PAGE}{next}")).body(Vec::new())?;
        let mut page: Value = client.request(request).await?;
        if let Value::Array(items) = page["items"].take() {
            found.extend(items);
        }
        match page["metadata"]["continue"].as_str() {
            Some(more) if !more.is_empty() => next = format!("&continue={}", escaped(more)),
            _ => break,
        }
    }
    for object in &mut found {
        object["apiVersion"] = kind.api_version.clone().into();
        object["kind"] = kind.kind.clone().into();
    }
    Ok(found)
}

/// A mark of a server, as part of an address.
fn escaped(text: &str) -> String {
    let mut found = String::new();
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || b"-_.~".contains(&byte) {
            found.push(char::from(byte));
        } else {
            write!(found, "%{byte:02X}").expect("a string takes everything");
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn kinds_are_what_can_be_listed() {
        let list: APIResourceList = hyperplane_objects::read(json!({
            "groupVersion": "apps/v1",
            "resources": [
                {"name": "deployments", "singularName": "", "namespaced": true, "kind": "Deployment", "verbs": ["get", "list"]},
                {"name": "deployments/scale", "singularName": "", "namespaced": true, "kind": "Scale", "verbs": ["get", "list"]},
                {"name": "reviews", "singularName": "", "namespaced": false, "kind": "Review", "verbs": ["create"]},
            ],
        }))
        .unwrap();
        let kinds = of_list(&list, "/apis/apps/v1");
        assert_eq!(kinds.len(), 1);
        assert_eq!(kinds[0].path(Some("a")), "/apis/apps/v1/namespaces/a/deployments");
        assert_eq!(kinds[0].file(), "deployments.apps.yaml");
        assert_eq!(escaped("a+b/c="), "a%2Bb%2Fc%3D");
    }
}
