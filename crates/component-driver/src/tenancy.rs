//! Which control planes a process serves, and in whose name it writes for them. All operators of tenants decide it here: a
//! control plane that one of them left to a process of its own must not be served by another of them.

use hyperplane_api::hypershift::hosted_control_plane::HostedControlPlane;
use hyperplane_components::has_dedicated_operators;
use hyperplane_runtime::{Context, Failure, Identity, Scope};

/// Whether a process serves a control plane. One that serves everybody leaves those alone that have operators of their own.
pub fn serves(scope: &Scope, control_plane: &HostedControlPlane) -> bool {
    match scope {
        Scope::Everywhere => !has_dedicated_operators(control_plane),
        Scope::Namespace(namespace) => control_plane.metadata.namespace.as_ref() == Some(namespace),
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
        serde_json::from_value(json!({
            "apiVersion": "hypershift.openshift.io/v1beta1",
            "kind": "HostedControlPlane",
            "metadata": {"name": "example", "namespace": "clusters-example", "annotations": annotated},
            "spec": {
                "releaseImage": "hyperplane.dev/kubernetes:v1.36.4",
                "infraID": "example-x7k2p",
                "issuerURL": "https://kubernetes.default.svc",
                "pullSecret": {"name": "pull-secret"},
                "sshKey": {"name": "ssh-key"},
                "dns": {"baseDomain": "example.com"},
                "etcd": {"managementType": "Managed", "managed": {"storage": {"type": "PersistentVolume"}}},
                "platform": {"type": "None"},
                "services": [],
            },
        }))
        .unwrap()
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
