//! Definitions that somebody else has published, as files in a directory.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
};

use anyhow::{Context as _, Result, ensure};
use serde_json::Value;

use super::corpus::read;

/// Kinds of other groups are nobody's concern here.
const GROUP: &str = "hypershift.openshift.io";
/// The feature set that has everything; files of the others have its name in theirs.
const EVERYTHING: &str = "CustomNoUpgrade";
const FEATURE_SETS: [&str; 3] = ["Default", "TechPreviewNoUpgrade", EVERYTHING];

/// The definitions below a directory, of the feature set that has everything.
pub fn definitions(directory: &Path) -> Result<Vec<Value>> {
    let mut found = BTreeMap::new();
    for (path, document) in documents(directory)? {
        let file = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let sets = FEATURE_SETS.iter().any(|set| file.contains(set));
        let is_ours = document["kind"] == "CustomResourceDefinition"
            && document["spec"]["group"].as_str().unwrap_or_default().ends_with(GROUP)
            && (!sets || file.contains(EVERYTHING));
        if is_ours {
            let name = document["metadata"]["name"].as_str().unwrap_or_default().to_owned();
            found.insert(name, document);
        }
    }
    ensure!(
        !found.is_empty(),
        "no definitions of {GROUP} below {}",
        directory.display()
    );
    Ok(found.into_values().collect())
}

/// The group, version and kind that a definition defines.
pub fn kind_of(definition: &Value) -> String {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let spec = &definition["spec"];
    let (group, version) = (text(&spec["group"]), text(&spec["versions"][0]["name"]));
    format!("{group}/{version} {}", text(&spec["names"]["kind"]))
}

/// Every document of the YAML files below a directory, in the order of their paths.
pub fn documents(directory: &Path) -> Result<Vec<(PathBuf, Value)>> {
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
            let text = read(&path)?;
            let documents: Vec<Value> = serde_saphyr::from_multiple(&text).unwrap_or_default();
            found.extend(documents.into_iter().map(|document| (path.clone(), document)));
        }
    }
    Ok(found)
}
