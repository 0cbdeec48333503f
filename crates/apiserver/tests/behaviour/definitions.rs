//! The life of definitions as clients see it.

use serde_json::{Value, json};

use crate::simulation_ground::{End, Ground, condition};

const PATH: &str = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
const LEAVES: &str = "/apis/x.test/v1/namespaces/default/leaves";

/// A definition of a kind with one text and a status.
pub(crate) fn definition(plural: &str, kind: &str) -> Value {
    let schema = json!({
        "type": "object",
        "properties": {"text": {"type": "string"}, "status": {"type": "object", "x-kubernetes-preserve-unknown-fields": true}},
    });
    json!({
        "metadata": {"name": format!("{plural}.x.test")},
        "spec": {
            "group": "x.test", "scope": "Namespaced", "names": {"plural": plural, "kind": kind},
            "versions": [{"name": "v1", "served": true, "storage": true, "schema": {"openAPIV3Schema": schema}}],
        },
    })
}

/// Creates a definition, and waits until it is established.
pub(crate) async fn define(ground: &Ground, plural: &str, kind: &str) -> Value {
    ground.create(PATH, &definition(plural, kind)).await;
    tokio::time::sleep(std::time::Duration::from_millis(1)).await;
    let made = ground.get(&format!("{PATH}/{plural}.x.test")).await.unwrap();
    assert!(condition(&made, "Established").starts_with("True"), "{made:#}");
    made
}

fn leaf(name: &str) -> Value {
    json!({"apiVersion": "x.test/v1", "kind": "Leaf", "metadata": {"name": name}, "text": "green"})
}

fn path(plural: &str) -> String {
    format!("{PATH}/{plural}.x.test")
}

async fn found(ground: &Ground, plural: &str) -> Value {
    ground.get(&path(plural)).await.unwrap()
}

#[tokio::test(start_paused = true)]
async fn a_definition_is_served_before_it_says_so() {
    let ground = Ground::new().await;
    let mut watch = ground.world.watch(&format!("{PATH}?watch=true")).await;
    ground.create(PATH, &definition("leaves", "Leaf")).await;
    let mut seen = Vec::new();
    while seen.last().is_none_or(|last: &String| !last.starts_with("True")) {
        let event = watch.next().await.unwrap();
        seen.push(condition(&event["object"], "Established"));
    }
    assert_eq!(ground.names(LEAVES).await, Vec::<String>::new());
    assert_eq!(
        seen.last().unwrap(),
        "True InitialNamesAccepted: the initial names have been accepted"
    );
    let made = found(&ground, "leaves").await;
    assert_eq!(
        condition(&made, "NamesAccepted"),
        "True NoConflicts: no conflicts found"
    );
    assert_eq!(made["status"]["acceptedNames"], made["spec"]["names"]);
    assert_eq!(made["status"]["conditions"].as_array().unwrap().len(), 2);
}

#[tokio::test(start_paused = true)]
async fn a_group_of_the_community_needs_an_approval() {
    let ground = Ground::new().await;
    let mut body = definition("leaves", "Leaf");
    body["metadata"] = json!({
        "name": "leaves.x.k8s.io", "annotations": {"api-approved.kubernetes.io": "unapproved, a test"},
    });
    body["spec"]["group"] = json!("x.k8s.io");
    ground.create(PATH, &body).await;
    ground.settle().await;
    let made = ground.get(&format!("{PATH}/leaves.x.k8s.io")).await.unwrap();
    let expected = "False UnapprovedAnnotation: not approved: \"unapproved, a test\"";
    assert_eq!(condition(&made, "KubernetesAPIApprovalPolicyConformant"), expected);
    assert!(condition(&made, "Established").starts_with("True"));
}

