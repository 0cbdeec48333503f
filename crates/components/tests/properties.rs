//! What holds of everything that is rendered, whichever choices a control plane has made.

use std::collections::{BTreeMap, BTreeSet};

use base64::{Engine as _, engine::general_purpose::STANDARD};
use hyperplane_api::constants::{objects, ours};
use hyperplane_components::{
    Manifest, ObjectName, Rendered, SUBCOMMANDS, Workload, hosted_service_accounts, published_services, subcommands,
};
use hyperplane_kinds::Quantity;
use k8s_openapi::{
    api::core::v1::{Container, PodSpec},
    apimachinery::pkg::apis::meta::v1::ObjectMeta,
};
use proptest::prelude::*;
use serde_json::Value;

use crate::{
    any::worlds,
    support::{
        self, World,
        choices::{OF_USERS, every_world},
    },
};

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn rendering_is_deterministic(world in worlds()) {
        prop_assert_eq!(json(&world), json(&world));
    }

    #[test]
    fn everything_is_labelled_and_owned(world in worlds()) {
        for meta in metas(&world) {
            let name = meta.name.as_deref().unwrap_or_default();
            prop_assert_eq!(meta.namespace.as_deref(), Some("clusters-one"), "{}", name);
            let label = meta.labels.as_ref().and_then(|labels| labels.get(ours::MANAGED_BY.as_str()));
            prop_assert_eq!(label.map(String::as_str), Some(ours::MANAGED_BY_US), "{}", name);
            let owners = meta.owner_references.as_deref().unwrap_or_default();
            let is_owned = matches!(owners, [owner] if owner.kind == "HostedControlPlane" && owner.controller == Some(true));
            prop_assert!(is_owned, "{}: {:?}", name, owners);
        }
    }

    #[test]
    fn no_two_objects_have_one_name(world in worlds()) {
        let mut names: Vec<ObjectName> = Vec::new();
        for (_, rendered) in world.all_rendered() {
            names.extend(rendered.manifests.iter().map(Manifest::object_name));
            names.push(rendered.workload.object_name());
        }
        let unique: BTreeSet<&ObjectName> = names.iter().collect();
        prop_assert_eq!(unique.len(), names.len(), "{:?}", names);
    }

    #[test]
    fn volumes_and_mounts_belong_together(world in worlds()) {
        for (name, rendered) in world.all_rendered() {
            let problems = volume_problems(&rendered.workload);
            prop_assert!(problems.is_empty(), "{}: {:?}", name, problems);
        }
    }

    #[test]
    fn variables_in_arguments_are_set(world in worlds()) {
        for (name, rendered) in world.all_rendered() {
            for container in rendered.workload.containers() {
                let unset = unset_variables(container);
                prop_assert!(unset.is_empty(), "{}: {:?}", name, unset);
            }
        }
    }

    #[test]
    fn what_is_mounted_is_of_the_contract_or_rendered(world in worlds()) {
        let contract = contract();
        let all = world.all_rendered();
        let rendered = rendered_names(&all);
        for (name, one) in &all {
            for source in sources(one.workload.pod().expect("it has pods")) {
                let is_known = contract.contains(&source) || rendered.contains(&source) || OF_USERS.contains(&source.as_str());
                prop_assert!(is_known, "{} mounts {}", name, source);
            }
        }
    }

    #[test]
    fn what_secrets_hold_is_nowhere_but_in_secrets(world in worlds()) {
        let values: Vec<String> = world.objects.secrets.values().flat_map(|secret| {
            let data = secret.data.iter().flatten();
            data.flat_map(|(_, value)| [STANDARD.encode(&value.0), String::from_utf8_lossy(&value.0).into_owned()])
        }).collect();
        for (name, rendered) in world.all_rendered() {
            let open = rendered.manifests.iter().filter(|manifest| !matches!(manifest, Manifest::Secret(_)));
            let mut text: Vec<String> = open.map(text_of).collect();
            text.push(text_of(&rendered.workload));
            text.push(format!("{rendered:?}"));
            for value in &values {
                prop_assert!(!text.iter().any(|text| text.contains(value.as_str())), "{} holds {}", name, value);
            }
        }
    }

    #[test]
    fn amounts_are_as_a_server_writes_them(world in worlds()) {
        for (name, rendered) in world.all_rendered() {
            for amount in amounts(&rendered.workload) {
                let canonical = Quantity::parse(&amount).map(|amount| amount.to_string());
                prop_assert_eq!(canonical.as_deref(), Ok(amount.as_str()), "{}", name);
            }
        }
    }

    #[test]
    fn pods_are_restricted(world in worlds()) {
        for (name, rendered) in world.all_rendered() {
            for container in rendered.workload.containers() {
                let context = container.security_context.clone().unwrap_or_default();
                let dropped = context.capabilities.and_then(|capabilities| capabilities.drop);
                prop_assert_eq!(dropped, Some(vec!["ALL".to_owned()]), "{}", name);
                prop_assert_eq!(context.read_only_root_filesystem, Some(true), "{}", name);
                prop_assert_eq!(context.allow_privilege_escalation, Some(false), "{}", name);
                prop_assert_eq!(context.run_as_non_root, Some(true), "{}", name);
            }
        }
    }
}

