//! A management cluster of real processes with real nodes: the order in which it comes up, and how it ends. The parts know
//! the how.

use std::{
    io::Write as _,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    thread,
    time::Duration,
};

use super::{
    arguments, cgroups, configs,
    error::Error,
    layout::{ADMIN, HOST_BRIDGE, Layout, Node, write},
    namespaces::Namespaces,
    policies,
    programs::Programs,
    state::{self, State},
    wait::wait_until,
};
use crate::guard::tail;

/// How long a program may take to be ready; on a quiet machine they need some seconds, beside a compiler more.
const START_LIMIT: Duration = Duration::from_mins(2);

/// What a management cluster shall consist of.
#[derive(Clone, Debug)]
pub struct Options {
    /// The programs.
    pub programs: Programs,
    /// Archives of the images that its nodes shall have: there is no registry.
    pub images: Vec<PathBuf>,
    /// How many nodes: one to three.
    pub nodes: u8,
    /// Whether network policies are enforced.
    pub network_policies: bool,
}

/// A management cluster that ends when this value is dropped or this process ends, however it ends; unless it stands.
pub struct ManagementCluster {
    namespaces: Namespaces,
    layout: Layout,
    state: State,
    programs: Programs,
    running: Vec<Running>,
    is_standing: bool,
}

/// A program that was started and is to run on.
struct Running {
    name: String,
    log: PathBuf,
    child: Child,
}

impl ManagementCluster {
    /// Starts a cluster and waits until pods can run on it. What killed runs have left is removed first.
    pub fn start(options: &Options) -> Result<Self, Error> {
        state::sweep()?;
        Self::start_in(State::held(), options)
    }

    /// Starts the one cluster that outlives this process.
    pub fn stand(options: &Options) -> Result<Self, Error> {
        state::sweep()?;
        Self::start_in(State::standing(), options)
    }

    /// The cluster that stands.
    pub fn open(programs: &Programs) -> Result<Self, Error> {
        let state = State::standing();
        let Some(namespaces) = Namespaces::open(&state.directory) else {
            let directory = state.directory;
            return Err(Error::NoCluster { directory });
        };
        Ok(Self {
            namespaces,
            layout: layout_of(&state),
            state,
            programs: programs.clone(),
            running: Vec::new(),
            is_standing: true,
        })
    }

    /// Ends the cluster that stands, also one of which only files are left.
    pub fn remove_standing() -> Result<(), Error> {
        state::sweep()?;
        State::standing().remove()
    }

    /// A program that runs in the network of the cluster's hosts, as its administrator. It sees the files of this machine.
    pub fn command(&self, program: impl AsRef<Path>) -> Command {
        let mut command = self.namespaces.command(program);
        command.env("KUBECONFIG", self.kubeconfig());
        command
    }

    /// Runs kubectl as the administrator of the cluster; what it prints.
    pub fn kubectl(&self, arguments: &[&str]) -> Result<String, Error> {
        run(self.command(&self.programs.kubectl).args(arguments), "")
    }

    /// Writes objects, given as YAML or JSON.
    pub fn apply(&self, objects: &str) -> Result<String, Error> {
        let arguments = ["apply", "--server-side", "--force-conflicts", "-f", "-"];
        run(self.command(&self.programs.kubectl).args(arguments), objects)
    }

    /// Puts the calling thread, and all threads and processes that it starts from now on, into the network of the cluster's
    /// hosts.
    pub fn enter_network(&self) -> Result<(), Error> {
        self.namespaces.enter_network()
    }

    /// The kubeconfig of the administrator.
    pub fn kubeconfig(&self) -> PathBuf {
        self.layout.kubeconfig(ADMIN)
    }

    /// Where everything of this cluster is; it goes when the cluster goes.
    pub fn directory(&self) -> &Path {
        &self.state.directory
    }

    /// Where programs log.
    pub fn logs(&self) -> PathBuf {
        self.layout.logs()
    }

    /// The control group below which all of its pods are, as a path below the root.
    pub fn control_group(&self) -> &str {
        &self.layout.control_group
    }

    /// Makes a control group for what tests start besides; its path below the root. It goes when the cluster goes.
    pub fn make_control_group(&self, name: &str) -> Result<String, Error> {
        let group = format!("{}/{name}", self.layout.control_group);
        cgroups::create(&group)?;
        Ok(group)
    }

    /// The first process of the cluster's namespaces, for those who enter them by themselves.
    pub fn first_process(&self) -> u32 {
        self.namespaces.first_process()
    }

