//! Whether this manager, on this management cluster, can host such a cluster at all.

use hyperplane_api::{
    constants::annotations,
    hypershift::{hosted_cluster_status::PayloadArchitecture, platform_type::PlatformType},
};
use hyperplane_planner::release::Release;
use hyperplane_platforms::{Platform, Problem, Rule};

use super::{Case, release::ReleasePair};
use crate::operator_image;

const PLATFORM: Rule = Rule {
    name: "platform-supported",
    asks: "the platform must be one that this manager knows",
};
const PROVIDER: Rule = Rule {
    name: "platform-provider",
    asks: "the management cluster must have the kinds of the platform's provider",
};
const ARCHITECTURE: Rule = Rule {
    name: "platform-architecture",
    asks: "a release for one architecture must be for one that the platform has",
};

const OPERATOR: Rule = Rule {
    name: "operator-capabilities",
    asks: "an operator image of the cluster's own must declare what this manager leaves to it",
};

pub(super) const RULES: &[Rule] = &[PLATFORM, PROVIDER, ARCHITECTURE, OPERATOR];

const FIELD: &str = "spec.platform.type";

pub(super) fn platform(case: &Case<'_>) -> Result<&'static dyn Platform, Problem> {
    let found = hyperplane_platforms::of(&case.cluster.spec);
    found.map_err(|error| Problem::new(&PLATFORM, FIELD, error.to_string(), "choose another platform"))
}

pub(super) fn provider(case: &Case<'_>, platform: &dyn Platform) -> Option<Problem> {
    let served = case.settings.served;
    let (is_served, kind) = match platform.platform_type() {
        PlatformType::KubeVirt => (served.kubevirt, "KubevirtCluster"),
        PlatformType::Agent => (served.agent, "AgentCluster"),
        _ => (true, ""),
    };
    let is_needed = !annotations::DISABLE_MACHINE_MANAGEMENT.is_true(case.cluster);
    (is_needed && !is_served).then(|| {
        Problem::new(
            &PROVIDER,
            FIELD,
            format!("the management cluster does not serve the kind {kind}"),
            "install the Cluster API provider of the platform, then restart the manager",
        )
    })
}

/// Judged before anything is made: an operator that leaves something undone would leave a control plane half made.
pub(super) fn operator(case: &Case<'_>) -> Option<Problem> {
    let lacking = operator_image::lacking(case.cluster);
    (!lacking.is_empty()).then(|| {
        Problem::new(
            &OPERATOR,
            format!(
                "metadata.annotations[{}]",
                annotations::CONTROL_PLANE_OPERATOR_IMAGE_LABELS
            ),
            format!("the operator image does not declare {}", lacking.join(", ")),
            "name an image that declares them, or remove the annotation with the image",
        )
    })
}

pub(super) fn architecture(pair: &ReleasePair, platform: &dyn Platform, problems: &mut Vec<Problem>) {
    let architecture = payload_architecture(&pair.cluster);
    if architecture == PayloadArchitecture::Multi || platform.architectures().contains(&architecture) {
        return;
    }
    problems.push(Problem::new(
        &ARCHITECTURE,
        "spec.release.image",
        format!(
            "the release is for {} only, and platform {} has no such machines",
            architecture.as_str(),
            platform.platform_type().as_str()
        ),
        "choose a release for several architectures",
    ));
}

/// For which processors a release is, told from the images of operating systems in it; one that has none is for all.
pub(crate) fn payload_architecture(release: &Release) -> PayloadArchitecture {
    let architecture = |name: &str| match name {
        "amd64" => PayloadArchitecture::Amd64,
        "arm64" => PayloadArchitecture::Arm64,
        "ppc64le" => PayloadArchitecture::Ppc64le,
        "s390x" => PayloadArchitecture::S390x,
        _ => PayloadArchitecture::Multi,
    };
    let mut found = release
        .os_images
        .iter()
        .map(|image| architecture(image.architecture.as_str()));
    match found.next() {
        Some(first) if found.all(|other| other == first) => first,
        _ => PayloadArchitecture::Multi,
    }
}
