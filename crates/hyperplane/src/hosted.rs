//! What the operators of a management cluster say of themselves, in a ConfigMap for programs that ask.

use hyperplane_api::constants::labels;
use k8s_openapi::api::core::v1::ConfigMap;
use kube::{Api, Client, api::ListParams};
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
        // Who may not list ConfigMaps everywhere may still read that one.
        Err(kube::Error::Api(status)) if status.code == 403 => {
            let maps: Api<ConfigMap> = Api::namespaced(client.clone(), hyperplane_world::NAMESPACE);
            let one = maps.get_opt("supported-versions").await;
            one.ok().flatten().into_iter().collect()
        }
        Err(error) => return Err(error),
    };
    Ok(maps.iter().find_map(read))
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
    fn versions_are_read_as_they_are_told() {
        let map = |data: Value| serde_json::from_value::<ConfigMap>(json!({"metadata": {}, "data": data})).unwrap();
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
