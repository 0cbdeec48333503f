//! The real etcd, kube-apiserver, kube-controller-manager, kube-scheduler and konnectivity server, run from exactly
//! what is rendered: each pod in a network namespace, each container in a root of its own, with a written hosts file.
//! Nothing of a rendered object is rewritten; a table says which program an image holds.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]
#![allow(
    clippy::disallowed_methods,
    reason = "real processes run on a real machine: its clock and its environment"
)]

mod caller;
mod cluster;
mod command;
mod container;
mod guards;
mod hammer;
mod inside;
#[path = "../issuing/mod.rs"]
mod issuing;
mod network;
mod plane;
mod pod;
mod probe;
#[path = "../../../components/tests/support/mod.rs"]
mod rendering;
mod services;
mod volumes;

use std::{
    path::{Path, PathBuf},
    time::Duration,
};

use anyhow::{Context as _, Result, ensure};
use hyperplane_api::constants::objects::kubeconfigs;
use hyperplane_pki_issue::Existing;
use hyperplane_testbed::assets::{Assets, Program};
use jiff::Timestamp;
use k8s_openapi::api::core::v1::Pod;
use kube::{
    Api, Client, Config,
    api::ListParams,
    config::{KubeConfigOptions, Kubeconfig},
};
use tokio::time::{Instant, sleep};

use crate::{
    cluster::Cluster,
    guards::Guards,
    hammer::Hammer,
    inside::inside,
    plane::{Plane, certificates, kubeconfig},
};

/// After so long something counts as never coming.
const NEVER: Duration = Duration::from_mins(2);

/// How many requests must have been answered before an upgrade begins and after it ended.
const WARM: u64 = 200;

const COMPONENTS: [&str; 4] = ["etcd", "kube-apiserver", "kube-controller-manager", "kube-scheduler"];

#[test]
#[ignore = "needs a real control plane: cargo xtask test"]
fn an_upgrade_of_real_processes_fails_no_request() -> Result<()> {
    inside("an_upgrade_of_real_processes_fails_no_request", upgrade)
}

#[test]
#[ignore = "needs a real control plane: cargo xtask test"]
fn a_single_real_replica_of_each_component_is_enough() -> Result<()> {
    inside("a_single_real_replica_of_each_component_is_enough", single)
}

async fn upgrade(directory: PathBuf) -> Result<()> {
    let certificates = certificates(Timestamp::now())?;
    let before = Plane::render("1.35", "HighlyAvailable", &certificates, &Assets::locate_previous()?)?;
    let after = Plane::render("1.36", "HighlyAvailable", &certificates, &Assets::locate()?)?;
    let cluster = Cluster::create(directory.clone(), &before).await?;
    for component in COMPONENTS {
        cluster.start(&before, component).await?;
    }
    let access = Access::new(&directory, &certificates).await?;
    access.sees_all_well(&before.version).await?;
    access.controllers_work("before").await?;

    let hammer = Hammer::start(&access.config)?;
    warm(&hammer).await?;
    for component in &COMPONENTS[1..] {
        cluster.roll(&after, component).await?;
    }
    warm(&hammer).await?;
    let score = hammer.stop().await;
    println!("{score:?}");
    assert_eq!(score.failures, Vec::<String>::new());
    for version in [&before.version, &after.version] {
        assert!(score.versions.contains_key(version), "{version}: {:?}", score.versions);
    }
    access.sees_all_well(&after.version).await?;
    access.controllers_work("after").await?;
    assert_eq!(cluster.restarts("etcd") + cluster.restarts("kube-apiserver"), 0);
    Ok(())
}

async fn single(directory: PathBuf) -> Result<()> {
    let certificates = certificates(Timestamp::now())?;
    let plane = Plane::render("1.36", "SingleReplica", &certificates, &Assets::locate()?)?;
    let cluster = Cluster::create(directory.clone(), &plane).await?;
    for component in COMPONENTS {
        cluster.start(&plane, component).await?;
    }
    let access = Access::new(&directory, &certificates).await?;
    access.sees_all_well(&plane.version).await?;
    access.controllers_work("single").await?;
    let guards = access.guards(&certificates).await?;
    guards.keep_users_out().await?;
    guards.let_nothing_new_be_made().await?;
    for component in COMPONENTS {
        assert_eq!(cluster.restarts(component), 0, "{component}");
    }
    // What a person at a terminal would do.
    let kubectl = Assets::locate()?.path(Program::Kubectl)?;
    let line = format!(
        "{} --kubeconfig={} get namespaces --output=name",
        kubectl.display(),
        access.file.display()
    );
    let names = command::run(&line).await?;
    assert!(names.lines().any(|name| name == "namespace/kube-system"), "{names}");
    // Everything that happened is in the log that a container copies to its output.
    let audit = std::fs::read_to_string(directory.join("kube-apiserver-0/audit-logs.log"))?;
    assert!(audit.contains("\"audit.k8s.io/v1\""), "the audit log is empty");
    Ok(())
}

