//! Where the server is, and which addresses Services have: what it says of itself.

use serde_json::json;

use crate::simulation_ground::{End, Ground, condition};

const RANGE: &str = "/apis/networking.k8s.io/v1/servicecidrs/kubernetes";

#[tokio::test(start_paused = true)]
async fn the_addresses_of_services_are_told_and_told_again_where_they_are_missing() {
    let mut ground = Ground::new().await;
    let told = ground.get(RANGE).await.unwrap();
    assert_eq!(told["spec"]["cidrs"], json!(["10.96.0.0/12"]));
    assert_eq!(
        condition(&told, "Ready"),
        "True : Kubernetes default Service CIDR is ready"
    );
    let joined = json!({"spec": {"cidrs": ["10.96.0.0/12", "fd00::/112"]}});
    ground.patch(RANGE, &joined).await;
    let revision = ground.revision().await;
    ground.restart(End::Close).await;
    assert_eq!(ground.revision().await, revision, "a restart writes nothing");
    ground.delete(RANGE).await;
    ground.restart(End::Kill).await;
    let again = ground.get(RANGE).await.unwrap();
    assert_eq!(again["spec"], told["spec"]);
    assert_eq!(again["status"]["conditions"][0]["status"], "True");
}
