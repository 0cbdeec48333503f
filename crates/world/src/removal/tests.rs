//! Installed and taken away again, on the embedded API server.

#[path = "../../../api/tests/support/samples.rs"]
mod samples;

use hyperplane_access::User;
use hyperplane_api::hyperplane::distribution_release::DistributionRelease;
use hyperplane_apiserver::{Entropy, Server, Settings, Shared};
use hyperplane_install::MachineManager;
use hyperplane_objects::Kind;
use hyperplane_runtime::Clock;
use hyperplane_store::Memory;
use kube::api::PostParams;
use tokio_util::sync::CancellationToken;

use super::*;
use crate::setup::install;

const PATIENCE: Duration = Duration::from_mins(2);

async fn server() -> Client {
    let clock = Clock::anchored("2027-01-15T08:00:00Z".parse().unwrap());
    let settings = Settings::new(clock, Entropy::seeded(1));
    let (server, writer, controllers) = Server::open(&Shared::new(), settings, Memory).unwrap();
    tokio::spawn(writer.run());
    tokio::spawn(controllers.run(CancellationToken::new()));
    server.bootstrap().await.unwrap();
    Client::new(server.in_process(User::admin()), "default")
}

fn separate(namespace: &str) -> Options {
    Options {
        namespace: namespace.to_owned(),
        machines: MachineManager::Separate,
        ..Options::default()
    }
}

/// The titles of what is there of an installation.
async fn there(client: &Client, options: &Options) -> Vec<String> {
    let mut found = Vec::new();
    for object in manifests(options) {
        if matches!(
            api(client, &object).unwrap().get_metadata_opt(name(&object)).await,
            Ok(Some(_))
        ) {
            found.push(title(&object));
        }
    }
    found
}

