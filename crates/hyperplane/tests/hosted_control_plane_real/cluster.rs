//! A management cluster of processes: it starts the pods of workloads, and exchanges them by the strategy that a
//! workload asks for.

use std::{
    collections::BTreeMap,
    net::Ipv4Addr,
    path::PathBuf,
    sync::{
        Arc,
        atomic::{AtomicU32, Ordering},
    },
    time::Duration,
};

use anyhow::{Context as _, Result, ensure};
use hyperplane_components::Workload;
use k8s_openapi::{
    api::core::v1::{PodTemplateSpec, Service},
    apimachinery::pkg::util::intstr::IntOrString,
};
use tokio::time::{Instant, sleep};

use crate::{
    command::run,
    network::Network,
    plane::{API_SERVER, Plane},
    pod::{Description, Pod},
    rendering::NAMESPACE,
    services::{self, Pods},
};

/// After so long a pod counts as never ready. Two processors start a control plane in less than a minute.
const NEVER: Duration = Duration::from_mins(5);

/// How often it is looked whether a rollout can go on.
const LOOK: Duration = Duration::from_millis(200);

/// Where claims are, which outlive pods.
const CLAIMS: &str = "claims";

/// The management cluster.
pub struct Cluster {
    directory: PathBuf,
    network: Network,
    hosts: String,
    members: BTreeMap<String, Ipv4Addr>,
    pods: Arc<Pods>,
    started: AtomicU32,
}

impl Cluster {
    /// Makes the network, the Services and their names.
    pub async fn create(directory: PathBuf, plane: &Plane) -> Result<Self> {
        let network = Network::create().await?;
        // Claims end with the test, so nothing in them has to wait for a disk.
        let claims = directory.join(CLAIMS);
        std::fs::create_dir_all(&claims)?;
        run(&format!("mount -t tmpfs claims {}", claims.display())).await?;
        let pods = Arc::new(Pods::default());
        let (mut hosts, mut members) = (String::new(), BTreeMap::new());
        for service in &plane.services {
            let name = service.metadata.name.as_deref().context("a Service has a name")?;
            if is_headless(service) {
                // Names of members are there before their pods: they find each other by them.
                for number in 0..replicas(&plane.workloads["etcd"]) {
                    members.insert(format!("etcd-{number}"), network.pod_address()?);
                }
                hosts.push_str(&services::hosts_of_pods(members.iter(), name, NAMESPACE));
                continue;
            }
            let address = network.service_address().await?;
            services::serve(service, address, &pods).await?;
            hosts.push_str(&services::hosts_of_service(name, NAMESPACE, address));
            if name == "kube-apiserver" {
                ensure!(node_port(service) == Some(API_SERVER.port()), "{name} is published");
                services::serve_node_port(service, API_SERVER, &pods).await?;
            }
        }
        Ok(Self {
            directory,
            network,
            hosts,
            members,
            pods,
            started: AtomicU32::new(0),
        })
    }

    /// Starts all pods of a workload, and waits until they are ready.
    pub async fn start(&self, plane: &Plane, workload: &str) -> Result<()> {
        let count = replicas(&plane.workloads[workload]);
        let mut pods = Vec::new();
        for number in 0..count {
            pods.push(self.start_pod(plane, workload, number).await?);
        }
        for pod in pods {
            pod.wait_until_ready(NEVER).await?;
        }
        println!("{count} of {workload} {} are ready", plane.version);
        Ok(())
    }

    /// Replaces the pods of a Deployment, as its controller would: so many more, and so many fewer, as it allows.
    pub async fn roll(&self, plane: &Plane, workload: &str) -> Result<()> {
        let wanted = usize::try_from(replicas(&plane.workloads[workload]))?;
        let (surge, unavailable) = strategy(&plane.workloads[workload])?;
        let selector = BTreeMap::from([("app".to_owned(), workload.to_owned())]);
        let (begin, mut ending) = (Instant::now(), Vec::new());
        loop {
            let pods = self.pods.of(&selector);
            let (new, old): (Vec<_>, Vec<_>) = pods.iter().partition(|pod| pod.generation == plane.version);
            let ready = pods.iter().filter(|pod| pod.is_ready()).count();
            if old.is_empty() && new.len() == wanted && ready == wanted {
                break;
            }
            if new.len() < wanted && pods.len() < wanted + surge {
                self.start_pod(plane, workload, 0).await?;
                continue;
            }
            if let Some(pod) = old.first().filter(|_| ready + unavailable > wanted) {
                pod.stop();
                ending.push(Arc::clone(pod));
                continue;
            }
            ensure!(begin.elapsed() < NEVER * 2, "{workload} does not roll on");
            sleep(LOOK).await;
        }
        println!(
            "{workload} is {} after {:.0} s",
            plane.version,
            begin.elapsed().as_secs_f64()
        );
        for pod in ending {
            pod.ended().await;
        }
        Ok(())
    }

