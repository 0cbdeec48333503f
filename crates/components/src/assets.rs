//! From the YAML of assets to typed objects. Assets are part of the program and are read once; a test reads every one of
//! them, so what cannot be read is a mistake of ours and never of an input.

use std::{
    borrow::Cow,
    collections::BTreeMap,
    sync::{Arc, LazyLock},
};

use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::{
    catalogue::{catalogue, manager_catalogue},
    component::{Asset, Component},
    manifest::{Manifest, Workload},
};

/// What an asset holds.
#[derive(Clone, Debug)]
enum Parsed {
    Manifest(Manifest),
    Workload(Workload),
}

/// All assets of the catalogue by file.
static PARSED: LazyLock<BTreeMap<&'static str, Parsed>> = LazyLock::new(|| {
    let components = catalogue().iter().chain(manager_catalogue());
    let assets = components.flat_map(|component| component.assets);
    assets.map(|asset| (asset.file, parse(asset))).collect()
});

/// The workload of a component as its asset has it.
pub(crate) fn workload(component: &Component) -> Cow<'static, Workload> {
    let found = component.assets.iter().find_map(|asset| match parsed(asset) {
        Cow::Borrowed(Parsed::Workload(workload)) => Some(Cow::Borrowed(workload)),
        Cow::Owned(Parsed::Workload(workload)) => Some(Cow::Owned(workload)),
        _ => None,
    });
    found.expect("every component has an asset with its workload, which a test looks for")
}

/// The other manifests of a component as their assets have them, in the order of the table.
pub(crate) fn manifests(component: &Component) -> impl Iterator<Item = (&Asset, Manifest)> {
    component
        .assets
        .iter()
        .filter_map(|asset| match parsed(asset).into_owned() {
            Parsed::Manifest(manifest) => Some((asset, manifest)),
            Parsed::Workload(_) => None,
        })
}

/// What is not in the catalogue, because it is of a test or seldom there, is read each time.
fn parsed(asset: &Asset) -> Cow<'static, Parsed> {
    PARSED
        .get(asset.file)
        .map_or_else(|| Cow::Owned(parse(asset)), Cow::Borrowed)
}

fn parse(asset: &Asset) -> Parsed {
    let value: Value =
        serde_saphyr::from_str(asset.text).unwrap_or_else(|error| panic!("asset {} is not YAML: {error}", asset.file));
    let kind = value["kind"].as_str().unwrap_or_default().to_owned();
    let manifest = match kind.as_str() {
        "Deployment" => return Parsed::Workload(Workload::Deployment(Arc::new(typed(asset, value)))),
        "StatefulSet" => return Parsed::Workload(Workload::StatefulSet(Arc::new(typed(asset, value)))),
        "Job" => return Parsed::Workload(Workload::Job(Arc::new(typed(asset, value)))),
        "CronJob" => return Parsed::Workload(Workload::CronJob(Arc::new(typed(asset, value)))),
        "ConfigMap" => Manifest::ConfigMap(Box::new(typed(asset, value))),
        "Secret" => Manifest::Secret(Box::new(typed(asset, value))),
        "Service" => Manifest::Service(Box::new(typed(asset, value))),
        "ServiceAccount" => Manifest::ServiceAccount(Box::new(typed(asset, value))),
        "Role" => Manifest::Role(Box::new(typed(asset, value))),
        "RoleBinding" => Manifest::RoleBinding(Box::new(typed(asset, value))),
        "PodDisruptionBudget" => Manifest::PodDisruptionBudget(Box::new(typed(asset, value))),
        "ServiceMonitor" => Manifest::ServiceMonitor(Box::new(typed(asset, value))),
        "PodMonitor" => Manifest::PodMonitor(Box::new(typed(asset, value))),
        other => panic!("asset {} is a {other}, which components are not made of", asset.file),
    };
    Parsed::Manifest(manifest)
}

fn typed<K: DeserializeOwned>(asset: &Asset, value: Value) -> K {
    hyperplane_objects::read(value).unwrap_or_else(|error| panic!("asset {}: {error}", asset.file))
}
