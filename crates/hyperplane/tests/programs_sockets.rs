//! Every command line that a rendered container runs from our image, run: with the files that its pod mounts, until it
//! serves, is done, or says what it waits for; then it is told to end. Two things are rewritten: where volumes are, and
//! the address of the pod, which is one of the loopback network.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    net::{Ipv4Addr, TcpListener},
    path::Path,
    sync::mpsc,
    thread,
};

use hyperplane_components::{
    Decision, ETCD_RECOVERY, FailingMember, SUBCOMMANDS, catalogue, decide, etcd_recovery, manager_catalogue,
};
use jiff::Timestamp;
use serde_json::json;

use crate::{
    apiserver, issuing,
    programs::{self, Line, Program, lines},
    rendering::{NAMESPACE, World, extended_release},
};

/// What a program in the log of another one says, for the program that copies logs.
const LOGGED: &str = "{\"kind\": \"Event\"}";

/// How a program shows that it has begun.
enum Sign {
    /// It says this.
    Says(&'static str),
    /// Its ports are open.
    Listens,
    /// It has ended.
    Ends,
}

/// How each program begins here, where it finds no other part of its control plane, and its exit code once it is told to
/// end: one that waits for something has failed then.
fn expected(subcommand: &str) -> (Sign, i32) {
    match subcommand {
        "availability-prober" | "wait-for" => (Sign::Says("Waiting"), 1),
        "config-operator" | "control-plane-operator" | "pki-operator" => (Sign::Says("Reconciling."), 0),
        "etcd-defrag" => (Sign::Says("A pass did nothing, and the next one tries again."), 0),
        "etcd-recover-member" => (Sign::Says("Waiting: a member of etcd to start empty"), 1),
        "etcd-reset-member" => (Sign::Ends, 0),
        "ignition-server"
        | "konnectivity-https-proxy"
        | "konnectivity-socks5-proxy"
        | "machine-approver"
        | "router" => (Sign::Listens, 0),
        "tail" => (Sign::Says(LOGGED), 0),
        "token-minter" => (Sign::Says("Waiting"), 0),
        other => panic!("{other}: say how it begins"),
    }
}

/// A control plane that has every component, and the Secrets and ConfigMaps that its pods mount.
fn every_line(directory: &Path) -> Vec<Line> {
    let change = json!({
        "metadata": {"annotations": {"hyperplane.dev/tenant-operators": "dedicated"}},
        "spec": {"platform": {"type": "KubeVirt", "kubevirt": {}}},
    });
    let mut world = World::new(&change, &extended_release());
    let certificates = issuing::certificates(Ipv4Addr::LOCALHOST, 6443, Timestamp::now()).unwrap();
    world.objects.secrets.clone_from(&certificates.secrets);
    world.objects.config_maps.clone_from(&certificates.config_maps);
    let mut rendered = BTreeMap::new();
    for component in catalogue().iter().chain(manager_catalogue()) {
        match decide(component, &world.inputs(), &world.settled()) {
            Decision::Apply(made) => {
                for manifest in made.manifests {
                    issuing::keep(manifest, &mut world.objects);
                }
                rendered.insert(component.name, made.workload);
            }
            Decision::Absent(_) => {}
            Decision::Waiting(reasons) => panic!("{}: {reasons:?}", component.name),
        }
    }
    let member = FailingMember {
        name: programs::pod_name("etcd"),
        uid: "1-2-3".to_owned(),
    };
    match etcd_recovery(&world.inputs(), &member) {
        Decision::Apply(made) => rendered.insert(ETCD_RECOVERY, made.workload),
        other => panic!("{other:?}"),
    };
    let mut all = Vec::new();
    for (name, workload) in &rendered {
        let pod = workload.template().unwrap().spec.as_ref().unwrap();
        all.extend(lines(name, pod, &world.objects, directory, all.len()));
    }
    all
}

/// What sidecars of later components get.
fn later_lines(known: &[Line]) -> Vec<Line> {
    let proxy = known
        .iter()
        .find(|line| line.subcommand() == "konnectivity-https-proxy");
    let proxy = proxy.unwrap();
    let mut arguments = known.iter().flat_map(|line| &line.arguments);
    let kubeconfig = arguments
        .find(|argument| argument.starts_with("--kubeconfig="))
        .unwrap();
    let mut socks = proxy.clone();
    "konnectivity-socks5-proxy".clone_into(&mut socks.arguments[0]);
    let mut minter = proxy.clone();
    minter.arguments = [
        "token-minter",
        kubeconfig,
        "--service-account-namespace=kube-system",
        "--service-account-name=one",
        "--token-audience=api",
        "--token-file=/nowhere/token",
    ]
    .map(str::to_owned)
    .to_vec();
    vec![socks, minter]
}

/// A management cluster with the kinds that operators read, and the namespace of the control plane, where their leases are.
fn management(directory: &Path) -> apiserver::Process {
    let management = apiserver::Process::start(&["--in-memory", "--data-dir", apiserver::text(directory)]);
    // The one namespace that an installation makes.
    let installing = line(&["install", "apply", "--namespace", NAMESPACE]);
    assert_eq!(Program::start(&installing, &management.kubeconfig()).wait(), Some(0));
    management
}

/// A command line of no container.
fn line(words: &[&str]) -> Line {
    Line {
        component: "none".to_owned(),
        container: "none".to_owned(),
        arguments: words.iter().map(|word| (*word).to_owned()).collect(),
        environment: Vec::new(),
    }
}

/// Nothing answers there: what is set up first waits, and is given up.
#[test]
fn operators_are_told_to_end_while_they_are_set_up() {
    let directory = tempfile::tempdir().unwrap();
    let silent = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let kubeconfig = directory.path().join("kubeconfig");
    let config = json!({
        "apiVersion": "v1", "kind": "Config", "current-context": "one",
        "clusters": [{"name": "one", "cluster": {"server": format!("http://{}", silent.local_addr().unwrap())}}],
        "contexts": [{"name": "one", "context": {"cluster": "one", "user": "one"}}],
        "users": [{"name": "one", "user": {}}],
    });
    fs::write(&kubeconfig, config.to_string()).unwrap();
    let (sender, asking) = mpsc::channel();
    thread::spawn(move || silent.incoming().try_for_each(|connection| sender.send(connection)));
    for words in [
        ["operator"].as_slice(),
        &["machine-controller"],
        &["control-plane-operator", "--namespace=one"],
        &["pki-operator", "--namespace=one"],
        &["config-operator", "--namespace=one"],
    ] {
        let program = Program::start(&line(words), &kubeconfig);
        let connection = asking.recv_timeout(apiserver::NEVER).unwrap();
        assert_eq!(program.end(), Some(0), "{words:?}");
        drop(connection);
    }
}

#[test]
fn every_rendered_command_line_runs_and_ends() {
    let directory = tempfile::tempdir().unwrap();
    let management = management(directory.path());
    let mut all = every_line(&directory.path().join("pods"));
    all.extend(later_lines(&all));
    let mut seen = BTreeSet::new();
    for line in &all {
        seen.insert(line.subcommand().to_owned());
        let (sign, code) = expected(line.subcommand());
        if line.subcommand() == "tail" {
            fs::write(line.value("--file"), format!("{LOGGED}\n")).unwrap();
        }
        let mut program = Program::start(line, &management.kubeconfig());
        match sign {
            Sign::Says(text) => program.until_it_says(text),
            Sign::Listens => program.until_it_listens(),
            Sign::Ends => {}
        }
        let ended = if matches!(sign, Sign::Ends) {
            program.wait()
        } else {
            program.end()
        };
        assert_eq!(ended, Some(code), "{} of {}", line.container, line.component);
        if line.subcommand() == "etcd-reset-member" {
            let written = fs::read_to_string(line.value("--output")).unwrap();
            assert!(
                written.contains(&format!("name: {}", programs::pod_name("etcd"))),
                "{written}"
            );
            assert!(written.contains(NAMESPACE), "{written}");
        }
    }
    assert_eq!(seen, SUBCOMMANDS.iter().map(|name| (*name).to_owned()).collect());
}
