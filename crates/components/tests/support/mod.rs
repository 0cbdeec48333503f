//! Control planes to render, and the world around them.
#![allow(dead_code, reason = "each test target takes the part that it needs")]

pub mod choices;
#[path = "../../../api/tests/support/samples.rs"]
pub mod samples;

use std::{collections::BTreeMap, sync::Arc};

use hyperplane_api::{constants::objects, hypershift::hosted_control_plane::HostedControlPlane};
use hyperplane_components::{
    Component, Decision, Infrastructure, Inputs, Management, Manifest, Objects, Observed, RENDER_REVISION, Rendered,
    Workload, catalogue, decide, manager_catalogue, observe, published_services, report, warnings,
};
use hyperplane_planner::{
    catalogue::{by_version, releases},
    release::Release,
    version::{Scheme, Version},
};
use k8s_openapi::{
    ByteString,
    api::core::v1::{ConfigMap, LoadBalancerIngress, Secret, Service},
};
use serde_json::{Value, json};

pub use self::samples::{merge, published};

/// The namespace of the control plane.
pub const NAMESPACE: &str = "clusters-one";

/// The newest patch of a minor.
pub fn release(minor: &str) -> &'static Release {
    let newest = releases()
        .iter()
        .rev()
        .find(|release| release.kubernetes.minor_text() == minor);
    newest.expect("the catalogue has the minor")
}

/// A release that carries what plain Kubernetes does not.
pub fn extended_release() -> Release {
    let mut release = by_version("v1.36.4").expect("the catalogue has it").clone();
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
        release.components.insert(name.to_owned(), component);
    }
    release
}

/// A control plane in which everything that is not given is usual.
pub fn control_plane(change: &Value) -> HostedControlPlane {
    let mut object = samples::hosted_control_plane(&json!({
        "metadata": {
            "uid": "11111111-2222-3333-4444-555555555555",
            "generation": 1,
            "annotations": {"hypershift.openshift.io/cluster": "clusters/one"},
        },
        "spec": {
            "networking": {
                "clusterNetwork": [{"cidr": "10.132.0.0/14"}],
                "serviceNetwork": [{"cidr": "172.31.0.0/16"}],
                "networkType": "Other",
            },
            "services": [
                published("APIServer", &json!({"type": "LoadBalancer"})),
                published("OAuthServer", &json!({"type": "Route"})),
                published("Konnectivity", &json!({"type": "Route"})),
                published("Ignition", &json!({"type": "Route"})),
            ],
            "etcd": {"managed": {"storage": {"persistentVolume": {"size": "8Gi"}}}},
            "controllerAvailabilityPolicy": "HighlyAvailable",
        },
    }));
    merge(&mut object, change);
    hyperplane_objects::read(&object).expect("the object is a control plane")
}

/// A management cluster with three zones.
pub fn management() -> Management {
    Management {
        kubernetes: Version::parse(Scheme::Kubernetes, "v1.34.0").expect("it is a version"),
        zones: 3,
        image: "registry.example.com/hyperplane:1.0.0".to_owned(),
        has_monitors: true,
        user_id: Some(1001),
        ingress_domain: Some("apps.example.com".to_owned()),
        runs_machines: false,
    }
}

