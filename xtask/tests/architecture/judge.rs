//! Whether packages obey the map. Pure: packages in, violations out, each a sentence that says what to change.

use crate::{
    map::{self, Layer},
    package::{Dependency, Package},
};

/// What a workspace manifest must be asked for, so that no package goes its own way.
const INHERITED: [&str; 2] = ["edition.workspace = true", "license.workspace = true"];

/// All violations of all packages.
pub(crate) fn judge(packages: &[Package]) -> Vec<String> {
    packages.iter().flat_map(judge_package).collect()
}

/// Which of these crates appear in what `cargo tree --prefix none` prints.
pub(crate) fn found_in_tree<'a>(tree: &str, names: &[&'a str]) -> Vec<&'a str> {
    let appears = |name: &&&str| tree.lines().any(|line| line.split(' ').next() == Some(**name));
    names.iter().filter(appears).copied().collect()
}

/// Which of these crates a lock file names.
pub(crate) fn found_in_lock<'a>(lock: &str, names: &[&'a str]) -> Vec<&'a str> {
    let appears = |name: &&&str| lock.lines().any(|line| line == format!("name = \"{name}\""));
    names.iter().filter(appears).copied().collect()
}

fn judge_package(package: &Package) -> Vec<String> {
    let name = &package.name;
    let Some(layer) = map::layer_of(name) else {
        return vec![format!(
            "{name} is not on the map: add it to CRATES in xtask/tests/architecture/map.rs"
        )];
    };
    let mut violations = judge_manifest(package);
    for dependency in package
        .dependencies
        .iter()
        .filter(|dependency| !dependency.is_for_tests)
    {
        violations.extend(judge_direction(name, layer, dependency));
        violations.extend(judge_input_and_output(name, layer, dependency));
        violations.extend(judge_http(name, dependency));
    }
    violations
}

fn judge_direction(name: &str, layer: Layer, dependency: &Dependency) -> Option<String> {
    let other = &dependency.name;
    let other_layer = map::layer_of(other)?;
    if map::may_know(layer, other_layer, other) {
        return None;
    }
    let rule = match (layer, other_layer) {
        (Layer::Operator, Layer::Operator) => "operators meet in the API, never each other",
        (_, Layer::Tools) => "tools are for tests: make it a dev-dependency",
        (_, Layer::People) => "what people use is a leaf",
        _ => "the arrow points the wrong way",
    };
    Some(format!(
        "{name} ({layer:?}) depends on {other} ({other_layer:?}): {rule}"
    ))
}

fn judge_input_and_output(name: &str, layer: Layer, dependency: &Dependency) -> Option<String> {
    if !map::PURE.contains(&layer) {
        return None;
    }
    let other = &dependency.name;
    if map::IO_CRATES.contains(&other.as_str()) {
        return Some(format!("{name} ({layer:?}) depends on {other}: this layer does no I/O"));
    }
    let is_pure = |feature: &String| map::PURE_KUBE_FEATURES.contains(&feature.as_str());
    if other != "kube" || (!dependency.has_default_features && dependency.features.iter().all(is_pure)) {
        return None;
    }
    Some(format!(
        "{name} ({layer:?}) uses kube's client: only {:?} are without I/O",
        map::PURE_KUBE_FEATURES
    ))
}

fn judge_http(name: &str, dependency: &Dependency) -> Option<String> {
    let other = dependency.name.as_str();
    let has = |prefix: &str| {
        dependency
            .features
            .iter()
            .any(|feature| feature == "full" || feature.starts_with(prefix))
    };
    let is_library = matches!(other, "hyper" | "hyper-util");
    if (other == "axum" || is_library && has("server")) && !map::HTTP_SERVERS.contains(&name) {
        return Some(format!(
            "{name} serves HTTP by {other}: only {:?} do",
            map::HTTP_SERVERS
        ));
    }
    if (other == "reqwest" || is_library && has("client")) && !map::HTTP_CALLERS.contains(&name) {
        return Some(format!("{name} calls HTTP by {other}: only {:?} do", map::HTTP_CALLERS));
    }
    None
}

fn judge_manifest(package: &Package) -> Vec<String> {
    let lines: Vec<_> = package.manifest.lines().map(str::trim).collect();
    let mut missing: Vec<_> = INHERITED.into_iter().filter(|wanted| !lines.contains(wanted)).collect();
    let has_lints = lines.windows(2).any(|pair| pair == ["[lints]", "workspace = true"]);
    if !has_lints && !lines.contains(&"lints.workspace = true") {
        missing.push("lints.workspace = true");
    }
    missing
        .into_iter()
        .map(|wanted| format!("{}: its Cargo.toml lacks `{wanted}`", package.name))
        .collect()
}
