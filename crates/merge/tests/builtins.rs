//! Kinds that are described by components: zero values, references and key defaults on a whole workload.

use hyperplane_merge::{Author, ResetFields, Scope, Types, apply, update};
use serde_json::{Value, json};

use crate::deployment;

fn written(run: impl FnOnce(&Author<'_>, &Scope<'_>) -> Value) -> Value {
    let types = Types::openapi(deployment::ROOT, &deployment::definitions());
    let lookup = |_: &str| Some(&types);
    let reset = ResetFields::none().exclude("apps/v1", &[&["status"]]);
    let author = Author {
        manager: "kubectl",
        api_version: "apps/v1",
        subresource: "",
        time: jiff::Timestamp::UNIX_EPOCH,
    };
    run(
        &author,
        &Scope {
            types: &lookup,
            reset: &reset,
        },
    )
}

#[test]
fn structs_that_are_always_there_are_not_owned_themselves() {
    let object = deployment::deployment(1);
    let created = written(|author, scope| update(None, object.clone(), author, scope));
    let spec = &created["metadata"]["managedFields"][0]["fieldsV1"]["f:spec"];
    for (pointer, is_owned) in [
        ("/.", false),
        ("/f:strategy/.", false),
        ("/f:template/.", false),
        ("/f:template/f:spec/f:containers/.", false),
        ("/f:template/f:spec/f:volumes/.", true),
        ("/f:template/f:metadata/f:labels/.", true),
        ("/f:selector", true),
    ] {
        assert_eq!(spec.pointer(pointer).is_some(), is_owned, "{pointer} in {spec}");
    }
    assert!(
        created["metadata"]["managedFields"][0]["fieldsV1"]
            .get("f:status")
            .is_none()
    );
}

#[test]
fn a_port_without_protocol_is_known_by_its_default() {
    let mut intent = deployment::deployment(1);
    intent["spec"]["template"]["spec"]["containers"][0]["ports"] = json!([{"containerPort": 80}]);
    let applied = written(|author, scope| apply(None, &intent, author, scope, false).unwrap());
    let text = applied["metadata"]["managedFields"].to_string();
    assert!(
        text.contains(r#"k:{\"containerPort\":80,\"protocol\":\"TCP\"}"#),
        "{text}"
    );
}

#[test]
fn an_applied_workload_is_stored_as_it_is() {
    let mut intent = deployment::deployment(2);
    intent.as_object_mut().unwrap().remove("status");
    let mut applied = written(|author, scope| apply(None, &intent, author, scope, false).unwrap());
    let again = written(|author, scope| apply(Some(&applied), &intent, author, scope, false).unwrap());
    assert_eq!(again, applied);
    applied["metadata"].as_object_mut().unwrap().remove("managedFields");
    assert_eq!(applied, intent);
}
