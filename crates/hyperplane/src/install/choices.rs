//! What can be chosen on the command line about an installation.

use clap::{Args, ValueEnum};
use hyperplane_api::schema::FeatureSet;
use hyperplane_install::{DEFAULT_IMAGE, Kinds, NAMESPACE, Options, PullPolicy};

use crate::{
    failing::wrong_use,
    operator::{Machines, TenantsRun, network, scope},
};

/// How Hyperplane is installed.
#[derive(Args, Clone)]
pub(super) struct Choices {
    /// The namespace of the operators.
    #[arg(long, value_name = "NAME", default_value = NAMESPACE)]
    namespace: String,
    /// The image of this program, for the operators and for what runs in control planes. It must name a user that is a
    /// number and not zero.
    #[arg(long, value_name = "IMAGE", default_value = DEFAULT_IMAGE)]
    image: String,
    /// When nodes ask a registry for the image.
    #[arg(long, value_enum, default_value_t = Pull::IfNotPresent)]
    image_pull_policy: Pull,
    /// How many processes of each operator there are; one of them works, the others wait.
    #[arg(long, value_name = "COUNT", default_value_t = 2)]
    replicas: u32,
    /// Which fields and kinds: Default, TechPreviewNoUpgrade or CustomNoUpgrade.
    #[arg(long, value_name = "SET", default_value_t = FeatureSet::Default)]
    feature_set: FeatureSet,
    /// Which kinds are defined.
    #[arg(long, value_enum, default_value_t = Defined::All)]
    kinds: Defined,
    /// Serve only HostedClusters whose annotation hypershift.openshift.io/scope has this value.
    #[arg(long, value_name = "NAME", value_parser = scope)]
    scope: Option<String>,
    /// Who makes and removes the machines of hosted clusters.
    #[arg(long, value_enum, default_value_t = Machines::Hyperplane)]
    machines: Machines,
    /// Where the operators of a control plane run if the annotation hyperplane.dev/tenant-operators of its cluster does
    /// not say.
    #[arg(long, value_enum, default_value_t = TenantsRun::Shared)]
    tenant_operators: TenantsRun,
    /// Lead Prometheus to the operators by ServiceMonitors.
    #[arg(long)]
    monitoring: bool,
    /// A namespace whose pods may collect metrics of hosted control planes; repeatable.
    #[arg(long, value_name = "NAME")]
    monitoring_namespace: Vec<String>,
    /// A network of the management cluster that hosted control planes must not reach; repeatable.
    #[arg(long, value_name = "CIDR", value_parser = network)]
    management_network: Vec<String>,
    /// The platform that the management cluster runs on [default: what an OpenShift cluster says].
    #[arg(long, value_name = "NAME")]
    management_platform: Option<String>,
    /// The domain for endpoints that are published by Route without a hostname.
    #[arg(long, value_name = "DOMAIN")]
    ingress_domain: Option<String>,
    /// What machines of KubeVirt start from where neither their NodePool nor its release says.
    #[arg(long, value_name = "IMAGE")]
    boot_image: Option<String>,
    /// A further argument of `hyperplane operator`; repeatable.
    #[arg(long, value_name = "ARGUMENT", allow_hyphen_values = true)]
    extra_argument: Vec<String>,
}

impl Choices {
    /// The options, which can be.
    pub(super) fn options(&self) -> anyhow::Result<Options> {
        let chosen = self.clone();
        let options = Options {
            namespace: chosen.namespace,
            image: chosen.image,
            pull_policy: chosen.image_pull_policy.into(),
            replicas: chosen.replicas,
            feature_set: chosen.feature_set,
            kinds: chosen.kinds.into(),
            scope: chosen.scope,
            machines: chosen.machines.into(),
            tenant_operators: chosen.tenant_operators.into(),
            monitoring: chosen.monitoring,
            monitoring_namespaces: chosen.monitoring_namespace,
            management_networks: chosen.management_network,
            management_platform: chosen.management_platform,
            ingress_domain: chosen.ingress_domain,
            boot_image: chosen.boot_image,
            extra_arguments: chosen.extra_argument,
        };
        let checked = options.check();
        checked.map_err(|error| wrong_use("these options", error.to_string(), "correct it"))?;
        Ok(options)
    }
}

/// When nodes ask a registry for the image.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Pull {
    /// Where they have none
    #[value(name = "IfNotPresent")]
    IfNotPresent,
    /// At every start
    #[value(name = "Always")]
    Always,
    /// Never: it is there already
    #[value(name = "Never")]
    Never,
}

impl From<Pull> for PullPolicy {
    fn from(chosen: Pull) -> Self {
        match chosen {
            Pull::IfNotPresent => Self::IfNotPresent,
            Pull::Always => Self::Always,
            Pull::Never => Self::Never,
        }
    }
}

/// Which kinds are defined.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Defined {
    /// Ours, those of Cluster API and those of its providers that are used
    All,
    /// All but those of providers
    WithoutProviders,
    /// Ours only: Cluster API is installed already
    Own,
    /// None: somebody else defines them
    Nothing,
}

impl From<Defined> for Kinds {
    fn from(chosen: Defined) -> Self {
        match chosen {
            Defined::All => Self::All,
            Defined::WithoutProviders => Self::WithoutProviders,
            Defined::Own => Self::Own,
            Defined::Nothing => Self::Nothing,
        }
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[derive(Parser)]
    struct Line {
        #[command(flatten)]
        choices: Choices,
    }

    fn options(line: &str) -> anyhow::Result<Options> {
        let words = ["install"].into_iter().chain(line.split_whitespace());
        Line::try_parse_from(words)?.choices.options()
    }

    #[test]
    fn without_a_word_everything_is_usual() {
        assert_eq!(options("").unwrap(), Options::default());
    }

    #[test]
    fn every_choice_arrives() {
        let line = "--namespace east --image registry.example.com/hyperplane:1 --image-pull-policy Always --replicas 3 \
                    --feature-set TechPreviewNoUpgrade --kinds own --scope east --machines separate --tenant-operators \
                    dedicated --monitoring --monitoring-namespace metrics --management-network 10.0.0.0/8 \
                    --management-platform AWS --ingress-domain apps.example.com --boot-image os:1 --extra-argument \
                    --no-lease";
        let text = |text: &str| text.to_owned();
        let expected = Options {
            namespace: text("east"),
            image: text("registry.example.com/hyperplane:1"),
            pull_policy: PullPolicy::Always,
            replicas: 3,
            feature_set: FeatureSet::TechPreviewNoUpgrade,
            kinds: Kinds::Own,
            scope: Some(text("east")),
            machines: hyperplane_install::MachineManager::Separate,
            tenant_operators: hyperplane_install::TenantOperators::Dedicated,
            monitoring: true,
            monitoring_namespaces: vec![text("metrics")],
            management_networks: vec![text("10.0.0.0/8")],
            management_platform: Some(text("AWS")),
            ingress_domain: Some(text("apps.example.com")),
            boot_image: Some(text("os:1")),
            extra_arguments: vec![text("--no-lease")],
        };
        assert_eq!(options(line).unwrap(), expected);
    }

    #[test]
    fn what_cannot_be_is_refused_before_anything_is_asked() {
        for (line, words) in [("--replicas 0", "1 to 5"), ("--namespace Hyper", "a-z")] {
            let error = format!("{:#}", options(line).unwrap_err());
            assert!(error.contains(words), "{error}");
        }
        assert!(options("--management-network 10.0.0.1/8").is_err());
    }
}
