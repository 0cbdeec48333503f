//! A package as far as the map cares, read from `cargo metadata`. It judges nothing.

use std::{collections::BTreeSet, fs};

use anyhow::{Context, Result};
use serde_json::Value;

/// A package of the workspace.
#[derive(Clone, Debug, Default)]
pub(crate) struct Package {
    pub(crate) name: String,
    pub(crate) dependencies: Vec<Dependency>,
    /// The text of its Cargo.toml.
    pub(crate) manifest: String,
}

/// What a package depends on, as its manifest declares it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Dependency {
    pub(crate) name: String,
    /// Whether only its tests and examples need it.
    pub(crate) is_for_tests: bool,
    pub(crate) has_default_features: bool,
    pub(crate) features: BTreeSet<String>,
}

/// Reads all packages of the workspace and their manifests.
pub(crate) fn read_all(metadata: &Value) -> Result<Vec<Package>> {
    metadata["packages"]
        .as_array()
        .context("cargo metadata lists no packages")?
        .iter()
        .map(read)
        .collect()
}

fn read(package: &Value) -> Result<Package> {
    let path = package["manifest_path"].as_str().context("a package has no manifest")?;
    let dependencies = package["dependencies"]
        .as_array()
        .context("a package has no list of dependencies")?;
    Ok(Package {
        name: text(&package["name"])?,
        dependencies: dependencies.iter().map(read_dependency).collect::<Result<_>>()?,
        manifest: fs::read_to_string(path).with_context(|| format!("reading {path}"))?,
    })
}

fn read_dependency(dependency: &Value) -> Result<Dependency> {
    let features = dependency["features"]
        .as_array()
        .context("a dependency has no list of features")?;
    Ok(Dependency {
        name: text(&dependency["name"])?,
        is_for_tests: dependency["kind"] == "dev",
        has_default_features: dependency["uses_default_features"] == true,
        features: features.iter().map(text).collect::<Result<_>>()?,
    })
}

fn text(value: &Value) -> Result<String> {
    Ok(value
        .as_str()
        .context("cargo metadata has a name that is no text")?
        .to_owned())
}