    /// Fails if a program has ended that is to run on.
    pub fn check(&mut self) -> Result<(), Error> {
        self.running.iter_mut().try_for_each(Running::check)
    }

    /// Ends the cluster and removes what is left of it.
    pub fn end(self) -> Result<(), Error> {
        self.remove()
    }

    fn remove(&self) -> Result<(), Error> {
        self.namespaces.end()?;
        self.state.remove()
    }

    fn start_in(state: State, options: &Options) -> Result<Self, Error> {
        let nodes: Vec<Node> = (1..=options.nodes.clamp(1, MOST_NODES)).map(Node).collect();
        let is_standing = state == State::standing();
        state.create()?;
        let layout = layout_of(&state);
        layout.create(&nodes)?;
        let namespaces = if is_standing {
            Namespaces::stand(&state.directory)?
        } else {
            Namespaces::hold(&state.directory)?
        };
        let mut cluster = Self {
            namespaces,
            layout,
            state,
            programs: options.programs.clone(),
            running: Vec::new(),
            is_standing,
        };
        match cluster.bring_up(&nodes, options) {
            Ok(()) => Ok(cluster),
            Err(error) => {
                cluster.is_standing = false;
                Err(error)
            }
        }
    }

    fn bring_up(&mut self, nodes: &[Node], options: &Options) -> Result<(), Error> {
        self.make_network(nodes)?;
        for node in nodes {
            self.start_containerd(*node)?;
        }
        self.start_control_plane()?;
        self.import_images(nodes, &options.images)?;
        if options.network_policies {
            self.enforce_policies()?;
        }
        self.apply(&configs::objects())?;
        self.apply(&configs::volumes(&self.layout, nodes))?;
        self.start_nodes(nodes)?;
        let limit = format!("{}s", START_LIMIT.as_secs());
        let wait = ["wait", "--timeout", &limit];
        self.kubectl(&[wait.as_slice(), &["--for=condition=Ready", "nodes", "--all"]].concat())?;
        let dns = [
            "--for=condition=Available",
            "deployment/coredns",
            "--namespace=kube-system",
        ];
        self.kubectl(&[wait.as_slice(), &dns].concat())?;
        self.check()
    }

    fn make_network(&self, nodes: &[Node]) -> Result<(), Error> {
        self.inside("ip", &["link", "add", HOST_BRIDGE, "type", "bridge"])?;
        for node in nodes {
            let address = format!("{}/24", node.address());
            self.inside("ip", &["address", "add", &address, "dev", HOST_BRIDGE])?;
        }
        self.inside("ip", &["link", "set", HOST_BRIDGE, "up"])?;
        self.inside("sysctl", &["-q", "-w", "net.ipv4.ip_forward=1"])?;
        // Packets between pods of one node are judged as those between nodes.
        self.inside("sysctl", &["-q", "-w", "net.bridge.bridge-nf-call-iptables=1"])
    }

    fn start_control_plane(&mut self) -> Result<(), Error> {
        let programs = self.programs.clone();
        self.start_program(&programs.etcd, "etcd", &arguments::etcd(&self.layout))?;
        self.start_program(
            &programs.api_server,
            "kube-apiserver",
            &arguments::api_server(&self.layout),
        )?;
        wait_until("kube-apiserver is ready", START_LIMIT, || {
            self.check()?;
            Ok(self
                .kubectl(&["get", "--raw", "/readyz"])
                .map(drop)
                .map_err(|error| error.to_string()))
        })?;
        let arguments = arguments::controller_manager(&self.layout);
        self.start_program(&programs.controller_manager, "kube-controller-manager", &arguments)?;
        self.start_program(
            &programs.scheduler,
            "kube-scheduler",
            &arguments::scheduler(&self.layout),
        )
    }

    fn start_containerd(&mut self, node: Node) -> Result<(), Error> {
        cgroups::create(&self.layout.node_group(node))?;
        let directory = self.layout.node(node);
        let config = directory.join("containerd.toml");
        write(&config, &configs::containerd(&self.layout, node))?;
        let network = directory.join("cni").join("10-pods.conflist");
        write(&network, &configs::pod_network(&self.layout, node))?;
        let arguments = ["--config".to_owned(), config.display().to_string()];
        self.start_program(Path::new("containerd"), &format!("containerd-{}", node.0), &arguments)
    }

