//! Which control planes a process serves, when it leaves one alone, and in whose name it writes for it. All operators of
//! tenants decide it here: a control plane that one of them left to a process of its own must not be served by another of
//! them, and one that is paused is paused for all.

use std::time::Duration;

use hyperplane_api::hypershift::{
    hosted_control_plane::HostedControlPlane,
    paused::{Pause, pause},
};
use hyperplane_components::has_dedicated_operators;
use hyperplane_runtime::{Context, Failure, Identity, Next, Scope};
use jiff::Timestamp;

/// Whether a process serves a control plane. One that serves everybody leaves those alone that have operators of their own.
pub fn serves(scope: &Scope, control_plane: &HostedControlPlane) -> bool {
    match scope {
        Scope::Everywhere => !has_dedicated_operators(control_plane),
        Scope::Namespace(namespace) => control_plane.metadata.namespace.as_ref() == Some(namespace),
    }
}

/// When to look again at a control plane that is paused; none where it is not. A text that nobody can read does not pause:
/// whoever writes the control plane reports it, and a slip of the pen must not let certificates run out.
pub fn rests(control_plane: &HostedControlPlane, now: Timestamp) -> Option<Next> {
    let text = control_plane.spec.paused_until.as_deref()?;
    match pause(text).unwrap_or(Pause::No) {
        Pause::Forever => Some(Next::OnChange),
        Pause::Until(end) if now < end => Some(Next::After(
            Duration::try_from(end.duration_since(now)).unwrap_or_default(),
        )),
        Pause::Until(_) | Pause::No => None,
    }
}

/// The context to write with for a control plane: in the name of the role in its namespace where the process serves many,
/// and as whoever the process is where it serves one, which has no right to act as somebody else.
pub fn tenant(context: &Context, scope: &Scope, namespace: &str, role: &str) -> Result<Context, Failure> {
    match scope {
        Scope::Everywhere => {
            let identity = Identity::new(namespace, role).map_err(Failure::fatal)?;
            Ok(context.acting_as(identity))
        }
        Scope::Namespace(_) => Ok(context.clone()),
    }
}

#[cfg(test)]
mod tests {
    use hyperplane_api::constants::{Annotation, annotations, ours};
    use serde_json::json;

    use super::*;

    fn control_plane(annotated: &[(Annotation, &str)]) -> HostedControlPlane {
        let annotated = annotated.iter().map(|(key, value)| (key.as_str(), *value));
        let annotated: std::collections::BTreeMap<&str, &str> = annotated.collect();
        crate::testing::control_plane(&json!(annotated))
    }

    #[test]
    fn a_control_plane_rests_only_while_it_is_paused() {
        let now: Timestamp = "2030-01-31T08:00:00Z".parse().unwrap();
        for (text, expected) in [
            (None, None),
            (Some("false"), None),
            (Some("true"), Some(Next::OnChange)),
            (Some("2030-01-31T09:00:00Z"), Some(Next::After(Duration::from_hours(1)))),
            (Some("2030-01-31T08:00:00Z"), None),
            (Some("2030-01-31T07:00:00Z"), None),
            (Some("2030-01-31T09:00:00 or so"), None),
            (Some(""), None),
        ] {
            let mut control_plane = control_plane(&[]);
            control_plane.spec.paused_until = text.map(str::to_owned);
            assert_eq!(rests(&control_plane, now), expected, "{text:?}");
        }
    }

    #[test]
    fn every_control_plane_is_served_by_one_process() {
        let own = Scope::Namespace("clusters-example".to_owned());
        let other = Scope::Namespace("clusters-other".to_owned());
        for (annotated, everywhere) in [
            (&[][..], true),
            (&[(ours::TENANT_OPERATORS, "shared")], true),
            (&[(ours::TENANT_OPERATORS, "dedicated")], false),
            (
                &[(annotations::CONTROL_PLANE_OPERATOR_IMAGE, "example.com/operator")],
                false,
            ),
            (&[(annotations::CONTROL_PLANE_OPERATOR_IMAGE, "")], true),
        ] {
            let control_plane = control_plane(annotated);
            assert_eq!(serves(&Scope::Everywhere, &control_plane), everywhere, "{annotated:?}");
            assert!(serves(&own, &control_plane) && !serves(&other, &control_plane));
        }
    }
}