#[test]
fn every_subcommand_is_one_of_ours() {
    let mut found = BTreeSet::new();
    for world in every_world() {
        for arguments in subcommands(&world.inputs()) {
            let subcommand = arguments.first().expect("a subcommand stands first").clone();
            assert!(SUBCOMMANDS.contains(&subcommand.as_str()), "{arguments:?}");
            found.insert(subcommand);
        }
    }
    // What no component of this catalogue asks for yet; its rendering has a test of its own.
    let unused: Vec<&&str> = SUBCOMMANDS.iter().filter(|one| !found.contains(**one)).collect();
    assert_eq!(unused, [&"konnectivity-socks5-proxy", &"token-minter"]);
}

#[test]
fn monitors_read_with_what_the_contract_has() {
    let contract = contract();
    for world in every_world() {
        for (_, rendered) in world.all_rendered() {
            for manifest in rendered.manifests.iter().filter(|manifest| manifest.is_monitor()) {
                let value = serde_json::to_value(manifest).expect("an object can be written");
                for endpoint in value["spec"]["endpoints"].as_array().into_iter().flatten() {
                    let tls = &endpoint["tlsConfig"];
                    let named = [
                        &tls["ca"]["configMap"]["name"],
                        &tls["cert"]["secret"]["name"],
                        &tls["keySecret"]["name"],
                    ];
                    for name in named.into_iter().filter_map(Value::as_str) {
                        assert!(contract.contains(name), "{manifest:?} reads {name}");
                    }
                }
            }
        }
    }
}

fn json(world: &World) -> Vec<String> {
    let all = world.all_rendered();
    let mut texts: Vec<String> = published_services(&world.control_plane, &world.management)
        .iter()
        .map(text_of)
        .collect();
    for (_, rendered) in all {
        texts.extend(rendered.manifests.iter().map(text_of));
        texts.push(text_of(&rendered.workload));
    }
    texts
}

fn text_of(object: &impl serde::Serialize) -> String {
    serde_json::to_string(object).expect("an object can be written")
}

fn metas(world: &World) -> Vec<ObjectMeta> {
    let services = published_services(&world.control_plane, &world.management);
    let mut metas: Vec<ObjectMeta> = services.into_iter().map(|service| service.metadata).collect();
    for (_, rendered) in world.all_rendered() {
        metas.extend(rendered.manifests.iter().map(|manifest| manifest.meta().clone()));
        metas.push(rendered.workload.meta().clone());
    }
    metas
}

