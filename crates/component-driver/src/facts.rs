//! What this process knows of the management cluster, and what of it counts for one control plane. A control plane keeps
//! what it was rendered with: the manager writes that on the HostedControlPlane and moves it with an upgrade, so that
//! neither a newer program nor one more zone restarts anything by itself.

use hyperplane_api::{
    constants::{annotations, ours},
    hypershift::hosted_control_plane::HostedControlPlane,
};
use hyperplane_components::{Management, RENDER_REVISION};
use hyperplane_planner::version::{Scheme, Version};

/// What is known of the management cluster.
#[derive(Clone, Debug, PartialEq)]
pub struct Facts {
    /// Its version of Kubernetes.
    pub kubernetes: Version,
    /// The image of this program.
    pub image: String,
    /// The domain for endpoints without a hostname of their own.
    pub ingress_domain: Option<String>,
    /// Whether monitors can be written.
    pub has_monitors: bool,
    /// Whether our own controllers make and remove machines. Whoever makes control planes must know, and tells the others
    /// by an annotation.
    pub runs_machines: bool,
}

impl Facts {
    /// What counts for one control plane.
    pub fn management(&self, control_plane: &HostedControlPlane) -> Management {
        Management {
            kubernetes: ours::RENDER_KUBERNETES
                .of(control_plane)
                .and_then(|text| Version::parse(Scheme::Kubernetes, text).ok())
                .unwrap_or_else(|| self.kubernetes.clone()),
            zones: ours::RENDER_ZONES
                .of(control_plane)
                .and_then(|text| text.parse().ok())
                .unwrap_or(0),
            image: ours::RENDER_IMAGE.of(control_plane).unwrap_or(&self.image).to_owned(),
            has_monitors: self.has_monitors && annotations::DISABLE_MONITORING_SERVICES.of(control_plane).is_none(),
            user_id: annotations::DEFAULT_SECURITY_CONTEXT_UID
                .of(control_plane)
                .and_then(|text| text.parse().ok()),
            ingress_domain: ours::INGRESS_DOMAIN
                .of(control_plane)
                .or(self.ingress_domain.as_deref())
                .map(str::to_owned),
            runs_machines: self.runs_machines || ours::RUNS_MACHINES.is_true(control_plane),
        }
    }
}

/// By which revision of our manifests a control plane is rendered. It may be one that only a newer program knows, with
/// which components wait for that program.
pub fn revision(control_plane: &HostedControlPlane) -> u32 {
    let text = ours::RENDER_REVISION.of(control_plane);
    text.and_then(|text| text.parse().ok()).unwrap_or(RENDER_REVISION)
}

#[cfg(test)]
mod tests {
    use hyperplane_api::constants::ours::RENDER_REVISION as ANNOTATION;
    use serde_json::json;

    use super::*;

    #[test]
    fn a_revision_that_only_a_newer_program_knows_is_told() {
        let newer = (RENDER_REVISION + 1).to_string();
        for (text, expected) in [
            (None, RENDER_REVISION),
            (Some("1"), 1),
            (Some(newer.as_str()), RENDER_REVISION + 1),
            (Some("0"), 0),
            (Some("one"), RENDER_REVISION),
        ] {
            let annotated = text.map(|text| json!({ANNOTATION.as_str(): text}));
            let control_plane = crate::testing::control_plane(&annotated.unwrap_or_default());
            assert_eq!(revision(&control_plane), expected, "{text:?}");
        }
    }
}
