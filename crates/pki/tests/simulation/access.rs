//! As whom the operator writes: as the account of each namespace, with the rights of its Role and no others.

use hyperplane_api::constants::objects::{kubeconfigs, roles};
use hyperplane_runtime::Scope;
use k8s_openapi::api::core::v1::Namespace;
use serde_json::json;

use crate::world::{NAMESPACE, World};

#[tokio::test(start_paused = true)]
async fn everything_is_written_as_the_tenant() {
    let world = World::new().await;
    let tenants = [NAMESPACE, "clusters-other"];
    for namespace in tenants {
        world.tenant(namespace).await;
        world.publish(namespace).await;
        world.control_plane(namespace, json!({})).await;
    }
    let position = world.position();
    let process = world.start(Scope::Everywhere);
    world.settle().await;
    let accounts = tenants.map(|namespace| format!("system:serviceaccount:{namespace}:{}", roles::PKI_OPERATOR));
    assert_eq!(world.writers_since(position), accounts);
    for namespace in tenants {
        assert!(world.secrets(namespace).await.contains_key(kubeconfigs::ADMIN));
    }
    process.stop().await;
}

#[tokio::test(start_paused = true)]
async fn without_its_role_nothing_is_written() {
    let world = World::new().await;
    world
        .create::<Namespace>(None, json!({"metadata": {"name": NAMESPACE}}))
        .await;
    world.publish(NAMESPACE).await;
    world.control_plane(NAMESPACE, json!({})).await;
    let process = world.start(Scope::Everywhere);
    world.settle().await;
    assert!(world.secrets(NAMESPACE).await.is_empty());
    process.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_process_of_one_namespace_needs_no_more_than_its_role() {
    let world = World::new().await;
    for namespace in [NAMESPACE, "clusters-other"] {
        world.tenant(namespace).await;
        world.publish(namespace).await;
        world
            .control_plane(
                namespace,
                json!({"metadata": {"annotations": {"hyperplane.dev/tenant-operators": "dedicated"}}}),
            )
            .await;
    }
    let process = world.start_dedicated(NAMESPACE);
    world.settle().await;
    assert!(world.secrets(NAMESPACE).await.contains_key(kubeconfigs::ADMIN));
    assert!(world.secrets("clusters-other").await.is_empty());
    let refused: Vec<String> = world
        .writes_since(0)
        .into_iter()
        .filter(|line| line.ends_with("403"))
        .collect();
    assert_eq!(refused, [] as [&str; 0]);
    process.stop().await;
}
