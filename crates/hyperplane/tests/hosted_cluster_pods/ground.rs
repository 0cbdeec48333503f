//! The management cluster of a test, and the product's own program and kubectl on it. It knows no step of the story.

use std::{
    env,
    path::{Path, PathBuf},
    process::{Command, Output, Stdio},
    thread,
    time::{Duration, Instant},
};

use hyperplane_real_cluster::{Operators, Wanted};
use hyperplane_testbed::{
    pods::{ManagementCluster, Programs},
    usage::{self, Container, Table},
};
use serde_json::Value;

/// Where `cargo xtask` tells the program that the operators' image is made of: it must need no library.
const PROGRAM: &str = "HYPERPLANE_IMAGE_BINARY";

/// Where there is an archive of that image already, if there is one.
const ARCHIVE: &str = "HYPERPLANE_IMAGE_ARCHIVE";

/// How often is looked.
const POLL_INTERVAL: Duration = Duration::from_millis(250);

/// What is printed of what a cluster says when a test fails.
const STORY: &[&[&str]] = &[
    &[
        "get",
        "nodes,pods,persistentvolumeclaims",
        "--all-namespaces",
        "-o",
        "wide",
    ],
    &[
        "get",
        "hostedclusters,hostedcontrolplanes,nodepools,controlplanecomponents",
        "--all-namespaces",
    ],
    &["get", "events", "--all-namespaces", "--sort-by=.lastTimestamp"],
    &["logs", "--namespace=hyperplane", "deployment/operator", "--tail=40"],
];

/// A management cluster, in whose network this thread and all that it starts are.
pub struct Ground {
    pub cluster: ManagementCluster,
    kubectl: PathBuf,
    start: Instant,
}

impl Ground {
    /// Brings one up.
    pub fn start(nodes: u8) -> Self {
        let start = Instant::now();
        let (archive, program) = (env::var_os(ARCHIVE), env::var_os(PROGRAM));
        let operators = match (&archive, &program) {
            (Some(archive), _) => Operators::Archive(Path::new(archive)),
            (None, Some(program)) => Operators::Program(Path::new(program)),
            (None, None) => panic!("{PROGRAM} is not set: run `cargo xtask real-cluster test`"),
        };
        let wanted = Wanted {
            nodes,
            operators,
            is_standing: false,
        };
        let cluster = hyperplane_real_cluster::start(wanted).unwrap();
        cluster.enter_network().unwrap();
        let ground = Self {
            cluster,
            kubectl: Programs::locate().unwrap().kubectl,
            start,
        };
        ground.tell(&format!("a management cluster with {nodes} nodes is there"));
        ground
    }

    /// Prints what happened, and when.
    pub fn tell(&self, what: &str) {
        println!("{:>6.1} s  {what}", self.start.elapsed().as_secs_f64());
    }

    /// Runs the product's program as users do; what it prints.
    pub fn hyperplane(&self, arguments: &[&str]) -> String {
        let line = format!("hyperplane {}", arguments.join(" "));
        let output = self.hyperplane_command(arguments).output().unwrap();
        self.tell(&line);
        succeeded(&line, &output)
    }