async fn create<K: Kind>(api: Api<K>, manifest: Value) {
    let object = K::from_json(&manifest).unwrap();
    api.create(&PostParams::default(), &object).await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn what_was_installed_goes_and_kinds_only_on_request() {
    let client = server().await;
    let options = separate("hyperplane");
    let mut written = Vec::new();
    install(&client, &options, &mut |title, outcome| {
        written.push((title.to_owned(), outcome));
    })
    .await
    .unwrap();
    assert_eq!(written.len(), manifests(&options).len());
    assert!(
        written.iter().all(|(_, outcome)| *outcome == Outcome::Written),
        "{written:?}"
    );
    assert_eq!(there(&client, &options).await.len(), written.len());
    let mut again = Vec::new();
    install(&client, &options, &mut |_, outcome| again.push(outcome))
        .await
        .unwrap();
    assert!(again.iter().all(|outcome| *outcome == Outcome::Unchanged), "{again:?}");
    // Whoever takes away does not know what was chosen, and asks for kinds that are not served.
    let options = Options {
        monitoring: true,
        ..options
    };
    let left = remove(&client, &options, false, PATIENCE, &mut |_, _| {})
        .await
        .unwrap();
    assert_eq!(left, Vec::<String>::new());
    let kinds = there(&client, &options).await;
    assert_eq!(kinds.len(), definitions(&options).len(), "{kinds:?}");
    let left = remove(&client, &options, true, PATIENCE, &mut |_, _| {}).await.unwrap();
    assert_eq!(left, Vec::<String>::new());
    assert_eq!(there(&client, &options).await, Vec::<String>::new());
}

#[tokio::test(start_paused = true)]
async fn a_hosted_cluster_keeps_its_operators_and_is_named() {
    let client = server().await;
    let options = separate("hyperplane");
    install(&client, &options, &mut |_, _| {}).await.unwrap();
    let namespaces: Api<Namespace> = Api::all(client.clone());
    create(namespaces, json!({"metadata": {"name": "clusters"}})).await;
    let clusters: Api<HostedCluster> = Api::namespaced(client.clone(), "clusters");
    create(
        clusters,
        samples::hosted_cluster(&json!({"metadata": {"name": "one", "namespace": "clusters"}})),
    )
    .await;
    let before = there(&client, &options).await;
    let error = remove(&client, &options, true, PATIENCE, &mut |_, _| {})
        .await
        .unwrap_err();
    assert!(error.report().contains("clusters/one"), "{}", error.report());
    assert_eq!(there(&client, &options).await, before);
}

#[tokio::test(start_paused = true)]
async fn only_clusters_of_the_scope_keep_its_operators() {
    let client = server().await;
    let options = Options {
        scope: Some("east".to_owned()),
        ..separate("east")
    };
    install(&client, &options, &mut |_, _| {}).await.unwrap();
    let namespaces: Api<Namespace> = Api::all(client.clone());
    create(namespaces, json!({"metadata": {"name": "clusters"}})).await;
    let clusters: Api<HostedCluster> = Api::namespaced(client.clone(), "clusters");
    for (name, scope) in [("one", "east"), ("two", "west")] {
        let annotations = json!({annotations::SCOPE.as_str(): scope});
        let metadata = json!({"name": name, "namespace": "clusters", "annotations": annotations});
        create(
            clusters.clone(),
            samples::hosted_cluster(&json!({"metadata": metadata})),
        )
        .await;
    }
    let refused = async |options: &Options| {
        let removed = remove(&client, options, false, PATIENCE, &mut |_, _| {}).await;
        removed.unwrap_err().report()
    };
    let report = refused(&options).await;
    assert!(
        report.contains("clusters/one") && !report.contains("clusters/two"),
        "{report}"
    );
    clusters.delete("one", &DeleteParams::default()).await.unwrap();
    // Without a scope, and with one that the operators were not installed for, every cluster counts.
    for scope in [None, Some("nowhere".to_owned())] {
        let report = refused(&Options {
            scope,
            ..options.clone()
        })
        .await;
        assert!(report.contains("clusters/two"), "{report}");
    }
    let left = remove(&client, &options, false, PATIENCE, &mut |_, _| {})
        .await
        .unwrap();
    assert_eq!(left, Vec::<String>::new());
    assert_eq!(there(&client, &options).await.len(), definitions(&options).len());
}

#[tokio::test(start_paused = true)]
async fn what_others_need_or_have_written_stays() {
    let client = server().await;
    let namespaces: Api<Namespace> = Api::all(client.clone());
    create(namespaces.clone(), json!({"metadata": {"name": "east"}})).await;
    let (east, west) = (separate("east"), separate("west"));
    for options in [&east, &west] {
        install(&client, options, &mut |_, _| {}).await.unwrap();
    }
    let releases: Api<DistributionRelease> = Api::all(client.clone());
    let release = json!({
        "metadata": {"name": "kept"},
        "spec": {"distribution": "kept", "version": "v1.0.0", "kubernetesVersion": "v1.36.4", "components": {}},
    });
    create(releases, release).await;
    let west_before = there(&client, &west).await;
    let mut told = Vec::new();
    remove(&client, &east, true, PATIENCE, &mut |title, outcome| {
        told.push((title.to_owned(), outcome));
    })
    .await
    .unwrap();
    let outcome = |wanted: &str| {
        told.iter()
            .find(|(title, _)| title == wanted)
            .map(|(_, outcome)| *outcome)
    };
    assert_eq!(outcome("Namespace east"), Some(Outcome::Foreign), "it was there before");
    assert_eq!(outcome("ClusterRole hyperplane-consumer"), Some(Outcome::Shared));
    assert_eq!(outcome("Deployment operator"), Some(Outcome::Deleted));
    assert_eq!(there(&client, &west).await, west_before);
    let mut told = Vec::new();
    remove(&client, &west, true, PATIENCE, &mut |title, outcome| {
        told.push((title.to_owned(), outcome));
    })
    .await
    .unwrap();
    let in_use: Vec<&str> = told
        .iter()
        .filter(|(_, outcome)| *outcome == Outcome::InUse)
        .map(|(title, _)| title.as_str())
        .collect();
    assert_eq!(in_use, ["CustomResourceDefinition distributionreleases.hyperplane.dev"]);
    assert_eq!(there(&client, &west).await, in_use);
}
