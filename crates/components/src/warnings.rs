//! What of the inputs is not carried out as it was asked for, over all components.

use std::fmt;

use crate::{
    catalogue::{catalogue, manager_catalogue},
    component::Component,
    defaults, images,
    inputs::Inputs,
    replicas,
};

/// Something that is not carried out as it was asked for.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Warning {
    /// Who can do something about it.
    pub about: Subject,
    /// What it is, in a sentence.
    pub sentence: String,
}

/// What a warning is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Subject {
    /// Settings of the control plane that cannot be understood and are left out: its owner made a mistake.
    Settings,
    /// Too few zones of the management cluster: replicas share them.
    Zones,
}

impl fmt::Display for Warning {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.sentence)
    }
}

/// What of the inputs is not carried out as it was asked for: settings that cannot be understood, requests for workloads
/// that do not exist, and replicas that share a zone. Each is said once, in an order that does not change by itself.
pub fn warnings(inputs: &Inputs<'_>) -> Vec<Warning> {
    let mut sentences: Vec<String> = present(inputs)
        .flat_map(|component| (component.warnings)(inputs))
        .collect();
    sentences.extend(defaults::request_problems(None, inputs, None));
    let about = |about| move |sentence| Warning { about, sentence };
    let mut warnings: Vec<Warning> = Vec::new();
    for warning in sentences.into_iter().map(about(Subject::Settings)) {
        if !warnings.contains(&warning) {
            warnings.push(warning);
        }
    }
    warnings.extend(crowded(inputs).map(about(Subject::Zones)));
    warnings
}

/// Which replicas share zones, if any do.
fn crowded(inputs: &Inputs<'_>) -> Option<String> {
    let zones = inputs.management.zones;
    let is_crowded = |component: &&Component| {
        let replicas = replicas::of(component, inputs);
        component.traits.is_spread && replicas > 1 && usize::try_from(replicas).is_ok_and(|wanted| wanted > zones)
    };
    let crowded: Vec<&str> = present(inputs)
        .filter(is_crowded)
        .map(|component| component.name)
        .collect();
    let noun = if zones == 1 { "zone" } else { "zones" };
    let sentence = format!(
        "the management cluster has nodes in {zones} {noun}: replicas of {} share zones",
        crowded.join(", ")
    );
    (!crowded.is_empty()).then_some(sentence)
}

fn present<'a>(inputs: &'a Inputs<'_>) -> impl Iterator<Item = &'static Component> + 'a {
    let all = catalogue().iter().chain(manager_catalogue());
    all.filter(|component| images::exists(component, inputs))
}
