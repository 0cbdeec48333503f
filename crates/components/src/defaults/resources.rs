//! What containers ask for: their manifest, what somebody has changed in the live workload since, and annotations, the
//! later winning over the earlier. A request that an annotation changed once stays after the annotation has gone, because
//! nobody can tell it from one that was changed by hand.

use std::collections::BTreeMap;

use hyperplane_api::constants::annotations;
use k8s_openapi::{api::core::v1::ResourceRequirements, apimachinery::pkg::api::resource::Quantity};

use crate::{
    catalogue::{catalogue, manager_catalogue},
    component::Component,
    inputs::Inputs,
    manifest::Workload,
    quantity::canonical,
};

/// Takes over the requests of a live workload, container by container.
pub(crate) fn keep_live_requests(live: Option<&Workload>, workload: &mut Workload) {
    let Some(live) = live else { return };
    for container in workload.containers_mut() {
        let kept = live.containers().find(|one| one.name == container.name);
        let requests = kept.and_then(|kept| kept.resources.as_ref()?.requests.clone());
        if let Some(requests) = requests {
            container.resources.get_or_insert_default().requests = Some(requests);
        }
    }
}

/// Applies the annotations that change requests of this component.
pub(crate) fn override_requests(component: &Component, inputs: &Inputs<'_>, workload: &mut Workload) {
    for (key, value) in overrides(inputs) {
        let Ok((of, container, amounts)) = request_override(key, value) else {
            continue;
        };
        if of != component.name {
            continue;
        }
        if let Some(container) = workload.container_mut(container) {
            let resources: &mut ResourceRequirements = container.resources.get_or_insert_default();
            resources.requests.get_or_insert_default().extend(amounts);
        }
    }
}

/// What is wrong with the annotations that change requests: those for one component, or else all of them.
pub(crate) fn problems(component: Option<&Component>, inputs: &Inputs<'_>, workload: Option<&Workload>) -> Vec<String> {
    let mut problems = Vec::new();
    for (key, value) in overrides(inputs) {
        let is_meant = component.is_none_or(|component| {
            let workload = key.split_once('.').map_or(key, |(workload, _)| workload);
            workload == component.name
        });
        if !is_meant {
            continue;
        }
        let name = annotations::RESOURCE_REQUEST_OVERRIDE.key(key);
        match request_override(key, value) {
            Err(problem) => problems.push(format!("annotation {name}: {problem}")),
            Ok((of, _, _)) if component.is_none() => {
                let is_known = catalogue().iter().chain(manager_catalogue()).any(|one| one.name == of);
                if !is_known {
                    problems.push(format!("annotation {name}: there is no component {of}"));
                }
            }
            Ok((_, container, _)) => {
                let exists = workload.is_none_or(|workload| workload.containers().any(|one| one.name == container));
                if !exists {
                    problems.push(format!("annotation {name}: there is no container {container}"));
                }
            }
        }
    }
    problems
}

/// Keys without their common beginning, and values.
fn overrides<'a>(inputs: &Inputs<'a>) -> impl Iterator<Item = (&'a str, &'a str)> {
    let all = inputs.control_plane.metadata.annotations.iter().flatten();
    all.filter_map(|(key, value)| Some((annotations::RESOURCE_REQUEST_OVERRIDE.rest_of(key)?, value.as_str())))
}

/// A workload, a container of it, and amounts by resource.
pub type Parsed<'a> = (&'a str, &'a str, BTreeMap<String, Quantity>);

/// What an annotation asks for that changes requests: workload, container and amounts, or what is wrong with it. The key
/// comes without what all of these annotations begin with.
pub fn request_override<'a>(key: &'a str, value: &str) -> Result<Parsed<'a>, String> {
    let (workload, container) = key
        .split_once('.')
        .filter(|(workload, container)| !workload.is_empty() && !container.is_empty())
        .ok_or("the key must end in workload.container")?;
    let mut amounts = BTreeMap::new();
    for item in value.split(',') {
        let (resource, amount) = item
            .split_once('=')
            .ok_or_else(|| format!("{item:?} must be resource=amount, such as cpu=100m"))?;
        let (resource, amount) = (resource.trim(), amount.trim());
        if !is_resource(resource) {
            return Err(format!("{resource:?} is not cpu, memory or ephemeral-storage"));
        }
        let amount = canonical(amount).ok_or_else(|| format!("{amount:?} is not an amount, such as 100m or 2Gi"))?;
        amounts.insert(resource.to_owned(), Quantity(amount));
    }
    Ok((workload, container, amounts))
}

fn is_resource(text: &str) -> bool {
    matches!(text, "cpu" | "memory" | "ephemeral-storage")
}
