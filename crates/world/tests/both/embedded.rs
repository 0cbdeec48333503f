//! A management cluster in this process, on virtual time.

use hyperplane_apiserver::{Entropy, Server, Settings, Shared};
use hyperplane_runtime::Clock;
use hyperplane_store::Memory;
use hyperplane_twin::Network;
use hyperplane_world::Embedded;
use k8s_openapi::api::discovery::v1::EndpointSlice;
use kube::{Api, api::PostParams};
use serde_json::json;
use tokio_util::sync::CancellationToken;

/// Where virtual time begins.
const START: &str = "2027-01-15T08:00:00Z";
/// All chance follows from it.
const SEED: u64 = 1;

/// The image of the operators on every ground.
pub const IMAGE: &str = "hyperplane.dev/hyperplane:v0.1.0";
/// The domain of every ground.
pub const INGRESS_DOMAIN: &str = "apps.example.com";

/// Chance that is the same in every run.
pub fn entropy() -> Entropy {
    Entropy::seeded(SEED)
}

/// A cluster that is set up and lives, without operators.
pub async fn start() -> (Embedded, Network) {
    let clock = Clock::anchored(START.parse().unwrap());
    let (shared, entropy) = (Shared::new(), entropy());
    let settings = Settings::new(clock.clone(), entropy.clone());
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
    tell_address(&embedded).await;
    let twin = embedded.twin(embedded.twin_settings());
    let network = twin.network();
    tokio::spawn(async move { twin.run(CancellationToken::new()).await.unwrap() });
    (embedded, network)
}

/// A server in this process has no address. Real ones tell theirs, and control planes are kept away from it.
async fn tell_address(embedded: &Embedded) {
    let slice = json!({
        "metadata": {"name": "kubernetes", "labels": {"kubernetes.io/service-name": "kubernetes"}},
        "addressType": "IPv4",
        "endpoints": [{"addresses": ["192.0.2.1"]}],
        "ports": [{"name": "https", "port": 6443, "protocol": "TCP"}],
    });
    let slices: Api<EndpointSlice> = Api::namespaced(embedded.administrator(), "default");
    let slice = serde_json::from_value(slice).unwrap();
    slices.create(&PostParams::default(), &slice).await.unwrap();
}
