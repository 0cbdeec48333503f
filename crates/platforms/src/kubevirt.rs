//! Virtual machines on a Kubernetes cluster with KubeVirt: the management cluster itself, or another one.

mod machines;

use hyperplane_api::{
    constants::{
        annotations,
        objects::{components, copies, keys},
    },
    hypershift::{
        hosted_cluster::{HostedCluster, HostedClusterSpec},
        hosted_cluster_status::PayloadArchitecture,
        platform::kubevirt::{KubeVirtCredentials, KubeVirtPlatform},
        platform_type::PlatformType,
    },
    infrastructure::{
        NamespacedReference,
        kubevirt_cluster::{KubevirtCluster, KubevirtClusterSpec},
    },
};
use serde_json::Value;

use crate::{
    Facts, Platform, Surroundings,
    copies::{KeyCopy, SecretCopy},
    defaults::{Choices, Chosen},
    machines::{MachineTemplate, PoolFacts},
    problem::{Problem, Rule},
    provider::{self, Infrastructure, InfrastructureObject, Place, Provider, ProviderRules, allow},
};

pub(crate) use self::machines::RULES as POOL_RULES;

/// What follows the name of a cluster in the name of the Secret with the encryption key that is made for it.
pub const ENCRYPTION_KEY_SUFFIX: &str = "-etcd-encryption-key";

const OWN_DOMAIN: Rule = Rule {
    name: "kubevirt-base-domain",
    asks: "with baseDomainPassthrough, dns.baseDomain must be left to the manager",
};
const NO_DOMAIN: Rule = Rule {
    name: "kubevirt-ingress-domain",
    asks: "baseDomainPassthrough needs a management cluster whose ingress domain is known",
};
const CREDENTIALS_COMPLETE: Rule = Rule {
    name: "kubevirt-credentials",
    asks: "credentials need the key of a Secret with a kubeconfig, and a namespace",
};
const JSON_PATCH: Rule = Rule {
    name: "kubevirt-json-patch",
    asks: "the JSON patch for virtual machines must be a list of operations",
};

/// The rules of this platform.
pub(crate) const RULES: &[Rule] = &[OWN_DOMAIN, NO_DOMAIN, CREDENTIALS_COMPLETE, JSON_PATCH];

/// KubeVirt.
#[derive(Debug)]
pub(crate) struct KubeVirt;

impl Platform for KubeVirt {
    fn platform_type(&self) -> PlatformType {
        PlatformType::KubeVirt
    }

    fn infrastructure(&self, facts: &Facts<'_>) -> Infrastructure {
        let is_external = credentials(&facts.cluster.spec).is_some();
        let object = KubevirtCluster {
            metadata: provider::metadata(facts, facts.infra_id),
            spec: KubevirtClusterSpec {
                control_plane_endpoint: facts.endpoint.cloned(),
                infra_cluster_secret_ref: is_external.then(|| NamespacedReference {
                    namespace: Some(facts.namespace.to_owned()),
                    name: copies::KUBEVIRT_CREDENTIALS.to_owned(),
                }),
            },
            status: Some(provider::ready()),
        };
        Infrastructure::Object(InfrastructureObject::KubeVirt(Box::new(object)))
    }

    fn provider(&self) -> Option<Provider> {
        Some(Provider {
            component: components::CLUSTER_API_PROVIDER,
            cpu: "10m",
            memory: "100Mi",
        })
    }

    fn credentials(&self, spec: &HostedClusterSpec) -> Vec<SecretCopy> {
        let secret = credentials(spec).and_then(|credentials| credentials.infra_kube_config_secret.as_ref());
        let copy = secret.map(|secret| SecretCopy {
            field: "spec.platform.kubevirt.credentials.infraKubeConfigSecret".to_owned(),
            source: secret.name.clone(),
            target: copies::KUBEVIRT_CREDENTIALS,
            keys: vec![KeyCopy::renamed(&secret.key, keys::KUBECONFIG)],
        });
        copy.into_iter().collect()
    }

    /// On another cluster the kubeconfig decides what the provider may do.
    fn provider_rules(&self, facts: &Facts<'_>) -> Vec<ProviderRules> {
        if credentials(&facts.cluster.spec).is_some() {
            return Vec::new();
        }
        let rules = vec![
            allow(
                "kubevirt.io",
                &["virtualmachines", "virtualmachineinstances"],
                &["create", "delete", "get", "list", "patch", "update", "watch"],
            ),
            allow(
                "cdi.kubevirt.io",
                &["datavolumes"],
                &["create", "delete", "get", "list", "patch", "update", "watch"],
            ),
            allow("subresources.kubevirt.io", &["virtualmachines/stop"], &["update"]),
        ];
        vec![ProviderRules {
            place: Place::ControlPlane,
            rules,
        }]
    }

