//! Which packages a change concerns: those whose files changed, and all that depend on them. Pure, but for git and cargo
//! being asked.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::Path,
    process::Command,
};

use anyhow::{Context, Result, ensure};
use serde_json::Value;

use crate::workspace;

/// A package of the workspace.
struct Package {
    /// Its directory, below the root, with a slash at the end.
    directory: String,
    /// Packages of the workspace that it needs, for whatever purpose.
    needs: BTreeSet<String>,
}

/// The packages that concern what differs from a revision, in the work tree and outside of commits. All of them if a file
/// belongs to none.
pub(crate) fn packages(since: &str) -> Result<BTreeSet<String>> {
    let mut files = lines(&["diff", "--name-only", since])?;
    files.extend(lines(&["ls-files", "--others", "--exclude-standard"])?);
    Ok(concerned(&read(&workspace::metadata()?)?, &files))
}

fn lines(arguments: &[&str]) -> Result<Vec<String>> {
    let output = Command::new("git")
        .args(arguments)
        .current_dir(workspace::root())
        .output()
        .context("running git")?;
    let errors = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "git {}: {errors}", arguments.join(" "));
    Ok(String::from_utf8_lossy(&output.stdout)
        .lines()
        .map(str::to_owned)
        .collect())
}

fn read(metadata: &Value) -> Result<BTreeMap<String, Package>> {
    let root = Path::new(metadata["workspace_root"].as_str().context("cargo names no root")?);
    let mut packages = BTreeMap::new();
    for package in metadata["packages"].as_array().into_iter().flatten() {
        let name = package["name"].as_str().context("a package has no name")?;
        let manifest = package["manifest_path"].as_str().context("a package has no manifest")?;
        let directory = Path::new(manifest)
            .parent()
            .and_then(|path| path.strip_prefix(root).ok());
        let directory = directory.context("a package lies outside of the workspace")?;
        let needs = package["dependencies"].as_array().into_iter().flatten();
        let needs = needs.filter_map(|needed| needed["name"].as_str().map(str::to_owned));
        let package = Package {
            directory: format!("{}/", directory.display()),
            needs: needs.collect(),
        };
        packages.insert(name.to_owned(), package);
    }
    Ok(packages)
}

fn concerned(packages: &BTreeMap<String, Package>, files: &[String]) -> BTreeSet<String> {
    let mut concerned = BTreeSet::new();
    // Texts for people change no test.
    for file in files
        .iter()
        .filter(|file| Path::new(file).extension().is_none_or(|kind| kind != "md"))
    {
        match packages
            .iter()
            .find(|(_, package)| file.starts_with(&package.directory))
        {
            Some((name, _)) => concerned.insert(name.clone()),
            None => return packages.keys().cloned().collect(),
        };
    }
    loop {
        let needs_one = |package: &Package| !package.needs.is_disjoint(&concerned);
        let more: Vec<String> = packages
            .iter()
            .filter(|(name, package)| !concerned.contains(*name) && needs_one(package))
            .map(|(name, _)| name.clone())
            .collect();
        if more.is_empty() {
            return concerned;
        }
        concerned.extend(more);
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn workspace() -> BTreeMap<String, Package> {
        let package = |name: &str, needs: &[&str]| {
            let needs: Vec<Value> = needs.iter().map(|name| json!({"name": name})).collect();
            json!({"name": name, "manifest_path": format!("/w/crates/{name}/Cargo.toml"), "dependencies": needs})
        };
        let packages = [
            package("api", &["serde"]),
            package("api-server", &[]),
            package("runtime", &["api"]),
            package("binary", &["runtime"]),
        ];
        read(&json!({"workspace_root": "/w", "packages": packages})).unwrap()
    }

    fn names(files: &[&str]) -> Vec<String> {
        let files: Vec<String> = files.iter().map(|file| (*file).to_owned()).collect();
        concerned(&workspace(), &files).into_iter().collect()
    }

    #[test]
    fn what_depends_on_a_change_is_concerned() {
        assert_eq!(names(&["crates/runtime/src/lib.rs"]), ["binary", "runtime"]);
        assert_eq!(names(&["crates/api/src/lib.rs"]), ["api", "binary", "runtime"]);
        assert_eq!(names(&["crates/api-server/src/lib.rs", "README.md"]), ["api-server"]);
        assert!(names(&["docs/concepts.md"]).is_empty());
    }

    #[test]
    fn what_belongs_to_no_package_concerns_all() {
        assert_eq!(names(&["Cargo.lock"]).len(), 4);
    }
}
