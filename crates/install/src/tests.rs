//! What holds for every choice of options.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::*;

/// Options that differ from the usual in one way each, and in all at once.
fn every() -> Vec<Options> {
    let usual = Options::default;
    vec![
        usual(),
        Options {
            namespace: "elsewhere".to_owned(),
            ..usual()
        },
        Options {
            machines: MachineManager::Separate,
            ..usual()
        },
        Options {
            machines: MachineManager::ClusterApi,
            kinds: Kinds::Own,
            ..usual()
        },
        Options {
            namespace: "east".to_owned(),
            scope: Some("east".to_owned()),
            machines: MachineManager::Separate,
            tenant_operators: TenantOperators::Dedicated,
            monitoring: true,
            monitoring_namespaces: vec!["metrics".to_owned()],
            management_networks: vec!["10.0.0.0/8".to_owned()],
            management_platform: Some("AWS".to_owned()),
            ingress_domain: Some("apps.example.com".to_owned()),
            boot_image: Some("registry.example.com/os:1".to_owned()),
            extra_arguments: vec!["--no-lease".to_owned()],
            ..usual()
        },
    ]
}

fn of_kind<'a>(all: &'a [Value], kind: &'a str) -> impl Iterator<Item = &'a Value> {
    all.iter().filter(move |object| object["kind"] == kind)
}

fn name(object: &Value) -> &str {
    object["metadata"]["name"].as_str().unwrap()
}

#[test]
fn what_is_referred_to_comes_before() {
    for options in every() {
        let all = manifests(&options);
        let place = |kind: &str, wanted: &str| {
            let found = all.iter().position(|one| one["kind"] == kind && name(one) == wanted);
            found.unwrap_or_else(|| panic!("no {kind} {wanted}"))
        };
        for (index, object) in all.iter().enumerate() {
            if let Some(namespace) = object["metadata"]["namespace"].as_str() {
                assert!(place("Namespace", namespace) < index, "{object}");
            }
            if let Some(role) = object["roleRef"]["name"].as_str() {
                assert!(
                    place(object["roleRef"]["kind"].as_str().unwrap(), role) < index,
                    "{object}"
                );
            }
            if object["kind"] == "Deployment" {
                let pod = &object["spec"]["template"]["spec"];
                for (kind, field) in [
                    ("ServiceAccount", "serviceAccountName"),
                    ("PriorityClass", "priorityClassName"),
                ] {
                    assert!(place(kind, pod[field].as_str().unwrap()) < index, "{object}");
                }
                assert_eq!(of_kind(&all[index..], "CustomResourceDefinition").count(), 0);
            }
        }
    }
}

#[test]
fn nothing_is_written_twice() {
    for options in every() {
        let all = manifests(&options);
        let keys: BTreeSet<String> = all
            .iter()
            .map(|object| format!("{} {}", object["kind"], object["metadata"]["name"]))
            .collect();
        assert_eq!(keys.len(), all.len());
    }
}

#[test]
fn installations_in_two_namespaces_have_rights_of_their_own() {
    let [one, other] = ["east", "west"].map(|namespace| {
        manifests(&Options {
            namespace: namespace.to_owned(),
            ..Options::default()
        })
    });
    let bindings = |all: &[Value]| -> BTreeSet<String> {
        of_kind(all, "ClusterRoleBinding")
            .map(|one| name(one).to_owned())
            .collect()
    };
    assert!(bindings(&one).is_disjoint(&bindings(&other)));
    assert_eq!(
        bindings(&manifests(&Options::default())),
        BTreeSet::from(["hyperplane-operator".to_owned()])
    );
}

#[test]
fn pods_are_restricted_and_carry_their_arguments() {
    for options in every() {
        let all = manifests(&options);
        let deployments: Vec<&Value> = of_kind(&all, "Deployment").collect();
        assert_eq!(deployments.len(), Program::of(&options).len());
        for deployment in deployments {
            let pod = &deployment["spec"]["template"]["spec"];
            assert_eq!(pod["securityContext"]["runAsNonRoot"], true);
            let container = &pod["containers"][0];
            let context = &container["securityContext"];
            assert_eq!(context["readOnlyRootFilesystem"], true);
            assert_eq!(context["allowPrivilegeEscalation"], false);
            assert_eq!(context["capabilities"]["drop"], json!(["ALL"]));
            assert_eq!(context["seccompProfile"]["type"], "RuntimeDefault");
            let namespace = format!("--namespace={}", options.namespace);
            assert!(container["args"].as_array().unwrap().contains(&json!(namespace)));
        }
    }
}

#[test]
fn the_operator_is_told_everything_and_sets_up_nothing() {
    let options = every().pop().unwrap();
    let all = manifests(&options);
    let operator = of_kind(&all, "Deployment").find(|one| name(one) == "operator").unwrap();
    let expected = json!([
        "operator",
        "--listen=[::]:8080",
        "--namespace=east",
        "--scope=east",
        format!("--image={DEFAULT_IMAGE}"),
        "--machines=separate",
        "--tenant-operators=dedicated",
        "--ingress-domain=apps.example.com",
        "--management-platform=AWS",
        "--boot-image=registry.example.com/os:1",
        "--management-network=10.0.0.0/8",
        "--monitoring-namespace=metrics",
        "--no-setup",
        "--no-lease",
    ]);
    assert_eq!(operator["spec"]["template"]["spec"]["containers"][0]["args"], expected);
}

#[test]
fn kinds_of_others_are_left_out_on_request() {
    let count = |kinds| {
        definitions(&Options {
            kinds,
            ..Options::default()
        })
        .len()
    };
    assert_eq!(count(Kinds::All), count(Kinds::WithoutProviders) + 6);
    assert_eq!(count(Kinds::WithoutProviders), count(Kinds::Own) + 5);
    assert_eq!(count(Kinds::Nothing), 0);
    let label = "app.kubernetes.io/managed-by";
    let all = definitions(&Options::default());
    assert!(all.iter().all(|one| one["metadata"]["labels"][label] == "hyperplane"));
}

