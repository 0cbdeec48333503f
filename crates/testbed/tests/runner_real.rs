//! The controller runner under load on a real API server whose watches are dropped by restarting it.
//!
//! Every parent, a ConfigMap with a label, gets a child of the same content in another namespace; both are plain
//! Kubernetes kinds, so the test is about the runner alone. The runner has only the rights that it needs.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt::Write as _,
    sync::Arc,
    time::Duration,
};

use anyhow::{Context as _, Result, bail, ensure};
use futures::{StreamExt as _, TryStreamExt as _, stream};
use hyperplane_runtime::{Context, Failure, LeaseSettings, Manager, Next, ObjectKey, Reconciler, Settings, Watch};
use hyperplane_testbed::{ControlPlane, Options};
use k8s_openapi::{api::core::v1::ConfigMap, apimachinery::pkg::apis::meta::v1::ObjectMeta};
use kube::{
    Api, Client, ResourceExt as _,
    api::{DeleteParams, ListParams, Patch, PatchParams, PostParams},
};
use serde_json::json;
use tokio::time::{Instant, sleep};

use crate::running::{Running, clock};

/// Parents at the start; each is edited, and every fifth deleted, while the server goes away.
const PARENTS: usize = 200;
/// How often the server is killed under load.
const RESTARTS: usize = 3;
/// How long the world may take to come to rest after the last restart.
const LIMIT: Duration = Duration::from_mins(3);
/// How often the world is looked at while it comes to rest.
const LOOK: Duration = Duration::from_millis(250);
/// Requests of the test itself under way at a time.
const CONCURRENCY: usize = 8;

const PARENT: &str = "runner-test/parent";
const CHILD: &str = "runner-test/child";

/// Copies the content of a parent into its child, and removes the child with the parent.
struct Copier {
    children: String,
}

impl Copier {
    fn child(&self, parent: &ConfigMap) -> ConfigMap {
        ConfigMap {
            metadata: ObjectMeta {
                name: Some(parent.name_any()),
                namespace: Some(self.children.clone()),
                labels: Some(BTreeMap::from([(CHILD.to_owned(), "true".to_owned())])),
                annotations: Some(BTreeMap::from([(
                    PARENT.to_owned(),
                    format!("{}/{}", parent.namespace().unwrap_or_default(), parent.name_any()),
                )])),
                ..ObjectMeta::default()
            },
            data: parent.data.clone(),
            ..ConfigMap::default()
        }
    }
}

impl Copier {
    async fn remove_child(&self, context: &Context, name: &str) -> Result<(), Failure> {
        let children: Api<ConfigMap> = Api::namespaced(context.client().clone(), &self.children);
        match children.get_opt(name).await? {
            Some(child) => context.delete(&child).await,
            None => Ok(()),
        }
    }
}

impl Reconciler for Copier {
    type Object = ConfigMap;

    const FINALIZER: Option<&'static str> = Some("runner-test/copier");
    const SWEEPS: bool = true;

    async fn reconcile(&self, context: &Context, parent: Arc<ConfigMap>) -> Result<Next, Failure> {
        context.apply(&self.child(&parent)).await?;
        Ok(Next::OnChange)
    }

    async fn cleanup(&self, context: &Context, parent: Arc<ConfigMap>) -> Result<(), Failure> {
        self.remove_child(context, &parent.name_any()).await
    }

    async fn sweep(&self, context: &Context, key: &ObjectKey) -> Result<(), Failure> {
        let parents: Api<ConfigMap> = Api::namespaced(context.client().clone(), &key.namespace);
        match parents.get_opt(&key.name).await? {
            Some(_) => Ok(()),
            None => self.remove_child(context, &key.name).await,
        }
    }
}

/// The two namespaces of a test and an administrator's view of them.
struct World {
    parents: Api<ConfigMap>,
    children: Api<ConfigMap>,
    parent_namespace: String,
    child_namespace: String,
    runner: Client,
}

impl World {
    async fn new(control_plane: &ControlPlane) -> Result<Self> {
        let parent_namespace = control_plane.namespace("parents").await?;
        let child_namespace = control_plane.namespace("children").await?;
        let user = format!("runner-of-{parent_namespace}");
        grant(control_plane, &user, &[&parent_namespace, &child_namespace]).await?;
        let admin = control_plane.client()?;
        Ok(Self {
            parents: Api::namespaced(admin.clone(), &parent_namespace),
            children: Api::namespaced(admin, &child_namespace),
            runner: control_plane.client_as(&user, &[])?,
            parent_namespace,
            child_namespace,
        })
    }

