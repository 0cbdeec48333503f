//! Control planes to render, with the least around them that rendering needs.

use hyperplane_api::hypershift::hosted_control_plane::HostedControlPlane;
use hyperplane_components::{
    Decision, Infrastructure, Inputs, Management, Objects, Observed, RENDER_REVISION, Rendered, catalogue, decide,
    manager_catalogue, observe, published_services,
};
use hyperplane_planner::{
    catalogue::releases,
    release::Release,
    version::{Scheme, Version},
};
use serde_json::{Value, json};

/// The namespace of the control plane.
pub const NAMESPACE: &str = "clusters-one";

/// A control plane and everything that it is rendered from.
pub struct Scene {
    pub control_plane: HostedControlPlane,
    pub release: Release,
    pub management: Management,
    pub objects: Objects,
    pub infrastructure: Infrastructure,
}

impl Scene {
    /// A control plane whose spec is completed by these fields.
    pub fn new(release: &Release, annotations: &Value, fields: &Value) -> Self {
        let control_plane = control_plane(release, annotations, fields);
        let management = management();
        let services = published_services(&control_plane, &management);
        let infrastructure = observe(&control_plane, &management, &services.iter().collect::<Vec<_>>());
        Self {
            control_plane,
            release: release.clone(),
            management,
            objects: Objects::default(),
            infrastructure,
        }
    }

    pub fn inputs(&self) -> Inputs<'_> {
        Inputs {
            control_plane: &self.control_plane,
            release: &self.release,
            cluster_release: &self.release,
            infrastructure: &self.infrastructure,
            management: &self.management,
            objects: &self.objects,
            revision: RENDER_REVISION,
        }
    }

    /// A component when all others are there already.
    pub fn rendered(&self, name: &str) -> Rendered {
        let mut all = catalogue().iter().chain(manager_catalogue());
        let component = all
            .find(|component| component.name == name)
            .expect("it is in the catalogue");
        match decide(component, &self.inputs(), &self.settled()) {
            Decision::Apply(rendered) => *rendered,
            other => panic!("{name}: {other:?}"),
        }
    }

    /// Reports by which every component has reached its version.
    pub fn settled(&self) -> Observed {
        let condition = |kind: &str| {
            let time = "2026-01-01T00:00:00Z";
            json!({"type": kind, "status": "True", "reason": "AsExpected", "message": "", "lastTransitionTime": time})
        };
        let version = self.inputs().desired_version();
        let status = json!({
            "conditions": [condition("Available"), condition("RolloutComplete")],
            "version": version,
        });
        let all = catalogue().iter().chain(manager_catalogue());
        let report = |name: &str| {
            let status = serde_json::from_value(status.clone()).expect("it is a status");
            (name.to_owned(), status)
        };
        Observed {
            reports: all.map(|component| report(component.name)).collect(),
            ..Observed::default()
        }
    }
}

/// The newest release of a minor.
pub fn release(minor: &str) -> &'static Release {
    let mut all = releases().iter().rev();
    let newest = all.find(|release| release.kubernetes.minor_text() == minor);
    newest.expect("the catalogue has the minor")
}

/// A release that carries what plain Kubernetes does not.
pub fn extended_release() -> Release {
    let mut extended = release("1.36").clone();
    for name in [
        "openshift-apiserver",
        "kubevirt-cloud-controller-manager",
        "cluster-api",
        "capi-provider-kubevirt",
        "capi-provider-agent",
    ] {
        let component = hyperplane_planner::release::Component {
            image: Some(format!("registry.example.com/{name}:v1")),
            ..Default::default()
        };
        extended.components.insert(name.to_owned(), component);
    }
    extended
}

/// One entry of `spec.services`.
pub fn published(service: &str, strategy: &Value) -> Value {
    json!({"service": service, "servicePublishingStrategy": strategy})
}

fn control_plane(release: &Release, annotations: &Value, fields: &Value) -> HostedControlPlane {
    let mut spec = json!({
        "releaseImage": release.image,
        "platform": {"type": "None"},
        "networking": {
            "clusterNetwork": [{"cidr": "10.132.0.0/14"}],
            "serviceNetwork": [{"cidr": "172.31.0.0/16"}],
            "networkType": "Other",
        },
        "services": [
            published("APIServer", &json!({"type": "LoadBalancer"})),
            published("Konnectivity", &json!({"type": "Route"})),
            published("Ignition", &json!({"type": "Route"})),
        ],
        "dns": {"baseDomain": "example.com"},
        "etcd": {
            "managementType": "Managed",
            "managed": {"storage": {"type": "PersistentVolume", "persistentVolume": {"size": "8Gi"}}},
        },
        "controllerAvailabilityPolicy": "HighlyAvailable",
        "pullSecret": {"name": "pull-secret"},
        "sshKey": {"name": "ssh-key"},
        "issuerURL": "https://kubernetes.default.svc",
        "infraID": "one-abcde",
    });
    for (key, value) in fields.as_object().into_iter().flatten() {
        spec[key] = value.clone();
    }
    let object = json!({
        "apiVersion": "hypershift.openshift.io/v1beta1",
        "kind": "HostedControlPlane",
        "metadata": {"name": "one", "namespace": NAMESPACE, "uid": "1-2-3", "annotations": annotations},
        "spec": spec,
    });
    serde_json::from_value(object).expect("the object is a control plane")
}

fn management() -> Management {
    Management {
        kubernetes: Version::parse(Scheme::Kubernetes, "v1.34.0").expect("it is a version"),
        zones: 3,
        image: "registry.example.com/hyperplane:1.0.0".to_owned(),
        has_monitors: true,
        user_id: Some(1001),
        ingress_domain: Some("apps.example.com".to_owned()),
    }
}
