//! A management cluster in this process, on virtual time.

use hyperplane_apiserver::{Entropy, Server, Settings, Shared};
use hyperplane_runtime::Clock;
use hyperplane_store::Memory;
use hyperplane_twin::Network;
use hyperplane_world::Embedded;
use tokio_util::sync::CancellationToken;

/// Where virtual time begins.
const START: &str = "2027-01-15T08:00:00Z";
/// All chance follows from it.
const SEED: u64 = 1;

/// The image of the operators on every ground.
pub const IMAGE: &str = "hyperplane.dev/hyperplane:v0.1.0";
/// The domain of every ground.
pub const INGRESS_DOMAIN: &str = "apps.example.com";
/// Where every server says that it is. Control planes are kept away from it.
pub const ADDRESS: &str = "192.0.2.1";
/// The addresses of Services on every ground. Control planes are kept away from them, too.
pub const SERVICE_RANGE: &str = "10.96.0.0/16";

/// Chance that is the same in every run.
pub fn entropy() -> Entropy {
    Entropy::seeded(SEED)
}

/// A cluster that is set up and lives, without operators.
pub async fn start() -> (Embedded, Network) {
    let clock = Clock::anchored(START.parse().unwrap());
    let (shared, entropy) = (Shared::new(), entropy());
    let mut settings = Settings::new(clock.clone(), entropy.clone());
    settings.address = format!("{ADDRESS}:6443");
    settings.service_range = SERVICE_RANGE.parse().unwrap();
    let (server, writer, controllers) = Server::open(&shared, settings, Memory).unwrap();
    tokio::spawn(writer.run());
    tokio::spawn(controllers.run(CancellationToken::new()));
    server.bootstrap().await.unwrap();
    let embedded = Embedded {
        server,
        shared,
        clock,
        seed: SEED,
        entropy,
        image: IMAGE.to_owned(),
        ingress_domain: Some(INGRESS_DOMAIN.to_owned()),
    };
    embedded.set_up().await.unwrap();
    let twin = embedded.twin(embedded.twin_settings());
    let network = twin.network();
    tokio::spawn(async move { twin.run(CancellationToken::new()).await.unwrap() });
    (embedded, network)
}
