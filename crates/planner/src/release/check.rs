//! From a spec to a [`Release`]: reads every version, and finds what contradicts something else. It does not lean on the
//! schema of the kind, because a spec may come from a file or from an older API server.

use std::{collections::BTreeSet, fmt, str::FromStr};

use hyperplane_api::{
    hyperplane::{
        distribution_release::DistributionReleaseSpec,
        release_content::{self, OsImage, ReleaseComponent, ReleaseExtension},
        release_graph::ReleaseEdge,
        release_requirements::{
            self, CgroupVersion, GateScope, KubeletRequirements, NodeRequirements, ProviderPairing, ReleaseGate,
        },
        release_text::VersionText,
    },
    text::InvalidText,
};

use super::{
    Component, Edge, Extension, Gate, GatePoint, Impact, Nodes, Origin, Pairing, PairingVerdict, Release, ReleaseError,
    UpperBound,
};
use crate::version::{Scheme, Version};

/// The component whose version must be that of Kubernetes.
const API_SERVER: &str = "kube-apiserver";

pub(super) fn read(spec: &DistributionReleaseSpec) -> Result<Release, Vec<ReleaseError>> {
    let mut reader = Reader::default();
    let release = reader.release(spec);
    match release {
        Some(release) if reader.errors.is_empty() => Ok(release),
        _ => Err(reader.errors),
    }
}

/// What was found to be wrong so far.
#[derive(Default)]
struct Reader {
    errors: Vec<ReleaseError>,
}

impl Reader {
    fn wrong(&mut self, path: impl Into<String>, problem: impl fmt::Display) {
        self.errors.push(ReleaseError {
            path: path.into(),
            problem: problem.to_string(),
        });
    }

    fn release(&mut self, spec: &DistributionReleaseSpec) -> Option<Release> {
        let scheme = self.scheme(spec);
        self.rule("spec.distribution", &spec.distribution);
        let version = self.version(scheme, "spec.version", spec.version.as_str());
        let kubernetes = self.version(
            kubernetes_scheme(scheme),
            "spec.kubernetesVersion",
            spec.kubernetes_version.as_str(),
        );
        if let Some(image) = &spec.image {
            self.rule("spec.image", image);
        }
        let parts = component_scheme(scheme);
        let components = spec
            .components
            .iter()
            .map(|(name, component)| (name.clone(), self.component(parts, name, component)))
            .collect();
        self.os_images(&spec.os_images);
        // The two that may be missing come last: whatever else is wrong has been found by then.
        let release = Release {
            distribution: spec.distribution.as_str().to_owned(),
            image: spec.image.as_ref().map(|image| image.as_str().to_owned()),
            end_of_life: self.end_of_life(spec.end_of_life.as_deref()),
            channels: spec.channels.clone(),
            components,
            os_images: spec.os_images.clone(),
            support_matrix_row: spec.support_matrix_row.clone(),
            extensions: self.extensions(parts, &spec.extensions),
            providers: self.providers(parts, &spec.providers),
            compatible_kubernetes: self.compatible_kubernetes(spec),
            nodes: self.nodes(spec.nodes.as_ref()),
            kubelet: self.kubelet(spec),
            gates: self.gates(scheme, &spec.gates),
            edges: self.edges(scheme, version.as_ref(), &spec.edges),
            version: version?,
            kubernetes: kubernetes?,
        };
        self.api_server(&release);
        Some(release)
    }

    /// The scheme that the spec names, or else the one that is named like the distribution.
    fn scheme(&mut self, spec: &DistributionReleaseSpec) -> Scheme {
        let Some(scheme) = &spec.scheme else {
            return Scheme::from_str(spec.distribution.as_str()).unwrap_or(Scheme::Kubernetes);
        };
        Scheme::from_str(scheme.as_str()).unwrap_or_else(|error| {
            self.wrong("spec.scheme", error);
            Scheme::Kubernetes
        })
    }

    /// Applies the rules of a text; the schema did so too, if there was one.
    fn rule<T: FromStr<Err = InvalidText> + fmt::Display>(&mut self, path: &str, text: &T) {
        if let Err(error) = T::from_str(&text.to_string()) {
            self.wrong(path, error);
        }
    }

