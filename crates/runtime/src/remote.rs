//! Writing to another cluster than the manager's own, where nothing is watched: each object is read, compared and applied
//! only if it differs. Owns the rules of such writes; which cluster it is, and what belongs there, is the caller's business.

use futures::{FutureExt as _, future::BoxFuture};
use hyperplane_objects::Kind;
use kube::Client;
use serde_json::Value;

use crate::{
    client_service::wrap,
    endpoint::Endpoint,
    failure::Failure,
    fence::{Fence, FenceLayer},
    object_key::ObjectKey,
    ownership::{essence, owned, without_nulls},
};

/// An object of any kind, ready to be applied.
#[derive(Clone, Debug)]
pub struct Manifest {
    endpoint: Endpoint,
    key: ObjectKey,
    body: Value,
}

impl Manifest {
    /// An object as it is to be.
    pub fn of<K: Kind>(object: &K) -> Result<Self, Failure> {
        let key = ObjectKey::of(object);
        let mut body = object.to_json().map_err(Failure::fatal)?;
        let endpoint = Endpoint::of::<K>(key.scope());
        body["apiVersion"] = endpoint.names.resource.api_version.as_str().into();
        body["kind"] = endpoint.names.resource.kind.as_str().into();
        Ok(Self { endpoint, key, body })
    }

    /// Kind, namespace and name, for people.
    pub fn title(&self) -> String {
        format!("{} {}", self.endpoint.names.resource.kind, self.key)
    }

    /// The object as JSON.
    pub const fn body(&self) -> &Value {
        &self.body
    }
}

/// Another cluster, written to as one field manager and only while this process may write. Cheap to clone.
#[derive(Clone)]
pub struct Remote {
    client: Client,
    manager: String,
}

impl Remote {
    /// A cluster by its client.
    pub fn new(client: &Client, manager: impl Into<String>, fence: &Fence) -> Self {
        Self {
            client: wrap(client, &FenceLayer(fence.clone())),
            manager: manager.into(),
        }
    }

    /// The client, for what the methods below do not cover. Its writes pass the fence, too.
    pub const fn client(&self) -> &Client {
        &self.client
    }

    /// Makes the object exist with exactly these fields of ours. Tells whether anything had to be written.
    pub fn apply<'a>(&'a self, manifest: &'a Manifest) -> BoxFuture<'a, Result<bool, Failure>> {
        async move {
            let Manifest {
                endpoint, key, body, ..
            } = manifest;
            let live = endpoint.get_opt(&self.client, &key.name).await?;
            let ours = live.and_then(|live| owned(&live, &self.manager, None, &endpoint.names.resource.api_version));
            if ours.as_ref() == Some(&essence(body)) {
                return Ok(false);
            }
            let body = without_nulls(body);
            endpoint
                .apply(&self.client, &key.name, &self.manager, None, &body)
                .await?;
            Ok(true)
        }
        .boxed()
    }

    /// One object, or none if there is none.
    pub async fn get<K: Kind>(&self, key: &ObjectKey) -> Result<Option<K>, Failure> {
        let live = Endpoint::of::<K>(key.scope()).get_opt(&self.client, &key.name).await?;
        let live = live.as_ref().map(K::from_json);
        live.transpose().map_err(Failure::fatal)
    }
}

#[cfg(test)]
mod tests {
    use std::{
        convert::Infallible,
        sync::{Arc, Mutex},
    };

    use http::{Request, Response, StatusCode};
    use k8s_openapi::api::core::v1::ConfigMap;
    use kube::client::Body;
    use serde_json::json;
    use tower::service_fn;

    use super::*;
    use crate::store::lock;

    /// A server that has at most one object, which it owns fields of as the applier asks.
    fn server(held: Arc<Mutex<Option<Value>>>, writes: Arc<Mutex<u32>>) -> Client {
        let service = service_fn(move |request: Request<Body>| {
            let (held, writes) = (held.clone(), writes.clone());
            async move {
                let (parts, body) = request.into_parts();
                if parts.method == "PATCH" {
                    let body = body.collect_bytes().await.unwrap();
                    let mut object: Value = serde_json::from_slice(&body).unwrap();
                    object["metadata"]["managedFields"] = json!([{
                        "manager": "ours", "operation": "Apply", "apiVersion": "v1", "fieldsV1": {"f:data": {"f:a": {}}},
                    }]);
                    *lock(&held) = Some(object);
                    *lock(&writes) += 1;
                }
                let (status, answer) = match lock(&held).as_ref() {
                    Some(object) => (StatusCode::OK, object.clone()),
                    None => (
                        StatusCode::NOT_FOUND,
                        json!({"kind": "Status", "code": 404, "reason": "NotFound"}),
                    ),
                };
                let response = Response::builder().status(status);
                Ok::<_, Infallible>(response.body(Body::from(answer.to_string().into_bytes())).unwrap())
            }
        });
        Client::new(service, "default")
    }

    #[tokio::test]
    async fn only_a_difference_is_written() {
        let (held, writes) = (Arc::default(), Arc::<Mutex<u32>>::default());
        let client = server(Arc::clone(&held), writes.clone());
        let remote = Remote::new(&client, "ours", &Fence::open());
        let config_map = |value: &str| -> Manifest {
            let object: ConfigMap =
                hyperplane_objects::read(json!({"metadata": {"name": "a", "namespace": "n"}, "data": {"a": value}}))
                    .unwrap();
            Manifest::of(&object).unwrap()
        };
        assert!(remote.apply(&config_map("1")).await.unwrap());
        assert!(!remote.apply(&config_map("1")).await.unwrap());
        assert!(remote.apply(&config_map("2")).await.unwrap());
        assert_eq!(*lock(&writes), 2);
        let fenced = Remote::new(&client, "ours", &Fence::closed());
        assert!(fenced.apply(&config_map("3")).await.is_err());
        assert_eq!(*lock(&writes), 2);
        let key = ObjectKey::namespaced("n", "a");
        assert!(remote.get::<ConfigMap>(&key).await.unwrap().is_some());
    }
}
