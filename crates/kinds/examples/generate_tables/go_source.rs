//! Reads struct declarations out of Go sources: names, types and the tags for JSON and protobuf, nothing else. Knows the packages whose types
//! the API serves, not what the types mean.

use std::{collections::BTreeMap, fs, path::Path};

use anyhow::{Context as _, Result, bail};

/// A package: the short name that the table uses, the module and directory, and the prefix of its OpenAPI components.
pub struct Package {
    pub alias: &'static str,
    pub module: &'static str,
    pub directory: &'static str,
    pub component: &'static str,
}

const fn api(alias: &'static str, directory: &'static str, component: &'static str) -> Package {
    Package {
        alias,
        module: "api",
        directory,
        component,
    }
}

/// Every package with types that are sent or received.
pub const PACKAGES: [Package; 23] = [
    api("core", "core/v1", "io.k8s.api.core.v1"),
    api("apps", "apps/v1", "io.k8s.api.apps.v1"),
    api("batch", "batch/v1", "io.k8s.api.batch.v1"),
    api("autoscaling1", "autoscaling/v1", "io.k8s.api.autoscaling.v1"),
    api("autoscaling2", "autoscaling/v2", "io.k8s.api.autoscaling.v2"),
    api("rbac", "rbac/v1", "io.k8s.api.rbac.v1"),
    api("coordination", "coordination/v1", "io.k8s.api.coordination.v1"),
    api("events", "events/v1", "io.k8s.api.events.v1"),
    api("networking", "networking/v1", "io.k8s.api.networking.v1"),
    api("policy", "policy/v1", "io.k8s.api.policy.v1"),
    api("certificates", "certificates/v1", "io.k8s.api.certificates.v1"),
    api("discovery", "discovery/v1", "io.k8s.api.discovery.v1"),
    api("scheduling", "scheduling/v1", "io.k8s.api.scheduling.v1"),
    api("storage", "storage/v1", "io.k8s.api.storage.v1"),
    api("node", "node/v1", "io.k8s.api.node.v1"),
    api(
        "admission",
        "admissionregistration/v1",
        "io.k8s.api.admissionregistration.v1",
    ),
    api("authentication", "authentication/v1", "io.k8s.api.authentication.v1"),
    api("authorization", "authorization/v1", "io.k8s.api.authorization.v1"),
    api("flowcontrol", "flowcontrol/v1", "io.k8s.api.flowcontrol.v1"),
    // Not by the name of its directory: `resource.Quantity` is of another package.
    api("dra", "resource/v1", "io.k8s.api.resource.v1"),
    Package {
        alias: "apiextensions",
        module: "apiextensions-apiserver",
        directory: "pkg/apis/apiextensions/v1",
        component: "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1",
    },
    Package {
        alias: "apiregistration",
        module: "kube-aggregator",
        directory: "pkg/apis/apiregistration/v1",
        component: "io.k8s.kube-aggregator.pkg.apis.apiregistration.v1",
    },
    Package {
        alias: "meta",
        module: "apimachinery",
        directory: "pkg/apis/meta/v1",
        component: "io.k8s.apimachinery.pkg.apis.meta.v1",
    },
];

/// One field of a struct, with its type in the names of the table.
#[derive(Clone, Debug)]
pub struct Field {
    pub name: String,
    pub go_type: String,
    pub omit_empty: bool,
    pub omit_zero: bool,
    /// The number in protobuf; none for what only JSON has.
    pub tag: Option<String>,
}

/// What a declaration says.
#[derive(Clone, Debug)]
pub enum Declaration {
    /// A struct; an entry without a name stands for an embedded type.
    Struct(Vec<Field>),
    /// A name for another type.
    Named(String),
}

/// Every declaration of a package's sources, by `alias.Name`.
pub fn read(modules: &Path, version: &str, package: &Package) -> Result<BTreeMap<String, Declaration>> {
    let directory = modules
        .join(format!("{}@{version}", package.module))
        .join(package.directory);
    let mut declarations = BTreeMap::new();
    let entries = fs::read_dir(&directory).with_context(|| format!("no Go sources in {}", directory.display()))?;
    for entry in entries {
        let path = entry?.path();
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        let is_source = path.extension().is_some_and(|extension| extension == "go");
        if !is_source || name.ends_with("_test.go") || name.contains("generated") {
            continue;
        }
        let text = fs::read_to_string(&path)?;
        read_file(&text, package, &mut declarations).with_context(|| path.display().to_string())?;
    }
    Ok(declarations)
}