    /// Starts a process.
    fn start(&self, identity: &str) -> Running {
        let mut settings = Settings::new("runner-test", identity, clock(), 1);
        settings.lease = Some(LeaseSettings::new(&self.parent_namespace, "runner-test", identity));
        let mut manager = Manager::new(self.runner.clone(), settings);
        let copier = Copier {
            children: self.child_namespace.clone(),
        };
        let parents = Watch::<ConfigMap>::namespace(&self.parent_namespace).labels("role=parent");
        let children = Watch::<ConfigMap>::namespace(&self.child_namespace).labels(&format!("{CHILD}=true"));
        manager
            .controller("copier", parents, copier)
            .owns_by_annotation(children, PARENT)
            .register();
        Running::start(manager)
    }

    async fn create_parents(&self) -> Result<()> {
        stream::iter(0..PARENTS)
            .map(|number| async move {
                let parent = json!({
                    "metadata": {"name": format!("parent-{number}"), "labels": {"role": "parent"}},
                    "data": {"revision": "0"},
                });
                self.parents
                    .create(&PostParams::default(), &hyperplane_objects::read(&parent)?)
                    .await?;
                Ok(())
            })
            .buffer_unordered(CONCURRENCY)
            .try_collect()
            .await
    }

    /// Edits every parent and deletes every fifth; a request that meets no server is made again.
    async fn disturb(&self, revision: usize) -> Result<()> {
        stream::iter(0..PARENTS)
            .map(|number| async move {
                let name = format!("parent-{number}");
                if number % 5 == revision {
                    return persist(async || self.parents.delete(&name, &DeleteParams::default()).await.map(drop))
                        .await;
                }
                let edit = json!({"data": {"revision": revision.to_string()}});
                let edit = Patch::Merge(&edit);
                persist(async || {
                    self.parents
                        .patch(&name, &PatchParams::default(), &edit)
                        .await
                        .map(drop)
                })
                .await
            })
            .buffer_unordered(CONCURRENCY)
            .try_collect()
            .await
    }

    /// What is not yet as it should be; nothing when the world is at rest.
    async fn missing(&self) -> Result<BTreeSet<String>> {
        let parents = contents(&self.parents).await?;
        let children = contents(&self.children).await?;
        let names: BTreeSet<&String> = parents.keys().chain(children.keys()).collect();
        Ok(names
            .into_iter()
            .filter(|name| parents.get(*name) != children.get(*name))
            .cloned()
            .collect())
    }

    /// Parents and children of these names as they are, to see why they differ.
    async fn describe(&self, names: &BTreeSet<String>) -> Result<String> {
        let mut text = String::new();
        for name in names {
            let parent = serde_json::to_string(&self.parents.get_opt(name).await?)?;
            let child = serde_json::to_string(&self.children.get_opt(name).await?)?;
            writeln!(text, "parent {parent}\nchild {child}")?;
        }
        Ok(text)
    }

    async fn come_to_rest(&self, running: &Running) -> Result<()> {
        let deadline = Instant::now() + LIMIT;
        loop {
            let missing = self.missing().await?;
            if missing.is_empty() {
                return Ok(());
            }
            if Instant::now() > deadline {
                let (objects, state) = (self.describe(&missing).await?, running.state());
                bail!(
                    "{} parents differ from their children:
{objects}
{state}",
                    missing.len()
                );
            }
            sleep(LOOK).await;
        }
    }
}

/// Lets a user do in some namespaces what the runner needs, and nothing else.
async fn grant(control_plane: &ControlPlane, user: &str, namespaces: &[&str]) -> Result<()> {
    for namespace in namespaces {
        let rights = json!({"apiVersion": "v1", "kind": "List", "items": [
            {
                "apiVersion": "rbac.authorization.k8s.io/v1", "kind": "Role",
                "metadata": {"name": "runner", "namespace": namespace},
                "rules": [
                    {"apiGroups": [""], "resources": ["configmaps"],
                     "verbs": ["get", "list", "watch", "create", "patch", "delete"]},
                    {"apiGroups": ["coordination.k8s.io"], "resources": ["leases"], "verbs": ["get", "create", "update"]},
                    {"apiGroups": ["", "events.k8s.io"], "resources": ["events"], "verbs": ["create", "patch"]},
                ],
            },
            {
                "apiVersion": "rbac.authorization.k8s.io/v1", "kind": "RoleBinding",
                "metadata": {"name": "runner", "namespace": namespace},
                "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": "runner"},
                "subjects": [{"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": user}],
            },
        ]});
        let answer = control_plane
            .kubectl_with_input(&["apply", "-f", "-"], &rights.to_string())
            .await?;
        ensure!(answer.status.success(), "{}", answer.stderr);
    }
    Ok(())
}

