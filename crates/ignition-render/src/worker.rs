//! The payload: everything that turns a plain host into a worker of one hosted cluster, with what users want over it.

use std::{collections::BTreeMap, fmt};

use hyperplane_api::{
    constants::objects::ports,
    hypershift::{configuration::ClusterConfiguration, networking::ClusterNetworking, platform_type::PlatformType},
};
use hyperplane_planner::release::Release;
use serde_json::Value;

use crate::{
    api_server_proxy::ApiServerProxy,
    containerd,
    document::Document,
    host,
    ignition::{BASE_VERSION, Config, DropIn, Header, Passwd, Storage, Systemd, Unit},
    kubelet::{self, Kubelet},
    merge::merge_all,
    mirrors::OfCluster,
    problem::Problem,
    proxy::Proxy,
    user::UserConfig,
    validate::validate,
};

/// The revision of what is rendered here. It is one of the inputs of the rollout hash: a change of what machines are told
/// gets a new one, and pools move to it with their next rollout.
pub const RENDER_REVISION: u32 = 1;

/// Bytes of a payload. Machines keep it in memory while they start.
const MOST_BYTES: usize = 16 << 20;

/// The image that the way to the API server is made with, where a release has it.
const HAPROXY: &str = "haproxy-router";

/// A host and a port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Endpoint<'a> {
    /// A host name or an address.
    pub host: &'a str,
    /// The port.
    pub port: u16,
}

/// What a payload is made from.
#[derive(Clone, Copy)]
pub struct WorkerInputs<'a> {
    /// The revision by which it is made, at most [`RENDER_REVISION`].
    pub revision: u32,
    /// The release of the pool.
    pub release: &'a Release,
    /// The platform.
    pub platform: &'a PlatformType,
    /// The networks of the cluster.
    pub networking: &'a ClusterNetworking,
    /// The configuration of the cluster.
    pub configuration: Option<&'a ClusterConfiguration>,
    /// Where nodes reach the API server.
    pub api_server: Endpoint<'a>,
    /// By which a kubelet asks for its first certificate.
    pub bootstrap_kubeconfig: &'a [u8],
    /// Who signs for the API server as a client of kubelets.
    pub kubelet_client_authority: &'a str,
    /// Authorities that programs on the host trust, each bundle with a name that can be one of a file.
    pub trust_bundles: &'a [(&'a str, &'a str)],
    /// Authorities of single registries, by their hosts as keys of a ConfigMap have them: with `..` before a port.
    pub registry_authorities: &'a BTreeMap<String, String>,
    /// Public keys of those who may log in, one in each line.
    pub ssh_keys: &'a str,
    /// Credentials for registries.
    pub pull_secret: &'a [u8],
    /// Documents of the cluster and of the pool, in order.
    pub documents: &'a [Document],
}

/// Names only: most of it is secret.
impl fmt::Debug for WorkerInputs<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("WorkerInputs")
            .field("revision", &self.revision)
            .field("release", &self.release.version.as_str())
            .field("platform", self.platform)
            .field("api_server", &self.api_server)
            .field("documents", &self.documents)
            .finish_non_exhaustive()
    }
}

/// The payload as bytes, or everything that stops it.
pub fn render(inputs: &WorkerInputs<'_>) -> Result<Vec<u8>, Vec<Problem>> {
    match inputs.revision {
        1 => first(inputs),
        unknown => {
            let problem =
                format!("{unknown} is not known here, only 1 to {RENDER_REVISION}: run a newer ignition server");
            Err(vec![Problem::new("the token", "render-revision", problem)])
        }
    }
}

/// The payload by the first revision.
fn first(inputs: &WorkerInputs<'_>) -> Result<Vec<u8>, Vec<Problem>> {
    let user = UserConfig::of(inputs.documents);
    let ours = user.as_ref().map_or(Ok(Config::default()), |user| base(inputs, user));
    let (user, ours) = match (user, ours) {
        (Ok(user), Ok(ours)) => (user, ours),
        (user, ours) => return Err([user.err(), ours.err()].into_iter().flatten().flatten().collect()),
    };
    let config = merge_all([&ours, &user.machine]);
    let bytes = config.bytes();
    if bytes.len() > MOST_BYTES {
        let problem = format!(
            "the payload has {} bytes, at most {MOST_BYTES}: give less configuration",
            bytes.len()
        );
        return Err(vec![Problem::new("", "", problem)]);
    }
    // What users give and what we make were each looked at; this is about both together, and about our own mistakes.
    let problems = validate(&serde_json::from_slice(&bytes).unwrap_or(Value::Null));
    if problems.is_empty() { Ok(bytes) } else { Err(problems) }
}

