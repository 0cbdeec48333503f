//! The kubelet: its configuration and its unit.

use std::net::IpAddr;

use hyperplane_api::{
    constants::ours,
    hyperplane::release_requirements::KubeletRequirements,
    hypershift::{
        configuration::{tls_profile::TlsProfile, tls_security_profile::TlsSecurityProfile},
        networking::ClusterNetworking,
        platform_type::PlatformType,
    },
};
use hyperplane_planner::release::Release;
use serde_json::{Map, Value, json};

use crate::{
    canonical,
    ignition::{DropIn, File, Node, Unit},
    parts::{PRIVATE, PUBLIC, file, unit},
    problem::Problem,
    user::UserConfig,
};

/// Fields of the kubelet's configuration that make a node one of this cluster. Users cannot have a say in them.
pub(crate) const OWNED: &[&str] = &[
    "apiVersion",
    "authentication",
    "authorization",
    "cgroupDriver",
    "clusterDNS",
    "clusterDomain",
    "containerRuntimeEndpoint",
    "kind",
    "providerID",
    "registerNode",
    "rotateCertificates",
    "serverTLSBootstrap",
    "staticPodPath",
    "tlsCertFile",
    "tlsPrivateKeyFile",
];

/// The unit; everything else that concerns it is named after it.
pub(crate) const SERVICE: &str = "kubelet.service";
/// Where kubelets look for pods that nobody schedules.
pub(crate) const MANIFESTS: &str = "/etc/kubernetes/manifests";

const CONFIGURATION: &str = "/etc/kubernetes/kubelet.conf";
const BOOTSTRAP_KUBECONFIG: &str = "/etc/kubernetes/bootstrap-kubeconfig";
const CLIENT_AUTHORITY: &str = "/etc/kubernetes/kubelet-ca.crt";
const PULL_SECRET: &str = "/var/lib/kubelet/config.json";
/// Variables of the unit that only the host knows, and what finds them out.
const ENVIRONMENT: &str = "/etc/kubernetes/kubelet.env";
const ENVIRONMENT_SCRIPT: &str = "/etc/hyperplane/kubelet-environment.sh";

/// What pods resolve names with. A resolver on the loopback of the host is nothing that they reach.
const FIND_RESOLVER: &str = "\
set -eu
resolver=/etc/resolv.conf
if grep -qs '^nameserver 127\\.0\\.0\\.53' $resolver && [ -e /run/systemd/resolve/resolv.conf ]; then
  resolver=/run/systemd/resolve/resolv.conf
fi
";

/// What packages of kubeadm add to the unit: other flags, which an addition of the same name takes away.
const FOREIGN_ADDITION: &str = "10-kubeadm.conf";

/// How much a kubelet says unless it is told otherwise.
const LOG_LEVEL: u64 = 2;
/// Where DNS is in a service network; CoreDNS is put there.
const DNS_POSITION: u8 = 10;

/// What a kubelet is set up with.
#[derive(Clone, Copy)]
pub(crate) struct Kubelet<'a> {
    pub(crate) release: &'a Release,
    pub(crate) platform: &'a PlatformType,
    pub(crate) networking: &'a ClusterNetworking,
    pub(crate) tls_profile: Option<&'a TlsSecurityProfile>,
    pub(crate) user: &'a UserConfig,
    pub(crate) bootstrap_kubeconfig: &'a [u8],
    pub(crate) client_authority: &'a str,
    pub(crate) pull_secret: &'a [u8],
}

