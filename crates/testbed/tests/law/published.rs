//! Definitions and manifests that somebody else has published, as files in a directory.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
};

use anyhow::{Context as _, Result, ensure};
use hyperplane_api::schema::FeatureSet;
use serde_json::Value;

use super::comparison::GROUP;

/// Every document of the YAML files below a directory, in the order of their paths; read once, there are megabytes.
pub struct Published {
    pub documents: Vec<(PathBuf, Value)>,
}

impl Published {
    pub fn read(directory: &Path) -> Result<Self> {
        let documents = documents(directory)?;
        let is_definition = |document: &Value| document["kind"] == "CustomResourceDefinition";
        ensure!(
            documents.iter().any(|(_, document)| is_definition(document)),
            "no definitions below {}",
            directory.display()
        );
        Ok(Self { documents })
    }

    /// The definitions of a feature set. A file whose name has no feature set is of all of them.
    pub fn definitions(&self, features: FeatureSet) -> Vec<Value> {
        let mut found = BTreeMap::new();
        for (path, document) in &self.documents {
            let file = path.file_name().unwrap_or_default().to_string_lossy();
            let names = |set: &FeatureSet| file.contains(&set.to_string());
            let is_wanted = document["kind"] == "CustomResourceDefinition"
                && document["spec"]["group"].as_str().unwrap_or_default().ends_with(GROUP)
                && (names(&features) || !FeatureSet::ALL.iter().any(names));
            if is_wanted {
                let name = document["metadata"]["name"].as_str().unwrap_or_default();
                found.insert(name, document.clone());
            }
        }
        found.into_values().collect()
    }
}

/// The group, version and kind that a definition defines.
pub fn kind_of(definition: &Value) -> String {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let spec = &definition["spec"];
    let (group, version) = (text(&spec["group"]), text(&spec["versions"][0]["name"]));
    format!("{group}/{version} {}", text(&spec["names"]["kind"]))
}

fn documents(directory: &Path) -> Result<Vec<(PathBuf, Value)>> {
    let mut entries: Vec<PathBuf> = fs::read_dir(directory)
        .with_context(|| format!("reading {}", directory.display()))?
        .map(|entry| entry.map(|entry| entry.path()))
        .collect::<Result<_, _>>()?;
    entries.sort();
    let mut found = Vec::new();
    for path in entries {
        if path.is_dir() {
            found.extend(documents(&path)?);
        } else if path.extension().is_some_and(|extension| extension == "yaml") {
            let text = fs::read_to_string(&path).with_context(|| format!("reading {}", path.display()))?;
            let documents: Vec<Value> = serde_saphyr::from_multiple(&text).unwrap_or_default();
            found.extend(documents.into_iter().map(|document| (path.clone(), document)));
        }
    }
    Ok(found)
}