    fn version(&mut self, scheme: Scheme, path: &str, text: &str) -> Option<Version> {
        Version::parse(scheme, text)
            .map_err(|error| self.wrong(path, error))
            .ok()
    }

    fn optional_version(&mut self, scheme: Scheme, path: &str, text: Option<&VersionText>) -> Option<Version> {
        self.version(scheme, path, text?.as_str())
    }

    /// Names each entry of a list whose key another one has already.
    fn unique<T, K: Ord + fmt::Display>(&mut self, path: &str, entries: &[T], key: impl Fn(&T) -> K) {
        let mut seen = BTreeSet::new();
        for (index, entry) in entries.iter().enumerate() {
            let key = key(entry);
            if seen.contains(&key) {
                self.wrong(format!("{path}[{index}]"), format!("{key} is listed twice"));
            }
            seen.insert(key);
        }
    }

    fn end_of_life(&mut self, day: Option<&str>) -> Option<(u16, u8, u8)> {
        let read = date(day?);
        if read.is_none() {
            self.wrong("spec.endOfLife", "must be a day such as 2027-06-28");
        }
        read
    }

    fn component(&mut self, scheme: Scheme, name: &str, component: &ReleaseComponent) -> Component {
        let path = format!("spec.components.{name}");
        if component.version.is_none() && component.image.is_none() {
            self.wrong(&path, "must have a version, an image or both");
        }
        if let Some(image) = &component.image {
            self.rule(&format!("{path}.image"), image);
        }
        let text = component.version.as_ref().map(|text| text.as_str().to_owned());
        Component {
            version: text.as_ref().and_then(|text| Version::parse(scheme, text).ok()),
            text,
            image: component.image.as_ref().map(|image| image.as_str().to_owned()),
        }
    }

    /// The one component whose version must be that of Kubernetes, as far as the minor goes.
    fn api_server(&mut self, release: &Release) {
        let Some(version) = release.component_version(API_SERVER) else {
            return;
        };
        if !version.same_minor(&release.kubernetes) {
            self.wrong(
                format!("spec.components.{API_SERVER}.version"),
                format!(
                    "{version} has another minor than spec.kubernetesVersion {}: they are one program",
                    release.kubernetes
                ),
            );
        }
    }

    fn os_images(&mut self, images: &[OsImage]) {
        self.unique("spec.osImages", images, |image| {
            format!("{} on {}", image.platform, image.architecture)
        });
        for (index, image) in images.iter().enumerate() {
            let fields = [
                ("platform", &image.platform),
                ("architecture", &image.architecture),
                ("name", &image.name),
            ];
            for (field, _) in fields.iter().filter(|(_, text)| text.is_empty()) {
                self.wrong(format!("spec.osImages[{index}].{field}"), "must not be empty");
            }
        }
    }

    fn extensions(&mut self, scheme: Scheme, extensions: &[ReleaseExtension]) -> Vec<Extension> {
        self.unique("spec.extensions", extensions, |one| one.name.clone());
        let read = extensions.iter().enumerate().filter_map(|(index, extension)| {
            let path = format!("spec.extensions[{index}]");
            let impact = match &extension.impact {
                release_content::Impact::None => Impact::None,
                release_content::Impact::Low => Impact::Low,
                release_content::Impact::Medium => Impact::Medium,
                release_content::Impact::High => Impact::High,
                release_content::Impact::Unrecognised(word) => {
                    self.unknown_word(&format!("{path}.impact"), word, release_content::Impact::WORDS);
                    Impact::High
                }
            };
            Some(Extension {
                name: extension.name.clone(),
                version: self.version(scheme, &format!("{path}.version"), extension.version.as_str())?,
                impact,
            })
        });
        read.collect()
    }

    fn unknown_word(&mut self, path: &str, word: &str, known: &[&str]) {
        self.wrong(
            path,
            format!("{word:?} is not known: write one of {}", known.join(", ")),
        );
    }

    fn providers(&mut self, scheme: Scheme, pairings: &[ProviderPairing]) -> Vec<Pairing> {
        self.unique("spec.providers", pairings, |one| one.name.clone());
        let read = pairings
            .iter()
            .enumerate()
            .map(|(index, pairing)| self.pairing(scheme, &format!("spec.providers[{index}]"), pairing));
        read.collect()
    }

