//! Aggregated roles, and what a start puts back into the default policy.

use http::{Request, StatusCode};
use http_body_util::Full;
use hyperplane_access::User;
use serde_json::{Value, json};
use tower::ServiceExt as _;

use crate::{
    simulation_ground::{End, Ground},
    support::World,
};

const PATH: &str = "/apis/rbac.authorization.k8s.io/v1/clusterroles";

fn role(name: &str, label: &str, verbs: &[&str]) -> Value {
    json!({
        "metadata": {"name": name, "labels": {label: "true"}},
        "rules": [{"apiGroups": ["x.test"], "resources": ["leaves"], "verbs": verbs}],
    })
}

async fn rules(ground: &Ground, name: &str) -> Value {
    ground.get(&format!("{PATH}/{name}")).await.unwrap()["rules"].clone()
}

#[tokio::test(start_paused = true)]
async fn a_role_that_is_selected_counts_at_once_and_through_others() {
    let ground = Ground::new().await;
    let before = (rules(&ground, "view").await, rules(&ground, "admin").await);
    let leaves = role("leaves", "rbac.authorization.k8s.io/aggregate-to-view", &["get"]);
    ground.create(PATH, &leaves).await;
    ground.settle().await;
    for name in ["view", "edit", "admin"] {
        let rules = rules(&ground, name).await;
        assert!(
            rules.as_array().unwrap().contains(&leaves["rules"][0]),
            "{name}: {rules:#}"
        );
    }
    ground.delete(&format!("{PATH}/leaves")).await;
    ground.settle().await;
    assert_eq!((rules(&ground, "view").await, rules(&ground, "admin").await), before);
}

#[tokio::test(start_paused = true)]
async fn roles_that_select_each_other_come_to_rest() {
    let ground = Ground::new().await;
    for (name, other) in [("one", "two"), ("two", "one")] {
        let mut body = role(name, name, &[name]);
        body["aggregationRule"] = json!({"clusterRoleSelectors": [{"matchLabels": {other: "true"}}]});
        ground.create(PATH, &body).await;
    }
    ground.settle().await;
    let revision = ground.revision().await;
    ground.settle().await;
    assert_eq!(ground.revision().await, revision);
    assert_eq!(rules(&ground, "one").await, rules(&ground, "two").await);
}

#[tokio::test(start_paused = true)]
async fn a_start_puts_back_what_is_missing_and_nothing_else() {
    let mut ground = Ground::new().await;
    let (role, kept) = (format!("{PATH}/system:discovery"), format!("{PATH}/system:basic-user"));
    let original = rules(&ground, "system:discovery").await;
    let extra = json!({"apiGroups": ["x.test"], "resources": ["leaves"], "verbs": ["get"]});
    ground.patch(&role, &json!({"rules": [extra]})).await;
    let protect = json!({"rbac.authorization.kubernetes.io/autoupdate": "false"});
    ground
        .patch(&kept, &json!({"metadata": {"annotations": protect}, "rules": []}))
        .await;
    let binding = "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings/system:discovery";
    let bound = ground.get(binding).await.unwrap();
    ground.patch(binding, &json!({"subjects": []})).await;
    ground.delete(&format!("{PATH}/system:node-bootstrapper")).await;
    ground.restart(End::Close).await;
    ground.settle().await;
    let repaired = rules(&ground, "system:discovery").await;
    assert_eq!(repaired[0], extra);
    let urls = original[0]["nonResourceURLs"].as_array().unwrap().len();
    assert_eq!(repaired.as_array().unwrap().len(), 1 + urls, "{repaired:#}");
    assert!(
        rules(&ground, "system:basic-user")
            .await
            .as_array()
            .is_none_or(Vec::is_empty)
    );
    assert_eq!(ground.get(binding).await.unwrap()["subjects"], bound["subjects"]);
    assert!(ground.get(&format!("{PATH}/system:node-bootstrapper")).await.is_some());
    let revision = ground.revision().await;
    ground.restart(End::Close).await;
    ground.settle().await;
    assert_eq!(
        ground.revision().await,
        revision,
        "the next start has nothing to put back"
    );
}

/// Applies a ConfigMap as a user who is no administrator.
async fn apply(world: &World, name: &str) -> StatusCode {
    let body = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}, "data": {"a": name}});
    let request = Request::builder()
        .method("PATCH")
        .uri(format!(
            "/api/v1/namespaces/default/configmaps/{name}?fieldManager=test"
        ))
        .header("content-type", "application/apply-patch+yaml")
        .extension(User::with_groups("ada", vec!["system:authenticated".to_owned()]))
        .body(Full::new(bytes::Bytes::from(body.to_string())))
        .unwrap();
    world.server.clone().oneshot(request).await.unwrap().status()
}

#[tokio::test(start_paused = true)]
async fn whoever_may_change_objects_does_not_make_them_by_the_way() {
    let world = World::new().await;
    let rbac = "/apis/rbac.authorization.k8s.io/v1/namespaces/default";
    let role = |verbs: &[&str]| {
        let rules = json!([{"apiGroups": [""], "resources": ["configmaps"], "verbs": verbs}]);
        json!({"metadata": {"name": "r"}, "rules": rules}).to_string()
    };
    let reference = json!({"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": "r"});
    let subjects = json!([{"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": "ada"}]);
    let binding = json!({"metadata": {"name": "b"}, "roleRef": reference, "subjects": subjects}).to_string();
    let json = "application/json";
    for (kind, body) in [("roles", role(&["patch"])), ("rolebindings", binding)] {
        let (status, answer) = world.send("POST", &format!("{rbac}/{kind}"), json, body).await;
        assert_eq!(status, StatusCode::CREATED, "{answer}");
    }
    assert_eq!(apply(&world, "one").await, StatusCode::FORBIDDEN);
    let (status, _) = world
        .send("PUT", &format!("{rbac}/roles/r"), json, role(&["create", "patch"]))
        .await;
    assert_eq!(status, StatusCode::OK);
    assert_eq!(apply(&world, "one").await, StatusCode::CREATED);
    let (status, _) = world
        .send("PUT", &format!("{rbac}/roles/r"), json, role(&["patch"]))
        .await;
    assert_eq!(status, StatusCode::OK);
    assert_eq!(apply(&world, "one").await, StatusCode::OK, "it is there");
    assert_eq!(apply(&world, "two").await, StatusCode::FORBIDDEN);
}
