//! Whether a cluster that could go to a release may go now: the cluster itself says that it is upgradeable, or somebody
//! insists.

use hyperplane_api::{
    constants::{annotations, conditions::hosted_control_plane},
    hypershift::hosted_cluster_status::HostedClusterStatus,
};
use hyperplane_planner::version::Version;
use hyperplane_platforms::{Problem, Rule};

use super::{Case, release::ReleasePair, release::control_plane_image};

const UPGRADEABLE: Rule = Rule {
    name: "upgrade-upgradeable",
    asks: "a cluster that says it is not upgradeable goes to no other minor unless it is forced",
};
const FORCED: Rule = Rule {
    name: "upgrade-forced",
    asks: "a forced upgrade must name the image that it is forced to",
};

pub(super) const RULES: &[Rule] = &[UPGRADEABLE, FORCED];

pub(super) fn judge(case: &Case<'_>, pair: &ReleasePair, problems: &mut Vec<Problem>) {
    let Some(status) = &case.cluster.status else { return };
    let image = control_plane_image(case.cluster);
    if !is_move(status, image) {
        return;
    }
    let Some(objection) = objection(case) else { return };
    match annotations::FORCE_UPGRADE_TO.of(case.cluster) {
        Some(forced) if forced == image => {}
        Some(forced) => problems.push(Problem::new(
            &FORCED,
            format!("metadata.annotations[{}]", annotations::FORCE_UPGRADE_TO),
            format!("it names {forced}, and the cluster is asked to go to {image}; {objection}"),
            "set it to the wanted image, or remove it",
        )),
        None if case.cluster.spec.control_plane_release.is_some() || is_patch(status, pair) => {}
        None => problems.push(Problem::new(
            &UPGRADEABLE,
            "spec.release.image",
            format!("the cluster is not upgradeable: {objection}"),
            format!(
                "mend what it says, or set the annotation {} to {image}",
                annotations::FORCE_UPGRADE_TO
            ),
        )),
    }
}

fn is_move(status: &HostedClusterStatus, image: &str) -> bool {
    let desired = status.version.as_ref().map(|version| version.desired.image.as_str());
    desired.is_some_and(|desired| desired != image)
}

/// Why the cluster does not want to be upgraded.
fn objection(case: &Case<'_>) -> Option<String> {
    let control_plane = case.seen.control_plane.as_ref()?;
    let mut conditions = control_plane.status.iter().flat_map(|status| &status.conditions);
    let upgradeable = hosted_control_plane::CLUSTER_VERSION_UPGRADEABLE.as_str();
    let condition = conditions.find(|condition| condition.type_ == upgradeable && condition.status == "False")?;
    Some(format!("{} ({})", condition.message, condition.reason))
}

fn is_patch(status: &HostedClusterStatus, pair: &ReleasePair) -> bool {
    let before = status.version.as_ref().map(|version| version.desired.version.as_str());
    let target = &pair.control_plane.version;
    let before = before.and_then(|text| Version::parse(target.scheme(), text).ok());
    before.is_some_and(|before| before.same_minor(target))
}