#[tokio::test(start_paused = true)]
async fn a_name_that_becomes_free_is_given_to_who_waits_for_it() {
    let ground = Ground::new().await;
    define(&ground, "leaves", "Leaf").await;
    let mut other = definition("foliage", "Leaf");
    other["spec"]["names"]["shortNames"] = json!(["lf"]);
    ground.create(PATH, &other).await;
    ground.settle().await;
    let waiting = found(&ground, "foliage").await;
    assert_eq!(
        condition(&waiting, "NamesAccepted"),
        "False ListKindConflict: \"LeafList\" is already in use"
    );
    assert_eq!(
        condition(&waiting, "Established"),
        "False NotAccepted: not all names are accepted"
    );
    assert_eq!(
        waiting["status"]["acceptedNames"]["plural"], "foliage",
        "what is free it gets"
    );
    assert!(ground.get("/apis/x.test/v1/foliage").await.is_none());
    ground.delete(&path("leaves")).await;
    ground.settle().await;
    let made = found(&ground, "foliage").await;
    assert!(condition(&made, "Established").starts_with("True"), "{made:#}");
    assert_eq!(made["status"]["acceptedNames"], made["spec"]["names"]);
    assert!(ground.names("/apis/x.test/v1/foliage").await.is_empty());
}

#[tokio::test(start_paused = true)]
async fn short_names_that_become_free_are_served() {
    let mut ground = Ground::new().await;
    for (plural, kind) in [("leaves", "Leaf"), ("twigs", "Twig")] {
        let mut body = definition(plural, kind);
        body["spec"]["names"]["shortNames"] = json!(["lt"]);
        ground.create(PATH, &body).await;
        ground.settle().await;
    }
    let twigs = found(&ground, "twigs").await;
    assert_eq!(
        condition(&twigs, "NamesAccepted"),
        "False ShortNamesConflict: \"lt\" is already in use"
    );
    assert_eq!(
        condition(&twigs, "Established"),
        "False NotAccepted: not all names are accepted"
    );
    assert!(ground.get("/apis/x.test/v1/twigs").await.is_none());
    ground.restart(End::Kill).await;
    ground
        .patch(&path("leaves"), &json!({"spec": {"names": {"shortNames": ["lv"]}}}))
        .await;
    ground.settle().await;
    let twigs = found(&ground, "twigs").await;
    assert!(condition(&twigs, "Established").starts_with("True"), "{twigs:#}");
    let resources = ground.get("/apis/x.test/v1").await.unwrap();
    let short: Vec<&Value> = resources["resources"]
        .as_array()
        .unwrap()
        .iter()
        .map(|entry| &entry["shortNames"])
        .collect();
    assert_eq!(short, [&json!(["lv"]), &json!(["lt"])]);
    ground
        .patch(
            &path("twigs"),
            &json!({"spec": {"names": {"shortNames": ["lt", "lv"]}}}),
        )
        .await;
    ground.settle().await;
    let twigs = found(&ground, "twigs").await;
    assert!(condition(&twigs, "NamesAccepted").starts_with("False ShortNamesConflict"));
    assert!(
        condition(&twigs, "Established").starts_with("True"),
        "what is served stays"
    );
    ground.delete(&path("leaves")).await;
    ground.settle().await;
    let twigs = found(&ground, "twigs").await;
    assert!(condition(&twigs, "NamesAccepted").starts_with("True"));
    let resources = ground.get("/apis/x.test/v1").await.unwrap();
    assert_eq!(resources["resources"][0]["shortNames"], json!(["lt", "lv"]));
}