    fn pairing(&mut self, scheme: Scheme, path: &str, pairing: &ProviderPairing) -> Pairing {
        let mut bound = |field: &str, text: &Option<VersionText>| {
            self.optional_version(scheme, &format!("{path}.{field}"), text.as_ref())
        };
        let lowest = bound("minVersion", &pairing.min_version);
        let last = bound("maxVersion", &pairing.max_version);
        let before = bound("belowVersion", &pairing.below_version);
        let texts = [&pairing.min_version, &pairing.max_version, &pairing.below_version];
        if texts.iter().all(|text| text.is_none()) {
            self.wrong(path, "must have minVersion, maxVersion or belowVersion");
        }
        if pairing.max_version.is_some() && pairing.below_version.is_some() {
            self.wrong(path, "must have maxVersion or belowVersion, not both");
        }
        let pairing = Pairing {
            provider: pairing.name.clone(),
            lowest,
            highest: last.map(UpperBound::Last).or(before.map(UpperBound::Before)),
        };
        if let Some(lowest) = &pairing.lowest
            && pairing.judge(lowest) != PairingVerdict::Serves
        {
            self.wrong(
                path,
                format!("no version can be from {lowest} on and also below the upper bound"),
            );
        }
        pairing
    }

    fn compatible_kubernetes(&mut self, spec: &DistributionReleaseSpec) -> Vec<Version> {
        let minors = spec.compatible_kubernetes.iter().enumerate();
        let read = minors.filter_map(|(index, minor)| {
            self.version(
                Scheme::Kubernetes,
                &format!("spec.compatibleKubernetes[{index}]"),
                &minor.0,
            )
        });
        read.collect()
    }

    fn nodes(&mut self, nodes: Option<&NodeRequirements>) -> Nodes {
        let Some(nodes) = nodes else {
            return Nodes::default();
        };
        let min_kernel = nodes.min_kernel.as_deref().and_then(|text| {
            let kernel = kernel(text);
            if kernel.is_none() {
                self.wrong("spec.nodes.minKernel", "must be the version of a kernel such as 5.8");
            }
            kernel
        });
        let cgroup = nodes.cgroup.as_ref().and_then(|version| match version {
            CgroupVersion::V1 => Some(1),
            CgroupVersion::V2 => Some(2),
            CgroupVersion::Unrecognised(word) => {
                self.unknown_word("spec.nodes.cgroup", word, CgroupVersion::WORDS);
                None
            }
        });
        let cpu_level = nodes.cpu_level.and_then(|level| {
            let level = u64::try_from(level).ok().filter(|level| CPU_LEVELS.contains(level));
            if level.is_none() {
                self.wrong("spec.nodes.cpuLevel", "must be a level of x86-64 from 1 to 4");
            }
            level
        });
        Nodes {
            min_kernel,
            cgroup,
            cpu_level,
        }
    }

    fn kubelet(&mut self, spec: &DistributionReleaseSpec) -> KubeletRequirements {
        let kubelet = spec.kubelet.clone().unwrap_or_default();
        self.unique("spec.kubelet.mustHave", &kubelet.must_have, |one| one.field.clone());
        for (index, one) in kubelet.must_have.iter().enumerate() {
            if kubelet.must_not_have.contains(&one.field) {
                self.wrong(
                    format!("spec.kubelet.mustHave[{index}]"),
                    format!("{} is in mustNotHave too", one.field),
                );
            }
        }
        kubelet
    }

    fn gates(&mut self, scheme: Scheme, gates: &[ReleaseGate]) -> Vec<Gate> {
        self.unique("spec.gates", gates, |gate| gate.name.clone());
        let read = gates
            .iter()
            .enumerate()
            .map(|(index, gate)| self.gate(scheme, &format!("spec.gates[{index}]"), gate));
        read.collect()
    }

