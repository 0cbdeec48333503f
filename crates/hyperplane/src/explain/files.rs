//! Reads files of objects, as users keep them or as `kubectl get -o yaml` prints them, and holds each against the schema of
//! its kind as an API server would. What an edit means is not known here.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::{Path, PathBuf},
    sync::LazyLock,
};

use hyperplane_api::{
    constants::{labels, objects::keys},
    crd,
    hyperplane::distribution_release::DistributionRelease,
    hypershift::{hosted_cluster::HostedCluster, node_pool::NodePool},
    resource::{Defined as _, KindDefinition},
    schema::FeatureSet,
};
use hyperplane_planner::release::{self, FileError};
use hyperplane_schema::{ROOT_PATH, Schema};
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::{
    failing::{wrong_content, wrong_use},
    input,
};

/// The namespace of objects that name none.
const DEFAULT_NAMESPACE: &str = "default";

/// The kinds that are read, by version.
const READ: &[(&str, &str)] = &[
    ("hypershift.openshift.io/v1beta1", "HostedCluster"),
    ("hypershift.openshift.io/v1beta1", "NodePool"),
    ("hyperplane.dev/v1alpha1", "DistributionRelease"),
    ("v1", "ConfigMap"),
];

/// What the manager gives a cluster where its user does not, and where it stands.
const GIVEN: &[(&str, &str)] = &[
    ("", "status"),
    ("/spec", "clusterID"),
    ("/spec", "infraID"),
    ("/spec", "secretEncryption"),
    ("/spec", "dns"),
    ("/spec/dns", "baseDomain"),
    ("/spec/dns", "baseDomainPrefix"),
    ("/spec/platform/kubevirt", "generateID"),
];

/// Namespace and name.
pub(super) type Key = (String, String);

/// An object as a kind, and as it was written with everything that the schema adds.
#[derive(Clone)]
pub(super) struct Held<K> {
    value: Value,
    pub(super) object: K,
}

/// What a ConfigMap says to nodes.
#[derive(Clone)]
pub(super) struct Told {
    /// Whether it is for every node of a cluster.
    pub(super) is_core: bool,
    /// What is under the key that counts.
    pub(super) text: Option<String>,
}

/// Everything that decides about nodes.
#[derive(Clone, Default)]
pub(super) struct Objects {
    pub(super) clusters: BTreeMap<Key, Held<HostedCluster>>,
    pub(super) pools: BTreeMap<Key, Held<NodePool>>,
    pub(super) config_maps: BTreeMap<Key, Told>,
    pub(super) releases: BTreeMap<String, DistributionRelease>,
}

/// Both states, and what their files say that nobody reads.
pub(super) struct Read {
    pub(super) before: Objects,
    pub(super) after: Objects,
    pub(super) notes: Vec<String>,
}

/// Reads all files. What is wrong with an object of any of them is told at once.
pub(super) fn read(before: &Path, after: &Path, releases: &[PathBuf]) -> anyhow::Result<Read> {
    let all = [before, after].into_iter().chain(releases.iter().map(PathBuf::as_path));
    input::once(all)?;
    let mut reader = Reader::default();
    for path in releases {
        reader.releases(path)?;
    }
    reader.file(before)?;
    // What the second file has takes the place of what the first one has.
    reader.seen.clear();
    reader.earlier = Some(reader.objects.clone());
    reader.file(after)?;
    if !reader.problems.is_empty() {
        return Err(wrong_content("not everything can be read", reader.problems));
    }
    Ok(Read {
        before: reader.earlier.unwrap_or_default(),
        after: reader.objects,
        notes: reader.notes,
    })
}

#[derive(Default)]
struct Reader {
    objects: Objects,
    /// The objects before the edit, where an edit is read.
    earlier: Option<Objects>,
    /// What stands in the file already.
    seen: BTreeSet<(String, Key)>,
    problems: Vec<String>,
    notes: Vec<String>,
}

impl Reader {
    /// A file of releases alone, which may be bare specs.
    fn releases(&mut self, path: &Path) -> anyhow::Result<()> {
        let text = input::needed(path)?;
        match release::read(&text) {
            Ok(releases) => self.add_releases(releases),
            Err(errors) => {
                let told = errors.iter().map(|error| format!("{}: {error}", input::title(path)));
                self.problems.extend(told);
            }
        }
        Ok(())
    }

    /// A file of objects of any kind.
    fn file(&mut self, path: &Path) -> anyhow::Result<()> {
        let text = input::needed(path)?;
        let title = input::title(path);
        let documents = input::documents(&text).map_err(|line| line.of(path))?;
        let objects: Vec<Value> = documents.into_iter().flat_map(unpack).collect();
        if objects.is_empty() {
            return Err(wrong_use(title, "holds no object", "give a file with some"));
        }
        for (index, object) in objects.into_iter().enumerate() {
            self.object(&title, index + 1, object);
        }
        Ok(())
    }

