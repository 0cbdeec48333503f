//! Hosts that were booted by an agent and wait in a namespace to be claimed.

use hyperplane_api::{
    constants::objects::{components, signers},
    hypershift::{
        hosted_cluster::{HostedCluster, HostedClusterSpec},
        hosted_cluster_status::PayloadArchitecture,
        platform_type::PlatformType,
    },
    infrastructure::{
        NamespacedReference,
        agent_cluster::{AgentCluster, AgentClusterSpec, AgentIgnitionEndpoint},
        agent_machine::{AgentMachineSpec, AgentMachineTemplateResource, AgentMachineTemplateSpec},
    },
};

use crate::{
    Facts, Platform, Surroundings,
    copies::SecretCopy,
    defaults::{Choices, Chosen},
    machines::{MachineTemplate, PoolFacts},
    problem::{Problem, Rule},
    provider::{self, Infrastructure, InfrastructureObject, Place, Provider, ProviderRules, allow},
};

const NAMESPACE: Rule = Rule {
    name: "agent-namespace",
    asks: "the Agent platform needs agentNamespace",
};
const NAMESPACE_EXISTS: Rule = Rule {
    name: "agent-namespace-exists",
    asks: "agentNamespace must be a namespace that exists",
};

/// The rules of this platform.
pub(crate) const RULES: &[Rule] = &[NAMESPACE, NAMESPACE_EXISTS];

/// Agents.
#[derive(Debug)]
pub(crate) struct Agent;

impl Platform for Agent {
    fn platform_type(&self) -> PlatformType {
        PlatformType::Agent
    }

    /// The provider copies the address into every claimed host, so the object waits until there is one.
    fn infrastructure(&self, facts: &Facts<'_>) -> Infrastructure {
        let Some(endpoint) = facts.ignition_endpoint else {
            return Infrastructure::Waiting("the address of the ignition server".to_owned());
        };
        let object = AgentCluster {
            metadata: provider::metadata(facts, facts.infra_id),
            spec: AgentClusterSpec {
                control_plane_endpoint: facts.endpoint.cloned(),
                ignition_endpoint: Some(AgentIgnitionEndpoint {
                    url: format!("https://{endpoint}/ignition"),
                    ca_certificate_reference: Some(NamespacedReference {
                        namespace: Some(facts.namespace.to_owned()),
                        name: signers::IGNITION.to_owned(),
                    }),
                }),
            },
            status: Some(provider::ready()),
        };
        Infrastructure::Object(InfrastructureObject::Agent(Box::new(object)))
    }

    fn provider(&self) -> Option<Provider> {
        Some(Provider {
            component: components::CLUSTER_API_PROVIDER,
            cpu: "100m",
            memory: "20Mi",
        })
    }

    fn credentials(&self, _: &HostedClusterSpec) -> Vec<SecretCopy> {
        Vec::new()
    }

    fn provider_rules(&self, facts: &Facts<'_>) -> Vec<ProviderRules> {
        let namespace = namespace(&facts.cluster.spec);
        let rules = vec![allow(
            "agent-install.openshift.io",
            &["agents"],
            &["get", "list", "patch", "update", "watch"],
        )];
        let rules = |namespace: &str| ProviderRules {
            place: Place::Namespace(namespace.to_owned()),
            rules: rules.clone(),
        };
        namespace.map(rules).into_iter().collect()
    }

    fn obsolete_credentials(&self) -> &'static [&'static str] {
        &[]
    }

    fn architectures(&self) -> &'static [PayloadArchitecture] {
        &[
            PayloadArchitecture::Amd64,
            PayloadArchitecture::Arm64,
            PayloadArchitecture::Ppc64le,
        ]
    }

    /// Hosts are there already: all that a pool says is which of them it takes.
    fn machine_template(&self, facts: &PoolFacts<'_>) -> Result<MachineTemplate, Vec<Problem>> {
        let platform = facts.pool.spec.platform.agent.as_ref();
        let spec = AgentMachineSpec {
            provider_id: None,
            agent_label_selector: platform.and_then(|agent| agent.agent_label_selector.clone()),
        };
        Ok(MachineTemplate::Agent(Box::new(AgentMachineTemplateSpec {
            template: AgentMachineTemplateResource { metadata: None, spec },
        })))
    }

    fn validate(&self, cluster: &HostedCluster, surroundings: &Surroundings<'_>) -> Vec<Problem> {
        let field = "spec.platform.agent.agentNamespace";
        let problem = match namespace(&cluster.spec) {
            None => Problem::new(
                &NAMESPACE,
                field,
                "it is missing",
                "name the namespace whose Agents may become nodes",
            ),
            Some(name) if !surroundings.namespaces.get(name).is_some_and(|exists| *exists) => Problem::new(
                &NAMESPACE_EXISTS,
                field,
                format!("there is no namespace {name}"),
                "create it, or name another",
            ),
            Some(_) => return Vec::new(),
        };
        vec![problem]
    }

    fn defaults(&self, _: &HostedCluster, _: &Choices<'_>) -> Chosen {
        Chosen::default()
    }
}

fn namespace(spec: &HostedClusterSpec) -> Option<&str> {
    let agent = spec.platform.agent.as_ref()?;
    Some(agent.agent_namespace.as_str()).filter(|namespace| !namespace.is_empty())
}