impl Kubelet<'_> {
    /// Its files.
    pub(crate) fn files(&self) -> Result<Vec<File>, Vec<Problem>> {
        let configuration = canonical::text(&self.configuration()?);
        let mut files = vec![
            file(CONFIGURATION, PUBLIC, configuration),
            file(BOOTSTRAP_KUBECONFIG, PRIVATE, self.bootstrap_kubeconfig),
            file(CLIENT_AUTHORITY, PUBLIC, self.client_authority),
            file(PULL_SECRET, PRIVATE, self.pull_secret),
        ];
        files.push(file(ENVIRONMENT_SCRIPT, PUBLIC, self.environment_script()));
        Ok(files)
    }

    /// Writes the variables. It runs each time before the kubelet starts, so a host that got its name late is no trouble.
    fn environment_script(&self) -> String {
        let provider_id = match self.identity() {
            Identity::HostName(prefix) => format!("{prefix}$(cat /proc/sys/kernel/hostname)"),
            Identity::Cloud | Identity::Elsewhere => String::new(),
        };
        format!(
            "{FIND_RESOLVER}cat >{ENVIRONMENT} <<EOF\nKUBELET_PROVIDERID={provider_id}\n\
             KUBELET_RESOLV_CONF=$resolver\nEOF\n"
        )
    }

    /// Its directories.
    pub(crate) fn directories() -> Vec<Node> {
        vec![Node {
            path: MANIFESTS.to_owned(),
            rest: Map::from_iter([("mode".to_owned(), Value::from(0o755))]),
        }]
    }

    /// Its units.
    pub(crate) fn units(&self) -> Vec<Unit> {
        let nothing = DropIn {
            name: FOREIGN_ADDITION.to_owned(),
            contents: Some("# The unit says everything.\n".to_owned()),
            ..DropIn::default()
        };
        vec![Unit {
            dropins: vec![nothing],
            ..unit(SERVICE, self.service())
        }]
    }

    fn service(&self) -> String {
        let level = self.user.kubelet_log_level.unwrap_or(LOG_LEVEL);
        let cloud = match self.identity() {
            Identity::Cloud => " \\\n  --cloud-provider=external",
            Identity::HostName(_) | Identity::Elsewhere => "",
        };
        // A flag would win over what a user says in a KubeletConfig.
        let resolver = if self.user.kubelet.contains_key("resolvConf") {
            ""
        } else {
            " \\\n  --resolv-conf=${KUBELET_RESOLV_CONF}"
        };
        // A name that the host does not give is empty, and then nobody reads it. The version is for whoever looks at the
        // host. The unit counts as started before the kubelet has its certificate: that may take a person's approval.
        let version = self.release.kubernetes.number();
        format!(
            "[Unit]\nDescription=Kubernetes kubelet\nWants=network-online.target\nRequires=containerd.service\n\
             After=network-online.target systemd-resolved.service containerd.service\n\n[Service]\nType=exec\n\
             Environment=KUBELET_PROVIDERID=\nEnvironment=KUBELET_RESOLV_CONF=/etc/resolv.conf\n\
             Environment=KUBELET_VERSION=v{version}\nEnvironmentFile=-{ENVIRONMENT}\n\
             ExecStartPre=/bin/sh {ENVIRONMENT_SCRIPT}\nExecStart=/usr/bin/kubelet \\\n  --config={CONFIGURATION} \\\n  \
             --bootstrap-kubeconfig={BOOTSTRAP_KUBECONFIG} \\\n  --kubeconfig=/var/lib/kubelet/kubeconfig \\\n  \
             --cert-dir=/var/lib/kubelet/pki \\\n  --provider-id=${{KUBELET_PROVIDERID}}{cloud}{resolver} \\\n  --v={level}\n\
             Restart=always\nRestartSec=10\n\n[Install]\nWantedBy=multi-user.target\n"
        )
    }

    /// Who says which machine a node is.
    fn identity(&self) -> Identity {
        let has_cloud = self
            .release
            .components
            .contains_key("kubevirt-cloud-controller-manager");
        match self.platform {
            PlatformType::KubeVirt if has_cloud => Identity::Cloud,
            // A virtual machine has the host name that it is called by.
            PlatformType::KubeVirt => Identity::HostName("kubevirt://"),
            _ => Identity::Elsewhere,
        }
    }

    fn configuration(&self) -> Result<Value, Vec<Problem>> {
        let tls = TlsProfile::of(self.user.kubelet_tls_profile.as_ref().or(self.tls_profile));
        let mut fields = Map::new();
        let usual = json!({
            "serializeImagePulls": false,
            "tlsCipherSuites": tls.secure_ciphers(),
            "tlsMinVersion": tls.oldest,
        });
        overlay(&mut fields, usual.as_object().unwrap_or(&Map::new()));
        overlay(&mut fields, &self.user.kubelet);
        let taints = self.taints(fields.get("registerWithTaints"));
        if !taints.is_empty() {
            fields.insert("registerWithTaints".to_owned(), taints.into());
        }
        let owned = json!({
            "apiVersion": "kubelet.config.k8s.io/v1beta1",
            "kind": "KubeletConfiguration",
            "authentication": {
                "anonymous": {"enabled": false},
                "webhook": {"enabled": true},
                "x509": {"clientCAFile": CLIENT_AUTHORITY},
            },
            "authorization": {"mode": "Webhook"},
            "cgroupDriver": "systemd",
            "clusterDNS": self.dns()?,
            "clusterDomain": "cluster.local",
            "containerRuntimeEndpoint": "unix:///run/containerd/containerd.sock",
            "rotateCertificates": true,
            "serverTLSBootstrap": true,
            "staticPodPath": MANIFESTS,
        });
        fields.extend(owned.as_object().cloned().unwrap_or_default());
        demand(&mut fields, &self.release.kubelet)?;
        Ok(Value::Object(fields))
    }

    /// The taints that a node registers with: those that users give, and ours, which keeps pods away until the node has the
    /// labels and taints of its pool. Who takes it off knows a node by its machine, so hosts without machines have none. The
    /// taints of the pool are not here: they may change without a rollout.
    fn taints(&self, given: Option<&Value>) -> Vec<Value> {
        let mut taints = given.and_then(Value::as_array).cloned().unwrap_or_default();
        if *self.platform != PlatformType::None {
            taints.push(json!({"key": ours::UNINITIALIZED_TAINT, "effect": "NoSchedule"}));
        }
        taints
    }

    fn dns(&self) -> Result<Vec<String>, Vec<Problem>> {
        let networks = self.networking.service_network.iter();
        let addresses = networks.map(|network| {
            let cidr = network.cidr.as_str();
            address_in(cidr, DNS_POSITION).map(|address| address.to_string())
        });
        let addresses: Option<Vec<String>> = addresses.collect();
        addresses.ok_or_else(|| {
            let problem = "must be networks such as 172.31.0.0/16";
            vec![Problem::new("", "spec.networking.serviceNetwork", problem)]
        })
    }
}

