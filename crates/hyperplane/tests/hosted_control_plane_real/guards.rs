//! The guards inside of the hosted cluster, judged by its real API server: its own administrator is refused what the
//! manager keeps there, and whatever would make something outside of a cluster that is being deleted.

use std::collections::BTreeSet;

use anyhow::{Context as _, Result, ensure};
use hyperplane_api::constants::labels;
use k8s_openapi::api::discovery::v1::EndpointSlice;
use kube::{
    Api, Client, ResourceExt as _,
    api::{ApiResource, DeleteParams, DynamicObject, GroupVersionKind, ListParams, Patch, PatchParams, PostParams},
};
use serde_json::{Value, json};

use crate::eventually;

/// What the config operator installs, always and at the end.
const GUARD: [&str; 2] = [
    include_str!("../../../hosted-config/src/assets/guard.yaml"),
    include_str!("../../../hosted-config/src/assets/guard-binding.yaml"),
];
const SCALE: [&str; 2] = [
    include_str!("../../../hosted-config/src/assets/guard-scale.yaml"),
    include_str!("../../../hosted-config/src/assets/guard-scale-binding.yaml"),
];
const ENDING: [&str; 2] = [
    include_str!("../../../hosted-config/src/assets/ending.yaml"),
    include_str!("../../../hosted-config/src/assets/ending-binding.yaml"),
];

/// The administrator of the hosted cluster, and the config operator by its own certificate.
pub struct Guards {
    pub admin: Client,
    pub manager: Client,
}

impl Guards {
    /// What the manager keeps is not for the hands of users; what they have themselves is.
    pub async fn keep_users_out(&self) -> Result<()> {
        let policy = self.install(GUARD).await?;
        let kept = kept()?;
        assert_eq!(plurals(&kept)?, policy.resources, "one object of each kind is tried");
        for object in &kept {
            create(&self.manager, object, false).await?;
        }
        // A policy counts a moment after it was written: until then nothing is really changed.
        eventually("the guard", async || {
            refused(change(&self.admin, &kept[0], true).await, &policy.message)
        })
        .await?;
        for object in &kept {
            refused(change(&self.admin, object, false).await, &policy.message)?;
            refused(delete(&self.admin, object).await, &policy.message)?;
            change(&self.manager, object, false).await?;
        }
        self.scale().await?;
        let slice = self.slice(&policy.message).await?;
        for object in &kept {
            delete(&self.manager, object).await?;
        }
        eventually("the end of the slice", async || {
            let left = self.slices().get_opt(&slice).await?;
            ensure!(left.is_none(), "{slice} is still there");
            Ok(())
        })
        .await?;
        let own = object("v1", "ConfigMap", "own", json!({}))?;
        create(&self.admin, &own, false).await?;
        change(&self.admin, &own, false).await?;
        delete(&self.admin, &own).await
    }

    /// Slices have the labels of their Service. The controllers of Kubernetes make them, and remove them after it; users
    /// do not.
    async fn slice(&self, message: &str) -> Result<String> {
        let of_service = ListParams::default().labels("kubernetes.io/service-name=kept-service");
        let name = eventually("a slice of the Service", async || {
            let found = self.slices().list(&of_service).await?;
            Ok(found.items.first().context("there is none")?.name_any())
        })
        .await?;
        let deleted = self.slices().delete(&name, &DeleteParams::default()).await;
        refused(deleted.map(drop).map_err(Into::into), message)?;
        Ok(name)
    }

    fn slices(&self) -> Api<EndpointSlice> {
        Api::namespaced(self.admin.clone(), "default")
    }

    /// What a server shows to policies as a scale has no labels, which is why there is a guard of its own.
    async fn scale(&self) -> Result<()> {
        let policy = self.install(SCALE).await?;
        let (kept, own) = (scaled("kube-system", "coredns")?, scaled("default", "own")?);
        for object in [&kept, &own] {
            create(&self.manager, object, false).await?;
        }
        eventually("the guard of scales", async || {
            refused(scale(&self.admin, &kept).await, &policy.message)
        })
        .await?;
        scale(&self.admin, &own).await?;
        for object in [&kept, &own] {
            scale(&self.manager, object).await?;
            delete(&self.manager, object).await?;
        }
        Ok(())
    }

