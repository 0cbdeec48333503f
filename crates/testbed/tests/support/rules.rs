//! Every rule of our schemas on a server: a manifest that holds passes, one that breaks the rule is refused with the
//! field named; and no CEL rule is without such a pair. Knows no server but by its client.

use std::{collections::BTreeSet, fs, path::Path};

use anyhow::{Context as _, Result, bail, ensure};
use futures::{StreamExt as _, stream};
use hyperplane_api::{crd, schema::FeatureSet};
use kube::{
    Api, Client,
    api::{DeleteParams, DynamicObject, PostParams},
    core::{ApiResource, GroupVersionKind},
};
use serde_json::Value;

use super::rule_table::{Case, RuleTable, When, merge};

/// How many cases are judged at once; the server has two cores to itself at best.
const CONCURRENCY: usize = 8;

/// Rules that no request can break: kind, path and message.
const UNREACHABLE: [(&str, &str, &str); 6] = [
    // The default fills issuerURL in before rules are judged, also in place of null.
    ("HostedCluster", "spec", "serviceAccountSigningKey needs issuerURL"),
    // The length of the list is judged first, and a list that is too long ends the judgement before CEL.
    (
        "HostedCluster",
        "spec.etcd.managed.storage.restoreSnapshotURL",
        "give one address at most",
    ),
    // The old and the new entry of a list are found by this very name: another name is another entry.
    (
        "HostedCluster",
        "spec.etcd.managed.shards[].name",
        "name cannot be changed after it has been set",
    ),
    (
        "HostedCluster",
        "spec.etcd.unmanaged.shards[].name",
        "name cannot be changed after it has been set",
    ),
    // The default fills arch in before rules are judged; taking arm64 away breaks the rule that arch stays.
    ("NodePool", "spec", "arch cannot be taken away again"),
    // The default fills imageGeneration in before rules are judged, and an empty one is no value of the enumeration.
    (
        "NodePool",
        "spec.platform.azure.image.azureMarketplace",
        "give imageGeneration, or name the image by publisher, offer, sku and version",
    ),
];

/// A refusal as the server words it: the field, and why.
type Cause = (String, String);

/// Judges every case on the server, where our definitions are installed.
pub(crate) async fn judge_all(client: &Client) -> Result<()> {
    let mut seen = BTreeSet::new();
    let mut failures = Vec::new();
    for (file, table) in tables()? {
        let outcomes: Vec<Result<Vec<Cause>>> = stream::iter(&table.cases)
            .enumerate()
            .map(|(index, case)| judge(client, &table, case, index))
            .buffered(if table.has_fixed_names() { 1 } else { CONCURRENCY })
            .collect()
            .await;
        for (case, outcome) in table.cases.iter().zip(outcomes) {
            match outcome {
                Ok(causes) => seen.extend(causes.into_iter().map(|cause| (table.kind.clone(), cause))),
                Err(error) => failures.push(format!("{file}: {}: {error:#}", case.rule)),
            }
        }
    }
    let untested: Vec<String> = rules()
        .into_iter()
        .filter(|rule| rule.is_unreachable() == rule.is_broken_in(&seen))
        .map(|rule| format!("{} {}: {}", rule.kind, rule.path, rule.message))
        .collect();
    ensure!(
        failures.is_empty(),
        "{} cases fail:\n{}",
        failures.len(),
        failures.join("\n")
    );
    ensure!(
        untested.is_empty(),
        "{} rules have no case that breaks them, or have one although none can:\n{}",
        untested.len(),
        untested.join("\n")
    );
    Ok(())
}

/// Every rule table, with the name of its file.
pub(crate) fn tables() -> Result<Vec<(String, RuleTable)>> {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/rules");
    let mut files: Vec<_> = fs::read_dir(&directory)?.collect::<Result<_, _>>()?;
    files.sort_by_key(fs::DirEntry::file_name);
    files
        .iter()
        .map(|file| {
            let name = file.file_name().to_string_lossy().into_owned();
            let table = RuleTable::parse(&fs::read_to_string(file.path())?).with_context(|| name.clone())?;
            Ok((name, table))
        })
        .collect()
}

/// Judges both manifests of a case and gives back why the one that breaks the rule was refused.
async fn judge(client: &Client, table: &RuleTable, case: &Case, index: usize) -> Result<Vec<Cause>> {
    let given = table.given(case)?;
    let scene = Scene::open(client, table, case, given, index).await?;
    let holds = scene.submit(&case.holds).await;
    let breaks = scene.submit(&case.breaks).await;
    scene.close().await?;
    if let Err(refusal) = holds {
        bail!("the manifest that holds is refused: {refusal}");
    }
    let Err(kube::Error::Api(status)) = breaks else {
        bail!("the manifest that breaks the rule is accepted");
    };
    let causes: Vec<Cause> = status
        .details
        .iter()
        .flat_map(|details| &details.causes)
        .map(|cause| (cause.field.clone(), cause.message.clone()))
        .collect();
    if causes.iter().any(|(field, _)| *field == case.field) {
        Ok(causes)
    } else {
        bail!("the server does not name {}: {}", case.field, status.message)
    }
}

/// One case on the server: for an update or a status, with an object that exists for its duration.
struct Scene<'a> {
    api: Api<DynamicObject>,
    given: Value,
    existing: Option<DynamicObject>,
    case: &'a Case,
}