#[tokio::test(start_paused = true)]
async fn a_change_is_served_at_once_and_ends_old_watches() {
    let mut ground = Ground::new().await;
    define(&ground, "leaves", "Leaf").await;
    let old = ground.create(LEAVES, &leaf("old")).await;
    let revision = old["metadata"]["resourceVersion"].as_str().unwrap();
    let mut watch = ground
        .world
        .watch(&format!("{LEAVES}?watch=true&resourceVersion={revision}"))
        .await;
    let version = "/spec/versions/0/schema/openAPIV3Schema/properties/size";
    let change = json!([{"op": "add", "path": version, "value": {"type": "integer", "default": 3}}]).to_string();
    let (status, answer) = ground
        .world
        .send("PATCH", &path("leaves"), "application/json-patch+json", change)
        .await;
    assert_eq!(status, 200, "{answer:#}");
    ground.settle().await;
    assert_eq!(watch.next().await, None, "its client begins anew");
    assert_eq!(ground.get(&format!("{LEAVES}/old")).await.unwrap()["size"], 3);
    ground.create(LEAVES, &leaf("new")).await;
    for end in [End::Close, End::Kill] {
        ground.restart(end).await;
        for name in ["old", "new"] {
            assert_eq!(
                ground.get(&format!("{LEAVES}/{name}")).await.unwrap()["size"],
                3,
                "{name} after {end:?}"
            );
        }
    }
}

#[tokio::test(start_paused = true)]
async fn versions_come_and_go_and_are_remembered() {
    let mut ground = Ground::new().await;
    define(&ground, "leaves", "Leaf").await;
    ground.create(LEAVES, &leaf("a")).await;
    let mut made = found(&ground, "leaves").await;
    let mut second = made["spec"]["versions"][0].clone();
    second["name"] = json!("v2");
    made["spec"]["versions"][0]["storage"] = json!(false);
    made["spec"]["versions"].as_array_mut().unwrap().push(second);
    let (status, changed) = ground
        .world
        .send("PUT", &path("leaves"), "application/json", made.to_string())
        .await;
    assert_eq!(status, 200, "{changed:#}");
    assert_eq!(changed["status"]["storedVersions"], json!(["v1", "v2"]));
    ground.settle().await;
    let second = LEAVES.replace("v1", "v2");
    assert_eq!(
        ground.get(&format!("{second}/a")).await.unwrap()["apiVersion"],
        "x.test/v2"
    );
    let mut made = found(&ground, "leaves").await;
    made["spec"]["versions"][0]["served"] = json!(false);
    ground
        .world
        .send("PUT", &path("leaves"), "application/json", made.to_string())
        .await;
    ground.settle().await;
    assert!(ground.get(&format!("{LEAVES}/a")).await.is_none());
    let mut made = found(&ground, "leaves").await;
    made["spec"]["versions"][1]["served"] = json!(false);
    let (status, answer) = ground
        .world
        .send("PUT", &path("leaves"), "application/json", made.to_string())
        .await;
    assert_eq!(status, 200, "{answer:#}");
    ground.restart(End::Kill).await;
    ground.settle().await;
    assert!(
        ground.get(&format!("{second}/a")).await.is_none(),
        "no version is served"
    );
    ground.delete(&path("leaves")).await;
    ground.settle().await;
    assert!(
        ground.get(&path("leaves")).await.is_none(),
        "its objects can be deleted all the same"
    );
    define(&ground, "leaves", "Leaf").await;
    assert!(ground.names(LEAVES).await.is_empty());
}

#[tokio::test(start_paused = true)]
async fn a_namespace_takes_what_no_version_shows_with_it() {
    let ground = Ground::new().await;
    define(&ground, "leaves", "Leaf").await;
    ground.namespace("a").await;
    ground
        .create("/apis/x.test/v1/namespaces/a/leaves", &leaf("hidden"))
        .await;
    let set = async |is_served: bool| {
        let mut made = found(&ground, "leaves").await;
        made["spec"]["versions"][0]["served"] = json!(is_served);
        let (status, _) = ground
            .world
            .send("PUT", &path("leaves"), "application/json", made.to_string())
            .await;
        assert_eq!(status, 200);
        ground.settle().await;
    };
    set(false).await;
    ground.delete("/api/v1/namespaces/a").await;
    ground.settle().await;
    assert!(ground.get("/api/v1/namespaces/a").await.is_none());
    set(true).await;
    assert!(ground.names("/apis/x.test/v1/leaves").await.is_empty());
}

