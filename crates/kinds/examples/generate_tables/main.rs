//! Writes `src/tables/types.txt`: the types of the built-in kinds as facts, taken from the Go sources of Kubernetes
//! (which fields are pointers, which are left out when empty, their numbers in protobuf) and from the OpenAPI documents of a real server.
//!
//! `cargo run -p hyperplane-kinds --example generate_tables -- $(go env GOMODCACHE)/k8s.io v0.36.4`
#![allow(clippy::disallowed_methods, reason = "a program for developers reads its arguments")]

mod go_source;
mod openapi;

use std::{
    collections::{BTreeMap, BTreeSet},
    env,
    fmt::Write as _,
    fs,
    path::Path,
};

use anyhow::{Context as _, Result};
use go_source::{Declaration, Field, PACKAGES};
use hyperplane_testbed::ControlPlane;
use serde_json::{Map, Value, json};

/// Says what the lines of the table are.
const HEADER: &str = "\
# Types of the built-in kinds. Written by the example program generate_tables; do not edit.
# p alias component-prefix go-package-name
# a name target                       a named type
# t name [kind=group/version/kind] [map=...] [unions=...]
# f name type [?] [~] attributes      ? is left out when empty, ~ when zero; in= names the embedded structs it is from,
#                                     tag= the numbers of those and of it in protobuf
";

#[tokio::main]
async fn main() -> Result<()> {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let [modules, version] = arguments.as_slice() else {
        anyhow::bail!("say where the Go modules of k8s.io are, and their version");
    };
    let mut declarations = BTreeMap::new();
    for package in &PACKAGES {
        declarations.extend(go_source::read(Path::new(modules), version, package)?);
    }
    let components = components().await?;
    let table = table(&declarations, &components)?;
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/tables/types.txt");
    fs::write(&path, table).with_context(|| path.display().to_string())
}

/// Every component of every group and version that the real server serves.
async fn components() -> Result<Map<String, Value>> {
    let control_plane = ControlPlane::shared().await?;
    let index: Value = raw(control_plane, "/openapi/v3").await?;
    let mut components = Map::new();
    for path in index["paths"].as_object().context("no paths")?.keys() {
        if path.ends_with("/v1") || path.ends_with("/v2") {
            let document = raw(control_plane, &format!("/openapi/v3/{path}")).await?;
            if let Some(schemas) = document["components"]["schemas"].as_object() {
                components.extend(schemas.clone());
            }
        }
    }
    Ok(components)
}

async fn raw(control_plane: &ControlPlane, path: &str) -> Result<Value> {
    let answer = control_plane.kubectl(&["get", "--raw", path]).await?;
    serde_json::from_str(&answer.stdout).with_context(|| format!("{path}: {}", answer.stderr))
}

fn table(declarations: &BTreeMap<String, Declaration>, components: &Map<String, Value>) -> Result<String> {
    let mut text = HEADER.to_owned();
    for package in &PACKAGES {
        let go_name = package.directory.rsplit('/').next().unwrap_or_default();
        writeln!(text, "p {} {} {go_name}", package.alias, package.component)?;
    }
    let mut named = BTreeSet::new();
    let mut types = String::new();
    for (name, declaration) in declarations {
        let (alias, short) = name.split_once('.').context("a name without a package")?;
        let package = PACKAGES
            .iter()
            .find(|package| package.alias == alias)
            .context("an unknown package")?;
        let component = components.get(&format!("{}.{short}", package.component));
        let (Declaration::Struct(fields), Some(component)) = (declaration, component) else {
            continue;
        };
        if is_opaque(component) {
            continue;
        }
        let mut words = vec![format!("t {name}")];
        words.extend(openapi::type_attributes(component));
        writeln!(types, "{}", words.join(" "))?;
        for flat in flattened(fields, declarations) {
            collect_named(&flat.field.go_type, declarations, &mut named);
            writeln!(
                types,
                "{}{}",
                field_line(&flat.field, declarations, component),
                flat.place()
            )?;
        }
    }
    for (name, target) in named {
        writeln!(text, "a {name} {target}")?;
    }
    Ok(text + &types)
}

