//! One case: a manifest that is created, or an object that exists and is written again.

use std::fmt;

use anyhow::Result;
use kube::{
    Api, Client,
    api::{DeleteParams, DynamicObject, PostParams},
    core::{ApiResource, GroupVersionKind},
};
use serde_json::{Value, json};
use tokio::sync::Mutex;

use super::judgement::Answer;

/// The name of the only object of a kind that has one; whoever writes it has it alone.
pub const ONLY: &str = "cluster";
static ONLY_ONE: Mutex<()> = Mutex::const_new(());

/// What is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Write {
    Create,
    Update,
    Status,
}

/// A kind as a client needs it.
#[derive(Clone, Debug)]
pub struct Kind {
    pub resource: ApiResource,
    pub is_namespaced: bool,
}

impl Kind {
    pub fn of(definition: &Value) -> Self {
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let spec = &definition["spec"];
        let version = text(&spec["versions"][0]["name"]);
        let kind = GroupVersionKind::gvk(&text(&spec["group"]), &version, &text(&spec["names"]["kind"]));
        Self {
            resource: ApiResource::from_gvk_with_plural(&kind, &text(&spec["names"]["plural"])),
            is_namespaced: spec["scope"] == "Namespaced",
        }
    }

    fn api(&self, client: &Client) -> Api<DynamicObject> {
        if self.is_namespaced {
            Api::namespaced_with(client.clone(), "default", &self.resource)
        } else {
            Api::all_with(client.clone(), &self.resource)
        }
    }
}

/// One case.
#[derive(Clone, Debug)]
pub struct Case {
    pub kind: Kind,
    pub write: Write,
    /// What exists before an update.
    pub before: Value,
    /// What is judged.
    pub after: Value,
    /// Where the case comes from, and what was changed.
    pub origin: String,
}

impl fmt::Display for Case {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            formatter,
            "{:?} {}: {}",
            self.write, self.kind.resource.kind, self.origin
        )
    }
}

impl Case {
    /// What a server says. An object that has to exist first and cannot be created ends the case: that is the answer.
    pub async fn on(&self, client: &Client) -> Result<Answer> {
        let api = self.kind.api(client);
        let _alone = if self.after["metadata"]["name"] == ONLY {
            Some(ONLY_ONE.lock().await)
        } else {
            None
        };
        if self.write == Write::Create {
            return Answer::of(api.create(&dry_run(), &object(self.after.clone())?).await);
        }
        let mut existing = match api.create(&PostParams::default(), &object(self.before.clone())?).await {
            Ok(existing) => existing,
            refused => return Answer::of(refused),
        };
        let answer = self.write_again(&api, &mut existing).await;
        if let Some(name) = &existing.metadata.name {
            api.delete(name, &DeleteParams::default()).await?;
        }
        answer
    }

    async fn write_again(&self, api: &Api<DynamicObject>, existing: &mut DynamicObject) -> Result<Answer> {
        let name = existing.metadata.name.clone().unwrap_or_default();
        if !self.before["status"].is_null() {
            existing.data["status"] = self.before["status"].clone();
            match api.replace_status(&name, &PostParams::default(), existing).await {
                Ok(with_status) => *existing = with_status,
                refused => return Answer::of(refused),
            }
        }
        let mut after = self.after.clone();
        after["metadata"] = json!({"name": name, "resourceVersion": existing.metadata.resource_version});
        let after = object(after)?;
        Answer::of(match self.write {
            Write::Status => api.replace_status(&name, &dry_run(), &after).await,
            Write::Create | Write::Update => api.replace(&name, &dry_run(), &after).await,
        })
    }
}

fn object(manifest: Value) -> Result<DynamicObject> {
    Ok(hyperplane_objects::read(manifest)?)
}

fn dry_run() -> PostParams {
    PostParams {
        dry_run: true,
        ..PostParams::default()
    }
}