fn read_file(text: &str, package: &Package, into: &mut BTreeMap<String, Declaration>) -> Result<()> {
    let imports = imports(text);
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        let Some(declaration) = line.strip_prefix("type ") else {
            continue;
        };
        let (name, rest) = declaration.split_once(' ').unwrap_or((declaration, ""));
        let key = format!("{}.{name}", package.alias);
        if rest == "struct {" {
            let body: Vec<&str> = lines.by_ref().take_while(|line| *line != "}").collect();
            into.insert(key, Declaration::Struct(fields(&body, package, &imports)?));
        } else if rest.starts_with("struct{") {
            into.insert(key, Declaration::Struct(Vec::new()));
        } else if !rest.starts_with("interface") && !rest.starts_with("func") && !rest.starts_with('=') {
            let target = rest.split("//").next().unwrap_or_default().trim();
            into.insert(key, Declaration::Named(qualify(target, package, &imports)));
        }
    }
    Ok(())
}

/// Import names by the name that the file uses.
fn imports(text: &str) -> BTreeMap<String, String> {
    let single = text.lines().filter_map(|line| line.strip_prefix("import "));
    text.lines()
        .skip_while(|line| !line.starts_with("import ("))
        .take_while(|line| *line != ")")
        .chain(single)
        .filter_map(|line| {
            let (name, path) = line.trim().split_once('"')?;
            let path = path.trim_end_matches('"');
            let last = path.rsplit('/').next().unwrap_or(path);
            let name = if name.trim().is_empty() { last } else { name.trim() };
            Some((name.to_owned(), path.to_owned()))
        })
        .collect()
}

fn fields(body: &[&str], package: &Package, imports: &BTreeMap<String, String>) -> Result<Vec<Field>> {
    let mut fields = Vec::new();
    for line in body {
        let line = line.trim();
        let Some((declared, rest)) = line.split_once("`json:\"") else {
            continue;
        };
        if line.starts_with("//") {
            continue;
        }
        let tag = rest.split('"').next().unwrap_or_default();
        let mut options = tag.split(',');
        let name = options.next().unwrap_or_default().to_owned();
        let options: Vec<&str> = options.collect();
        let words: Vec<&str> = declared.split_whitespace().collect();
        let go_type = match words.as_slice() {
            [embedded] => *embedded,
            [_, go_type] => *go_type,
            _ => bail!("not a field: {line}"),
        };
        if name == "-" {
            continue;
        }
        fields.push(Field {
            name: if options.contains(&"inline") {
                String::new()
            } else {
                name
            },
            go_type: qualify(go_type, package, imports),
            omit_empty: options.contains(&"omitempty"),
            omit_zero: options.contains(&"omitzero"),
            tag: protobuf_tag(rest),
        });
    }
    Ok(fields)
}

/// The number in `protobuf:"bytes,1,opt,name=metadata"`.
fn protobuf_tag(tags: &str) -> Option<String> {
    let (_, tag) = tags.split_once("protobuf:\"")?;
    tag.split(',').nth(1).map(ToOwned::to_owned)
}

/// A Go type in the names of the table: `*v1.PodSpec` of core's imports becomes `*core.PodSpec`.
fn qualify(go_type: &str, package: &Package, imports: &BTreeMap<String, String>) -> String {
    for prefix in ["*", "[]"] {
        if let Some(rest) = go_type.strip_prefix(prefix) {
            return format!("{prefix}{}", qualify(rest, package, imports));
        }
    }
    if let Some(rest) = go_type.strip_prefix("map[")
        && let Some((_, value)) = rest.split_once(']')
    {
        return format!("map{}", qualify(value, package, imports));
    }
    match go_type.split_once('.') {
        Some((import, name)) => format!("{}.{name}", alias(imports.get(import).map_or(import, String::as_str))),
        None if go_type.starts_with(char::is_lowercase) => go_type.to_owned(),
        None => format!("{}.{go_type}", package.alias),
    }
}

/// The short name of an imported package; the last part of its path where the table does not know it.
fn alias(path: &str) -> &str {
    PACKAGES
        .iter()
        .find(|package| path == format!("k8s.io/{}/{}", package.module, package.directory))
        .map_or_else(|| path.rsplit('/').next().unwrap_or(path), |package| package.alias)
}
