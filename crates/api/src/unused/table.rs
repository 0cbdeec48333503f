//! The table.

use super::UnusedField;

/// Declares a table: path, texts that say nothing new, what it would do, what to do instead.
macro_rules! fields {
    ($(#[doc = $doc:literal])+ $name:ident: $($path:literal $(quiet $($quiet:literal)|+)? => $would:literal $(, instead $instead:literal)?;)+) => {
        $(#[doc = $doc])+
        pub const $name: &[UnusedField] = &[$(UnusedField {
            path: $path,
            quiet: &[$($($quiet),+)?],
            would: $would,
            instead: concat!($($instead)?),
        }),+];
    };
}

fields! {
    /// Those of HostedCluster.
    HOSTED_CLUSTER:
    "spec.distributionVersion" => "move control plane, node pools and extensions to one version together",
        instead "set spec.release here and on each NodePool, in the order that `hyperplane upgrade check` allows";
    "spec.dns" => "name the domain of the cluster and its zones",
        instead "give the endpoints of the control plane a hostname in spec.services";
    "spec.platform.kubevirt.baseDomainPassthrough" => "serve applications under the domain of the management cluster",
        instead "publish them with Services of type LoadBalancer";
    "spec.platform.kubevirt.storageDriver.type" quiet "Default" | "None"
        => "offer storage of the management cluster inside of the hosted one",
        instead "install a storage driver in the hosted cluster";
    "spec.platform.kubevirt.storageDriver.manual" => "choose which storage classes are offered inside of the hosted cluster",
        instead "install a storage driver in the hosted cluster";
    "spec.etcd.managed.backup" => "encrypt backups of etcd with a key of the cloud";
    "spec.capabilities" => "choose optional parts of OpenShift";
    "spec.operatorConfiguration.clusterNetworkOperator.disableMultiNetwork" => "leave Multus out";
    "spec.operatorConfiguration.clusterNetworkOperator.ovnKubernetesConfig" => "set up OVN-Kubernetes",
        instead "set up the network plugin where you install it";
    "spec.operatorConfiguration.clusterVersionOperator.operatorLogLevel" quiet "Normal"
        => "set how much the cluster-version operator logs";
    "spec.operatorConfiguration.ingressOperator" => "publish the default ingress controller",
        instead "set up the ingress controller where you install it";
    "spec.autoNode" => "make nodes as workloads need them",
        instead "make NodePools and scale them";
    "spec.monitoring" => "choose which metrics of the control plane are collected and forwarded";
    "spec.olmCatalogPlacement" quiet "management" => "run catalogues of operators on the nodes of the cluster";
    "spec.fips" => "have nodes use only cryptography that FIPS allows",
        instead "use images of an operating system that has it turned on";
    "spec.updateService" => "ask for updates there",
        instead "list releases as DistributionReleases";
    "spec.configuration.apiServer.encryption" => "encrypt what lies in etcd",
        instead "set spec.secretEncryption";
    "spec.configuration.apiServer.tlsSecurityProfile.custom.groups" => "choose with which curves keys are agreed on";
    "spec.configuration.apiServer.tlsAdherence" => "have components follow the TLS profile more strictly";
    "spec.configuration.authentication.type" quiet "None" | "OIDC" => "let people log in at OpenShift's own server",
        instead "set type OIDC and oidcProviders";
    "spec.configuration.authentication.oauthMetadata" => "tell clients of an OAuth server",
        instead "set spec.configuration.authentication.oidcProviders";
    "spec.configuration.authentication.serviceAccountIssuer" => "choose the issuer in tokens of service accounts",
        instead "set spec.issuerURL";
    "spec.configuration.authentication.webhookTokenAuthenticators" => "have tokens judged by webhooks",
        instead "set spec.configuration.authentication.webhookTokenAuthenticator";
    "spec.configuration.authentication.oidcProviders[].oidcClients" => "set up the console and other clients",
        instead "set up each client itself";
    "spec.configuration.authentication.oidcProviders[].externalClaimsSources" => "fetch claims from outside of the token",
        instead "have the provider put them into the token";
    "spec.configuration.image.allowedRegistriesForImport" => "bound from where users import images";
    "spec.configuration.image.externalRegistryHostnames" => "name the registry inside of the cluster";
    "spec.configuration.image.imageStreamImportMode" => "choose what an import takes of an image";
    "spec.configuration.image.registrySources.containerRuntimeSearchRegistries"
        => "complete names of images that have no registry",
        instead "write the registry into the name of each image";
    "spec.configuration.ingress" => "choose domains, hosts of components and HSTS",
        instead "set up the ingress controller where you install it";
    "spec.configuration.network.clusterNetwork" => "choose the networks of pods",
        instead "set spec.networking.clusterNetwork";
    "spec.configuration.network.serviceNetwork" => "choose the networks of Services",
        instead "set spec.networking.serviceNetwork";
    "spec.configuration.network.networkType" => "choose the network plugin",
        instead "install the network plugin in the hosted cluster";
    "spec.configuration.network.externalIP" => "bound which external addresses Services have",
        instead "use a ValidatingAdmissionPolicy in the hosted cluster";
    "spec.configuration.network.networkDiagnostics" => "try out connections inside of the cluster";
    "spec.configuration.network.networkObservability" => "install network observability",
        instead "install it in the hosted cluster";
    "spec.configuration.oauth" => "let people log in by identity providers",
        instead "set spec.configuration.authentication with type OIDC";
    "spec.configuration.operatorhub" => "choose which catalogues of operators there are";
    "spec.configuration.proxy.readinessEndpoints" => "try out the proxy";
    "spec.configuration.scheduler.policy" => "set up the scheduler by an old kind of policy",
        instead "set spec.configuration.scheduler.profile";
    "spec.configuration.scheduler.defaultNodeSelector" => "choose nodes for pods that choose none",
        instead "put a selector into each pod, or a taint on the nodes";
    "spec.configuration.scheduler.mastersSchedulable" => "let pods run on nodes of the control plane";
    "spec.configuration.scheduler.profileCustomizations" => "change the profile of the scheduler",
        instead "turn feature gates on in spec.configuration.featureGate";
}

fields! {
    /// Those of NodePool.
    NODE_POOL:
    "spec.osImageStream" => "choose the operating system that machines start from",
        instead "name an image in spec.platform, or use a release with images of that system";
}
