//! Every rule of our schemas on the embedded API server, in-process.

use anyhow::Result;
use hyperplane_access::User;
use hyperplane_api::schema::FeatureSet;
use hyperplane_apiserver::{Entropy, Server, Settings, Shared};
use hyperplane_seams::Clock;
use hyperplane_store::Memory;
use kube::Client;
use tokio_util::sync::CancellationToken;

use crate::support::{definitions, rules};

#[tokio::test]
async fn every_rule_holds_and_breaks_where_it_should() -> Result<()> {
    let entropy = Entropy::seeded(1);
    let settings = Settings::new(Clock::reading(jiff::Timestamp::now), entropy);
    let (server, writer, controllers) = Server::open(&Shared::new(), settings, Memory)?;
    tokio::spawn(writer.run());
    tokio::spawn(controllers.run(CancellationToken::new()));
    server.bootstrap().await?;
    let client = Client::new(server.in_process(User::admin()), "default");
    definitions::create(&client, FeatureSet::CustomNoUpgrade).await?;
    rules::judge_all(&client).await
}
