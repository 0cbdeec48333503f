//! A hosted cluster as its users see it: made, available, asked with its own kubeconfig, upgraded and removed by the
//! commands of the README.

use std::{
    path::PathBuf,
    time::{Duration, Instant},
};

use hyperplane_testbed::hammer::{Client, Hammer, Report, Target};
use serde_json::{Value, json};
use tokio::runtime::Builder;

use crate::ground::{Ground, answer, condition};

/// The namespace of hosted clusters and the one cluster in it.
const NAMESPACE: &str = "clusters";
const NAME: &str = "one";

/// The namespace of its control plane.
pub const INSIDE: &str = "clusters-one";

/// From which version it is upgraded, and to which.
pub const OLD: &str = hyperplane_testbed::assets::PREVIOUS_KUBERNETES_VERSION;
pub const NEW: &str = hyperplane_testbed::assets::KUBERNETES_VERSION;

/// How long a control plane may take to come up. Alone on two cores it takes 20 s.
const AVAILABLE_LIMIT: Duration = Duration::from_mins(4);

/// How long an upgrade of the control plane may take: three replicas one after the other.
const UPGRADE_LIMIT: Duration = Duration::from_mins(8);

/// How long removal may take.
const REMOVAL_LIMIT: Duration = Duration::from_mins(1);

/// The ConfigMap that clients read and write meanwhile.
const HAMMERED: &str = "hammered";

/// A hosted cluster.
pub struct Hosted<'a> {
    ground: &'a Ground,
    /// That of its administrator.
    pub kubeconfig: PathBuf,
}

impl<'a> Hosted<'a> {
    /// Makes one at the old version, and waits until it is available and its API server answers.
    pub fn create(ground: &'a Ground, arguments: &[&str]) -> Self {
        let begin = Instant::now();
        let create = [
            "create",
            "cluster",
            "none",
            "--name",
            NAME,
            "--version",
            OLD,
            "--node-pool-replicas",
            "1",
        ];
        ground.hyperplane(&[create.as_slice(), arguments].concat());
        let kubeconfig = ground.cluster.directory().join("one.kubeconfig");
        let file = kubeconfig.display().to_string();
        let print = [
            "kubeconfig",
            NAME,
            "--namespace",
            NAMESPACE,
            "--wait",
            "--output",
            &file,
        ];
        ground.hyperplane(&print);
        let hosted = Self { ground, kubeconfig };
        ground.until("its API server answers", AVAILABLE_LIMIT, || {
            hosted.kubectl(&["get", "--raw", "/readyz"])
        });
        let answered = begin.elapsed();
        ground.until("it is Available", AVAILABLE_LIMIT, || {
            let cluster = hosted.object()?;
            match condition(&cluster, "Available") {
                Some("True") => Ok(()),
                _ => Err(cluster["status"]["conditions"].to_string()),
            }
        });
        let available = begin.elapsed();
        println!(
            "MEASURED create to first answer {:.1} s, to Available {:.1} s",
            answered.as_secs_f64(),
            available.as_secs_f64()
        );
        hosted
    }

    /// Asks the hosted cluster.
    pub fn kubectl(&self, arguments: &[&str]) -> Result<String, String> {
        answer(
            &self
                .ground
                .kubectl_command(&self.kubeconfig, arguments)
                .output()
                .unwrap(),
        )
    }

    /// One object or a list of the hosted cluster.
    pub fn json(&self, arguments: &[&str]) -> Result<Value, String> {
        let text = self.kubectl(&[arguments, &["-o", "json"]].concat())?;
        serde_json::from_str(&text).map_err(|error| error.to_string())
    }

    /// The HostedCluster.
    pub fn object(&self) -> Result<Value, String> {
        self.ground
            .json(&["get", "hostedcluster", NAME, "--namespace", NAMESPACE])
    }

    /// Upgrades the control plane under clients that never retry, until it is done and every pod of the old one is gone. What
    /// the clients saw.
    pub fn upgrade_under_clients(&self) -> Report {
        self.kubectl(&["create", "configmap", HAMMERED, "--namespace=default"])
            .unwrap();
        // Its threads are in the network of this one.
        let runtime = Builder::new_multi_thread()
            .worker_threads(1)
            .enable_all()
            .build()
            .unwrap();
        let hammer = runtime.block_on(async {
            let target = Target::from_kubeconfig(&self.kubeconfig).await.unwrap();
            Hammer::start(&target, Client::on_config_map("default", HAMMERED))
        });
        self.upgrade();
        let report = runtime.block_on(hammer.stop());
        println!("{report}");
        report
    }

    fn upgrade(&self) {
        let ground = self.ground;
        let judged = ground.hyperplane(&["upgrade", "check", NAME, "--namespace", NAMESPACE, "--to", NEW]);
        println!("{judged}");
        let patch = json!({"spec": {"release": {"image": format!("hyperplane.dev/kubernetes:v{NEW}")}}});
        let namespace = ["--namespace", NAMESPACE];
        let patch = ["patch", "hostedcluster", NAME, "--type=merge", "-p", &patch.to_string()].map(str::to_owned);
        let patch: Vec<&str> = patch.iter().map(String::as_str).chain(namespace).collect();
        ground.kubectl(&patch).unwrap();
        let what = format!("the control plane is at {NEW}");
        let ((), elapsed) = ground.until(&what, UPGRADE_LIMIT, || self.is_upgraded());
        println!("MEASURED upgrade {OLD} to {NEW} {:.1} s", elapsed.as_secs_f64());
        let told = self.kubectl(&["get", "--raw", "/version"]).unwrap();
        assert!(told.contains(&format!("v{NEW}")), "{told}");
    }

    fn is_upgraded(&self) -> Result<(), String> {
        let cluster = self.object()?;
        // The version of the whole cluster follows with what is looked at inside of it every two minutes.
        let last = &cluster["status"]["controlPlaneVersion"]["history"][0];
        if last["state"] != "Completed" || last["version"] != NEW {
            return Err(last.to_string());
        }
        let pods = self.ground.json(&["get", "pods", "--namespace", INSIDE])?;
        let is_old = |pod: &&Value| pod["spec"].to_string().contains(&format!(":v{OLD}\""));
        match pods["items"].as_array().into_iter().flatten().find(is_old) {
            Some(pod) => Err(format!("{} is there", pod["metadata"]["name"])),
            None => Ok(()),
        }
    }

    /// Removes it, within the limit; nothing of it is left.
    pub fn destroy(self) {
        let begin = Instant::now();
        self.ground
            .hyperplane(&["destroy", "cluster", NAME, "--namespace", NAMESPACE]);
        let elapsed = begin.elapsed();
        println!("MEASURED destroy {:.1} s", elapsed.as_secs_f64());
        self.ground.kubectl(&["get", "namespace", INSIDE]).unwrap_err();
        let kinds = "hostedclusters,nodepools,hostedcontrolplanes,controlplanecomponents";
        let left = self.ground.json(&["get", kinds, "--all-namespaces"]).unwrap();
        assert_eq!(left["items"], json!([]));
        let left = self
            .ground
            .json(&["get", "secrets,configmaps", "--namespace", NAMESPACE])
            .unwrap();
        let names: Vec<&str> = left["items"]
            .as_array()
            .unwrap()
            .iter()
            .filter_map(|object| object["metadata"]["name"].as_str())
            .filter(|name| *name != "kube-root-ca.crt")
            .collect();
        assert_eq!(names, Vec::<&str>::new());
        assert!(elapsed < REMOVAL_LIMIT, "removal took {elapsed:?}");
    }
}
