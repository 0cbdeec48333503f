//! Requests for one kind in one namespace, on plain JSON. The one place that turns an intention into a request to
//! the API server; it decides nothing.

use kube::{
    Client,
    api::{DeleteParams, GetParams, Patch, PatchParams, PostParams},
    core::Request,
};
use serde::Serialize;
use serde_json::Value;

use crate::kind::Kind;

/// Where objects of one kind and namespace live.
#[derive(Clone, Debug)]
pub(crate) struct Endpoint {
    pub(crate) path: String,
    pub(crate) api_version: String,
}

impl Endpoint {
    pub(crate) fn of<K: Kind>(namespace: Option<&str>) -> Self {
        Self {
            path: K::url_path(&(), namespace),
            api_version: K::api_version(&()).into_owned(),
        }
    }

    /// The object, or none if there is none.
    pub(crate) async fn get(&self, client: &Client, name: &str) -> kube::Result<Option<Value>> {
        let request = self.request().get(name, &GetParams::default());
        none_if_missing(client.request(request.map_err(kube::Error::BuildRequest)?).await)
    }

    pub(crate) async fn create(&self, client: &Client, object: &impl Serialize) -> kube::Result<Value> {
        let body = serde_json::to_vec(object).map_err(kube::Error::SerdeError)?;
        let request = self.request().create(&PostParams::default(), body);
        client.request(request.map_err(kube::Error::BuildRequest)?).await
    }

    /// A whole-object update; with a `resourceVersion` inside, it is a compare-and-swap.
    pub(crate) async fn replace(&self, client: &Client, name: &str, object: &impl Serialize) -> kube::Result<Value> {
        let body = serde_json::to_vec(object).map_err(kube::Error::SerdeError)?;
        let request = self.request().replace(name, &PostParams::default(), body);
        client.request(request.map_err(kube::Error::BuildRequest)?).await
    }

    /// A forced server-side apply, of the object or of a subresource.
    pub(crate) async fn apply(
        &self,
        client: &Client,
        name: &str,
        manager: &str,
        subresource: Option<&str>,
        intent: &Value,
    ) -> kube::Result<Value> {
        let (parameters, patch) = (PatchParams::apply(manager).force(), Patch::Apply(intent));
        let request = match subresource {
            Some(part) => self.request().patch_subresource(part, name, &parameters, &patch),
            None => self.request().patch(name, &parameters, &patch),
        };
        client.request(request.map_err(kube::Error::BuildRequest)?).await
    }

    pub(crate) async fn merge(&self, client: &Client, name: &str, patch: &Value) -> kube::Result<Value> {
        let request = self
            .request()
            .patch(name, &PatchParams::default(), &Patch::Merge(patch));
        client.request(request.map_err(kube::Error::BuildRequest)?).await
    }

    pub(crate) async fn delete(&self, client: &Client, name: &str, parameters: &DeleteParams) -> kube::Result<()> {
        let request = self
            .request()
            .delete(name, parameters)
            .map_err(kube::Error::BuildRequest)?;
        let _answer: Option<Value> = none_if_missing(client.request(request).await)?;
        Ok(())
    }

    fn request(&self) -> Request {
        Request::new(&self.path)
    }
}

fn none_if_missing<T>(result: kube::Result<T>) -> kube::Result<Option<T>> {
    match result {
        Ok(value) => Ok(Some(value)),
        Err(kube::Error::Api(status)) if status.is_not_found() => Ok(None),
        Err(error) => Err(error),
    }
}