async fn warm(hammer: &Hammer) -> Result<()> {
    let goal = hammer.requests().await + WARM;
    eventually("enough requests", async || {
        let requests = hammer.requests().await;
        ensure!(requests >= goal, "{requests} requests");
        Ok(())
    })
    .await
}

/// The way in from outside, by the issued kubeconfig.
struct Access {
    config: Config,
    file: PathBuf,
    client: Client,
}

impl Access {
    async fn new(directory: &Path, certificates: &Existing) -> Result<Self> {
        let (file, text) = (
            directory.join("kubeconfig"),
            kubeconfig(certificates, kubeconfigs::ADMIN)?,
        );
        std::fs::write(&file, &text)?;
        let config = configuration(&text).await?;
        let client = Client::try_from(config.clone())?;
        Ok(Self { config, file, client })
    }

    /// The guards, with the config operator by its own certificate: it comes from inside, but may use the same way in.
    async fn guards(&self, certificates: &Existing) -> Result<Guards> {
        let inside = configuration(&kubeconfig(certificates, kubeconfigs::CONFIG_OPERATOR)?).await?;
        let mut config = self.config.clone();
        config.auth_info = inside.auth_info;
        Ok(Guards {
            admin: self.client.clone(),
            manager: Client::try_from(config)?,
        })
    }

    async fn sees_all_well(&self, version: &str) -> Result<()> {
        let found = self.client.apiserver_version().await?;
        ensure!(found.git_version == version, "{} answers", found.git_version);
        let request = http::Request::get("/readyz?verbose").body(Vec::new())?;
        let text = self.client.request_text(request).await?;
        let checks = || text.lines().filter(|line| line.starts_with('['));
        ensure!(checks().all(|line| line.starts_with("[+]")), "{text}");
        ensure!(checks().count() > 20, "too few checks: {text}");
        ensure!(text.contains("[+]etcd ok"), "{text}");
        Ok(())
    }

    /// A Deployment becomes a pod by the controller manager, and the scheduler says that there is no node for it.
    async fn controllers_work(&self, name: &str) -> Result<()> {
        let labels = serde_json::json!({"app": name});
        let deployment = serde_json::json!({
            "apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": name},
            "spec": {"replicas": 1, "selector": {"matchLabels": labels}, "template": {
                "metadata": {"labels": labels}, "spec": {"containers": [{"name": "one", "image": "example"}]},
            }},
        });
        let deployments: Api<k8s_openapi::api::apps::v1::Deployment> = Api::namespaced(self.client.clone(), "default");
        let deployment = hyperplane_objects::read(&deployment)?;
        deployments
            .create(&kube::api::PostParams::default(), &deployment)
            .await?;
        let pods: Api<Pod> = Api::namespaced(self.client.clone(), "default");
        let selector = ListParams::default().labels(&format!("app={name}"));
        eventually("a pod that the scheduler has seen", async || {
            let found = pods.list(&selector).await?;
            let pod = found.items.first().context("there is no pod")?;
            let conditions = pod.status.iter().flat_map(|status| status.conditions.iter().flatten());
            let reasons: Vec<_> = conditions.filter_map(|condition| condition.reason.as_deref()).collect();
            ensure!(reasons.contains(&"Unschedulable"), "{reasons:?}");
            Ok(())
        })
        .await
    }
}

async fn configuration(text: &str) -> Result<Config> {
    let kubeconfig = Kubeconfig::from_yaml(text)?;
    Ok(Config::from_custom_kubeconfig(kubeconfig, &KubeConfigOptions::default()).await?)
}

/// Tries until it works, and says at the end why it never did.
async fn eventually<T>(what: &str, mut attempt: impl AsyncFnMut() -> Result<T>) -> Result<T> {
    let start = Instant::now();
    loop {
        match attempt().await {
            Ok(value) => return Ok(value),
            Err(error) if start.elapsed() > NEVER => return Err(error.context(what.to_owned())),
            Err(_) => sleep(Duration::from_millis(100)).await,
        }
    }
}
