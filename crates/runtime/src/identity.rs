//! On whose behalf a request is made. Owns the layer that marks every request with a tenant's service account; the
//! caller cannot choose another one by headers of its own.

use std::task::{Context, Poll};

use http::{HeaderName, HeaderValue, Request};
use hyperplane_seams::Identity;
use kube::Client;
use tower::{Layer, Service};

use crate::client_service::wrap;

/// The header that the API server reads (k8s.io/api/authentication/v1, ImpersonateUserHeader).
const IMPERSONATE_USER: HeaderName = HeaderName::from_static("impersonate-user");
/// All headers of impersonation begin so.
const IMPERSONATE_PREFIX: &str = "impersonate-";

/// How the identity reaches the server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IdentityMode {
    /// By header, on a real cluster. Groups are left to the server, which derives them from the service account, so
    /// that our own account needs no right to impersonate groups.
    Impersonation,
    /// By an [`Identity`] among the request's extensions, where the server is in this process.
    Extension,
    /// Not at all: the process serves one tenant and runs as that account.
    Own,
}

/// Marks requests with an identity.
#[derive(Clone, Debug)]
pub struct IdentityLayer {
    identity: Identity,
    mode: IdentityMode,
}

impl IdentityLayer {
    /// A layer for one identity.
    pub const fn new(identity: Identity, mode: IdentityMode) -> Self {
        Self { identity, mode }
    }

    /// A client whose requests are made on behalf of the identity.
    pub fn around(&self, client: &Client) -> Client {
        wrap(client, self)
    }
}

impl<S> Layer<S> for IdentityLayer {
    type Service = IdentityService<S>;

    fn layer(&self, inner: S) -> IdentityService<S> {
        IdentityService {
            inner,
            layer: self.clone(),
        }
    }
}

/// The service of [`IdentityLayer`].
#[derive(Clone, Debug)]
pub struct IdentityService<S> {
    inner: S,
    layer: IdentityLayer,
}

impl<S, B> Service<Request<B>> for IdentityService<S>
where
    S: Service<Request<B>>,
{
    type Response = S::Response;
    type Error = S::Error;
    type Future = S::Future;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), S::Error>> {
        self.inner.poll_ready(context)
    }

    fn call(&mut self, mut request: Request<B>) -> S::Future {
        strip(&mut request);
        let IdentityLayer { identity, mode } = &self.layer;
        match mode {
            IdentityMode::Impersonation => {
                let user = HeaderValue::try_from(identity.user()).expect("DNS names are valid in headers");
                request.headers_mut().insert(IMPERSONATE_USER, user);
            }
            IdentityMode::Extension => {
                request.extensions_mut().insert(identity.clone());
            }
            IdentityMode::Own => {}
        }
        self.inner.call(request)
    }
}

/// Puts a value among the extensions of requests.
#[derive(Clone)]
pub(crate) struct Carrying<T, S = ()> {
    value: T,
    inner: S,
}

impl<T> Carrying<T> {
    /// A layer for one value.
    pub(crate) const fn new(value: T) -> Self {
        Self { value, inner: () }
    }
}

impl<T: Clone, S> Layer<S> for Carrying<T> {
    type Service = Carrying<T, S>;

    fn layer(&self, inner: S) -> Carrying<T, S> {
        let value = self.value.clone();
        Carrying { value, inner }
    }
}

impl<T, S, B> Service<Request<B>> for Carrying<T, S>
where
    T: Clone + Send + Sync + 'static,
    S: Service<Request<B>>,
{
    type Response = S::Response;
    type Error = S::Error;
    type Future = S::Future;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), S::Error>> {
        self.inner.poll_ready(context)
    }

    fn call(&mut self, mut request: Request<B>) -> S::Future {
        request.extensions_mut().insert(self.value.clone());
        self.inner.call(request)
    }
}

fn strip<B>(request: &mut Request<B>) {
    request.extensions_mut().remove::<Identity>();
    let claims: Vec<HeaderName> = request
        .headers()
        .keys()
        .filter(|name| name.as_str().starts_with(IMPERSONATE_PREFIX))
        .cloned()
        .collect();
    for name in claims {
        request.headers_mut().remove(name);
    }
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use tower::{ServiceExt, service_fn};

    use super::*;

    async fn send(mode: IdentityMode) -> Request<()> {
        let layer = IdentityLayer::new(Identity::new("tenant", "control-plane").unwrap(), mode);
        let service = layer.layer(service_fn(|request: Request<()>| async {
            Ok::<_, Infallible>(request)
        }));
        let request = Request::builder()
            .header("Impersonate-User", "admin")
            .header("Impersonate-Group", "system:masters")
            .header("Impersonate-Extra-scopes", "all")
            .header("Accept", "application/json")
            .extension(Identity::new("kube-system", "admin").unwrap())
            .body(())
            .unwrap();
        service.oneshot(request).await.unwrap()
    }

    #[tokio::test]
    async fn impersonation_replaces_what_the_caller_claims() {
        let request = send(IdentityMode::Impersonation).await;
        let names: Vec<&str> = request.headers().keys().map(HeaderName::as_str).collect();
        assert_eq!(names.len(), 2, "{names:?}");
        assert_eq!(
            request.headers()["impersonate-user"],
            "system:serviceaccount:tenant:control-plane"
        );
        assert!(request.extensions().get::<Identity>().is_none());
    }

    #[tokio::test]
    async fn an_embedded_server_finds_the_extension() {
        let request = send(IdentityMode::Extension).await;
        assert_eq!(
            request.extensions().get(),
            Some(&Identity::new("tenant", "control-plane").unwrap())
        );
        assert_eq!(request.headers().len(), 1);
    }

    #[tokio::test]
    async fn what_requests_carry_reaches_the_server() {
        let service = Carrying::new(7_u8).layer(service_fn(|request: Request<()>| async {
            Ok::<_, Infallible>(request)
        }));
        let request = service.oneshot(Request::new(())).await.unwrap();
        assert_eq!(request.extensions().get(), Some(&7_u8));
    }

    #[test]
    fn names_that_cannot_be_sent_are_refused() {
        for (namespace, role) in [("", "a"), ("a", ""), ("a\nb", "c"), ("a:b", "c"), ("a", "Ü")] {
            assert!(Identity::new(namespace, role).is_err(), "{namespace} {role}");
        }
    }
}