    fn gate(&mut self, scheme: Scheme, path: &str, gate: &ReleaseGate) -> Gate {
        if gate.message.is_empty() {
            self.wrong(
                format!("{path}.message"),
                "must say what to look at before the gate is acknowledged",
            );
        }
        let point = match &gate.when {
            release_requirements::GatePoint::Entering => GatePoint::Entering,
            release_requirements::GatePoint::Leaving => GatePoint::Leaving,
            release_requirements::GatePoint::Unrecognised(word) => {
                self.unknown_word(&format!("{path}.when"), word, release_requirements::GatePoint::WORDS);
                GatePoint::Entering
            }
        };
        if let GateScope::Unrecognised(word) = &gate.scope {
            self.unknown_word(&format!("{path}.scope"), word, GateScope::WORDS);
        }
        if point == GatePoint::Leaving && !gate.applies_from.is_empty() {
            self.wrong(
                format!("{path}.appliesFrom"),
                "is only for gates that stand before entering",
            );
        }
        let origins = gate.applies_from.iter().enumerate().filter_map(|(index, text)| {
            let version = self.version(scheme, &format!("{path}.appliesFrom[{index}]"), text.as_str())?;
            let is_minor = version.minor_text() == text.as_str().trim_start_matches('v');
            Some(if is_minor {
                Origin::Minor(version)
            } else {
                Origin::Exactly(version)
            })
        });
        Gate {
            origins: origins.collect(),
            name: gate.name.clone(),
            message: gate.message.clone(),
            url: gate.url.clone(),
            point,
            holds_patches: gate.scope != GateScope::Minor,
        }
    }

    fn edges(&mut self, scheme: Scheme, version: Option<&Version>, edges: &[ReleaseEdge]) -> Vec<Edge> {
        self.unique("spec.edges", edges, |edge| edge.from.as_str().to_owned());
        let read = edges
            .iter()
            .enumerate()
            .filter_map(|(index, edge)| self.edge(scheme, version, &format!("spec.edges[{index}]"), edge));
        read.collect()
    }

    fn edge(&mut self, scheme: Scheme, version: Option<&Version>, path: &str, edge: &ReleaseEdge) -> Option<Edge> {
        self.unique(&format!("{path}.risks"), &edge.risks, |risk| risk.name.clone());
        for (risk, matching) in edge.risks.iter().enumerate() {
            for (index, one) in matching.matching_rules.iter().enumerate() {
                if (one.rule_type == "PromQL") != one.promql.is_some() {
                    self.wrong(
                        format!("{path}.risks[{risk}].matchingRules[{index}]"),
                        "promql goes with type PromQL, and only with it",
                    );
                }
            }
        }
        let from = self.version(scheme, &format!("{path}.from"), edge.from.as_str())?;
        // By text, as OpenShift's 4.23.3 and 5.0.3 are equal in order and an edge between them is none to itself.
        if version.is_some_and(|version| version.as_str() == from.as_str()) {
            self.wrong(format!("{path}.from"), format!("{from} is this release itself"));
        }
        let risks = edge.risks.clone();
        Some(Edge { from, risks })
    }
}

/// The levels of x86-64 processors.
const CPU_LEVELS: std::ops::RangeInclusive<u64> = 1..=4;

/// The scheme of `kubernetesVersion`: OpenShift runs plain versions of Kubernetes, others rebuild it under their own.
fn kubernetes_scheme(scheme: Scheme) -> Scheme {
    match scheme {
        Scheme::OpenShift => Scheme::Kubernetes,
        other => other,
    }
}

/// The scheme of components, extensions and providers: SemVer, except where a distribution rebuilds them under counters.
fn component_scheme(scheme: Scheme) -> Scheme {
    match scheme {
        Scheme::Acp => Scheme::Acp,
        _ => Scheme::Kubernetes,
    }
}

/// Year, month and day; how many days a month has does not matter to anyone here.
fn date(text: &str) -> Option<(u16, u8, u8)> {
    let mut parts = text.split('-');
    let mut digits = |length: usize| {
        parts
            .next()
            .filter(|part| part.len() == length && part.bytes().all(|byte| byte.is_ascii_digit()))
    };
    let date = (
        digits(4)?.parse().ok()?,
        digits(2)?.parse().ok()?,
        digits(2)?.parse().ok()?,
    );
    let is_day = parts.next().is_none() && (1..=12).contains(&date.1) && (1..=31).contains(&date.2);
    is_day.then_some(date)
}

/// Major and minor of a kernel; what follows does not matter.
fn kernel(text: &str) -> Option<(u64, u64)> {
    let mut numbers = text.split('.').map(|part| part.parse().ok());
    Some((numbers.next()??, numbers.next()??))
}
