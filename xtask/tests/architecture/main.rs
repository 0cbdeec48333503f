//! The directions in which crates may depend on each other, checked on this workspace. The rules are data in `map`,
//! the judgement is a pure function in `judge`; only this file asks cargo.
#![allow(
    clippy::disallowed_methods,
    reason = "cargo says in the environment which cargo it is"
)]

mod judge;
#[cfg(test)]
mod judge_tests;
mod map;
mod package;

use std::{env, fs, path::Path, process::Command};

use anyhow::{Context, Result, ensure};
use package::Package;

#[test]
fn crates_depend_only_in_the_directions_of_the_map() -> Result<()> {
    let violations = judge::judge(&packages()?);
    assert!(violations.is_empty(), "\n{}\n", violations.join("\n"));
    Ok(())
}

#[test]
fn pure_crates_know_no_runtime_even_through_others() -> Result<()> {
    let is_pure = |package: &Package| map::layer_of(&package.name).is_some_and(|layer| map::PURE.contains(&layer));
    let pure: Vec<_> = packages()?.into_iter().filter(is_pure).collect();
    assert!(!pure.is_empty());
    for Package { name, .. } in pure {
        let tree = cargo(&[
            "tree",
            "--offline",
            "--package",
            &name,
            "--edges=normal",
            "--prefix=none",
        ])?;
        let found = judge::found_in_tree(&tree, map::IO_CRATES);
        assert!(
            found.is_empty(),
            "{name} builds {found:?}: `cargo tree -p {name} -e normal -i {}`",
            found[0]
        );
    }
    Ok(())
}

#[test]
fn xtask_builds_without_a_runtime_so_that_it_builds_in_seconds() -> Result<()> {
    let tree = cargo(&[
        "tree",
        "--offline",
        "--package=xtask",
        "--edges=normal",
        "--prefix=none",
    ])?;
    assert_eq!(judge::found_in_tree(&tree, &["kube", "tokio"]), Vec::<&str>::new());
    Ok(())
}

#[test]
fn banned_crates_are_neither_built_nor_locked() -> Result<()> {
    let tree = cargo(&["tree", "--offline", "--workspace", "--all-features", "--prefix=none"])?;
    assert_eq!(judge::found_in_tree(&tree, map::BANNED), Vec::<&str>::new());
    let lock = fs::read_to_string(root().join("Cargo.lock")).context("reading Cargo.lock")?;
    assert_eq!(judge::found_in_lock(&lock, map::BANNED_IN_LOCK), Vec::<&str>::new());
    Ok(())
}

fn packages() -> Result<Vec<Package>> {
    let metadata = cargo(&["metadata", "--offline", "--format-version=1", "--no-deps"])?;
    package::read_all(&serde_json::from_str(&metadata).context("reading cargo metadata")?)
}

fn cargo(arguments: &[&str]) -> Result<String> {
    let program = env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let output = Command::new(program)
        .args(arguments)
        .current_dir(root())
        .output()
        .context("running cargo")?;
    ensure!(
        output.status.success(),
        "cargo {arguments:?}: {}",
        String::from_utf8_lossy(&output.stderr)
    );
    String::from_utf8(output.stdout).context("reading what cargo printed")
}

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .parent()
        .expect("this package lies in the workspace")
}
