//! A client of one member of etcd: its JSON gateway, and what it tells its peers. Owns paths and limits; decides nothing.

use std::time::Duration;

use http::{Method, StatusCode, Uri};
use serde::{Serialize, de::DeserializeOwned};
use thiserror::Error;
use tokio_rustls::TlsConnector;

use super::wire::{AddRequest, ListRequest, Member, MemberList, MemberRequest, Refusal, StatusAnswer};
use crate::call::{self, CallError};

/// How long a question may take. etcd itself gives up on a request without a leader after seven seconds.
const QUESTION_LIMIT: Duration = Duration::from_secs(5);

/// How long a change of the members may take: a majority agrees on it.
const CHANGE_LIMIT: Duration = Duration::from_secs(15);

/// How long a defragmentation may take: it copies all data of a member, which are 8 GiB at most.
const DEFRAGMENT_LIMIT: Duration = Duration::from_mins(10);

/// One member of etcd.
#[derive(Clone)]
pub struct Client {
    endpoint: String,
    connector: TlsConnector,
}

/// How one member is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Status {
    /// The member that answered.
    pub member: u64,
    /// The leader that it follows; 0 if it knows none.
    pub leader: u64,
    /// Bytes of its file.
    pub database_bytes: u64,
    /// Bytes of it that are in use.
    pub used_bytes: u64,
}

/// Why a member did not do what was asked.
#[derive(Debug, Error)]
pub enum ClientError {
    /// The URL is none.
    #[error("{endpoint:?} is no URL of a member: write it like https://host:2379")]
    Endpoint {
        /// The text.
        endpoint: String,
    },
    /// There is no answer.
    #[error(transparent)]
    Call(#[from] CallError),
    /// It refuses.
    #[error("{endpoint} refuses {path} with {status}: {message}")]
    Refused {
        /// Who was asked.
        endpoint: String,
        /// What was asked.
        path: &'static str,
        /// The answer.
        status: StatusCode,
        /// What it says.
        message: String,
    },
    /// It says something that cannot be understood.
    #[error("{endpoint} answers {path} with something else: this is no etcd with a JSON gateway (enable-grpc-gateway)")]
    Form {
        /// Who was asked.
        endpoint: String,
        /// What was asked.
        path: &'static str,
        /// What the parser said.
        #[source]
        source: serde_json::Error,
    },
}

impl ClientError {
    /// Whether nobody is there at all.
    pub(crate) fn means_nobody(&self) -> bool {
        matches!(self, Self::Call(error) if error.means_nobody())
    }
}

impl Client {
    /// A client of the member at a URL without a path.
    pub fn new(endpoint: &str, connector: TlsConnector) -> Self {
        Self {
            endpoint: endpoint.trim_end_matches('/').to_owned(),
            connector,
        }
    }

    /// All members, as a majority knows them: without a majority there is no answer.
    pub async fn members(&self) -> Result<Vec<Member>, ClientError> {
        let list: MemberList = self
            .post(
                "/v3/cluster/member/list",
                &ListRequest { linearizable: true },
                QUESTION_LIMIT,
            )
            .await?;
        Ok(list.members)
    }

    /// All members, as this one knows them. Asked where peers ask, it answers without a majority, too.
    pub async fn members_known_to_peer(&self) -> Result<Vec<Member>, ClientError> {
        self.exchange(Method::GET, "/members", Vec::new(), QUESTION_LIMIT).await
    }

    /// Adds a member, which is then to start.
    pub async fn add(&self, peer_url: &str, is_learner: bool) -> Result<(), ClientError> {
        let peer_urls = [peer_url];
        let request = AddRequest { peer_urls, is_learner };
        self.post::<serde_json::Value>("/v3/cluster/member/add", &request, CHANGE_LIMIT)
            .await
            .map(drop)
    }

    /// Removes a member for good.
    pub async fn remove(&self, id: u64) -> Result<(), ClientError> {
        let request = MemberRequest { id: id.to_string() };
        self.post::<serde_json::Value>("/v3/cluster/member/remove", &request, CHANGE_LIMIT)
            .await
            .map(drop)
    }

    /// Gives a member that only listens a vote. Refused until it has what the others have.
    pub async fn promote(&self, id: u64) -> Result<(), ClientError> {
        let request = MemberRequest { id: id.to_string() };
        self.post::<serde_json::Value>("/v3/cluster/member/promote", &request, CHANGE_LIMIT)
            .await
            .map(drop)
    }

    /// How this member is.
    pub async fn status(&self) -> Result<Status, ClientError> {
        let nothing = serde_json::json!({});
        let answer: StatusAnswer = self.post("/v3/maintenance/status", &nothing, QUESTION_LIMIT).await?;
        Ok(Status {
            member: answer.header.member_id,
            leader: answer.leader,
            database_bytes: answer.database_bytes,
            used_bytes: answer.used_bytes,
        })
    }

    /// Gives back what this member's file does not use. It answers nobody meanwhile.
    pub async fn defragment(&self) -> Result<(), ClientError> {
        let nothing = serde_json::json!({});
        self.post::<serde_json::Value>("/v3/maintenance/defragment", &nothing, DEFRAGMENT_LIMIT)
            .await
            .map(drop)
    }

    async fn post<A: DeserializeOwned>(
        &self,
        path: &'static str,
        request: &impl Serialize,
        limit: Duration,
    ) -> Result<A, ClientError> {
        let body = serde_json::to_vec(request).expect("requests are plain structures");
        self.exchange(Method::POST, path, body, limit).await
    }

    async fn exchange<A: DeserializeOwned>(
        &self,
        method: Method,
        path: &'static str,
        body: Vec<u8>,
        limit: Duration,
    ) -> Result<A, ClientError> {
        let endpoint = || self.endpoint.clone();
        let url: Uri = format!("{}{path}", self.endpoint)
            .parse()
            .map_err(|_| ClientError::Endpoint { endpoint: endpoint() })?;
        let answer = call::call(&self.connector, method, &url, body, limit).await?;
        if !answer.status.is_success() {
            let refusal: Refusal = serde_json::from_slice(&answer.body).unwrap_or_default();
            return Err(ClientError::Refused {
                endpoint: endpoint(),
                path,
                status: answer.status,
                message: refusal.message,
            });
        }
        serde_json::from_slice(&answer.body).map_err(|source| ClientError::Form {
            endpoint: endpoint(),
            path,
            source,
        })
    }
}
