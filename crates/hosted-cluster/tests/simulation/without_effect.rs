//! Objects of kinds that nothing acts on are told so, once for each of their generations.

use std::collections::BTreeSet;

use hyperplane_access::User;
use hyperplane_api::{
    audit_log_persistence::audit_log_persistence_config::AuditLogPersistenceConfig,
    certificates::certificate_revocation_request::CertificateRevocationRequest, crd,
    hypershift::etcd_backup::HCPEtcdBackup, resource::Defined as _, schema::FeatureSet, unused::UnusedKind,
};
use hyperplane_hosted_cluster::register_without_effect;
use hyperplane_runtime::{Manager, Settings};
use k8s_openapi::{
    apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition,
    apimachinery::pkg::apis::meta::v1::Condition,
};
use kube::{
    Api, Client,
    api::{Patch, PatchParams},
};
use serde_json::json;
use tokio_util::sync::CancellationToken;

use crate::world::{HOME, MANAGER, World};

/// Starts a process that serves these definitions.
fn start(world: &World, served: &[String]) -> CancellationToken {
    let user = User::service_account(MANAGER.0, MANAGER.1, "1234");
    let client = Client::new(world.server.in_process(user), "default");
    let settings = Settings::new("hyperplane", "test", world.clock.clone(), 1);
    let mut manager = Manager::new(client, settings);
    register_without_effect(&mut manager, &served.iter().cloned().collect::<BTreeSet<_>>());
    let stop = CancellationToken::new();
    let run = manager.run(stop.clone());
    tokio::spawn(async move { run.await.unwrap() });
    stop
}

async fn told(world: &World) -> (Option<i64>, Vec<Condition>) {
    let api: Api<AuditLogPersistenceConfig> = Api::all(world.client.clone());
    let object = api.get("cluster").await.unwrap();
    (object.metadata.generation, object.status.unwrap_or_default().conditions)
}

#[tokio::test(start_paused = true)]
async fn an_object_that_nothing_acts_on_says_so_for_its_generation() {
    let world = World::new().await;
    let manifest = json!({"apiVersion": "auditlogpersistence.hypershift.openshift.io/v1alpha1",
        "kind": "AuditLogPersistenceConfig", "metadata": {"name": "cluster"}, "spec": {"enabled": true}});
    world.create::<AuditLogPersistenceConfig>(None, manifest).await;
    let kind = AuditLogPersistenceConfig::definition().name();
    let process = start(&world, std::slice::from_ref(&kind));
    world.settle().await;
    let (generation, first) = told(&world).await;
    let message = UnusedKind::named(&kind).unwrap().message();
    assert_eq!(first.len(), 1, "{first:?}");
    assert_eq!(
        (
            first[0].type_.as_str(),
            first[0].status.as_str(),
            first[0].reason.as_str()
        ),
        ("WithoutEffect", "True", "NotActedOn")
    );
    assert!(
        message.contains("auditWebhook") && first[0].message == message,
        "{message}"
    );
    assert!(
        generation.is_some() && first[0].observed_generation == generation,
        "{first:?}"
    );

    process.cancel();
    let before = world.position();
    let process = start(&world, &[kind]);
    world.settle().await;
    assert_eq!(world.writes_since(before), Vec::<String>::new(), "it was said already");

    let api: Api<AuditLogPersistenceConfig> = Api::all(world.client.clone());
    let change = Patch::Merge(json!({"spec": {"enabled": false}}));
    api.patch("cluster", &PatchParams::default(), &change).await.unwrap();
    world.settle().await;
    let (next, second) = told(&world).await;
    assert!(next > generation && second[0].observed_generation == next, "{second:?}");
    assert_eq!(second[0].last_transition_time, first[0].last_transition_time);
    assert_eq!(
        world.writes_since(before),
        ["patch auditlogpersistenceconfigs/status/cluster 200"]
    );
    assert_eq!(world.refusals(), Vec::<String>::new());
    process.cancel();
}

#[tokio::test(start_paused = true)]
async fn what_others_say_stays_and_kinds_that_are_not_served_are_left() {
    let world = World::new().await;
    let request = json!({"apiVersion": "certificates.hypershift.openshift.io/v1alpha1",
        "kind": "CertificateRevocationRequest", "metadata": {"name": "one", "namespace": HOME},
        "spec": {"signerClass": "customer-break-glass"}});
    world.create::<CertificateRevocationRequest>(Some(HOME), request).await;
    let api = world.api::<CertificateRevocationRequest>(HOME);
    let other = json!({"type": "Seen", "status": "True", "reason": "Somebody", "message": "",
        "lastTransitionTime": "2027-01-15T08:00:00Z"});
    let change = Patch::Merge(json!({"status": {"conditions": [other]}}));
    api.patch_status("one", &PatchParams::default(), &change).await.unwrap();
    let process = start(&world, &[CertificateRevocationRequest::definition().name()]);
    world.settle().await;
    let status = api.get("one").await.unwrap().status.unwrap();
    let types: BTreeSet<&str> = status.conditions.iter().map(|one| one.type_.as_str()).collect();
    assert_eq!(types, BTreeSet::from(["Seen", "WithoutEffect"]));
    assert_eq!(world.refusals(), Vec::<String>::new());
    process.cancel();

    let process = start(&world, &[]);
    world.settle().await;
    let backup = HCPEtcdBackup::definition();
    let definition = crd::definition(&backup, FeatureSet::TechPreviewNoUpgrade);
    world.create::<CustomResourceDefinition>(None, definition).await;
    world.settle().await;
    let manifest = json!({"apiVersion": "hypershift.openshift.io/v1beta1", "kind": "HCPEtcdBackup",
        "metadata": {"name": "one", "namespace": HOME},
        "spec": {"storage": {"storageType": "S3", "s3": {"bucket": "backups", "region": "eu-west-1",
            "keyPrefix": "one", "credentials": {"name": "aws"}}}}});
    world.create::<HCPEtcdBackup>(Some(HOME), manifest).await;
    world.settle().await;
    let found: HCPEtcdBackup = world.get(HOME, "one").await.unwrap();
    assert!(found.status.is_none(), "nobody looked when it started: {found:?}");
    process.cancel();
    let process = start(&world, &[backup.name()]);
    world.settle().await;
    let found: HCPEtcdBackup = world.get(HOME, "one").await.unwrap();
    assert_eq!(found.status.unwrap().conditions[0].type_, "WithoutEffect");
    assert_eq!(world.refusals(), Vec::<String>::new());
    process.cancel();
}