/// Repeats a request until a server has answered it; that the object is gone is an answer.
async fn persist(request: impl AsyncFn() -> kube::Result<()>) -> Result<()> {
    let deadline = Instant::now() + LIMIT;
    loop {
        match request().await {
            Ok(()) => return Ok(()),
            Err(kube::Error::Api(status)) if status.code == 404 => return Ok(()),
            Err(error) => ensure!(Instant::now() < deadline, "the server stays away: {error}"),
        }
        sleep(LOOK).await;
    }
}

/// The content of every labelled ConfigMap that is not on its way out.
async fn contents(api: &Api<ConfigMap>) -> Result<BTreeMap<String, Option<BTreeMap<String, String>>>> {
    let list = api.list(&ListParams::default()).await?;
    let ours = list.items.into_iter().filter(|map| {
        let labels = map.labels();
        labels.contains_key("role") || labels.contains_key(CHILD)
    });
    Ok(ours.map(|map| (map.name_any(), map.data)).collect())
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs a real control plane: cargo xtask test"]
async fn nothing_is_lost_when_the_server_goes_away_under_load() -> Result<()> {
    // Of its own: others would not survive that it is restarted.
    let control_plane = ControlPlane::start(Options::default()).await?;
    let world = World::new(&control_plane).await?;
    let running = world.start("first");
    world.create_parents().await?;
    for revision in 1..=RESTARTS {
        let (disturbed, restarted) = tokio::join!(world.disturb(revision), control_plane.restart_api_server());
        disturbed?;
        restarted?;
    }
    world.come_to_rest(&running).await.context("after the last restart")?;
    let children = contents(&world.children).await?;
    assert_eq!(children.len(), PARENTS - RESTARTS * PARENTS / 5);
    assert!(
        running.counter("hyperplane_runtime_watch_restarts_total", "") >= 1,
        "no watch was ever dropped"
    );
    running.end().await?;
    a_fresh_process_writes_nothing(&world).await?;
    orphans_are_swept(&world).await
}

/// A write that was under way when its run was cut short may reach the server after the cleanup, and so leave a child
/// whose parent is gone: before a process starts, or while it runs.
async fn orphans_are_swept(world: &World) -> Result<()> {
    let orphan = |name: &str| -> Result<ConfigMap> {
        let parent =
            hyperplane_objects::read(json!({"metadata": {"name": name, "namespace": world.parent_namespace}}))?;
        Ok(Copier {
            children: world.child_namespace.clone(),
        }
        .child(&parent))
    };
    world
        .children
        .create(&PostParams::default(), &orphan("left-before")?)
        .await?;
    let running = world.start("third");
    world
        .come_to_rest(&running)
        .await
        .context("an orphan from before the start")?;
    world
        .children
        .create(&PostParams::default(), &orphan("left-later")?)
        .await?;
    world
        .come_to_rest(&running)
        .await
        .context("an orphan that came later")?;
    running.end().await
}

/// A second process takes the lease that the first released, looks at everything, and finds nothing to write.
async fn a_fresh_process_writes_nothing(world: &World) -> Result<()> {
    let before = versions(&world.children).await?;
    let running = world.start("second");
    let deadline = Instant::now() + LIMIT;
    while running.writes("skipped") < before.len() {
        ensure!(
            Instant::now() < deadline,
            "not every parent was looked at:\n{}",
            running.state()
        );
        sleep(LOOK).await;
    }
    assert_eq!(running.writes("applied"), 0);
    running.end().await?;
    assert_eq!(versions(&world.children).await?, before);
    Ok(())
}

async fn versions(api: &Api<ConfigMap>) -> Result<BTreeMap<String, Option<String>>> {
    let list = api.list(&ListParams::default().labels(CHILD)).await?;
    Ok(list
        .items
        .into_iter()
        .map(|map| (map.name_any(), map.metadata.resource_version))
        .collect())
}
