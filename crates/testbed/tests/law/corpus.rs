//! The manifests that cases start from: those of the rule tables, and published ones.

use std::collections::BTreeMap;

use anyhow::{Context as _, Result, ensure};
use rand::{RngExt as _, SeedableRng as _, rngs::SmallRng, seq::IndexedRandom as _};
use serde_json::{Value, json};

use super::{
    case::{Case, Kind, ONLY, Write},
    comparison::take_out_ours,
    mutation::Mutation,
    published::{self, Published},
    values::Pool,
};
use crate::support::{
    rule_table::{Case as Row, RuleTable, When, merge},
    rules,
};

/// How many changes a manifest gets at most.
const CHANGES: u32 = 3;

/// Everything that is known of one kind.
struct Known {
    kind: Kind,
    schema: Value,
    /// The schema of the other side.
    other: Value,
    /// Objects that are written as they are.
    plain: Vec<Case>,
    pool: Pool,
}

/// Manifests by kind.
pub struct Corpus {
    kinds: Vec<Known>,
}

impl Corpus {
    /// The manifests of the rule tables whose kinds are defined, and those that are published.
    pub fn gather(theirs: &[Value], ours: &[Value], published: Option<&Published>) -> Result<Self> {
        let others: BTreeMap<String, &Value> = ours.iter().map(|one| (published::kind_of(one), one)).collect();
        let mut known = BTreeMap::new();
        for definition in theirs {
            let kind = published::kind_of(definition);
            let other = others
                .get(&kind)
                .with_context(|| format!("only one side defines {kind}"))?;
            known.insert(kind, Known::of(definition, other));
        }
        for (file, table) in rules::tables()? {
            if let Some(known) = known.get_mut(&format!("{} {}", table.api_version, table.kind)) {
                known.take_table(&file, &table)?;
            }
        }
        for (file, manifest) in published.map(manifests).unwrap_or_default() {
            let name = |field: &str| manifest[field].as_str().unwrap_or_default().to_owned();
            if let Some(known) = known.get_mut(&format!("{} {}", name("apiVersion"), name("kind"))) {
                known.take(file, Write::Create, Value::Null, manifest);
            }
        }
        let kinds: Vec<Known> = known.into_values().filter(|known| !known.plain.is_empty()).collect();
        ensure!(!kinds.is_empty(), "no kind of the definitions has a manifest");
        Ok(Self { kinds })
    }

    /// Every manifest as it is.
    pub fn plain_cases(&self) -> Vec<Case> {
        self.kinds.iter().flat_map(|known| known.plain.clone()).collect()
    }

    /// The case of a seed: kinds with more manifests come more often.
    pub fn case(&self, seed: u64) -> Case {
        let mut random = SmallRng::seed_from_u64(seed);
        let known = self.kinds.choose_weighted(&mut random, |known| known.plain.len());
        known.expect("some kind has a manifest").changed(seed, &mut random)
    }
}

impl Known {
    fn of(definition: &Value, other: &Value) -> Self {
        let schema = |definition: &Value| definition["spec"]["versions"][0]["schema"]["openAPIV3Schema"].clone();
        Self {
            kind: Kind::of(definition),
            schema: schema(definition),
            other: schema(other),
            plain: Vec::new(),
            pool: Pool::default(),
        }
    }

    fn take_table(&mut self, file: &str, table: &RuleTable) -> Result<()> {
        for row in &table.cases {
            let given = table.given(row)?;
            for change in [&row.holds, &row.breaks] {
                let mut manifest = given.clone();
                merge(&mut manifest, change);
                let before = if row.when == When::Create {
                    Value::Null
                } else {
                    given.clone()
                };
                self.take(format!("{file}: {}", row.rule), write_of(row), before, manifest);
            }
        }
        Ok(())
    }

    /// Names are drawn, but for kinds with a single object.
    fn take(&mut self, origin: String, write: Write, mut before: Value, mut after: Value) {
        let number = self.plain.len();
        let name = after["metadata"]["name"].as_str().filter(|name| *name == ONLY);
        let name = name.map_or_else(|| format!("plain-{number}"), str::to_owned);
        for manifest in [&mut before, &mut after] {
            if manifest.is_object() {
                manifest["metadata"] = json!({"name": name});
                take_out_ours(manifest, &self.schema, &self.other);
            }
        }
        self.pool.learn(&after);
        self.plain.push(Case {
            kind: self.kind.clone(),
            write,
            before,
            after,
            origin,
        });
    }

    /// One of the manifests, changed. An update goes from the manifest to the changed one, or the other way round.
    fn changed(&self, seed: u64, random: &mut SmallRng) -> Case {
        let mut case = self.plain.choose(random).expect("the kind has a manifest").clone();
        let root = if case.write == Write::Status { "status" } else { "spec" };
        let mut changed = case.after.clone();
        let mut told = Vec::new();
        for _ in 0..random.random_range(1..=CHANGES) {
            let mutation = Mutation::choose(&self.schema, &changed, root, &self.pool, random);
            told.extend(mutation.map(|mutation| mutation.apply(&mut changed)));
        }
        let name = case.after["metadata"]["name"].clone();
        let name = if name == ONLY {
            name
        } else {
            format!("seed-{seed}").into()
        };
        if case.write == Write::Create && random.random_bool(0.3) {
            case.write = Write::Update;
            case.before = case.after;
            if random.random_bool(0.3) {
                std::mem::swap(&mut case.before, &mut changed);
            }
        }
        case.after = changed;
        for manifest in [&mut case.before, &mut case.after] {
            if manifest.is_object() {
                manifest["metadata"]["name"] = name.clone();
            }
        }
        case.origin = format!("seed {seed}, {}, with {}", case.origin, told.join(", "));
        case
    }
}

fn write_of(row: &Row) -> Write {
    match row.when {
        When::Create => Write::Create,
        When::Update => Write::Update,
        When::Status => Write::Status,
    }
}

/// Objects among published documents, also those inside of a suite of tests, which holds them as texts.
fn manifests(published: &Published) -> Vec<(String, Value)> {
    let mut found = Vec::new();
    for (path, document) in &published.documents {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        collect(&name, document, &mut found);
    }
    found
}

fn collect(name: &str, document: &Value, found: &mut Vec<(String, Value)>) {
    match document {
        Value::Object(fields) if fields.contains_key("apiVersion") && fields.contains_key("spec") => {
            found.push((name.to_owned(), document.clone()));
        }
        Value::Object(fields) => fields.values().for_each(|value| collect(name, value, found)),
        Value::Array(items) => items.iter().for_each(|item| collect(name, item, found)),
        Value::String(text) if text.contains("apiVersion:") => {
            if let Ok(inner) = serde_saphyr::from_str::<Value>(text) {
                collect(name, &inner, found);
            }
        }
        _ => {}
    }
}
