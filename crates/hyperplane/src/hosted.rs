//! The operators of a management cluster: where they are installed, and what they say of themselves in a ConfigMap for
//! programs that ask.

use std::collections::BTreeSet;

use hyperplane_api::constants::labels;
use hyperplane_install::{NAMESPACE, operator_selector};
use hyperplane_runtime::Api;
use k8s_openapi::api::{apps::v1::Deployment, core::v1::ConfigMap};
use kube::{Client, api::ListParams};
use serde_json::Value;

/// What they say.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Told {
    /// The version of the operators.
    pub(crate) server: String,
    /// The minors of Kubernetes that can be hosted, newest first.
    pub(crate) supported: Vec<String>,
}

/// What the operators say; nothing where they say nothing, or not to us.
pub(crate) async fn told(client: &Client) -> Result<Option<Told>, kube::Error> {
    let maps: Api<ConfigMap> = Api::all(client.clone());
    let selector = format!("{}=true", labels::SUPPORTED_VERSIONS);
    let found = maps.list(&ListParams::default().labels(&selector)).await;
    let maps = match found {
        Ok(found) => found.items,
        // Who may not list ConfigMaps everywhere may still read those.
        Err(kube::Error::Api(status)) if status.code == 403 => {
            let mut found = Vec::new();
            for namespace in namespaces(client).await {
                let maps: Api<ConfigMap> = Api::namespaced(client.clone(), &namespace);
                found.extend(maps.get_opt("supported-versions").await.ok().flatten());
            }
            found
        }
        Err(error) => return Err(error),
    };
    Ok(maps.iter().find_map(read))
}

/// The namespaces of operators, by the label of what is installed. Where that cannot be seen, and where operators run
/// without being installed, it is the usual one.
pub(crate) async fn namespaces(client: &Client) -> BTreeSet<String> {
    let deployments: Api<Deployment> = Api::all(client.clone());
    let chosen = ListParams::default().labels(&operator_selector());
    let found = deployments.list_metadata(&chosen).await;
    let found = found.map(|list| list.items).unwrap_or_default();
    or_usual(found.iter().filter_map(kube::ResourceExt::namespace).collect())
}

fn or_usual(found: BTreeSet<String>) -> BTreeSet<String> {
    if found.is_empty() {
        BTreeSet::from([NAMESPACE.to_owned()])
    } else {
        found
    }
}

fn read(map: &ConfigMap) -> Option<Told> {
    let data = map.data.as_ref()?;
    let supported: Value = serde_json::from_str(data.get("supported-versions")?).ok()?;
    let supported = supported["versions"].as_array()?.iter().filter_map(Value::as_str);
    Some(Told {
        server: data.get("server-version")?.clone(),
        supported: supported.map(str::to_owned).collect(),
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn operators_that_are_not_seen_are_where_they_usually_are() {
        assert_eq!(or_usual(BTreeSet::new()), BTreeSet::from(["hyperplane".to_owned()]));
        let east = BTreeSet::from(["east".to_owned()]);
        assert_eq!(or_usual(east.clone()), east);
    }

    #[test]
    fn versions_are_read_as_they_are_told() {
        let map = |data: Value| hyperplane_objects::read::<ConfigMap>(json!({"metadata": {}, "data": data})).unwrap();
        let told = read(&map(
            json!({"server-version": "0.1.0", "supported-versions": r#"{"versions":["1.36"]}"#}),
        ));
        assert_eq!(
            told,
            Some(Told {
                server: "0.1.0".to_owned(),
                supported: vec!["1.36".to_owned()]
            })
        );
        assert_eq!(read(&map(json!({"server-version": "0.1.0"}))), None);
        assert_eq!(
            read(&map(json!({"server-version": "0", "supported-versions": "?"}))),
            None
        );
    }
}