/// Whether a role grants a verb on a resource.
fn grants(role: &Value, group: &str, resource: &str, verb: &str) -> bool {
    let has = |list: &Value, word: &str| list.as_array().unwrap().contains(&json!(word));
    let mut rules = role["rules"].as_array().unwrap().iter();
    rules.any(|rule| has(&rule["apiGroups"], group) && has(&rule["resources"], resource) && has(&rule["verbs"], verb))
}

#[test]
fn the_manager_has_no_rights_for_machines_that_others_make() {
    let role = |machines, wanted: &str| {
        let all = manifests(&Options {
            machines,
            ..Options::default()
        });
        of_kind(&all, "ClusterRole").find(|one| name(one) == wanted).cloned()
    };
    let group = "infrastructure.cluster.x-k8s.io";
    let makes = |role: &Value| grants(role, group, "kubevirtmachines", "create");
    assert!(makes(&role(MachineManager::Hyperplane, "hyperplane-operator").unwrap()));
    for machines in [MachineManager::Separate, MachineManager::ClusterApi] {
        assert!(!makes(&role(machines, "hyperplane-operator").unwrap()));
    }
    let own = role(MachineManager::Separate, "hyperplane-machine-controller").unwrap();
    assert!(makes(&own));
    assert!(!grants(&own, "", "secrets", "create") && !grants(&own, "", "serviceaccounts", "impersonate"));
    assert!(role(MachineManager::Hyperplane, "hyperplane-machine-controller").is_none());
}

#[test]
fn people_have_what_their_work_needs() {
    let all = personas(&Options::default());
    let role = |wanted: &str| all.iter().find(|one| name(one) == wanted).unwrap();
    let hypershift = "hypershift.openshift.io";
    let cases = [
        (
            "hyperplane-service-provider",
            hypershift,
            "hostedcontrolplanes",
            "delete",
            true,
        ),
        (
            "hyperplane-service-provider",
            "hyperplane.dev",
            "distributionreleases",
            "create",
            true,
        ),
        (
            "hyperplane-service-provider",
            "cluster.x-k8s.io",
            "machines",
            "delete",
            false,
        ),
        ("hyperplane-service-provider", "", "pods", "list", true),
        ("hyperplane-service-provider", "", "pods/log", "get", true),
        ("hyperplane-service-provider", "", "events", "list", true),
        ("hyperplane-service-provider", "apps", "deployments", "list", true),
        ("hyperplane-service-provider", "apps", "deployments", "create", false),
        ("hyperplane-service-provider", "", "secrets", "get", false),
        (RELEASE_READER, "hyperplane.dev", "distributionreleases", "list", true),
        (
            RELEASE_READER,
            "hyperplane.dev",
            "distributionreleases",
            "create",
            false,
        ),
        ("hyperplane-consumer", hypershift, "nodepools", "create", true),
        ("hyperplane-consumer", hypershift, "hostedcontrolplanes", "get", false),
        ("hyperplane-consumer", "", "secrets", "get", true),
        ("hyperplane-consumer", "", "secrets", "list", false),
        ("hyperplane-instance-admin", hypershift, "hostedclusters", "get", true),
        (
            "hyperplane-instance-admin",
            hypershift,
            "hostedclusters",
            "patch",
            false,
        ),
        ("hyperplane-instance-admin", "", "secrets", "get", false),
        ("hyperplane-viewer", hypershift, "hostedclusters", "list", true),
        ("hyperplane-viewer", hypershift, "hostedclusters", "delete", false),
    ];
    for (persona, group, resource, verb, expected) in cases {
        assert_eq!(
            grants(role(persona), group, resource, verb),
            expected,
            "{persona}: {verb} {resource}"
        );
    }
    let own = instance_admin("clusters", "one", &[json!({"kind": "User", "name": "ada"})]);
    assert_eq!(own[0]["rules"][0]["resourceNames"][0], "one-admin-kubeconfig");
    assert_eq!(own[1]["subjects"][0]["name"], "ada");
}

#[test]
fn the_versions_that_can_be_hosted_are_told_newest_first() {
    let all = furniture(&Options::default());
    let told = of_kind(&all, "ConfigMap").next().unwrap();
    let told: Value = serde_json::from_str(told["data"]["supported-versions"].as_str().unwrap()).unwrap();
    let told: Vec<&str> = told["versions"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(Value::as_str)
        .collect();
    assert_eq!(told[..2], ["1.36", "1.35"]);
    for release in hyperplane_planner::catalogue::releases() {
        assert!(
            told.contains(&release.version.minor_text().as_str()),
            "{}",
            release.version.as_str()
        );
    }
}

#[test]
fn what_cannot_be_is_refused_with_a_way_out() {
    let usual = Options::default;
    assert_eq!(usual().check(), Ok(()));
    let cases = [
        (
            Options {
                namespace: "Hyper".to_owned(),
                ..usual()
            },
            "a-z",
        ),
        (
            Options {
                scope: Some("-a".to_owned()),
                ..usual()
            },
            "scope",
        ),
        (Options { replicas: 0, ..usual() }, "1 to 5"),
        (
            Options {
                image: " ".to_owned(),
                ..usual()
            },
            "which image",
        ),
        (
            Options {
                management_networks: vec!["10.0.0.1/8".to_owned()],
                ..usual()
            },
            "10.0.0.1/8",
        ),
    ];
    for (options, words) in cases {
        let error = options.check().unwrap_err().to_string();
        assert!(error.contains(words), "{error}");
    }
}