/// What every worker has. Everything that is wrong is told at once.
fn base(inputs: &WorkerInputs<'_>, user: &UserConfig) -> Result<Config, Vec<Problem>> {
    let mut problems = Vec::new();
    let proxy = Proxy::of(inputs.configuration, inputs.networking, inputs.platform).map_err(|problem| vec![problem]);
    let proxy = noted(proxy, &mut problems);
    let login = noted(
        host::login(inputs.ssh_keys).map_err(|problem| vec![problem]),
        &mut problems,
    );
    let kubelet = kubelet(inputs, user);
    let kubelet_files = noted(kubelet.files(), &mut problems);
    let containerd_files = noted(containerd_files(inputs, user), &mut problems);
    let way = noted(way_to_api_server(inputs), &mut problems);
    if !problems.is_empty() {
        return Err(problems);
    }
    let (trust_files, trust_units) = host::trust(inputs.trust_bundles);
    let mut files = host::files(inputs.release);
    files.extend(kubelet_files.into_iter().flatten());
    files.extend(containerd_files.into_iter().flatten());
    files.extend(way.iter().flat_map(ApiServerProxy::files));
    files.extend(trust_files);
    let mut units = kubelet.units();
    units.push(Unit {
        contents: None,
        ..crate::parts::unit(containerd::SERVICE, String::new())
    });
    units.extend(way.iter().flat_map(ApiServerProxy::units));
    units.extend(trust_units);
    if let Some((variables, addition)) = proxy.flatten().and_then(|proxy| proxy.environment()) {
        files.push(variables);
        add_to_services(&mut units, &addition);
    }
    let config = Config {
        ignition: Header {
            version: BASE_VERSION.to_owned(),
            ..Header::default()
        },
        passwd: Passwd {
            users: login.flatten().into_iter().collect(),
            ..Passwd::default()
        },
        storage: Storage {
            directories: Kubelet::directories(),
            files,
            ..Storage::default()
        },
        systemd: Systemd {
            units,
            ..Systemd::default()
        },
        ..Config::default()
    };
    Ok(merge_all([&config]))
}

/// What came of a step; what is wrong with it is noted.
fn noted<T>(result: Result<T, Vec<Problem>>, problems: &mut Vec<Problem>) -> Option<T> {
    match result {
        Ok(value) => Some(value),
        Err(found) => {
            problems.extend(found);
            None
        }
    }
}

fn kubelet<'a>(inputs: &WorkerInputs<'a>, user: &'a UserConfig) -> Kubelet<'a> {
    let api_server = inputs
        .configuration
        .and_then(|configuration| configuration.api_server.as_ref());
    Kubelet {
        release: inputs.release,
        platform: inputs.platform,
        networking: inputs.networking,
        tls_profile: api_server.and_then(|api_server| api_server.tls_security_profile.as_ref()),
        user,
        bootstrap_kubeconfig: inputs.bootstrap_kubeconfig,
        client_authority: inputs.kubelet_client_authority,
        pull_secret: inputs.pull_secret,
    }
}

fn containerd_files(inputs: &WorkerInputs<'_>, user: &UserConfig) -> Result<Vec<crate::ignition::File>, Vec<Problem>> {
    let image = inputs
        .configuration
        .and_then(|configuration| configuration.image.as_ref());
    let registries = image.and_then(|image| image.registry_sources.as_ref());
    let path = "spec.configuration.image.registrySources";
    let mut problems = Vec::new();
    for (list, listed) in [
        ("allowedRegistries", registries.map(|all| &all.allowed_registries)),
        ("blockedRegistries", registries.map(|all| &all.blocked_registries)),
    ] {
        if listed.into_iter().flatten().any(|listed| !listed.is_empty()) {
            let problem = "containerd takes images from anywhere: nothing on the nodes keeps this promise";
            problems.push(Problem::new("", format!("{path}.{list}"), problem));
        }
    }
    let insecure = registries.and_then(|registries| registries.insecure_registries.as_ref());
    let insecure: Vec<String> = insecure.into_iter().flatten().map(ToString::to_string).collect();
    // Hosts are keys there, which cannot have a colon.
    let authorities = inputs.registry_authorities.iter();
    let authorities = authorities
        .map(|(host, text)| (host.replace("..", ":"), text.clone()))
        .collect();
    let of_cluster = OfCluster {
        insecure: &insecure,
        authorities: &authorities,
    };
    let files = noted(containerd::files(inputs.release, user, of_cluster), &mut problems);
    files.filter(|_| problems.is_empty()).ok_or(problems)
}

fn way_to_api_server<'a>(inputs: &WorkerInputs<'a>) -> Result<ApiServerProxy<'a>, Vec<Problem>> {
    let settings = inputs.networking.api_server.as_ref();
    let port = settings
        .and_then(|settings| settings.port)
        .unwrap_or(ports::API_SERVER.into());
    let image = inputs
        .release
        .components
        .get(HAPROXY)
        .and_then(|component| component.image.as_deref());
    ApiServerProxy::new(inputs.networking.advertised_address(), port, inputs.api_server, image)
}

/// Tells the two programs that reach the outside how they do.
fn add_to_services(units: &mut [Unit], addition: &DropIn) {
    let services = [kubelet::SERVICE, containerd::SERVICE];
    for unit in units.iter_mut().filter(|unit| services.contains(&unit.name.as_str())) {
        unit.dropins.push(addition.clone());
    }
}
