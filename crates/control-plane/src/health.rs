//! The question that a user would ask: does the API server answer where it is published?

use std::time::Duration;

use http::Request;
use hyperplane_api::constants::objects::{keys, kubeconfigs};
use hyperplane_components::Objects;
use hyperplane_runtime::{Failure, Reach};

/// How long an answer may take.
const PATIENCE: Duration = Duration::from_secs(10);

/// The administrator's kubeconfig, as soon as it is there.
pub(crate) fn kubeconfig(objects: &Objects) -> Option<&[u8]> {
    let secret = objects.secrets.get(kubeconfigs::ADMIN)?;
    let value = secret.data.as_ref()?.get(keys::KUBECONFIG)?;
    Some(&value.0)
}

/// Asks the published endpoint; the error says in one sentence what came of it.
pub(crate) async fn check(reach: &Reach, kubeconfig: &[u8]) -> Result<(), String> {
    let ask = async {
        // A connection that is kept would tell nothing of the way for a new one.
        let client = reach.fresh_client(kubeconfig).await?;
        let request = Request::get("/healthz").body(Vec::new()).map_err(Failure::fatal)?;
        client.request_text(request).await.map_err(Failure::from)
    };
    match tokio::time::timeout(PATIENCE, ask).await {
        Ok(Ok(_)) => Ok(()),
        Ok(Err(failure)) => Err(failure.report()),
        Err(_) => Err(format!("no answer within {} seconds", PATIENCE.as_secs())),
    }
}
