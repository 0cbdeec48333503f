//! Single requests for typed objects: kube's `Api`, with its names, as a thin shell over requests on plain JSON. kube's own
//! compiles every method, and the reader of the type, once more in each crate that calls it.

use std::{fmt, marker::PhantomData};

use hyperplane_objects::Kind;
use k8s_openapi::{
    NamespaceResourceScope,
    api::{
        authentication::v1::TokenRequest,
        certificates::v1::CertificateSigningRequest,
        core::v1::{Pod, ServiceAccount},
    },
};
use kube::{
    Client, Resource,
    api::{DeleteParams, ListParams, LogParams, Patch, PatchParams, PostParams},
    core::{ObjectList, PartialObjectMeta, Request},
};
use serde::Serialize;
use serde_json::Value;

use crate::endpoint::{self, Endpoint};

/// Objects of one kind, in one namespace or in all. Cheap to clone.
pub struct Api<K> {
    client: Client,
    endpoint: Endpoint,
    kind: PhantomData<fn() -> K>,
}

impl<K: Kind> Api<K> {
    /// Objects that belong to no namespace, or those of all namespaces: the latter can only be listed.
    pub fn all(client: Client) -> Self {
        Self::within(client, None)
    }

    /// The objects of one namespace.
    pub fn namespaced(client: Client, namespace: &str) -> Self
    where
        K: Resource<Scope = NamespaceResourceScope>,
    {
        Self::within(client, Some(namespace))
    }

    fn within(client: Client, namespace: Option<&str>) -> Self {
        Self {
            client,
            endpoint: Endpoint::of::<K>(namespace),
            kind: PhantomData,
        }
    }

    /// One object; that there is none is an error.
    pub async fn get(&self, name: &str) -> kube::Result<K> {
        typed(&self.endpoint.get(&self.client, name).await?)
    }

    /// One object, or none if there is none.
    pub async fn get_opt(&self, name: &str) -> kube::Result<Option<K>> {
        let found = self.endpoint.get_opt(&self.client, name).await?;
        found.as_ref().map(typed).transpose()
    }

    /// The metadata of one object, or none if there is none.
    pub async fn get_metadata_opt(&self, name: &str) -> kube::Result<Option<PartialObjectMeta<K>>> {
        let found = self.endpoint.metadata_only().get_opt(&self.client, name).await?;
        found.as_ref().map(typed).transpose()
    }

    /// Objects, as many as the parameters ask for.
    pub async fn list(&self, parameters: &ListParams) -> kube::Result<ObjectList<K>> {
        typed_list(self.endpoint.list(&self.client, parameters).await?)
    }

    /// The metadata of objects.
    pub async fn list_metadata(&self, parameters: &ListParams) -> kube::Result<ObjectList<PartialObjectMeta<K>>> {
        typed_list(self.endpoint.metadata_only().list(&self.client, parameters).await?)
    }

    /// Makes an object.
    pub async fn create(&self, parameters: &PostParams, object: &K) -> kube::Result<K> {
        let object = self.endpoint.body(object)?;
        typed(&self.endpoint.create(&self.client, parameters, &object).await?)
    }

    /// Puts an object in place of another; with a version inside, only if it is still that one.
    pub async fn replace(&self, name: &str, parameters: &PostParams, object: &K) -> kube::Result<K> {
        let object = self.endpoint.body(object)?;
        typed(&self.endpoint.replace(&self.client, name, parameters, &object).await?)
    }

    /// Puts a status in place of another.
    pub async fn replace_status(&self, name: &str, parameters: &PostParams, object: &K) -> kube::Result<K> {
        let (place, object) = ((name, "status"), self.endpoint.body(object)?);
        let answer = self
            .endpoint
            .replace_subresource(&self.client, place, parameters, &object);
        typed(&answer.await?)
    }