    /// The product's program, to be run.
    pub fn hyperplane_command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_hyperplane"));
        command
            .args(arguments)
            .env("KUBECONFIG", self.cluster.kubeconfig())
            .stdin(Stdio::null());
        command
    }

    /// The real kubectl with a kubeconfig, to be run.
    pub fn kubectl_command(&self, kubeconfig: &Path, arguments: &[&str]) -> Command {
        let mut command = Command::new(&self.kubectl);
        command
            .args(arguments)
            .env("KUBECONFIG", kubeconfig)
            .env("KUBECACHEDIR", self.cluster.directory().join("discovery"))
            .stdin(Stdio::null());
        command
    }

    /// Asks the management cluster; what kubectl complains about is an answer as well.
    pub fn kubectl(&self, arguments: &[&str]) -> Result<String, String> {
        answer(
            &self
                .kubectl_command(&self.cluster.kubeconfig(), arguments)
                .output()
                .unwrap(),
        )
    }

    /// One object or a list of the management cluster.
    pub fn json(&self, arguments: &[&str]) -> Result<Value, String> {
        let text = self.kubectl(&[arguments, &["-o", "json"]].concat())?;
        serde_json::from_str(&text).map_err(|error| error.to_string())
    }

    /// What all containers of the management cluster cost, as of now.
    pub fn look_at_costs(&self) -> Costs {
        let pods = self
            .kubectl(&["get", "pods", "--all-namespaces", "-o", "json"])
            .unwrap();
        let group = self.cluster.control_group();
        Costs {
            containers: usage::containers(Path::new(usage::MOUNT), group, &pods).unwrap(),
            at: Instant::now(),
        }
    }

    /// Prints what containers cost, and what they spent since an earlier look.
    pub fn tell_costs(&self, before: &Costs) {
        let now = self.look_at_costs();
        let table = Table::between(&before.containers, &now.containers, now.at.duration_since(before.at));
        println!("MEASURED what containers cost\n\n{table}");
    }

    /// Waits until a look gives something, and says how long it took.
    pub fn until<T>(&self, what: &str, limit: Duration, mut look: impl FnMut() -> Result<T, String>) -> (T, Duration) {
        let begin = Instant::now();
        loop {
            match look() {
                Ok(found) => {
                    self.tell(what);
                    return (found, begin.elapsed());
                }
                Err(last) => assert!(begin.elapsed() < limit, "{what}: not within {limit:?}: {last}"),
            }
            thread::sleep(POLL_INTERVAL);
        }
    }
}

/// What containers cost at one time.
pub struct Costs {
    containers: Vec<Container>,
    at: Instant,
}

impl Drop for Ground {
    /// A failed test is read by people who were not there.
    fn drop(&mut self) {
        if !thread::panicking() {
            return;
        }
        for arguments in STORY {
            let told = self.kubectl(arguments).unwrap_or_else(|error| error);
            println!("\n$ kubectl {}\n{told}", arguments.join(" "));
        }
        let arguments = ["get", "pods", "--all-namespaces", "-o", "json"];
        let pods: Value = self
            .kubectl(&arguments)
            .ok()
            .and_then(|text| serde_json::from_str(&text).ok())
            .unwrap_or_default();
        for pod in pods["items"]
            .as_array()
            .into_iter()
            .flatten()
            .filter(|pod| !is_ready(pod))
        {
            let text = |field: &str| pod["metadata"][field].as_str().unwrap_or_default().to_owned();
            let namespace = format!("--namespace={}", text("namespace"));
            let arguments = ["logs", &namespace, &text("name"), "--all-containers", "--tail=20"];
            let told = self.kubectl(&arguments).unwrap_or_else(|error| error);
            println!("\n$ kubectl {}\n{told}", arguments.join(" "));
        }
    }
}

/// Whether a pod has the condition.
pub fn is_ready(object: &Value) -> bool {
    condition(object, "Ready") == Some("True")
}

/// The status of a condition.
pub fn condition<'a>(object: &'a Value, name: &str) -> Option<&'a str> {
    let conditions = object["status"]["conditions"].as_array()?;
    let found = conditions.iter().find(|condition| condition["type"] == name)?;
    found["status"].as_str()
}

/// What a command printed, if it went well.
pub fn answer(output: &Output) -> Result<String, String> {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    if output.status.success() {
        Ok(text(&output.stdout))
    } else {
        Err(format!("{}{}", text(&output.stdout), text(&output.stderr)))
    }
}

/// What a command printed, which has to go well.
pub fn succeeded(line: &str, output: &Output) -> String {
    answer(output).unwrap_or_else(|error| panic!("{line}: {error}"))
}