impl<'a> Scene<'a> {
    async fn open(client: &Client, table: &RuleTable, case: &'a Case, mut given: Value, index: usize) -> Result<Self> {
        let api = api(client, table)?;
        let file_name = table.kind.to_lowercase();
        if given["metadata"]["name"].is_null() {
            given["metadata"]["name"] = format!("{file_name}-{index}").into();
        }
        let existing = if case.when == When::Create {
            None
        } else {
            let object: DynamicObject = hyperplane_objects::read(&given)?;
            let created = api
                .create(&PostParams::default(), &object)
                .await
                .context("what is given is refused")?;
            Some(Self::with_status(&api, created, &given).await?)
        };
        Ok(Self {
            api,
            given,
            existing,
            case,
        })
    }

    /// The status of what is given counts too: transitions of a status need one to start from.
    async fn with_status(api: &Api<DynamicObject>, mut created: DynamicObject, given: &Value) -> Result<DynamicObject> {
        if given["status"].is_null() {
            return Ok(created);
        }
        created.data["status"] = given["status"].clone();
        let name = created.metadata.name.clone().unwrap_or_default();
        Ok(api.replace_status(&name, &PostParams::default(), &created).await?)
    }

    async fn submit(&self, change: &Value) -> Result<DynamicObject, kube::Error> {
        let dry_run = PostParams {
            dry_run: true,
            ..PostParams::default()
        };
        let mut manifest = match &self.existing {
            None => self.given.clone(),
            Some(existing) => serde_json::to_value(existing).map_err(kube::Error::SerdeError)?,
        };
        merge(&mut manifest, change);
        let object: DynamicObject = hyperplane_objects::read(&manifest).map_err(kube::Error::SerdeError)?;
        let name = object.metadata.name.clone().unwrap_or_default();
        match self.case.when {
            When::Create => self.api.create(&dry_run, &object).await,
            When::Update => self.api.replace(&name, &dry_run, &object).await,
            When::Status => self.api.replace_status(&name, &dry_run, &object).await,
        }
    }

    async fn close(self) -> Result<()> {
        if let Some(name) = self.existing.and_then(|existing| existing.metadata.name) {
            self.api.delete(&name, &DeleteParams::default()).await?;
        }
        Ok(())
    }
}

fn api(client: &Client, table: &RuleTable) -> Result<Api<DynamicObject>> {
    let definition = hyperplane_api::KINDS
        .iter()
        .map(|definition| definition())
        .find(|kind| kind.kind == table.kind && format!("{}/{}", kind.group, kind.version) == table.api_version)
        .with_context(|| format!("{} {} is not one of our kinds", table.api_version, table.kind))?;
    let kind = GroupVersionKind::gvk(definition.group, definition.version, definition.kind);
    let resource = ApiResource::from_gvk_with_plural(&kind, definition.plural);
    Ok(match definition.scope {
        hyperplane_api::resource::Scope::Namespaced => Api::namespaced_with(client.clone(), "default", &resource),
        hyperplane_api::resource::Scope::Cluster => Api::all_with(client.clone(), &resource),
    })
}

/// A CEL rule of a schema.
struct SchemaRule {
    kind: String,
    path: String,
    message: String,
}

impl SchemaRule {
    fn is_unreachable(&self) -> bool {
        UNREACHABLE
            .iter()
            .any(|(kind, path, message)| self.is_of(kind) && self.path == *path && self.message == *message)
    }

    fn is_broken_in(&self, seen: &BTreeSet<(String, Cause)>) -> bool {
        seen.iter().any(|(kind, (field, message))| {
            self.is_of(kind) && without_indices(field) == self.path && message.ends_with(&self.message)
        })
    }

    /// The structures of a HostedControlPlane are those of the HostedCluster: a rule is tried on either.
    fn is_of(&self, kind: &str) -> bool {
        kind == self.kind || kind.starts_with("Hosted") && self.kind.starts_with("Hosted")
    }
}

fn rules() -> Vec<SchemaRule> {
    let mut rules = Vec::new();
    for definition in crd::definitions(FeatureSet::CustomNoUpgrade) {
        let kind = definition["spec"]["names"]["kind"]
            .as_str()
            .unwrap_or_default()
            .to_owned();
        collect(
            &definition["spec"]["versions"][0]["schema"]["openAPIV3Schema"],
            &kind,
            "",
            &mut rules,
        );
    }
    rules
}

fn collect(schema: &Value, kind: &str, path: &str, rules: &mut Vec<SchemaRule>) {
    for rule in schema["x-kubernetes-validations"].as_array().into_iter().flatten() {
        rules.push(SchemaRule {
            kind: kind.to_owned(),
            path: path.to_owned(),
            message: rule["message"].as_str().unwrap_or_default().to_owned(),
        });
    }
    for (name, field) in schema["properties"].as_object().into_iter().flatten() {
        let below = if path.is_empty() {
            name.clone()
        } else {
            format!("{path}.{name}")
        };
        collect(field, kind, &below, rules);
    }
    for child in ["items", "additionalProperties"] {
        if schema[child].is_object() {
            collect(&schema[child], kind, &format!("{path}[]"), rules);
        }
    }
}

/// `spec.services[2].type` as the path of the schema: `spec.services[].type`.
fn without_indices(field: &str) -> String {
    let mut path = String::new();
    let mut inside = false;
    for character in field.chars() {
        match character {
            '[' => {
                inside = true;
                path.push_str("[]");
            }
            ']' => inside = false,
            _ if inside => {}
            other => path.push(other),
        }
    }
    // The server calls the root of an object by a name of its own.
    if path == "<nil>" { String::new() } else { path }
}