    /// Changes an object.
    pub async fn patch<P: Serialize>(&self, name: &str, parameters: &PatchParams, patch: &Patch<P>) -> kube::Result<K> {
        typed(&self.send_patch(&self.endpoint, (name, None), parameters, patch).await?)
    }

    /// Changes an object, of which only the metadata are wanted back.
    pub async fn patch_metadata<P: Serialize>(
        &self,
        name: &str,
        parameters: &PatchParams,
        patch: &Patch<P>,
    ) -> kube::Result<PartialObjectMeta<K>> {
        let endpoint = self.endpoint.metadata_only();
        typed(&self.send_patch(&endpoint, (name, None), parameters, patch).await?)
    }

    /// Changes the status of an object.
    pub async fn patch_status<P: Serialize>(
        &self,
        name: &str,
        parameters: &PatchParams,
        patch: &Patch<P>,
    ) -> kube::Result<K> {
        let place = (name, Some("status"));
        typed(&self.send_patch(&self.endpoint, place, parameters, patch).await?)
    }

    /// Removes an object; that there is none is an error.
    pub async fn delete(&self, name: &str, parameters: &DeleteParams) -> kube::Result<()> {
        self.endpoint.delete_existing(&self.client, name, parameters).await
    }

    /// Posts a document to a subresource, and hands back the answer as it is.
    pub async fn create_subresource<D: Serialize>(
        &self,
        part: &str,
        name: &str,
        parameters: &PostParams,
        document: &D,
    ) -> kube::Result<Value> {
        let document = serde_json::to_value(document).map_err(kube::Error::SerdeError)?;
        let place = (name, part);
        self.endpoint
            .create_subresource(&self.client, place, parameters, &document)
            .await
    }

    async fn send_patch<P: Serialize>(
        &self,
        endpoint: &Endpoint,
        place: (&str, Option<&str>),
        parameters: &PatchParams,
        patch: &Patch<P>,
    ) -> kube::Result<Value> {
        endpoint::send(&self.client, endpoint.patch_request(place, parameters, patch)).await
    }
}

impl Api<CertificateSigningRequest> {
    /// Changes what was decided on a request.
    pub async fn patch_approval<P: Serialize>(
        &self,
        name: &str,
        parameters: &PatchParams,
        patch: &Patch<P>,
    ) -> kube::Result<CertificateSigningRequest> {
        let place = (name, Some("approval"));
        typed(&self.send_patch(&self.endpoint, place, parameters, patch).await?)
    }
}

impl Api<Pod> {
    /// What a container of a pod printed.
    pub async fn logs(&self, name: &str, parameters: &LogParams) -> kube::Result<String> {
        let request = Request::new(&self.endpoint.path).logs(name, parameters);
        self.client
            .request_text(request.map_err(kube::Error::BuildRequest)?)
            .await
    }
}

impl Api<ServiceAccount> {
    /// Asks for a token of an account.
    pub async fn create_token_request(
        &self,
        name: &str,
        parameters: &PostParams,
        request: &TokenRequest,
    ) -> kube::Result<TokenRequest> {
        let answer = self.create_subresource("token", name, parameters, request).await?;
        hyperplane_objects::read(&answer).map_err(kube::Error::SerdeError)
    }
}

fn typed<K: Kind>(json: &Value) -> kube::Result<K> {
    K::from_json(json).map_err(kube::Error::SerdeError)
}

fn typed_list<K: Kind>(list: ObjectList<Value>) -> kube::Result<ObjectList<K>> {
    Ok(ObjectList {
        types: list.types,
        metadata: list.metadata,
        items: list.items.iter().map(typed).collect::<kube::Result<_>>()?,
    })
}

impl<K> Clone for Api<K> {
    fn clone(&self) -> Self {
        Self {
            client: self.client.clone(),
            endpoint: self.endpoint.clone(),
            kind: PhantomData,
        }
    }
}

impl<K> fmt::Debug for Api<K> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "Api({})", self.endpoint.path)
    }
}
