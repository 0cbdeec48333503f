//! Whether a container is ready, asked as a kubelet asks: on its own period, and whoever signed the answer.

use std::{net::Ipv4Addr, time::Duration};

use anyhow::{Context as _, Result};
use k8s_openapi::{
    api::core::v1::{HTTPGetAction, Probe},
    apimachinery::pkg::util::intstr::IntOrString,
};

/// How often it is asked.
pub fn period(probe: &Probe) -> Duration {
    Duration::from_secs(u64::try_from(probe.period_seconds.unwrap_or(10)).unwrap_or(10))
}

/// Asks once.
pub async fn attempt(probe: &Probe, address: Ipv4Addr) -> Result<()> {
    let get = probe.http_get.as_ref().context("a probe asks by HTTP")?;
    let limit = Duration::from_secs(u64::try_from(probe.timeout_seconds.unwrap_or(1))?);
    tokio::time::timeout(limit, ask(get, address)).await?
}

async fn ask(get: &HTTPGetAction, address: Ipv4Addr) -> Result<()> {
    let scheme = get.scheme.as_deref().unwrap_or("HTTP").to_lowercase();
    let IntOrString::Int(port) = get.port else {
        anyhow::bail!("a probe names its port by a number");
    };
    let mut config = kube::Config::new(format!("{scheme}://{address}:{port}").parse()?);
    config.accept_invalid_certs = true;
    config.default_retry = false;
    let request = http::Request::get(get.path.as_deref().unwrap_or("/")).body(Vec::new())?;
    kube::Client::try_from(config)?.request_text(request).await?;
    Ok(())
}