/// Who says which machine a node is.
#[derive(Clone, Copy)]
enum Identity {
    /// The cloud controller manager.
    Cloud,
    /// The host itself, by its name behind this.
    HostName(&'static str),
    /// Whoever enrolled the host, or nobody.
    Elsewhere,
}

/// Puts fields over others: objects are merged, everything else is replaced.
pub(crate) fn overlay(base: &mut Map<String, Value>, over: &Map<String, Value>) {
    for (key, value) in over {
        match (base.get_mut(key), value) {
            (Some(Value::Object(base)), Value::Object(over)) => overlay(base, over),
            _ => {
                base.insert(key.clone(), value.clone());
            }
        }
    }
}

/// What a release asks of the configuration: what must be there is added, what must not is refused or taken out.
fn demand(fields: &mut Map<String, Value>, requirements: &KubeletRequirements) -> Result<(), Vec<Problem>> {
    let mut problems = Vec::new();
    let place = "the release";
    for required in &requirements.must_have {
        let wanted = required.value.as_ref().map(|text| {
            // Values are written as text; numbers and truth values are meant as such.
            serde_json::from_str::<Value>(text).unwrap_or_else(|_| text.as_str().into())
        });
        match (fields.get(&required.field), wanted) {
            (None, Some(value)) => {
                fields.insert(required.field.clone(), value);
            }
            (Some(found), Some(wanted)) if *found != wanted => {
                let problem = "has another value than the release asks for: take it out of the KubeletConfig";
                problems.push(Problem::new(
                    place,
                    format!("kubelet field {}", required.field),
                    problem,
                ));
            }
            (None, None) => {
                let problem = "is asked for by the release: give it in a KubeletConfig";
                problems.push(Problem::new(
                    place,
                    format!("kubelet field {}", required.field),
                    problem,
                ));
            }
            (Some(_), _) => {}
        }
    }
    for field in requirements
        .must_not_have
        .iter()
        .filter(|field| fields.contains_key(*field))
    {
        let problem = "is not known to kubelets of the release: take it out of the KubeletConfig";
        problems.push(Problem::new(place, format!("kubelet field {field}"), problem));
    }
    if problems.is_empty() { Ok(()) } else { Err(problems) }
}

/// The address at a position in a network.
fn address_in(network: &str, position: u8) -> Option<IpAddr> {
    let (base, _) = network.split_once('/')?;
    match base.parse::<IpAddr>().ok()? {
        IpAddr::V4(base) => Some(IpAddr::V4((u32::from(base) | u32::from(position)).into())),
        IpAddr::V6(base) => Some(IpAddr::V6((u128::from(base) | u128::from(position)).into())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dns_is_at_the_tenth_address() {
        for (network, expected) in [
            ("172.31.0.0/16", Some("172.31.0.10")),
            ("fd02::/112", Some("fd02::a")),
            ("172.31.0.0", None),
            ("x/16", None),
        ] {
            let found = address_in(network, DNS_POSITION).map(|address| address.to_string());
            assert_eq!(found.as_deref(), expected, "{network}");
        }
    }

    #[test]
    fn what_a_release_asks_for_is_there_or_told() {
        let requirements: KubeletRequirements = hyperplane_objects::read(json!({
            "mustHave": [{"field": "failCgroupV1", "value": "false"}, {"field": "imageGCMode"}, {"field": "a", "value": "b"}],
            "mustNotHave": ["old"],
        }))
        .unwrap();
        let fields = |value: Value| value.as_object().cloned().unwrap();
        let mut good = fields(json!({"imageGCMode": 1}));
        demand(&mut good, &requirements).unwrap();
        assert_eq!(
            Value::Object(good),
            json!({"imageGCMode": 1, "failCgroupV1": false, "a": "b"})
        );
        let mut bad = fields(json!({"failCgroupV1": true, "old": 1}));
        let found = demand(&mut bad, &requirements).unwrap_err();
        let paths: Vec<&str> = found.iter().map(|problem| problem.path.as_str()).collect();
        assert_eq!(
            paths,
            [
                "kubelet field failCgroupV1",
                "kubelet field imageGCMode",
                "kubelet field old"
            ]
        );
    }
}