    /// Gives every node all images; nodes do not wait for each other.
    fn import_images(&mut self, nodes: &[Node], images: &[PathBuf]) -> Result<(), Error> {
        for node in nodes {
            wait_until("containerd answers", START_LIMIT, || {
                self.check()?;
                Ok(self.ctr(*node, &["version"]).map_err(|error| error.to_string()))
            })?;
        }
        let cluster = &*self;
        let import = |node: Node| {
            images.iter().try_for_each(|image| {
                let image = image.display().to_string();
                // They are unpacked when a container needs them.
                cluster.ctr(
                    node,
                    &["--namespace", "k8s.io", "images", "import", "--no-unpack", &image],
                )
            })
        };
        thread::scope(|scope| {
            let imports: Vec<_> = nodes.iter().map(|node| scope.spawn(|| import(*node))).collect();
            imports
                .into_iter()
                .try_for_each(|import| import.join().expect("an import does not panic"))
        })
    }

    fn start_nodes(&mut self, nodes: &[Node]) -> Result<(), Error> {
        let programs = self.programs.clone();
        write(&self.layout.root.join("resolv.conf"), &configs::resolver())?;
        for node in nodes {
            let config = self.layout.node(*node).join("kubelet.yaml");
            write(&config, &configs::kubelet(&self.layout, *node))?;
            let arguments = arguments::kubelet(&self.layout, *node);
            self.start_program(&programs.kubelet, &format!("kubelet-{}", node.0), &arguments)?;
        }
        let config = self.layout.root.join("kube-proxy.yaml");
        write(&config, &configs::kube_proxy(&self.layout))?;
        let arguments = arguments::kube_proxy(&self.layout);
        self.start_program(&programs.kube_proxy, "kube-proxy", &arguments)?;
        for node in nodes {
            wait_until("kubelets register", START_LIMIT, || {
                self.check()?;
                let found = self.kubectl(&["get", "node", &node.name()]);
                Ok(found.map(drop).map_err(|error| error.to_string()))
            })?;
        }
        Ok(())
    }

    fn enforce_policies(&mut self) -> Result<(), Error> {
        let program = self.programs.network_policies.clone();
        let rules = self.layout.root.join("network-policies.rules");
        write(&rules, &policies::rules())?;
        self.inside("iptables-restore", &["--noflush", &rules.display().to_string()])?;
        let arguments = arguments::network_policies(&self.layout);
        self.start_program(&program, "kube-network-policies", &arguments)
    }

    fn ctr(&self, node: Node, arguments: &[&str]) -> Result<(), Error> {
        let socket = self.layout.socket(node).display().to_string();
        let arguments = [&["--address", &socket], arguments].concat();
        self.inside("ctr", &arguments)
    }

    fn inside(&self, program: &str, arguments: &[&str]) -> Result<(), Error> {
        run(self.namespaces.command(program).args(arguments), "").map(drop)
    }

    fn start_program(&mut self, program: &Path, name: &str, arguments: &[String]) -> Result<(), Error> {
        let log = self.layout.log(name);
        let child = self.namespaces.start(program, arguments, &log)?;
        self.running.push(Running {
            name: name.to_owned(),
            log,
            child,
        });
        Ok(())
    }
}

impl Drop for ManagementCluster {
    fn drop(&mut self) {
        if !self.is_standing {
            // What could not be removed now is swept by the next run.
            drop(self.remove());
        }
    }
}

/// As many as a control plane with a member of etcd on each needs.
const MOST_NODES: u8 = 3;

impl Running {
    fn check(&mut self) -> Result<(), Error> {
        let ended = self
            .child
            .try_wait()
            .map_err(Error::at(format!("looking after {}", self.name)))?;
        match ended {
            None => Ok(()),
            Some(_) => Err(Error::Ended {
                name: self.name.clone(),
                log: self.log.clone(),
                tail: tail(&self.log).unwrap_or_default(),
            }),
        }
    }
}

fn layout_of(state: &State) -> Layout {
    Layout {
        root: state.directory.clone(),
        control_group: state.control_group(),
    }
}

/// Runs a command to its end with text on its standard input; what it prints.
pub(crate) fn run(command: &mut Command, input: &str) -> Result<String, Error> {
    let line = || format!("{command:?}");
    let line = line();
    let step = || Error::at(format!("running {line}"));
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(step())?;
    let pipe = child.stdin.take();
    let output = thread::scope(|scope| {
        // One that ends without reading says why in its answer.
        scope.spawn(move || pipe.map(|mut pipe| pipe.write_all(input.as_bytes())));
        child.wait_with_output()
    });
    let output = output.map_err(step())?;
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    if output.status.success() {
        return Ok(text(&output.stdout));
    }
    Err(Error::Command {
        command: line,
        status: output.status,
        output: format!("{}{}", text(&output.stdout), text(&output.stderr)),
    })
}