/// Everything that others write into a control-plane namespace, each value telling where it is from.
pub fn objects() -> Objects {
    use objects::{bundles, certificates, copies, keys, kubeconfigs, signers};
    let mut all = Objects::default();
    for name in [
        bundles::ROOT,
        bundles::ETCD,
        bundles::AGGREGATOR_CLIENT,
        bundles::CLIENT,
        bundles::KUBELET_CLIENT,
        bundles::KUBELET_SERVING,
        bundles::KONNECTIVITY,
    ] {
        add_config_map(&mut all, name, &[keys::CA_CERTIFICATE]);
    }
    add_config_map(&mut all, copies::USER_CA_BUNDLE, &[keys::USER_CA_BUNDLE]);
    add_secret(&mut all, signers::CLUSTER, &[keys::CA_CERTIFICATE, keys::CA_KEY]);
    for name in [
        certificates::API_SERVER,
        certificates::API_SERVER_KUBELET_CLIENT,
        certificates::AGGREGATOR_CLIENT,
        certificates::SCHEDULER_SERVER,
        certificates::CONTROLLER_MANAGER_SERVER,
        certificates::ETCD_SERVER,
        certificates::ETCD_PEER,
        certificates::KONNECTIVITY_SERVER,
        certificates::KONNECTIVITY_CLUSTER,
        certificates::KONNECTIVITY_CLIENT,
        certificates::KONNECTIVITY_AGENT,
        certificates::IGNITION_SERVER,
        certificates::OPENSHIFT_API_SERVER,
        certificates::CLUSTER_API_WEBHOOKS,
    ] {
        add_secret(&mut all, name, &[keys::TLS_CERTIFICATE, keys::TLS_KEY]);
    }
    let of_etcd = [
        keys::ETCD_CLIENT_CA,
        keys::ETCD_CLIENT_CERTIFICATE,
        keys::ETCD_CLIENT_KEY,
    ];
    add_secret(&mut all, certificates::ETCD_CLIENT, &of_etcd);
    let of_accounts = [keys::SERVICE_ACCOUNT_KEY, keys::SERVICE_ACCOUNT_PUBLIC_KEY];
    add_secret(&mut all, certificates::SERVICE_ACCOUNT_KEYS, &of_accounts);
    for name in [
        kubeconfigs::CONTROLLER_MANAGER,
        kubeconfigs::SCHEDULER,
        kubeconfigs::SERVICE_NETWORK_ADMIN,
    ] {
        add_secret(&mut all, name, &[keys::KUBECONFIG]);
    }
    for (component, _) in hyperplane_components::hosted_service_accounts() {
        add_secret(
            &mut all,
            &kubeconfigs::of_service_account(component),
            &[keys::KUBECONFIG],
        );
    }
    set_secret(&mut all, copies::AUDIT_WEBHOOK, keys::AUDIT_WEBHOOK, WEBHOOK);
    for (name, byte) in [(copies::ENCRYPTION_KEY, 7), (copies::ENCRYPTION_KEY_BEFORE, 8)] {
        set_secret(&mut all, name, keys::ENCRYPTION_KEY, [byte; 32]);
    }
    all
}

/// A kubeconfig of a user that leads to a webhook.
pub const WEBHOOK: &str = r#"{"clusters": [{"name": "one", "cluster": {"server": "https://hook.example.com"}}]}"#;

/// Adds a Secret with one value, or replaces it.
pub fn set_secret(objects: &mut Objects, name: &str, key: &str, value: impl Into<Vec<u8>>) {
    let object = Secret {
        data: Some([(key.to_owned(), ByteString(value.into()))].into()),
        ..Secret::default()
    };
    objects.secrets.insert(name.to_owned(), Arc::new(object));
}

/// Adds a Secret whose values tell their place.
pub fn add_secret(objects: &mut Objects, name: &str, keys: &[&str]) {
    let value = |key: &&str| {
        (
            (*key).to_owned(),
            ByteString(format!("secret of {name}/{key}").into_bytes()),
        )
    };
    let object = Secret {
        data: Some(keys.iter().map(value).collect()),
        ..Secret::default()
    };
    objects.secrets.insert(name.to_owned(), Arc::new(object));
}

/// Adds a ConfigMap whose values tell their place.
pub fn add_config_map(objects: &mut Objects, name: &str, keys: &[&str]) {
    let value = |key: &&str| ((*key).to_owned(), format!("{name}/{key}"));
    let object = ConfigMap {
        data: Some(keys.iter().map(value).collect()),
        ..ConfigMap::default()
    };
    objects.config_maps.insert(name.to_owned(), Arc::new(object));
}

/// A control plane with everything around it.
#[derive(Clone, Debug)]
pub struct World {
    pub control_plane: HostedControlPlane,
    pub release: Release,
    pub management: Management,
    pub objects: Objects,
    pub infrastructure: Infrastructure,
}

impl World {
    /// The usual world around a control plane that is changed in something.
    pub fn new(change: &Value, release: &Release) -> Self {
        let control_plane = control_plane(change);
        let management = management();
        let infrastructure = live_infrastructure(&control_plane, &management);
        Self {
            control_plane,
            release: release.clone(),
            management,
            objects: objects(),
            infrastructure,
        }
    }

    /// The same on the newest release.
    pub fn with(change: &Value) -> Self {
        Self::new(change, release("1.36"))
    }

