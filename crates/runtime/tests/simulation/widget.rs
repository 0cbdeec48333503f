//! A kind and its reconciler: a Widget asks for ConfigMaps in a colour, mixed with a palette from a Secret.

use std::{
    borrow::Cow,
    collections::{BTreeMap, BTreeSet},
    sync::{Arc, Mutex, PoisonError},
};

use hyperplane_runtime::{
    Context, Failure, Manager, Next, Progress, Reconciler, Saga, Step, Store, Watch,
    conditions::{self, Observation},
};
use k8s_openapi::{
    NamespaceResourceScope,
    api::core::v1::{ConfigMap, Secret},
    apimachinery::pkg::apis::meta::v1::{Condition, ObjectMeta},
};
use kube::{Api, Resource, ResourceExt, api::ListParams};
use serde::{Deserialize, Serialize};
use tokio::time::Instant;

pub const FINALIZER: &str = "example.test/widget";
pub const LABEL: &str = "app=widget";

#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct Widget {
    pub metadata: ObjectMeta,
    pub spec: WidgetSpec,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<WidgetStatus>,
}

#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct WidgetSpec {
    pub children: u32,
    pub color: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub palette: Option<String>,
}

#[derive(Clone, Debug, Default, Deserialize, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct WidgetStatus {
    pub children: u32,
    #[serde(default)]
    pub conditions: Vec<Condition>,
}

impl Resource for Widget {
    type DynamicType = ();
    type Scope = NamespaceResourceScope;

    fn kind((): &()) -> Cow<'_, str> {
        "Widget".into()
    }

    fn group((): &()) -> Cow<'_, str> {
        "example.test".into()
    }

    fn version((): &()) -> Cow<'_, str> {
        "v1".into()
    }

    fn plural((): &()) -> Cow<'_, str> {
        "widgets".into()
    }

    fn meta(&self) -> &ObjectMeta {
        &self.metadata
    }

    fn meta_mut(&mut self) -> &mut ObjectMeta {
        &mut self.metadata
    }
}

hyperplane_objects::kind!(Widget);

/// Every run of the reconciler, for the tests.
pub type Runs = Arc<Mutex<Vec<(Instant, String)>>>;

pub struct WidgetReconciler {
    children: Store<ConfigMap>,
    palettes: Store<Secret>,
    runs: Runs,
}

/// Registers the controller of widgets.
pub fn register(manager: &mut Manager, runs: &Runs, concurrency: usize) {
    let owned = Watch::<ConfigMap>::all().labels(LABEL);
    let children = manager.store(owned.clone());
    children.add_index("owner", |child| {
        let owners = child.owner_references().iter();
        owners
            .map(|owner| format!("{}/{}", child.namespace().unwrap_or_default(), owner.name))
            .collect()
    });
    let palettes = manager.store(Watch::<Secret>::all());
    let reconciler = WidgetReconciler {
        children,
        palettes,
        runs: runs.clone(),
    };
    manager
        .controller("widget", Watch::<Widget>::all(), reconciler)
        .owns(owned)
        .watches_referenced(Watch::<Secret>::all(), "palette", palettes_of, |secret: &Secret| {
            vec![format!(
                "{}/{}",
                secret.namespace().unwrap_or_default(),
                secret.name_any()
            )]
        })
        .concurrency(concurrency)
        .register();
}

fn palettes_of(widget: &Widget) -> Vec<String> {
    let namespace = widget.namespace().unwrap_or_default();
    widget
        .spec
        .palette
        .iter()
        .map(|palette| format!("{namespace}/{palette}"))
        .collect()
}

impl Reconciler for WidgetReconciler {
    type Object = Widget;
    const FINALIZER: Option<&'static str> = Some(FINALIZER);

    async fn reconcile(&self, context: &Context, widget: Arc<Widget>) -> Result<Next, Failure> {
        let name = format!("{}/{}", widget.namespace().unwrap_or_default(), widget.name_any());
        self.runs
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .push((Instant::now(), name.clone()));
        match widget.spec.color.as_str() {
            "retry" => return Err(Failure::retry("the paint has not dried")),
            "panic" => panic!("the paint exploded"),
            "hang" => std::future::pending().await,
            "invalid" => return Err(Failure::user("spec.color", "is no colour", "name another")),
            _ => {}
        }
        let paint = self.paint(&widget)?;
        for number in 0..widget.spec.children {
            context.apply(&child(&widget, number, &paint)).await?;
        }
        let wanted: BTreeSet<String> = (0..widget.spec.children)
            .map(|number| child_name(&widget, number))
            .collect();
        for extra in self.children.by_index("owner", &name) {
            if !wanted.contains(&extra.name_any()) {
                context.delete(extra.as_ref()).await?;
            }
        }
        let ready = Observation::holds("Ready", "Painted", format!("painted in {paint}"));
        context
            .apply_status(widget.as_ref(), &status(&widget, ready, context))
            .await?;
        Ok(Next::OnChange)
    }

    async fn cleanup(&self, context: &Context, widget: Arc<Widget>) -> Result<(), Failure> {
        let children = async {
            // Before the guard falls, the server itself is asked: a cache may not know of the last child yet.
            let api: Api<ConfigMap> =
                Api::namespaced(context.client().clone(), &widget.namespace().unwrap_or_default());
            let mut left = 0;
            for child in api.list(&ListParams::default().labels(LABEL)).await? {
                if child
                    .owner_references()
                    .iter()
                    .any(|owner| Some(&owner.uid) == widget.meta().uid.as_ref())
                {
                    context.delete(&child).await?;
                    left += 1;
                }
            }
            Ok(if left == 0 {
                Step::Finished
            } else {
                Step::Waiting(format!("{left} children to be gone"))
            })
        };
        let progress = Saga::new().step("children", children).run().await?;
        if let Progress::Waiting { on, .. } = &progress {
            context.event(hyperplane_runtime::EventType::Normal, "Deleting", on.clone());
        }
        progress.into_result()
    }
}

impl WidgetReconciler {
    fn paint(&self, widget: &Widget) -> Result<String, Failure> {
        let Some(palette) = &widget.spec.palette else {
            return Ok(widget.spec.color.clone());
        };
        let secret = self
            .palettes
            .namespace(widget.namespace().unwrap_or_default())
            .get(palette);
        let tone = secret.and_then(|secret| Some(secret.string_data.as_ref()?.get("tone")?.clone()));
        let tone = tone.ok_or_else(|| Failure::wait(format!("Secret {palette}")))?;
        Ok(format!("{tone}-{}", widget.spec.color))
    }
}

pub fn child_name(widget: &Widget, number: u32) -> String {
    format!("{}-{number}", widget.name_any())
}

fn child(widget: &Widget, number: u32, paint: &str) -> ConfigMap {
    ConfigMap {
        metadata: ObjectMeta {
            name: Some(child_name(widget, number)),
            namespace: widget.namespace(),
            labels: Some(BTreeMap::from([("app".to_owned(), "widget".to_owned())])),
            owner_references: widget.controller_owner_ref(&()).map(|owner| vec![owner]),
            ..ObjectMeta::default()
        },
        data: Some(BTreeMap::from([("paint".to_owned(), paint.to_owned())])),
        ..ConfigMap::default()
    }
}

fn status(widget: &Widget, ready: Observation, context: &Context) -> WidgetStatus {
    let before = widget
        .status
        .as_ref()
        .map(|status| status.conditions.as_slice())
        .unwrap_or_default();
    WidgetStatus {
        children: widget.spec.children,
        conditions: conditions::merge(before, [ready], widget.meta().generation, context.now()),
    }
}