/// Mounts without a volume, volumes without a mount, and names that stand twice.
fn volume_problems(workload: &Workload) -> Vec<String> {
    let mut problems = Vec::new();
    let mut volumes = BTreeSet::new();
    let own = workload.pod().and_then(|pod| pod.volumes.as_ref());
    let claims = match workload {
        Workload::StatefulSet(set) => set.spec.as_ref().and_then(|spec| spec.volume_claim_templates.clone()),
        _ => None,
    };
    let claims = claims
        .into_iter()
        .flatten()
        .map(|claim| claim.metadata.name.unwrap_or_default());
    let named = own.into_iter().flatten().map(|volume| volume.name.clone());
    for name in named.chain(claims) {
        if !volumes.insert(name.clone()) {
            problems.push(format!("volume {name} is there twice"));
        }
    }
    let mut mounted = BTreeSet::new();
    let mut containers = BTreeSet::new();
    for container in workload.containers() {
        if !containers.insert(container.name.clone()) {
            problems.push(format!("container {} is there twice", container.name));
        }
        let mut paths = BTreeSet::new();
        for mount in container.volume_mounts.iter().flatten() {
            if !paths.insert(mount.mount_path.clone()) {
                problems.push(format!("{} is mounted twice", mount.mount_path));
            }
            mounted.insert(mount.name.clone());
        }
    }
    problems.extend(volumes.symmetric_difference(&mounted).cloned());
    problems
}

fn unset_variables(container: &Container) -> Vec<String> {
    let set: BTreeSet<&str> = container.env.iter().flatten().map(|one| one.name.as_str()).collect();
    let arguments = container.args.iter().flatten();
    let used = arguments.flat_map(|argument| argument.split("$(").skip(1).filter_map(|rest| rest.split_once(')')));
    // Variables of Services are set by the cluster.
    let is_unset = |name: &&str| !set.contains(name) && !name.ends_with("_SERVICE_HOST");
    used.map(|(name, _)| name).filter(is_unset).map(str::to_owned).collect()
}

/// Names of all Secrets and ConfigMaps that somebody else writes into the namespace.
fn contract() -> BTreeSet<String> {
    use objects::{bundles, certificates, copies, kubeconfigs, signers};
    let mut names: BTreeSet<String> = support::objects().secrets.into_keys().collect();
    names.extend(support::objects().config_maps.into_keys());
    let further = [
        bundles::ROOT,
        certificates::METRICS_CLIENT,
        copies::PULL_SECRET,
        kubeconfigs::ADMIN,
        signers::CLUSTER,
    ];
    names.extend(further.map(str::to_owned));
    names.extend(hosted_service_accounts().map(|(name, _)| kubeconfigs::of_service_account(name)));
    names
}

fn rendered_names(all: &[(&str, Rendered)]) -> BTreeSet<String> {
    let manifests = all.iter().flat_map(|(_, rendered)| &rendered.manifests);
    let sources = manifests.filter(|manifest| matches!(manifest, Manifest::ConfigMap(_) | Manifest::Secret(_)));
    sources.filter_map(|manifest| manifest.meta().name.clone()).collect()
}

fn sources(pod: &PodSpec) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    for volume in pod.volumes.iter().flatten() {
        names.extend(volume.secret.as_ref().and_then(|secret| secret.secret_name.clone()));
        names.extend(volume.config_map.as_ref().map(|map| map.name.clone()));
    }
    names
}

fn amounts(workload: &Workload) -> Vec<String> {
    let mut all: Vec<BTreeMap<String, k8s_openapi::apimachinery::pkg::api::resource::Quantity>> = workload
        .containers()
        .filter_map(|container| container.resources.as_ref()?.requests.clone())
        .collect();
    if let Workload::StatefulSet(set) = workload {
        let claims = set.spec.as_ref().and_then(|spec| spec.volume_claim_templates.clone());
        let claims = claims.into_iter().flatten();
        all.extend(claims.filter_map(|claim| claim.spec?.resources?.requests));
    }
    all.into_iter().flatten().map(|(_, amount)| amount.0).collect()
}