    /// The usual world with annotations on the control plane.
    pub fn annotated(annotations: &[(&str, &str)]) -> Self {
        let annotations: BTreeMap<&str, &str> = annotations.iter().copied().collect();
        Self::with(&json!({"metadata": {"annotations": annotations}}))
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
            newest_revision: RENDER_REVISION,
        }
    }

    /// What a component is rendered to when nothing is waited for any more.
    pub fn rendered(&self, name: &str) -> Rendered {
        match decide(component(name), &self.inputs(), &self.settled()) {
            Decision::Apply(rendered) => *rendered,
            other => panic!("{name}: {other:?}"),
        }
    }

    /// Everything that is rendered when nothing is waited for any more, by component.
    pub fn all_rendered(&self) -> Vec<(&'static str, Rendered)> {
        let observed = self.settled();
        let decided = all().map(|component| (component.name, decide(component, &self.inputs(), &observed)));
        let rendered = decided.filter_map(|(name, decision)| match decision {
            Decision::Apply(rendered) => Some((name, *rendered)),
            Decision::Absent(_) => None,
            Decision::Waiting(what) => panic!("{name} waits: {what:?}"),
        });
        rendered.collect()
    }

    /// A world in which every component has reached its version.
    pub fn settled(&self) -> Observed {
        let reports = all().map(|component| {
            (
                component.name.to_owned(),
                settled_report(self.inputs().desired_version()),
            )
        });
        Observed {
            reports: reports.collect(),
            workloads: BTreeMap::new(),
        }
    }

    /// The report on a component for a decision.
    pub fn report(&self, component: &Component, decision: &Decision) -> hyperplane_components::ComponentReport {
        report(component, &self.inputs(), decision, None, None, None)
    }
}

/// Everything that is warned about, in one text.
pub fn said(world: &World) -> String {
    let sentences: Vec<String> = warnings(&world.inputs())
        .into_iter()
        .map(|warning| warning.sentence)
        .collect();
    sentences.join("; ")
}

/// A component by name.
pub fn component(name: &str) -> &'static Component {
    all()
        .find(|component| component.name == name)
        .expect("it is in the catalogue")
}

/// The value of a flag in a container; empty where the flag stands without one.
pub fn flag(workload: &Workload, container: &str, flag: &str) -> Option<String> {
    let start = format!("--{flag}");
    let container = workload.containers().find(|one| one.name == container)?;
    let found = container.args.iter().flatten().find_map(|argument| {
        let rest = argument.strip_prefix(&start)?;
        rest.strip_prefix('=').or_else(|| rest.is_empty().then_some(""))
    });
    found.map(str::to_owned)
}

/// The text of a key of a rendered ConfigMap.
pub fn rendered_text<'a>(rendered: &'a Rendered, map: &str, key: &str) -> &'a str {
    let found = rendered.manifests.iter().find_map(|manifest| match manifest {
        Manifest::ConfigMap(object) if object.metadata.name.as_deref() == Some(map) => object.data.as_ref()?.get(key),
        _ => None,
    });
    found.unwrap_or_else(|| panic!("there is no {key} in ConfigMap {map}"))
}

/// All components of both lists.
pub fn all() -> impl Iterator<Item = &'static Component> {
    catalogue().iter().chain(manager_catalogue())
}

/// A report that says that all is well.
pub fn settled_report(
    version: &str,
) -> hyperplane_api::hypershift::control_plane_component::ControlPlaneComponentStatus {
    let condition = |kind: &str| {
        json!({
            "type": kind, "status": "True", "reason": "AsExpected", "message": "", "lastTransitionTime": "2026-01-01T00:00:00Z",
        })
    };
    let status = json!({"conditions": [condition("Available"), condition("RolloutComplete")], "version": version});
    hyperplane_objects::read(&status).expect("it is a status")
}

/// The published Services as a management cluster completes them: with addresses and ports.
pub fn live_services(control_plane: &HostedControlPlane, management: &Management) -> Vec<Service> {
    let mut services = published_services(control_plane, management);
    for (number, service) in services.iter_mut().enumerate() {
        let number = i32::try_from(number).expect("there are few");
        let spec = service.spec.as_mut().expect("it has a spec");
        match spec.type_.as_deref() {
            Some("LoadBalancer") => {
                let balancer = service
                    .status
                    .get_or_insert_default()
                    .load_balancer
                    .get_or_insert_default();
                balancer.ingress = Some(vec![LoadBalancerIngress {
                    ip: Some(format!("192.0.2.{}", number + 1)),
                    ..LoadBalancerIngress::default()
                }]);
            }
            Some("NodePort") => {
                for port in spec.ports.iter_mut().flatten() {
                    port.node_port.get_or_insert(30000 + number);
                }
            }
            _ => {}
        }
    }
    services
}

/// Where a control plane is reached once its Services are complete.
pub fn live_infrastructure(control_plane: &HostedControlPlane, management: &Management) -> Infrastructure {
    let services = live_services(control_plane, management);
    observe(control_plane, management, &services.iter().collect::<Vec<_>>())
}
