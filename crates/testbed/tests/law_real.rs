//! Two API servers agree on manifests of our kinds: the embedded one and a real one by our definitions; and, where
//! somebody's published definitions are given, a real one by theirs and a real one by ours.

use std::{env, path::PathBuf};

use anyhow::{Context as _, Result};
use hyperplane_access::User;
use hyperplane_api::{crd, schema::FeatureSet};
use hyperplane_apiserver::{Entropy, Server, Settings, Shared};
use hyperplane_seams::Clock;
use hyperplane_store::Memory;
use hyperplane_testbed::{ControlPlane, Options};
use kube::Client;
use tokio_util::sync::CancellationToken;

use crate::{
    law::{self, Side, published::Published},
    support::definitions,
};

/// The directory with published definitions and manifests, and how many seeds to try from which on.
const PUBLISHED: &str = "HYPERPLANE_LAW_PUBLISHED";
const SEEDS: &str = "HYPERPLANE_SOAK_SEEDS";
const FIRST: &str = "HYPERPLANE_LAW_FIRST";
/// How many seeds every test run tries.
const SLICE: u64 = 600;
const FULL: u64 = 5_000;

async fn embedded() -> Result<Side> {
    let settings = Settings::new(Clock::reading(jiff::Timestamp::now), Entropy::seeded(1));
    let (server, writer, controllers) = Server::open(&Shared::new(), settings, Memory)?;
    tokio::spawn(writer.run());
    tokio::spawn(controllers.run(CancellationToken::new()));
    server.bootstrap().await?;
    let client = Client::new(server.in_process(User::admin()), "default");
    side(
        "the embedded server",
        client,
        crd::definitions(FeatureSet::CustomNoUpgrade),
    )
    .await
}

async fn side(name: &'static str, client: Client, definitions: Vec<serde_json::Value>) -> Result<Side> {
    definitions::create_these(&client, definitions.clone()).await?;
    Ok(Side {
        name,
        client,
        definitions,
    })
}

fn number(variable: &str, otherwise: u64) -> Result<u64> {
    env::var(variable).map_or(Ok(otherwise), |text| {
        text.parse().with_context(|| format!("{variable}: {text}"))
    })
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs a real control plane: cargo xtask test"]
async fn the_embedded_server_judges_as_a_real_one() -> Result<()> {
    let control_plane = ControlPlane::start(Options::default()).await?;
    let ours = crd::definitions(FeatureSet::CustomNoUpgrade);
    let real = side("a real server", control_plane.client()?, ours).await?;
    law::judge(&real, &embedded().await?, None, 0..SLICE).await
}

/// By published definitions where a directory is named, otherwise as above with more seeds.
#[tokio::test(flavor = "multi_thread")]
#[ignore = "takes minutes: cargo xtask law, cargo xtask soak"]
async fn soak_of_the_law() -> Result<()> {
    let first = number(FIRST, 0)?;
    let seeds = first..first + number(SEEDS, FULL)?;
    let directory = env::var_os(PUBLISHED).map(PathBuf::from);
    let published = directory.as_deref().map(Published::read).transpose()?;
    if let Some(published) = &published {
        law::compare(published)?;
    }
    let control_plane = ControlPlane::start(Options::default()).await?;
    let ours = crd::definitions(FeatureSet::CustomNoUpgrade);
    let ours = side("ours", control_plane.client()?, ours).await?;
    let Some(published) = published else {
        return law::judge(&ours, &embedded().await?, None, seeds).await;
    };
    let other = ControlPlane::start(Options::default()).await?;
    let theirs = published.definitions(FeatureSet::CustomNoUpgrade);
    let theirs = side("theirs", other.client()?, theirs).await?;
    law::judge(&theirs, &ours, Some(&published), seeds).await
}
