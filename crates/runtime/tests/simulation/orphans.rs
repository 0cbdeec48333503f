//! Orphans: what a write that reaches the server after the cleanup leaves behind, where Kubernetes collects nothing.

use std::{sync::Arc, time::Duration};

use hyperplane_runtime::{Context, Failure, Manager, Next, ObjectKey, Reconciler, Settings, Watch};
use k8s_openapi::api::core::v1::ConfigMap;
use kube::Api;
use serde_json::json;
use tokio::time::sleep;
use tokio_util::sync::CancellationToken;

use crate::{
    widget::Widget,
    world::{World, id, simulate},
};

const OWNER: &str = "example.test/owner";

/// Makes nothing; removes the ConfigMap of the same name when there is no such widget.
struct Sweeper;

impl Reconciler for Sweeper {
    type Object = Widget;

    const SWEEPS: bool = true;

    async fn reconcile(&self, _: &Context, _: Arc<Widget>) -> Result<Next, Failure> {
        Ok(Next::OnChange)
    }

    async fn sweep(&self, context: &Context, key: &ObjectKey) -> Result<(), Failure> {
        let widgets: Api<Widget> = Api::namespaced(context.client().clone(), &key.namespace);
        let children: Api<ConfigMap> = Api::namespaced(context.client().clone(), &key.namespace);
        match (widgets.get_opt(&key.name).await?, children.get_opt(&key.name).await?) {
            (None, Some(orphan)) => context.delete(&orphan).await,
            _ => Ok(()),
        }
    }
}

fn leave_child(world: &World, name: &str) {
    let id = id("configmaps", name);
    let child = json!({
        "apiVersion": "v1", "kind": "ConfigMap",
        "metadata": {"labels": {"app": "widget"}, "annotations": {OWNER: format!("a/{name}")}},
    });
    world.server.act("late", &id, |state| drop(state.create(&id, child)));
}

#[test]
fn orphans_go_whether_they_came_before_the_start_or_after() {
    simulate(async || {
        let world = World::new(9, 1);
        world.put("alive", &json!({"children": 0, "color": "red"}));
        leave_child(&world, "alive");
        leave_child(&world, "before");
        let settings = Settings::new("simulation", "one", world.server.0.clock.clone(), 9);
        let mut manager = Manager::new(world.server.client("one"), settings);
        manager
            .controller("sweeper", Watch::<Widget>::all(), Sweeper)
            .owns_by_annotation(Watch::<ConfigMap>::all().labels("app=widget"), OWNER)
            .register();
        let task = tokio::spawn(manager.run(CancellationToken::new()));
        sleep(Duration::from_mins(1)).await;
        assert!(
            world.get("configmaps", "before").is_null(),
            "it was there before the start"
        );
        leave_child(&world, "after");
        world.set_faults(20);
        sleep(Duration::from_mins(30)).await;
        assert!(world.get("configmaps", "after").is_null(), "it came after the start");
        assert!(!world.get("configmaps", "alive").is_null(), "its owner is there");
        task.abort();
    });
}
