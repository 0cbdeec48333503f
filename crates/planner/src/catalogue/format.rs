//! The file of the catalogue: what all patches of a minor share, and what changes between them. It becomes one spec per
//! patch; whether the specs make sense is not judged here.

use std::collections::BTreeMap;

use hyperplane_api::{
    hyperplane::{
        distribution_release::DistributionReleaseSpec,
        release_content::ReleaseComponent,
        release_requirements::NodeRequirements,
        release_text::{DistributionName, ImageReference, KubernetesVersion, VersionText},
    },
    hypershift::ours::DistributionVersion,
};
use serde::Deserialize;

use super::{DISTRIBUTION, IMAGE_PREFIX};

/// The whole file.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct Catalogue {
    /// Patterns of images by component.
    images: BTreeMap<String, String>,
    /// Components whose version is that of the release.
    versioned_with_release: Vec<String>,
    /// The minors, oldest first.
    pub(super) minors: Vec<Minor>,
}

/// One minor and its patches.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct Minor {
    /// Such as 1.36.
    #[serde(rename = "minor")]
    pub(super) name: String,
    /// The day after which nobody mends it any more.
    end_of_life: String,
    /// The patches that were published, in order.
    pub(super) patches: Vec<u64>,
    /// Patches that were never published.
    #[serde(default)]
    #[cfg_attr(
        not(test),
        expect(dead_code, reason = "for the test that looks for gaps that nobody knows of")
    )]
    pub(super) gaps: Vec<u64>,
    /// What nodes must offer.
    #[serde(default)]
    nodes: Option<NodeRequirements>,
    /// Versions of components at the first patch.
    components: BTreeMap<String, String>,
    /// What changes later, in order.
    #[serde(default)]
    pub(super) changes: Vec<Change>,
}

/// Other versions of components from one patch on.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct Change {
    /// The first patch with them.
    pub(super) since: u64,
    /// The versions.
    pub(super) components: BTreeMap<String, String>,
}

impl Catalogue {
    /// One spec per patch, oldest first.
    pub(super) fn specs(&self) -> Vec<DistributionReleaseSpec> {
        let patches = self
            .minors
            .iter()
            .flat_map(|minor| minor.patches.iter().map(move |patch| (minor, *patch)));
        patches.map(|(minor, patch)| self.spec(minor, patch)).collect()
    }

    fn spec(&self, minor: &Minor, patch: u64) -> DistributionReleaseSpec {
        let version = format!("v{}.{patch}", minor.name);
        let mut components = minor.components_at(patch);
        components.extend(self.versioned_with_release.iter().map(|name| (name, &version)));
        let components = components
            .into_iter()
            .map(|(name, version)| (name.clone(), self.component(name, version)))
            .collect();
        DistributionReleaseSpec {
            distribution: DistributionName::stored(DISTRIBUTION),
            version: DistributionVersion::stored(&version),
            kubernetes_version: KubernetesVersion::stored(&version),
            image: Some(ImageReference::stored(format!("{IMAGE_PREFIX}{version}"))),
            end_of_life: Some(minor.end_of_life.clone()),
            nodes: minor.nodes.clone(),
            components,
            ..DistributionReleaseSpec::default()
        }
    }

    fn component(&self, name: &str, version: &str) -> ReleaseComponent {
        let image = self.images.get(name).map(|image| image.replace("{version}", version));
        ReleaseComponent {
            version: Some(VersionText::stored(version)),
            image: image.map(ImageReference::stored),
        }
    }
}

impl Minor {
    /// The versions of components at one patch.
    fn components_at(&self, patch: u64) -> BTreeMap<&String, &String> {
        let changes = self.changes.iter().filter(|change| change.since <= patch);
        self.components
            .iter()
            .chain(changes.flat_map(|change| &change.components))
            .collect()
    }
}
