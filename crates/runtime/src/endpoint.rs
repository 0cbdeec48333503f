//! Requests for one kind in one namespace, on plain JSON. The one place that turns an intention into a request to
//! the API server; it decides nothing, and is compiled once for all kinds.

use futures::{FutureExt, future::BoxFuture};
use http::Request as HttpRequest;
use hyperplane_objects::{Kind, KindNames};
use kube::{
    Client,
    api::{DeleteParams, GetParams, ListParams, Patch, PatchParams, PostParams},
    core::{ObjectList, Request, request},
};
use serde::Serialize;
use serde_json::Value;

/// What a request comes to. Boxed here: the code of an `async fn` is compiled again in each crate that awaits it.
pub(crate) type Answer<T> = BoxFuture<'static, kube::Result<T>>;

/// Where objects of one kind and namespace live.
#[derive(Clone, Debug)]
pub(crate) struct Endpoint {
    pub(crate) names: KindNames,
    pub(crate) path: String,
}

impl Endpoint {
    pub(crate) fn of<K: Kind>(namespace: Option<&str>) -> Self {
        Self::new(KindNames::of::<K>(), namespace)
    }

    pub(crate) fn new(names: KindNames, namespace: Option<&str>) -> Self {
        let path = names.url_path(namespace);
        Self { names, path }
    }

    /// The same place, where only metadata are asked for.
    pub(crate) fn metadata_only(&self) -> Self {
        let mut endpoint = self.clone();
        endpoint.names.is_metadata_only = true;
        endpoint
    }

    /// An object as it is sent: with its kind, which views do not write.
    pub(crate) fn body<K: Kind>(&self, object: &K) -> kube::Result<Value> {
        let mut json = object.to_json().map_err(kube::Error::SerdeError)?;
        let resource = &self.names.resource;
        json["apiVersion"] = resource.api_version.as_str().into();
        json["kind"] = resource.kind.as_str().into();
        Ok(json)
    }

    pub(crate) fn get(&self, client: &Client, name: &str) -> Answer<Value> {
        let (request, parameters) = (self.request(), GetParams::default());
        let request = if self.names.is_metadata_only {
            request.get_metadata(name, &parameters)
        } else {
            request.get(name, &parameters)
        };
        send(client, request)
    }

    /// The object, or none if there is none.
    pub(crate) fn get_opt(&self, client: &Client, name: &str) -> Answer<Option<Value>> {
        let answer = self.get(client, name);
        async move { none_if_missing(answer.await) }.boxed()
    }

    pub(crate) fn list(&self, client: &Client, parameters: &ListParams) -> Answer<ObjectList<Value>> {
        let request = if self.names.is_metadata_only {
            self.request().list_metadata(parameters)
        } else {
            self.request().list(parameters)
        };
        let client = client.clone();
        async move { client.request(request.map_err(kube::Error::BuildRequest)?).await }.boxed()
    }

    pub(crate) fn create(&self, client: &Client, parameters: &PostParams, object: &Value) -> Answer<Value> {
        send(client, self.request().create(parameters, bytes(object)))
    }

    /// A whole-object update; with a `resourceVersion` inside, it is a compare-and-swap.
    pub(crate) fn replace(
        &self,
        client: &Client,
        name: &str,
        parameters: &PostParams,
        object: &Value,
    ) -> Answer<Value> {
        send(client, self.request().replace(name, parameters, bytes(object)))
    }

    pub(crate) fn create_subresource(
        &self,
        client: &Client,
        (name, part): (&str, &str),
        parameters: &PostParams,
        object: &Value,
    ) -> Answer<Value> {
        let request = self.request();
        send(
            client,
            request.create_subresource(part, name, parameters, bytes(object)),
        )
    }

    pub(crate) fn replace_subresource(
        &self,
        client: &Client,
        (name, part): (&str, &str),
        parameters: &PostParams,
        object: &Value,
    ) -> Answer<Value> {
        let request = self.request();
        send(
            client,
            request.replace_subresource(part, name, parameters, bytes(object)),
        )
    }

    /// The request for a patch of the object or of a subresource.
    pub(crate) fn patch_request<P: Serialize>(
        &self,
        (name, part): (&str, Option<&str>),
        parameters: &PatchParams,
        patch: &Patch<P>,
    ) -> Result<HttpRequest<Vec<u8>>, request::Error> {
        match part {
            Some(part) => self.request().patch_subresource(part, name, parameters, patch),
            None if self.names.is_metadata_only => self.request().patch_metadata(name, parameters, patch),
            None => self.request().patch(name, parameters, patch),
        }
    }

    /// A forced server-side apply, of the object or of a subresource.
    pub(crate) fn apply(
        &self,
        client: &Client,
        name: &str,
        manager: &str,
        subresource: Option<&str>,
        intent: &Value,
    ) -> Answer<Value> {
        let (parameters, patch) = (PatchParams::apply(manager).force(), Patch::Apply(intent));
        // Metadata alone are applied as an object that has nothing else, so the answer is whole.
        let request = match subresource {
            Some(part) => self.request().patch_subresource(part, name, &parameters, &patch),
            None => self.request().patch(name, &parameters, &patch),
        };
        send(client, request)
    }

    pub(crate) fn merge(&self, client: &Client, name: &str, patch: &Value) -> Answer<Value> {
        let (parameters, patch) = (PatchParams::default(), Patch::Merge(patch));
        send(client, self.request().patch(name, &parameters, &patch))
    }

    /// That there is no such object is a failure; see [`Endpoint::delete`].
    pub(crate) fn delete_existing(&self, client: &Client, name: &str, parameters: &DeleteParams) -> Answer<()> {
        let answer = send(client, self.request().delete(name, parameters));
        async move { answer.await.map(drop) }.boxed()
    }

    pub(crate) fn delete(&self, client: &Client, name: &str, parameters: &DeleteParams) -> Answer<()> {
        let answer = self.delete_existing(client, name, parameters);
        async move { none_if_missing(answer.await).map(drop) }.boxed()
    }

    fn request(&self) -> Request {
        Request::new(&self.path)
    }
}

/// Sends a request that was built, if it was.
pub(crate) fn send(client: &Client, request: Result<HttpRequest<Vec<u8>>, request::Error>) -> Answer<Value> {
    let client = client.clone();
    async move { client.request(request.map_err(kube::Error::BuildRequest)?).await }.boxed()
}

fn bytes(object: &Value) -> Vec<u8> {
    serde_json::to_vec(object).expect("a value with texts as keys can be written")
}

fn none_if_missing<T>(result: kube::Result<T>) -> kube::Result<Option<T>> {
    match result {
        Ok(value) => Ok(Some(value)),
        Err(kube::Error::Api(status)) if status.is_not_found() => Ok(None),
        Err(error) => Err(error),
    }
}
