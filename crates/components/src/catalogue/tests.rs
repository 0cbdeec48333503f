//! The catalogue as a whole, and what the choices of a spec change in its components.

use std::{collections::BTreeSet, fs, path::Path, sync::Arc};

use k8s_openapi::api::core::v1::{ConfigMap, Container};
use serde_json::{Value, json};

use super::{catalogue, hosted_service_accounts, manager_catalogue};
use crate::{
    assets,
    component::{Component, HostedServiceAccount, Sidecar, WorkloadKind},
    decide::{Decision, decide},
    dependencies, images,
    manifest::{Manifest, Workload},
    recovery, sidecars,
    support::{World, add_secret, all, choices, component, extended_release, flag, published, release, rendered_text},
};

#[test]
fn every_asset_is_in_the_catalogue_and_can_be_read() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/assets");
    let mut on_disk = BTreeSet::new();
    for part in fs::read_dir(&folder).expect("the folder can be read") {
        let part = part.expect("the folder can be read");
        for file in fs::read_dir(part.path()).expect("the folder can be read") {
            let file = file.expect("the folder can be read").file_name();
            on_disk.insert(format!(
                "{}/{}",
                part.file_name().to_string_lossy(),
                file.to_string_lossy()
            ));
        }
    }
    let every = || all().chain([&recovery::COMPONENT]);
    let listed = every().flat_map(|component| component.assets);
    let listed: BTreeSet<String> = listed.map(|asset| asset.file.to_owned()).collect();
    assert_eq!(listed, on_disk);
    for component in every() {
        let workload = assets::workload(component);
        assert_eq!(workload.kind(), component.kind, "{}", component.name);
        assert_eq!(workload.meta().name.as_deref(), Some(component.name));
        assert_eq!(
            component.assets.len(),
            assets::manifests(component).count() + 1,
            "{}",
            component.name
        );
    }
}

/// The reference is one value to the server, which completes it: without its version it would differ from what is live
/// for ever, and be written again by every process that starts.
#[test]
fn references_to_fields_are_complete() {
    let worlds = choices::every_world();
    // Containers that are added by code are in what is rendered only.
    for (name, rendered) in worlds.iter().flat_map(World::all_rendered) {
        let containers = rendered.workload.containers();
        let variables = containers.flat_map(|container| container.env.iter().flatten());
        let references = variables.filter_map(|variable| variable.value_from.as_ref()?.field_ref.as_ref());
        for reference in references {
            assert_eq!(reference.api_version.as_deref(), Some("v1"), "{name}");
        }
    }
}

#[test]
fn names_are_unique_and_dependencies_come_first() {
    let names: Vec<&str> = catalogue().iter().map(|component| component.name).collect();
    let unique: BTreeSet<&str> = all().map(|component| component.name).collect();
    assert_eq!(unique.len(), all().count());
    for (index, component) in catalogue().iter().enumerate() {
        for dependency in component.dependencies {
            assert!(
                names[..index].contains(dependency),
                "{} before {dependency}",
                component.name
            );
        }
    }
    // What the manager runs comes before and goes after everything else, and so waits for nothing.
    for component in manager_catalogue() {
        assert!(component.traits.precedes_api_server && component.dependencies.is_empty());
    }
}

#[test]
fn dependencies_are_those_of_the_reference() {
    let world = World::new(&json!({}), &extended_release());
    for (name, expected) in [
        ("etcd", &[][..]),
        ("kube-apiserver", &["etcd"]),
        ("kube-controller-manager", &["kube-apiserver"]),
        ("kube-scheduler", &["kube-apiserver"]),
        ("openshift-apiserver", &["kube-apiserver"]),
        ("konnectivity-agent", &["openshift-apiserver", "kube-apiserver"]),
        ("ignition-server", &[]),
        ("router", &[]),
        ("machine-approver", &["kube-apiserver"]),
        ("cluster-autoscaler", &["kube-apiserver"]),
        ("cluster-api", &[]),
        ("capi-provider", &[]),
        ("control-plane-operator", &[]),
    ] {
        let found = dependencies::of(component(name), &world.inputs());
        assert_eq!(found.wanted, expected, "{name}");
        assert!(found.dropped.is_empty(), "{name}");
    }
}