/// Types that OpenAPI describes without properties are read by code of their own upstream.
fn is_opaque(component: &Value) -> bool {
    component.get("type") != Some(&json!("object")) || component["format"].is_string()
}

/// A field with the structs in which it is embedded, the outer first.
struct Flat {
    field: Field,
    embedded: Vec<String>,
    /// The numbers of the structs and of the field in protobuf; none where one of them has none.
    tags: Option<Vec<String>>,
}

impl Flat {
    /// Where the field is, as words of the table.
    fn place(&self) -> String {
        let embedded = (!self.embedded.is_empty()).then(|| format!(" in={}", self.embedded.join(".")));
        let tags = self.tags.as_ref().map(|tags| format!(" tag={}", tags.join(".")));
        embedded.into_iter().chain(tags).collect()
    }
}

/// The fields of a struct and of the structs in it.
fn flattened(fields: &[Field], declarations: &BTreeMap<String, Declaration>) -> Vec<Flat> {
    let mut flat = Vec::new();
    for field in fields {
        match declarations.get(&field.go_type) {
            Some(Declaration::Struct(inner)) if field.name.is_empty() => {
                flat.extend(
                    flattened(inner, declarations)
                        .into_iter()
                        .map(|below| embed(field, below)),
                );
            }
            _ => flat.push(Flat {
                field: field.clone(),
                embedded: Vec::new(),
                tags: field.tag.clone().map(|tag| vec![tag]),
            }),
        }
    }
    flat
}

/// A field of a struct that is embedded by `outer`.
fn embed(outer: &Field, mut below: Flat) -> Flat {
    let name = outer.go_type.rsplit('.').next().unwrap_or_default();
    below.embedded.insert(0, name.to_owned());
    below.tags = below.tags.zip(outer.tag.clone()).map(|(mut tags, tag)| {
        tags.insert(0, tag);
        tags
    });
    below
}

/// Notes the named types that a field leads to, such as `core.DNSPolicy`.
fn collect_named(go_type: &str, declarations: &BTreeMap<String, Declaration>, named: &mut BTreeSet<(String, String)>) {
    let bare = go_type
        .trim_start_matches(['*', '[', ']'])
        .trim_start_matches("map")
        .trim_start_matches(['*', '[', ']']);
    if let Some(Declaration::Named(target)) = declarations.get(bare)
        && named.insert((bare.to_owned(), target.clone()))
    {
        collect_named(target, declarations, named);
    }
}

fn field_line(field: &Field, declarations: &BTreeMap<String, Declaration>, component: &Value) -> String {
    let mut words = vec![format!("f {} {}", field.name, field.go_type)];
    if field.omit_empty {
        words.push("?".to_owned());
    }
    if field.omit_zero {
        words.push("~".to_owned());
    }
    let derived = derived_default(field, declarations);
    words.extend(openapi::field_attributes(component, &field.name, derived.as_ref()));
    words.join(" ")
}

/// The default that the OpenAPI generator derives from a Go type: zero for what is always present.
fn derived_default(field: &Field, declarations: &BTreeMap<String, Declaration>) -> Option<Value> {
    let mut go_type = field.go_type.as_str();
    while let Some(Declaration::Named(target)) = declarations.get(go_type) {
        go_type = target;
    }
    match (go_type, field.omit_empty) {
        ("string" | "types.UID", false) => Some(json!("")),
        ("bool", false) => Some(json!(false)),
        ("int32" | "int64" | "int" | "float64", false) => Some(json!(0)),
        (other, _) => match declarations.get(other) {
            Some(Declaration::Struct(_)) if !is_read_by_code(other) => Some(json!({})),
            _ => None,
        },
    }
}

/// Types with a JSON form of their own: OpenAPI gives them no default.
fn is_read_by_code(name: &str) -> bool {
    matches!(name, "meta.Time" | "meta.MicroTime" | "meta.Duration" | "meta.FieldsV1")
        || matches!(name, "apiextensions.JSON" | "apiextensions.JSONSchemaPropsOrArray")
        || matches!(
            name,
            "apiextensions.JSONSchemaPropsOrBool" | "apiextensions.JSONSchemaPropsOrStringArray"
        )
}