    /// While a cluster is being deleted nobody, not even its manager and its controllers, makes what stands for something
    /// outside of it. What is there can go, and all else goes on.
    pub async fn let_nothing_new_be_made(&self) -> Result<()> {
        let old = object("v1", "Service", "old", service("LoadBalancer"))?;
        create(&self.admin, &old, false).await?;
        let policy = self.install(ENDING).await?;
        let outside = outside()?;
        assert_eq!(plurals(&outside)?, policy.resources, "one object of each kind is tried");
        eventually("the end of all that is new", async || {
            refused(create(&self.admin, &outside[0], true).await, &policy.message)
        })
        .await?;
        for object in &outside {
            refused(create(&self.admin, object, false).await, &policy.message)?;
            refused(create(&self.manager, object, false).await, &policy.message)?;
        }
        delete(&self.admin, &old).await?;
        let late = object("apps/v1", "Deployment", "late", workload())?;
        create(&self.admin, &late, false).await?;
        eventually("a Deployment that gets no pods", async || {
            let found = api(&self.admin, &late)?.get("late").await?;
            let conditions = found.data["status"]["conditions"].as_array();
            let mut failures = conditions
                .into_iter()
                .flatten()
                .filter(|it| it["type"] == "ReplicaFailure");
            let text = failures.next().context("nothing has failed")?["message"].to_string();
            ensure!(text.contains(&policy.message), "{text}");
            Ok(())
        })
        .await
    }

    /// Applies a policy and its binding, as the config operator does.
    async fn install(&self, assets: [&str; 2]) -> Result<Policy> {
        let [policy, binding]: [Value; 2] = [serde_saphyr::from_str(assets[0])?, serde_saphyr::from_str(assets[1])?];
        for asset in [&policy, &binding] {
            let asset: DynamicObject = hyperplane_objects::read(asset)?;
            let objects = api(&self.manager, &asset)?;
            let parameters = PatchParams::apply("hosted-config");
            objects
                .patch(&asset.name_any(), &parameters, &Patch::Apply(&asset))
                .await?;
        }
        Policy::of(&policy).context("a policy names resources and has a message")
    }
}

/// What is known of a policy.
struct Policy {
    /// Without parts of objects, such as their scale.
    resources: BTreeSet<String>,
    /// What users read.
    message: String,
}

impl Policy {
    fn of(policy: &Value) -> Option<Self> {
        let rules = policy["spec"]["matchConstraints"]["resourceRules"].as_array()?.iter();
        let names = rules.flat_map(|rule| rule["resources"].as_array().into_iter().flatten());
        let names = names.filter_map(Value::as_str);
        Some(Self {
            resources: names.filter(|name| !name.contains('/')).map(str::to_owned).collect(),
            message: policy["spec"]["validations"][0]["message"].as_str()?.to_owned(),
        })
    }
}

fn plurals(objects: &[DynamicObject]) -> Result<BTreeSet<String>> {
    objects.iter().map(|object| Ok(resource(object)?.plural)).collect()
}

/// One object of each kind that the guard names.
fn kept() -> Result<Vec<DynamicObject>> {
    let rbac = "rbac.authorization.k8s.io/v1";
    let role = |kind: &str| json!({"apiGroup": "rbac.authorization.k8s.io", "kind": kind, "name": "view"});
    let rows = [
        ("v1", "ConfigMap", json!({})),
        ("v1", "Endpoints", json!({})),
        ("v1", "Secret", json!({})),
        ("v1", "ServiceAccount", json!({})),
        ("v1", "Service", service("ClusterIP")),
        (
            "discovery.k8s.io/v1",
            "EndpointSlice",
            json!({"addressType": "IPv4", "endpoints": []}),
        ),
        ("apps/v1", "Deployment", workload()),
        ("apps/v1", "DaemonSet", workload()),
        (rbac, "ClusterRole", json!({})),
        (rbac, "ClusterRoleBinding", json!({"roleRef": role("ClusterRole")})),
        (rbac, "Role", json!({})),
        (rbac, "RoleBinding", json!({"roleRef": role("Role")})),
    ];
    let marked = |(version, kind, fields): (&str, &str, Value)| {
        let mut object = object(version, kind, &format!("kept-{}", kind.to_lowercase()), fields)?;
        let mark = (labels::MANAGED.as_str().to_owned(), "true".to_owned());
        object.labels_mut().extend([mark]);
        Ok(object)
    };
    rows.into_iter().map(marked).collect()
}