#[tokio::test(start_paused = true)]
async fn a_definition_goes_after_its_objects_whatever_happens_to_the_server() {
    for end in [None, Some(End::Close), Some(End::Kill), Some(End::Power(5))] {
        let mut ground = Ground::new().await;
        define(&ground, "leaves", "Leaf").await;
        let mut held = leaf("held");
        held["metadata"]["finalizers"] = json!(["x.test/hold"]);
        ground.create(LEAVES, &held).await;
        ground.create(LEAVES, &leaf("free")).await;
        let mut watch = ground
            .world
            .watch(&format!("{LEAVES}?watch=true&resourceVersion=0"))
            .await;
        ground.delete(&path("leaves")).await;
        if let Some(end) = end {
            ground.restart(end).await;
        }
        ground.settle().await;
        assert_eq!(ground.names(LEAVES).await, ["held"]);
        let going = found(&ground, "leaves").await;
        let expected = "True InstanceDeletionInProgress: CustomResource deletion is in progress";
        assert_eq!(condition(&going, "Terminating"), expected);
        let (status, answer) = ground.world.post(LEAVES, &leaf("late")).await;
        assert_eq!(status, 403);
        assert!(
            answer["message"]
                .as_str()
                .unwrap()
                .contains("custom resource definition is terminating"),
            "{answer:#}"
        );
        ground
            .patch(&format!("{LEAVES}/held"), &json!({"metadata": {"finalizers": []}}))
            .await;
        ground.settle().await;
        assert!(ground.get(&path("leaves")).await.is_none());
        assert!(ground.get(LEAVES).await.is_none(), "nothing of it is served");
        if end.is_none() {
            let mut words = Vec::new();
            while let Some(event) = watch.next().await {
                words.push(format!(
                    "{} {}",
                    event["type"].as_str().unwrap(),
                    event["object"]["metadata"]["name"]
                ));
            }
            let ends: Vec<&String> = words.iter().filter(|word| word.starts_with("DELETED")).collect();
            assert_eq!(
                ends,
                [r#"DELETED "free""#, r#"DELETED "held""#],
                "a watch sees its objects go, then ends"
            );
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_definition_that_comes_back_as_another_is_served_as_the_other() {
    let ground = Ground::new().await;
    for round in 0..5 {
        define(&ground, "leaves", "Leaf").await;
        ground.create(LEAVES, &leaf("a")).await;
        ground.delete(&path("leaves")).await;
        let mut other = definition("leaves", "Leaf");
        other["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["text"] = json!({"type": "integer"});
        let mut attempts = 0;
        while ground.world.post(PATH, &other).await.0 != 201 {
            tokio::task::yield_now().await;
            attempts += 1;
            assert!(attempts < 1000, "it never goes");
        }
        ground.settle().await;
        assert!(ground.names(LEAVES).await.is_empty(), "round {round}");
        let (status, _) = ground.world.post(LEAVES, &leaf("a")).await;
        assert_eq!(status, 422, "a text is no number");
        ground.delete(&path("leaves")).await;
        ground.settle().await;
    }
}

#[tokio::test(start_paused = true)]
async fn what_is_built_in_cannot_be_defined_away() {
    let ground = Ground::new().await;
    let name = "clusterroles.rbac.authorization.k8s.io";
    let mut body = definition("clusterroles", "ClusterRole");
    body["metadata"] = json!({"name": name, "annotations": {"api-approved.kubernetes.io": "unapproved"}});
    body["spec"]["group"] = json!("rbac.authorization.k8s.io");
    body["spec"]["scope"] = json!("Cluster");
    let roles = "/apis/rbac.authorization.k8s.io/v1/clusterroles";
    let before = ground.names(roles).await;
    ground.create(PATH, &body).await;
    ground.settle().await;
    assert_eq!(ground.names(roles).await, before);
    ground.delete(&format!("{PATH}/{name}")).await;
    ground.settle().await;
    assert!(ground.get(&format!("{PATH}/{name}")).await.is_none());
    assert_eq!(ground.names(roles).await, before);
}
