//! From a component and its inputs to its objects, one step after the other.

use std::collections::BTreeMap;

use hyperplane_api::constants::annotations;

use crate::{
    assets,
    component::Component,
    decide::Rendered,
    defaults, hash,
    inputs::Inputs,
    manifest::{Manifest, ObjectName, Workload},
    mounts::{self, Needs},
    sidecars,
};

/// The objects of a component, what its pods take data from, and what of it waits for what runs already.
pub(crate) fn render(
    component: &Component,
    inputs: &Inputs<'_>,
    live: Option<&Workload>,
) -> (Rendered, Needs, Vec<String>) {
    let (mut manifests, unwanted) = manifests(component, inputs);
    let mut workload = assets::workload(component).into_owned();
    (component.adapt)(inputs, &mut workload);
    let waits = (component.follow)(inputs, live, &mut manifests, &mut workload);
    sidecars::inject(component, inputs, &mut workload);
    defaults::apply(component, inputs, &mut workload);
    let needs = workload.pod().map(mounts::needs).unwrap_or_default();
    annotate_pods(
        &mut workload,
        annotations::CONFIG_HASH.as_str(),
        hash::of_mounted(&needs, &manifests, inputs.objects),
    );
    // What others changed in the live workload is not what we want, and is not part of the hash of what we want.
    let mut wanted = workload.clone();
    defaults::override_requests(component, inputs, &mut wanted);
    let wanted = hash::of_object(&wanted);
    defaults::keep_live_requests(live, &mut workload);
    defaults::override_requests(component, inputs, &mut workload);
    let of_workload = workload.meta_mut().annotations.get_or_insert_default();
    of_workload.insert(annotations::DESIRED_STATE_HASH.as_str().to_owned(), wanted);
    let rendered = Rendered {
        manifests,
        workload,
        unwanted,
    };
    (rendered, needs, waits)
}

/// Everything that a component may have written in any control plane.
pub(crate) fn all_names(component: &Component) -> Vec<ObjectName> {
    let mut names = vec![assets::workload(component).object_name()];
    names.extend(assets::manifests(component).map(|(_, manifest)| manifest.object_name()));
    names
}

/// What is to be written besides the workload, and what is not to be there.
fn manifests(component: &Component, inputs: &Inputs<'_>) -> (Vec<Manifest>, Vec<ObjectName>) {
    let (mut wanted, mut unwanted) = (Vec::new(), Vec::new());
    for (asset, mut manifest) in assets::manifests(component) {
        let is_known = inputs.management.has_monitors || !manifest.is_monitor();
        if is_known && (asset.predicate)(inputs) {
            (asset.adapt)(inputs, &mut manifest);
            defaults::complete(component, inputs, &mut manifest);
            wanted.push(manifest);
        } else {
            unwanted.push(manifest.object_name());
        }
    }
    (wanted, unwanted)
}

fn annotate_pods(workload: &mut Workload, key: &str, value: String) {
    let meta = workload.template_mut().metadata.get_or_insert_default();
    let annotations: &mut BTreeMap<String, String> = meta.annotations.get_or_insert_default();
    annotations.insert(key.to_owned(), value);
}