/// What stands for something outside of the cluster, or leads to it.
fn outside() -> Result<Vec<DynamicObject>> {
    let size = json!({"storage": "1Gi"});
    let claim = json!({"spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": size}}});
    let volume = json!({"spec": {"accessModes": ["ReadWriteOnce"], "capacity": size, "hostPath": {"path": "/a"}}});
    let rows = [
        ("Service", service("LoadBalancer")),
        ("Service", service("ClusterIP")),
        ("PersistentVolumeClaim", claim),
        ("PersistentVolume", volume),
        ("Pod", json!({"spec": containers()})),
    ];
    rows.into_iter()
        .map(|(kind, fields)| object("v1", kind, "new", fields))
        .collect()
}

fn scaled(namespace: &str, name: &str) -> Result<DynamicObject> {
    let mut object = object("apps/v1", "Deployment", name, workload())?;
    object.metadata.namespace = Some(namespace.to_owned());
    Ok(object)
}

fn service(kind: &str) -> Value {
    json!({"spec": {"type": kind, "selector": {"app": "kept"}, "ports": [{"port": 80}]}})
}

fn workload() -> Value {
    let labels = json!({"app": "kept"});
    let template = json!({"metadata": {"labels": labels}, "spec": containers()});
    json!({"spec": {"selector": {"matchLabels": labels}, "template": template}})
}

fn containers() -> Value {
    json!({"containers": [{"name": "one", "image": "example"}]})
}

fn object(version: &str, kind: &str, name: &str, mut fields: Value) -> Result<DynamicObject> {
    fields["apiVersion"] = json!(version);
    fields["kind"] = json!(kind);
    fields["metadata"] = json!({"name": name});
    Ok(hyperplane_objects::read(fields)?)
}

fn resource(object: &DynamicObject) -> Result<ApiResource> {
    let types = object.types.as_ref().context("an object has a kind")?;
    Ok(ApiResource::from_gvk(&GroupVersionKind::try_from(types)?))
}

/// Where an object is: in its namespace or in `default`, if its kind is in namespaces.
fn api(client: &Client, object: &DynamicObject) -> Result<Api<DynamicObject>> {
    let resource = resource(object)?;
    let is_everywhere = resource.kind.starts_with("Cluster")
        || resource.kind.starts_with("Validating")
        || resource.kind == "PersistentVolume";
    Ok(if is_everywhere {
        Api::all_with(client.clone(), &resource)
    } else {
        let namespace = object.metadata.namespace.as_deref().unwrap_or("default");
        Api::namespaced_with(client.clone(), namespace, &resource)
    })
}

async fn create(client: &Client, object: &DynamicObject, dry_run: bool) -> Result<()> {
    let parameters = PostParams {
        dry_run,
        ..PostParams::default()
    };
    api(client, object)?.create(&parameters, object).await?;
    Ok(())
}

async fn change(client: &Client, object: &DynamicObject, dry_run: bool) -> Result<()> {
    let parameters = PatchParams {
        dry_run,
        ..PatchParams::default()
    };
    let patch = Patch::Merge(json!({"metadata": {"annotations": {"changed": "true"}}}));
    let objects = api(client, object)?;
    objects.patch(&object.name_any(), &parameters, &patch).await?;
    Ok(())
}

async fn scale(client: &Client, object: &DynamicObject) -> Result<()> {
    let patch = Patch::Merge(json!({"spec": {"replicas": 0}}));
    let objects = api(client, object)?;
    objects
        .patch_scale(&object.name_any(), &PatchParams::default(), &patch)
        .await?;
    Ok(())
}

async fn delete(client: &Client, object: &DynamicObject) -> Result<()> {
    let objects = api(client, object)?;
    objects.delete(&object.name_any(), &DeleteParams::default()).await?;
    Ok(())
}

/// Whether something was refused as the policy says.
fn refused(done: Result<()>, message: &str) -> Result<()> {
    let error = done.err().context("it was not refused")?;
    match error.downcast_ref() {
        Some(kube::Error::Api(status)) if status.code == 403 && status.message.contains(message) => Ok(()),
        _ => Err(error),
    }
}
