//! `availability-prober`: ends when a hosted API server is ready and serves the APIs that a component needs.

use std::{
    fmt,
    path::{Path, PathBuf},
    str::FromStr,
    time::Duration,
};

use k8s_openapi::apimachinery::pkg::apis::meta::v1::APIResourceList;
use kube::Client;
use thiserror::Error;
use tokio::time::timeout;

use crate::{
    kubeconfig::{self, ClientError},
    patience,
};

/// How long one attempt may take; a server that starts answers late.
const ATTEMPT: Duration = Duration::from_secs(10);

/// What is waited for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings {
    /// Which API server, and as whom.
    pub kubeconfig: PathBuf,
    /// What it has to serve besides being ready.
    pub required: Vec<RequiredApi>,
}

/// A kind that must be served.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RequiredApi {
    group: String,
    version: String,
    kind: String,
}

/// What names no kind.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{text:?} names no kind: write GROUP/VERSION/KIND, such as apps/v1/Deployment, or v1/Pod for the core group")]
pub struct RequiredApiError {
    text: String,
}

/// Why the server cannot be used yet.
#[derive(Debug, Error)]
pub enum ProbeError {
    /// There is no client.
    #[error(transparent)]
    Client(#[from] ClientError),
    /// The server does not answer, or not well.
    #[error("the API server does not answer {what} well")]
    Request {
        /// What was asked.
        what: String,
        /// The library's answer.
        #[source]
        source: Box<kube::Error>,
    },
    /// It does not serve a kind.
    #[error("the API server does not serve {api}")]
    Missing {
        /// The kind.
        api: RequiredApi,
    },
    /// It does not answer in time.
    #[error("the API server does not answer within {} s", ATTEMPT.as_secs())]
    Slow,
}

impl FromStr for RequiredApi {
    type Err = RequiredApiError;

    fn from_str(text: &str) -> Result<Self, RequiredApiError> {
        let refused = || RequiredApiError { text: text.to_owned() };
        let parts: Vec<_> = text.split('/').collect();
        let (group, version, kind) = match parts[..] {
            [version, kind] => ("", version, kind),
            [group, version, kind] => (group, version, kind),
            _ => return Err(refused()),
        };
        // They become a part of a path.
        let is_word = |word: &str| {
            let is_letter = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'.' || byte == b'-';
            word.bytes().all(is_letter)
        };
        if version.is_empty() || kind.is_empty() || ![group, version, kind].into_iter().all(is_word) {
            return Err(refused());
        }
        Ok(Self {
            group: group.to_owned(),
            version: version.to_owned(),
            kind: kind.to_owned(),
        })
    }
}

impl fmt::Display for RequiredApi {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.group.is_empty() {
            write!(formatter, "{}/{}", self.version, self.kind)
        } else {
            write!(formatter, "{}/{}/{}", self.group, self.version, self.kind)
        }
    }
}

impl RequiredApi {
    /// Where the server lists what it serves of this group and version.
    fn path(&self) -> String {
        if self.group.is_empty() {
            format!("/api/{}", self.version)
        } else {
            format!("/apis/{}/{}", self.group, self.version)
        }
    }

    fn is_served(&self, list: &APIResourceList) -> bool {
        list.resources.iter().any(|resource| resource.kind == self.kind)
    }
}

/// Waits for as long as it takes, and says now and then for what.
pub async fn run(settings: &Settings) {
    let what = "the hosted API server to be ready";
    patience::until(what, async || attempt(settings).await).await;
}

/// Looks once.
pub async fn attempt(settings: &Settings) -> Result<(), ProbeError> {
    let looking = look(&settings.kubeconfig, &settings.required);
    timeout(ATTEMPT, looking).await.map_err(|_| ProbeError::Slow)?
}

async fn look(kubeconfig: &Path, required: &[RequiredApi]) -> Result<(), ProbeError> {
    let client = kubeconfig::client(kubeconfig).await?;
    get(&client, "/readyz").await?;
    for api in required {
        let list: Result<APIResourceList, _> = serde_json::from_str(&get(&client, &api.path()).await?);
        if !list.is_ok_and(|list| api.is_served(&list)) {
            return Err(ProbeError::Missing { api: api.clone() });
        }
    }
    Ok(())
}

async fn get(client: &Client, path: &str) -> Result<String, ProbeError> {
    let request = http::Request::get(path)
        .body(Vec::new())
        .expect("paths are made of words that a URL holds");
    client
        .request_text(request)
        .await
        .map_err(|source| ProbeError::Request {
            what: path.to_owned(),
            source: Box::new(source),
        })
}

#[cfg(test)]
mod tests {
    use k8s_openapi::apimachinery::pkg::apis::meta::v1::APIResource;

    use super::*;

    #[test]
    fn kinds_are_named_by_group_version_and_kind() {
        let cases = [
            ("apps/v1/Deployment", "/apis/apps/v1"),
            ("v1/Pod", "/api/v1"),
            ("/v1/Pod", "/api/v1"),
            ("route.openshift.io/v1/Route", "/apis/route.openshift.io/v1"),
        ];
        for (text, path) in cases {
            assert_eq!(text.parse::<RequiredApi>().unwrap().path(), path, "{text}");
        }
        for text in [
            "",
            "Pod",
            "a/b/c/d",
            "apps//Deployment",
            "apps/v1/",
            "a?b/v1/Pod",
            "a b/v1/Pod",
            "ü/v1/Pod",
        ] {
            assert!(text.parse::<RequiredApi>().is_err(), "{text}");
        }
    }

    #[test]
    fn a_kind_is_served_when_the_list_has_it() {
        let list = APIResourceList {
            resources: vec![APIResource {
                kind: "Deployment".to_owned(),
                ..APIResource::default()
            }],
            ..APIResourceList::default()
        };
        assert!("apps/v1/Deployment".parse::<RequiredApi>().unwrap().is_served(&list));
        assert!(!"apps/v1/Deploy".parse::<RequiredApi>().unwrap().is_served(&list));
    }
}