#[test]
fn choices_say_which_components_a_control_plane_has() {
    let plain = [
        "etcd",
        "kube-apiserver",
        "kube-controller-manager",
        "kube-scheduler",
        "cluster-autoscaler",
        "machine-approver",
        "ignition-server",
        "router",
    ];
    let plus = |names: &[&'static str]| -> BTreeSet<&'static str> { plain.iter().chain(names).copied().collect() };
    let minus = |names: &[&'static str]| -> BTreeSet<&'static str> {
        plain.into_iter().filter(|name| !names.contains(name)).collect()
    };
    let operators = [
        "control-plane-operator",
        "control-plane-pki-operator",
        "hosted-cluster-config-operator",
    ];
    for (choice, expected) in [
        ("single", plus(&[])),
        ("kubevirt", plus(&[])),
        ("own etcd", minus(&["etcd"])),
        ("node ports", minus(&["router"])),
        ("dedicated operators", plus(&operators)),
        ("no machines", minus(&["cluster-autoscaler", "machine-approver"])),
        ("no ignition", minus(&["ignition-server"])),
    ] {
        let change = choices::choices().into_iter().find(|(name, _)| *name == choice);
        let world = choices::chosen(&[change.expect("it is a choice")], release("1.36"));
        let present = all().filter(|component| images::exists(component, &world.inputs()));
        let found: BTreeSet<&str> = present.map(|component| component.name).collect();
        assert_eq!(found, expected, "{choice}");
    }
}

#[test]
fn components_that_act_in_the_hosted_cluster_can() {
    let accounts: BTreeSet<&str> = hosted_service_accounts().map(|(name, _)| name).collect();
    for component in all() {
        let workload = assets::workload(component);
        let volumes = workload.pod().and_then(|pod| pod.volumes.as_ref());
        let mut kubeconfigs = volumes
            .into_iter()
            .flatten()
            .filter(|volume| volume.name == "kubeconfig");
        let secret = kubeconfigs
            .next()
            .and_then(|volume| volume.secret.as_ref()?.secret_name.clone());
        let is_probed = component
            .sidecars
            .iter()
            .any(|one| matches!(one, Sidecar::AvailabilityProber(_)));
        assert!(!is_probed || secret.is_some(), "{}", component.name);
        let has_own = secret.is_some_and(|secret| secret.starts_with(component.name) && secret.contains("account"));
        assert_eq!(accounts.contains(component.name), has_own, "{}", component.name);
    }
}

fn published_by(strategy: &str) -> Value {
    let mut strategy = json!({"type": strategy});
    if strategy["type"] == "NodePort" {
        strategy["nodePort"] = json!({"address": "203.0.113.7"});
    }
    json!({"spec": {"services": [published("APIServer", &strategy)]}})
}

#[test]
fn arguments_of_the_api_server_follow_the_spec() {
    let configuration = |value: Value| json!({"spec": {"configuration": value}});
    for (change, argument, expected) in [
        (
            json!({}),
            "service-account-issuer",
            Some("https://kubernetes.default.svc"),
        ),
        (
            json!({"spec": {"issuerURL": "https://issuer.example.com/"}}),
            "service-account-jwks-uri",
            Some("https://issuer.example.com/openid/v1/jwks"),
        ),
        (json!({}), "service-cluster-ip-range", Some("172.31.0.0/16")),
        (json!({}), "advertise-address", Some("172.20.0.1")),
        (
            json!({"spec": {"networking": {"serviceNetwork": [{"cidr": "fd02::/112"}]}}}),
            "advertise-address",
            Some("fd00::1"),
        ),
        (json!({}), "shutdown-delay-duration", Some("70s")),
        (published_by("NodePort"), "shutdown-delay-duration", Some("70s")),
        (published_by("Route"), "shutdown-delay-duration", Some("15s")),
        (json!({}), "goaway-chance", Some("0.001")),
        (
            json!({"spec": {"controllerAvailabilityPolicy": "SingleReplica"}}),
            "goaway-chance",
            None,
        ),
        (json!({}), "authentication-config", None),
        (json!({}), "encryption-provider-config", None),
        (
            configuration(json!({"network": {"serviceNodePortRange": "30000-31000"}})),
            "service-node-port-range",
            Some("30000-31000"),
        ),
        (
            json!({"metadata": {"annotations": {"hypershift.openshift.io/kube-apiserver-goaway-chance": "0.5"}}}),
            "goaway-chance",
            Some("0.001"),
        ),
    ] {
        assert_argument(&change, "kube-apiserver", argument, expected);
    }
}

#[test]
fn arguments_of_controllers_follow_the_spec() {
    let manager = "kube-controller-manager";
    for (change, name, argument, expected) in [
        (json!({}), manager, "allocate-node-cidrs", Some("false")),
        (json!({}), manager, "cluster-cidr", None),
        (
            json!({"spec": {"networking": {"allocateNodeCIDRs": "Enabled"}}}),
            manager,
            "cluster-cidr",
            Some("10.132.0.0/14"),
        ),
        (
            json!({"spec": {"networking": {"allocateNodeCIDRs": "Enabled"}}}),
            manager,
            "node-cidr-mask-size",
            Some("23"),
        ),
        (
            json!({}),
            "cluster-autoscaler",
            "expander",
            Some("priority,least-waste"),
        ),
        (
            json!({"spec": {"autoscaling": {"scaling": "ScaleUpOnly"}}}),
            "cluster-autoscaler",
            "scale-down-enabled",
            Some("false"),
        ),
    ] {
        assert_argument(&change, name, argument, expected);
    }
}

fn assert_argument(change: &Value, name: &str, argument: &str, expected: Option<&str>) {
    let rendered = World::with(change).rendered(name);
    let found = flag(&rendered.workload, name, argument);
    assert_eq!(found.as_deref(), expected, "{change} {argument}");
}

#[test]
fn files_of_choices_are_mounted_where_flags_say() {
    for (choice, argument, path) in [
        (
            "identity provider",
            "authentication-config",
            "/etc/kubernetes/authentication",
        ),
        ("encryption", "encryption-provider-config", "/etc/kubernetes/encryption"),
        ("webhook", "audit-webhook-config-file", "/etc/kubernetes/audit-webhook"),
        (
            "certificates",
            "tls-sni-cert-key",
            "/etc/kubernetes/named-certificates/0",
        ),
    ] {
        let change = choices::choices().into_iter().find(|(name, _)| *name == choice);
        let world = choices::chosen(&[change.expect("it is a choice")], release("1.36"));
        let rendered = world.rendered("kube-apiserver");
        let value = flag(&rendered.workload, "kube-apiserver", argument).unwrap_or_default();
        assert!(value.starts_with(path), "{choice}: {value}");
        let mut containers = rendered.workload.containers();
        let container = containers
            .find(|one| one.name == "kube-apiserver")
            .expect("it is there");
        let mut mounts = container.volume_mounts.iter().flatten();
        assert!(mounts.any(|mount| mount.mount_path == path), "{choice}");
    }
}

#[test]
fn etcd_has_one_member_or_three() {
    for (policy, members, is_tidied) in [("SingleReplica", 1, false), ("HighlyAvailable", 3, true)] {
        let world = World::with(&json!({"spec": {"controllerAvailabilityPolicy": policy}}));
        let workload = world.rendered("etcd").workload;
        let text = flag(&workload, "reset-member", "replicas");
        assert_eq!(text, Some(format!("{members}")));
        let endpoints = flag(&workload, "etcd-defrag", "endpoints");
        let count = endpoints.as_ref().map(|endpoints| endpoints.split(',').count());
        assert_eq!(count, is_tidied.then_some(3));
        let Workload::StatefulSet(set) = workload else {
            panic!("it holds data")
        };
        assert_eq!(set.spec.as_ref().and_then(|spec| spec.replicas), Some(members));
    }
}

#[test]
fn etcd_waits_rather_than_lose_data() {
    for (change, expected) in [
        (
            json!({"storage": {"persistentVolume": {"size": "9E"}}}),
            "is not an amount",
        ),
        (
            json!({"storage": {"restoreSnapshotURL": ["https://example.com/a"]}}),
            "restoreSnapshotURL",
        ),
    ] {
        let world = World::with(&json!({"spec": {"etcd": {"managed": change}}}));
        let waits = (component("etcd").waits)(&world.inputs()).join("; ");
        assert!(waits.contains(expected), "{waits}");
    }
    let nowhere = World::with(&json!({"spec": {"etcd": {"managementType": "Unmanaged"}}}));
    let waits = (component("kube-apiserver").waits)(&nowhere.inputs()).join("; ");
    assert!(waits.contains("say where etcd is found"), "{waits}");
}

#[test]
fn etcd_begins_once() {
    let mut world = World::with(&json!({}));
    let state = |world: &World| {
        let rendered = world.rendered("etcd");
        let pods = rendered.workload.template().and_then(|pods| pods.metadata.clone());
        let said = rendered_text(&rendered, "etcd-state", "initial-cluster-state").to_owned();
        (said, pods)
    };
    let (before, pods) = state(&world);
    assert_eq!(before, "new");
    let condition = |status: &str, reason: &str| {
        json!([{"type": "EtcdAvailable", "status": status, "reason": reason, "message": "",
            "lastTransitionTime": "2026-01-01T00:00:00Z"}])
    };
    // Every control plane says that it is initialized with its first report, before etcd has a member.
    for status in [
        json!({"initialized": true}),
        json!({"initialized": true, "conditions": condition("False", "EtcdWaitingForQuorum")}),
    ] {
        let mut world = world.clone();
        world.control_plane.status = hyperplane_objects::read(&status).expect("it is a status");
        assert_eq!(state(&world), ("new".to_owned(), pods.clone()), "{status}");
    }
    for status in [
        json!({"initialization": {"controlPlaneInitialized": true}}),
        json!({"conditions": condition("True", "QuorumAvailable")}),
    ] {
        let mut world = world.clone();
        world.control_plane.status = hyperplane_objects::read(&status).expect("it is a status");
        assert_eq!(
            state(&world),
            ("existing".to_owned(), pods.clone()),
            "nothing restarts for it"
        );
    }
    // A quorum that is lost does not let another cluster begin.
    let said = ConfigMap {
        data: Some([("initial-cluster-state".to_owned(), "existing".to_owned())].into()),
        ..ConfigMap::default()
    };
    world
        .objects
        .config_maps
        .insert("etcd-state".to_owned(), Arc::new(said));
    assert_eq!(state(&world).0, "existing");
}

#[test]
fn an_api_server_that_is_alone_goes_through_its_own_tunnel_while_it_starts() {
    for (policy, expected) in [("SingleReplica", Some(true)), ("HighlyAvailable", None)] {
        let world = World::with(&json!({"spec": {"controllerAvailabilityPolicy": policy}}));
        let rendered = world.rendered("kube-apiserver");
        let mut services = rendered.manifests.iter().filter_map(|manifest| match manifest {
            Manifest::Service(service) => service.spec.as_ref(),
            _ => None,
        });
        let local = services.next().expect("there is the Service of the tunnel");
        assert_eq!(local.publish_not_ready_addresses, expected, "{policy}");
    }
}

/// Ports that a container says it listens on, by its flags and by its list of ports.
fn ports(container: &Container) -> BTreeSet<u16> {
    let listed = container.ports.iter().flatten();
    let listed = listed.filter_map(|port| u16::try_from(port.container_port).ok());
    let told = container.args.iter().flatten().filter_map(|argument| {
        let (flag, value) = argument.split_once('=')?;
        let is_elsewhere = ["--konnectivity-port", "--proxy-server-port"].contains(&flag);
        let is_port = ["listen", "health", "port", "addr"]
            .iter()
            .any(|word| flag.contains(word));
        let port = value.rsplit(':').next()?.parse().ok()?;
        (is_port && !is_elsewhere).then_some(port)
    });
    listed.chain(told).collect()
}

/// The port that two containers of a pod want, if there is one.
fn contended(workload: &Workload) -> Option<u16> {
    let mut taken = BTreeSet::new();
    let mut all = workload.containers().flat_map(ports);
    all.find(|port| !taken.insert(*port))
}

#[test]
fn no_two_containers_of_a_pod_want_the_same_port() {
    let mut seen = 0;
    for platform in ["None", "KubeVirt", "Agent"] {
        let change = json!({
            "metadata": {"annotations": {"hyperplane.dev/tenant-operators": "dedicated"}},
            "spec": {"platform": {"type": platform}},
        });
        for (name, rendered) in World::new(&change, &extended_release()).all_rendered() {
            assert_eq!(contended(&rendered.workload), None, "{platform} {name}");
            seen += rendered.workload.containers().flat_map(ports).count();
        }
    }
    assert!(seen > 60, "{seen}");
}

#[test]
fn the_router_knows_every_route() {
    let rendered = World::with(&json!({})).rendered("router");
    let file: Value = serde_json::from_str(rendered_text(&rendered, "router", "router.yaml")).expect("it is a file");
    let expected = json!([
        {"backend": "konnectivity-server.clusters-one.svc:8091", "hostname": "konnectivity-server-clusters-one.apps.example.com"},
        {"backend": "ignition-server.clusters-one.svc:443", "hostname": "ignition-server-clusters-one.apps.example.com"},
    ]);
    assert_eq!(file["routes"], expected);
}

#[test]
fn sidecars_are_injected_as_asked_for() {
    let base = component("kubevirt-cloud-controller-manager");
    let one = Component {
        sidecars: &[
            Sidecar::TokenMinter {
                audience: "cloud",
                volume: "cloud-config",
            },
            Sidecar::KonnectivitySocks5Proxy,
            Sidecar::KonnectivityHttpsProxy,
        ],
        hosted_service_account: Some(HostedServiceAccount {
            namespace: "kube-system",
            name: "cloud",
        }),
        ..Component::new(base.name, WorkloadKind::Deployment, base.assets)
    };
    for (version, is_native) in [("v1.28.0", false), ("v1.29.0", true)] {
        let mut world = World::with(&json!({}));
        let scheme = hyperplane_planner::version::Scheme::Kubernetes;
        world.management.kubernetes =
            hyperplane_planner::version::Version::parse(scheme, version).expect("it is a version");
        let mut workload = assets::workload(&one).into_owned();
        sidecars::inject(&one, &world.inputs(), &mut workload);
        let minter = workload.containers().find(|container| container.name == "token-minter");
        let policy = minter.and_then(|container| container.restart_policy.as_deref());
        assert_eq!(policy, is_native.then_some("Always"), "{version}");
        assert_eq!(
            flag(&workload, "token-minter", "token-audience").as_deref(),
            Some("cloud")
        );
        let volumes = workload
            .pod()
            .and_then(|pod| pod.volumes.as_ref())
            .expect("it has volumes");
        let shared = volumes
            .iter()
            .filter(|volume| volume.name == "konnectivity-proxy-client");
        assert_eq!(shared.count(), 1);
        assert_eq!(contended(&workload), None);
    }
}

#[test]
fn every_server_offers_what_the_profile_says() {
    let profile =
        |kind: &str| json!({"spec": {"configuration": {"apiServer": {"tlsSecurityProfile": {"type": kind}}}}});
    for (kind, oldest, ciphers, secure) in [
        ("Intermediate", "VersionTLS12", 6, 6),
        // Konnectivity does not start with a cipher that Go calls insecure.
        ("Old", "VersionTLS10", 18, 10),
        ("Modern", "VersionTLS13", 0, 0),
    ] {
        let world = World::new(&profile(kind), &extended_release());
        let api_server = world.rendered("kube-apiserver").workload;
        let count = |container, name| flag(&api_server, container, name).map_or(0, |list| list.split(',').count());
        assert_eq!(count("kube-apiserver", "tls-cipher-suites"), ciphers, "{kind}");
        assert_eq!(count("konnectivity-server", "cipher-suites"), secure, "{kind}");
        let rendered = world.rendered("openshift-apiserver");
        let text = rendered_text(&rendered, "openshift-apiserver", "config.yaml");
        let configuration: Value = serde_json::from_str(text).expect("it is JSON");
        let serving = &configuration["servingInfo"];
        assert_eq!(serving["minTLSVersion"], oldest, "{kind}");
        assert_eq!(
            serving["cipherSuites"].as_array().map_or(0, Vec::len),
            ciphers,
            "{kind}"
        );
        assert_eq!(serving["bindAddress"], "0.0.0.0:8443");
    }
}

#[test]
fn a_certificate_without_its_key_is_waited_for() {
    let certificate = json!({"names": ["api.example.com"], "servingCertificate": {"name": "theirs"}});
    let configuration = json!({"apiServer": {"servingCerts": {"namedCertificates": [certificate]}}});
    let mut world = World::with(&json!({"spec": {"configuration": configuration}}));
    for (keys, expected) in [
        (&["tls.crt", "tls.key"][..], None),
        (&["tls.crt"], Some("Secret theirs has no key tls.key")),
        (&["cert.pem", "tls.key"], Some("Secret theirs has no key tls.crt")),
    ] {
        add_secret(&mut world.objects, "theirs", keys);
        let waits = match decide(component("kube-apiserver"), &world.inputs(), &world.settled()) {
            Decision::Waiting(waits) => waits,
            _ => Vec::new(),
        };
        assert_eq!(waits, Vec::from_iter(expected), "{keys:?}");
    }
}

/// Whether a host is reached directly, as programs in Go read the variable.
fn is_direct(host: &str, listed: &str) -> bool {
    listed.split(',').any(|one| match one.strip_prefix('.') {
        Some(_) => host.ends_with(one),
        None => host == one || host.ends_with(&format!(".{one}")),
    })
}

/// The hosted API server and etcd are in the management cluster, which the proxy leads away from.
#[test]
fn a_proxy_into_the_hosted_cluster_is_not_asked_for_what_is_beside_it() {
    let worlds = choices::every_world();
    let mut looked_at = 0;
    for (name, rendered) in worlds.iter().flat_map(World::all_rendered) {
        for container in rendered.workload.containers() {
            let variable = |name: &str| {
                let mut all = container.env.iter().flatten();
                all.find(|one| one.name == name).and_then(|one| one.value.as_deref())
            };
            if variable("HTTPS_PROXY").is_none() {
                continue;
            }
            looked_at += 1;
            let listed = variable("NO_PROXY").unwrap_or_default();
            let volumes = rendered.workload.pod().and_then(|pod| pod.volumes.as_ref());
            let kubeconfigs = volumes.into_iter().flatten().filter_map(|volume| {
                let secret = volume.secret.as_ref()?.secret_name.as_deref()?;
                secret
                    .contains("kubeconfig")
                    .then_some("kube-apiserver.clusters-one.svc")
            });
            let text = serde_json::to_string(&rendered.manifests).expect("it can be written");
            let own_etcd = text
                .contains("https://etcd.example.com:2379")
                .then_some("etcd.example.com");
            let etcd = own_etcd.or(text.contains("https://etcd-client:2379").then_some("etcd-client"));
            let hosts: Vec<&str> = kubeconfigs.chain(etcd).chain(["127.0.0.1", "localhost"]).collect();
            assert!(hosts.len() >= 3, "{name}: {hosts:?}");
            for host in hosts {
                assert!(is_direct(host, listed), "{name}: {host} is not in {listed}");
            }
        }
    }
    assert!(looked_at > 0);
}