    /// How often containers of a workload's pods were started again.
    pub fn restarts(&self, workload: &str) -> u32 {
        let all = self.pods.all();
        let of_workload = all
            .iter()
            .filter(|pod| pod.labels.get("app").map(String::as_str) == Some(workload));
        of_workload.map(|pod| pod.restarts()).sum()
    }

    async fn start_pod(&self, plane: &Plane, workload: &str, number: i32) -> Result<Arc<Pod>> {
        let template = template(&plane.workloads[workload])?;
        let place = self.place(workload, &plane.workloads[workload], number)?;
        let description = Description {
            name: place.name,
            namespace: NAMESPACE,
            address: place.address,
            template,
            objects: &plane.objects,
            claims: place.claims,
            programs: &plane.programs,
            hosts: &self.hosts,
            directory: &self.directory,
        };
        let pod = Arc::new(Pod::start(description, &self.network, &plane.version).await?);
        self.pods.add(Arc::clone(&pod));
        Ok(pod)
    }

    /// Members of a StatefulSet keep what they have; all other pods are new ones.
    fn place(&self, name: &str, workload: &Workload, number: i32) -> Result<Place> {
        let Workload::StatefulSet(set) = workload else {
            let number = self.started.fetch_add(1, Ordering::Relaxed);
            return Ok(Place {
                name: format!("{name}-{number}"),
                address: self.network.pod_address()?,
                claims: BTreeMap::new(),
            });
        };
        let name = format!("{name}-{number}");
        let address = self.members.get(&name).context("a member has an address")?;
        let specs = set.spec.iter();
        let templates = specs.flat_map(|spec| spec.volume_claim_templates.iter().flatten());
        let claims = templates.filter_map(|claim| claim.metadata.name.clone());
        let directory = self.directory.join(CLAIMS);
        let claims = claims.map(|claim| (claim.clone(), directory.join(format!("{claim}-{name}"))));
        Ok(Place {
            address: *address,
            claims: claims.collect(),
            name,
        })
    }
}

/// Who a pod is, and what it keeps.
struct Place {
    name: String,
    address: Ipv4Addr,
    claims: BTreeMap<String, PathBuf>,
}

fn is_headless(service: &Service) -> bool {
    let spec = service.spec.as_ref();
    spec.and_then(|spec| spec.cluster_ip.as_deref()) == Some("None")
}

fn node_port(service: &Service) -> Option<u16> {
    let port = service.spec.as_ref()?.ports.as_ref()?.first()?.node_port?;
    u16::try_from(port).ok()
}

fn template(workload: &Workload) -> Result<&PodTemplateSpec> {
    let template = match workload {
        Workload::Deployment(object) => object.spec.as_ref().map(|spec| &spec.template),
        Workload::StatefulSet(object) => object.spec.as_ref().map(|spec| &spec.template),
        _ => None,
    };
    template.context("the workload has pods that stay")
}

fn replicas(workload: &Workload) -> i32 {
    let replicas = match workload {
        Workload::Deployment(object) => object.spec.as_ref().and_then(|spec| spec.replicas),
        Workload::StatefulSet(object) => object.spec.as_ref().and_then(|spec| spec.replicas),
        _ => None,
    };
    replicas.unwrap_or(1)
}

/// How many more and how many fewer pods there may be during a rollout.
fn strategy(workload: &Workload) -> Result<(usize, usize)> {
    let Workload::Deployment(object) = workload else {
        anyhow::bail!("only Deployments roll here");
    };
    let strategy = object.spec.as_ref().and_then(|spec| spec.strategy.as_ref());
    let rolling = strategy.and_then(|strategy| strategy.rolling_update.as_ref());
    let number = |value: Option<&IntOrString>| match value {
        Some(IntOrString::Int(number)) => Ok(usize::try_from(*number)?),
        other => anyhow::bail!("{other:?} is no number of pods"),
    };
    Ok((
        number(rolling.and_then(|it| it.max_surge.as_ref()))?,
        number(rolling.and_then(|it| it.max_unavailable.as_ref()))?,
    ))
}