    /// One object; kinds that decide nothing about nodes are passed over.
    fn object(&mut self, title: &str, number: usize, value: Value) {
        let text = |path: &str| {
            let found = value.pointer(path).and_then(Value::as_str);
            found.unwrap_or_default().to_owned()
        };
        let (version, kind, name) = (text("/apiVersion"), text("/kind"), text("/metadata/name"));
        let mut namespace = text("/metadata/namespace");
        if namespace.is_empty() {
            DEFAULT_NAMESPACE.clone_into(&mut namespace);
        }
        if version.is_empty() || kind.is_empty() {
            self.problems
                .push(format!("{title}: object {number} has no apiVersion or no kind"));
            return;
        }
        if !READ.contains(&(&*version, &*kind)) {
            return;
        }
        if name.is_empty() {
            self.problems
                .push(format!("{title}: object {number}, a {kind}, has no metadata.name"));
            return;
        }
        let (place, key) = (format!("{title}: {kind} {name}"), (namespace, name));
        if !self.seen.insert((kind.clone(), key.clone())) {
            self.problems.push(format!("{place} stands there twice"));
            return;
        }
        match &*kind {
            "HostedCluster" => self.cluster(&place, key, value),
            "NodePool" => self.pool(&place, key, value),
            "DistributionRelease" => self.release(&place, &value),
            _ => {
                self.objects.config_maps.insert(key, told(&value));
            }
        }
    }

    fn cluster(&mut self, place: &str, key: Key, mut value: Value) {
        let earlier = self.earlier.as_ref().and_then(|earlier| earlier.clusters.get(&key));
        let earlier = earlier.map(|held| held.value.clone());
        if let Some(earlier) = &earlier {
            for (inside, field) in GIVEN {
                keep(&mut value, earlier, inside, field);
            }
        }
        if let Some(held) = self.held(&CLUSTERS, place, &key, value, earlier.as_ref()) {
            self.objects.clusters.insert(key, held);
        }
    }

    fn pool(&mut self, place: &str, key: Key, mut value: Value) {
        let earlier = self.earlier.as_ref().and_then(|earlier| earlier.pools.get(&key));
        let earlier = earlier.map(|held| held.value.clone());
        if let Some(earlier) = &earlier {
            keep(&mut value, earlier, "", "status");
        }
        if let Some(held) = self.held(&POOLS, place, &key, value, earlier.as_ref()) {
            self.objects.pools.insert(key, held);
        }
    }

    /// An object as its kind, if an API server would take it.
    fn held<K: DeserializeOwned>(
        &mut self,
        schema: &Schema,
        place: &str,
        key: &Key,
        mut value: Value,
        earlier: Option<&Value>,
    ) -> Option<Held<K>> {
        if let Some(problem) = schema.type_errors(&value) {
            self.problems.push(format!("{place}: {problem}"));
            return None;
        }
        value["metadata"]["namespace"] = Value::String(key.0.clone());
        let unknown = schema.prune(&mut value).into_iter();
        self.notes
            .extend(unknown.map(|field| format!("{place}: {field} is no field of it, and was not read")));
        schema.default(&mut value);
        let mut errors = schema.validate(&value, earlier);
        schema.rules_after(&mut errors, &value, earlier);
        // The root stands for rules that were not evaluated, because something else is wrong.
        let errors = errors.iter().filter(|error| error.field != ROOT_PATH);
        let told: Vec<String> = errors.map(|error| format!("{place}: {error}")).collect();
        if !told.is_empty() {
            self.problems.extend(told);
            return None;
        }
        match hyperplane_objects::read(&value) {
            Ok(object) => Some(Held { value, object }),
            Err(error) => {
                self.problems.push(format!("{place}: {error}"));
                None
            }
        }
    }

    fn release(&mut self, place: &str, value: &Value) {
        match release::read(&value.to_string()) {
            Ok(releases) => self.add_releases(releases),
            Err(errors) => {
                let told = errors.into_iter().map(|error| match error {
                    FileError::Text { problem } => format!("{place}: {problem}"),
                    FileError::Field { path, problem, .. } => format!("{place}: {path}: {problem}"),
                });
                self.problems.extend(told);
            }
        }
    }

    fn add_releases(&mut self, releases: Vec<DistributionRelease>) {
        let named = releases.into_iter().map(|release| {
            let name = release.metadata.name.clone().unwrap_or_default();
            (name, release)
        });
        self.objects.releases.extend(named);
    }
}

/// The objects of a document: what a list holds, or the document itself.
fn unpack(mut document: Value) -> Vec<Value> {
    let is_list = document["kind"].as_str().is_some_and(|kind| kind.ends_with("List"));
    match document.get_mut("items") {
        Some(Value::Array(items)) if is_list => std::mem::take(items),
        _ => vec![document],
    }
}

/// Takes over a field that an edit leaves out because no user writes it.
fn keep(value: &mut Value, earlier: &Value, inside: &str, field: &str) {
    let kept = earlier.pointer(inside).and_then(|fields| fields.get(field));
    let fields = value.pointer_mut(inside).and_then(Value::as_object_mut);
    if let (Some(kept), Some(fields)) = (kept, fields) {
        fields.entry(field).or_insert_with(|| kept.clone());
    }
}

fn told(value: &Value) -> Told {
    let labels = value.pointer("/metadata/labels");
    Told {
        is_core: labels.is_some_and(|labels| labels.get(labels::CORE_IGNITION_CONFIG.as_str()).is_some()),
        text: value["data"][keys::CONFIG].as_str().map(str::to_owned),
    }
}

static CLUSTERS: LazyLock<Schema> = LazyLock::new(|| schema(&HostedCluster::definition()));
static POOLS: LazyLock<Schema> = LazyLock::new(|| schema(&NodePool::definition()));

/// The schema of a kind with every field that any cluster may serve.
fn schema(kind: &KindDefinition) -> Schema {
    let definition = crd::definition(kind, FeatureSet::CustomNoUpgrade);
    let published = &definition["spec"]["versions"][0]["schema"]["openAPIV3Schema"];
    Schema::structural(published).expect("the schemas of our kinds are structural, and a test installs them")
}