    fn obsolete_credentials(&self) -> &'static [&'static str] {
        &[copies::KUBEVIRT_CREDENTIALS]
    }

    fn architectures(&self) -> &'static [PayloadArchitecture] {
        &[PayloadArchitecture::Amd64, PayloadArchitecture::S390x]
    }

    fn machine_template(&self, facts: &PoolFacts<'_>) -> Result<MachineTemplate, Vec<Problem>> {
        machines::template(facts).map(|spec| MachineTemplate::KubeVirt(Box::new(spec)))
    }

    fn validate(&self, cluster: &HostedCluster, surroundings: &Surroundings<'_>) -> Vec<Problem> {
        [
            base_domain(&cluster.spec, surroundings),
            incomplete_credentials(&cluster.spec),
            json_patch(cluster),
        ]
        .into_iter()
        .flatten()
        .collect()
    }

    fn defaults(&self, cluster: &HostedCluster, choices: &Choices<'_>) -> Chosen {
        let spec = &cluster.spec;
        let has_id = settings(spec).is_some_and(|settings| settings.generate_id.is_some());
        let has_domain = spec
            .dns
            .as_ref()
            .is_some_and(|dns| !dns.base_domain.as_str().is_empty());
        let wants_domain = passes_domain_through(spec) && !has_domain;
        let name = cluster.metadata.name.as_deref().unwrap_or_default();
        let platform = choices.management_platform.map(|platform| {
            let key = annotations::MANAGEMENT_PLATFORM.as_str().to_owned();
            (key, platform.to_owned())
        });
        Chosen {
            generate_id: (!has_id).then(|| choices.suffix.to_owned()),
            base_domain: choices.ingress_domain.filter(|_| wants_domain).map(str::to_owned),
            encryption_secret: spec
                .secret_encryption
                .is_none()
                .then(|| format!("{name}{ENCRYPTION_KEY_SUFFIX}")),
            annotations: platform.into_iter().collect(),
        }
    }
}

fn settings(spec: &HostedClusterSpec) -> Option<&KubeVirtPlatform> {
    spec.platform.kubevirt.as_ref()
}

fn credentials(spec: &HostedClusterSpec) -> Option<&KubeVirtCredentials> {
    settings(spec)?.credentials.as_ref()
}

fn passes_domain_through(spec: &HostedClusterSpec) -> bool {
    settings(spec).is_some_and(|settings| settings.base_domain_passthrough == Some(true))
}

fn base_domain(spec: &HostedClusterSpec, surroundings: &Surroundings<'_>) -> Option<Problem> {
    if !passes_domain_through(spec) {
        return None;
    }
    let own = spec
        .dns
        .as_ref()
        .map(|dns| dns.base_domain.as_str())
        .unwrap_or_default();
    match surroundings.ingress_domain {
        None if own.is_empty() => Some(Problem::new(
            &NO_DOMAIN,
            "spec.platform.kubevirt.baseDomainPassthrough",
            "the ingress domain of the management cluster is not known",
            "tell the manager its ingress domain, or set dns.baseDomain instead",
        )),
        Some(domain) if !own.is_empty() && own != domain => Some(Problem::new(
            &OWN_DOMAIN,
            "spec.dns.baseDomain",
            format!("{own} is not the ingress domain {domain}, which baseDomainPassthrough asks for"),
            "leave dns.baseDomain empty, or turn baseDomainPassthrough off",
        )),
        _ => None,
    }
}

fn incomplete_credentials(spec: &HostedClusterSpec) -> Option<Problem> {
    let credentials = credentials(spec)?;
    let secret = credentials.infra_kube_config_secret.as_ref();
    let has_secret = secret.is_some_and(|secret| !secret.name.is_empty() && !secret.key.is_empty());
    let missing = match (has_secret, credentials.infra_namespace.is_empty()) {
        (true, false) => return None,
        (false, _) => "infraKubeConfigSecret",
        (true, true) => "infraNamespace",
    };
    Some(Problem::new(
        &CREDENTIALS_COMPLETE,
        format!("spec.platform.kubevirt.credentials.{missing}"),
        "it is missing",
        "give the key of a Secret with the kubeconfig of the other cluster, and a namespace there",
    ))
}

fn json_patch(cluster: &HostedCluster) -> Option<Problem> {
    let key = annotations::KUBEVIRT_VM_JSON_PATCH.as_str();
    let text = cluster.metadata.annotations.as_ref()?.get(key)?;
    let is_operation = |operation: &Value| {
        let has = |field: &str| operation.get(field).is_some_and(Value::is_string);
        has("op") && has("path")
    };
    let is_patch = serde_json::from_str::<Vec<Value>>(text).is_ok_and(|list| list.iter().all(is_operation));
    (!is_patch).then(|| {
        Problem::new(
            &JSON_PATCH,
            format!("metadata.annotations[{key}]"),
            "it is no JSON patch",
            r#"write a list of operations such as [{"op": "add", "path": "/spec/template/spec/hostname", "value": "x"}]"#,
        )
    })
}
