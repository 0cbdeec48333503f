//! One line for every request that changes something: who asked for what, and what came of it. Bodies are no part of it.

use std::sync::Arc;

use http::StatusCode;
use hyperplane_access::audit::{self, Request};
use hyperplane_seams::Entropy;
use jiff::Timestamp;

use crate::{
    identity::{self, Requester},
    serve::RemoteAddress,
    service::Asked,
};

/// Verbs that change nothing.
const READS: [&str; 3] = ["get", "list", "watch"];

/// Where lines go: the binary hands in a file, a test a list.
pub type AuditSink = Arc<dyn Fn(&str) + Send + Sync>;

/// The audit log.
#[derive(Clone)]
pub(crate) struct Audit {
    sink: Option<AuditSink>,
    entropy: Entropy,
}

impl Audit {
    /// A log that writes to a sink; without one nothing is made.
    pub(crate) const fn new(sink: Option<AuditSink>, entropy: Entropy) -> Self {
        Self { sink, entropy }
    }

    /// Notes a request that is done.
    pub(crate) fn note(
        &self,
        asked: &Asked<'_>,
        requester: &Requester,
        status: StatusCode,
        received: Timestamp,
        completed: Timestamp,
    ) {
        let Some(sink) = &self.sink else {
            return;
        };
        if !asked.info.is_resource || READS.contains(&asked.info.verb.as_str()) {
            return;
        }
        let line = audit::line(&Request {
            id: &self.entropy.uid(),
            uri: asked
                .parts
                .uri
                .path_and_query()
                .map_or("", http::uri::PathAndQuery::as_str),
            attributes: &identity::attributes(asked, &requester.user, &[]),
            impersonator: requester.impersonator.as_ref(),
            impersonated: requester.impersonated.as_ref(),
            source_addresses: &source_addresses(asked),
            user_agent: asked.header("user-agent"),
            decision: &requester.decision,
            code: status.as_u16(),
            received,
            completed,
            failure: None,
            annotations: &[],
        });
        sink(&line.to_string());
    }
}

/// Where a request came from; nowhere, if it was made in this process.
fn source_addresses(asked: &Asked<'_>) -> Vec<String> {
    let remote = asked.parts.extensions.get::<RemoteAddress>();
    remote.map(|remote| remote.0.ip().to_string()).into_iter().collect()
}
