//! The test bed itself on real servers: start, identities, restart, the optional servers, and that nothing is left.

use std::{
    env, fs,
    path::Path,
    process::{Command, Stdio},
    time::Duration,
};

use anyhow::{Context, Result, ensure};
use hyperplane_testbed::{
    Answer, ControlPlane, Error, Options,
    assets::{Assets, Program},
};
use k8s_openapi::api::core::v1::ConfigMap;
use kube::{
    Api, Client,
    api::{ListParams, ObjectMeta, PostParams},
};
use tokio::time::{Instant, sleep};

/// Set in the process that is to be killed: the file in which it says where its control plane is.
const VICTIM: &str = "HYPERPLANE_TESTBED_VICTIM";

/// How long the end of killed servers and the removal of their files may take on a busy machine.
const END_LIMIT: Duration = Duration::from_secs(30);

/// How long the server may take to learn of new rights.
const RIGHTS_LIMIT: Duration = Duration::from_secs(30);

/// A node without a kubelet, and a pod that tolerates it.
const NODE_AND_POD: &str = r#"
apiVersion: v1
kind: Node
metadata: {name: paper}
status:
  allocatable: {cpu: "4", memory: 8Gi, pods: "10"}
  capacity: {cpu: "4", memory: 8Gi, pods: "10"}
---
apiVersion: v1
kind: Pod
metadata: {name: guest}
spec:
  containers: [{name: main, image: none}]
  tolerations: [{operator: Exists}]
"#;

fn config_map(name: &str) -> ConfigMap {
    let metadata = ObjectMeta {
        name: Some(name.to_owned()),
        ..ObjectMeta::default()
    };
    ConfigMap {
        metadata,
        data: Some([("key".to_owned(), "value".to_owned())].into()),
        ..ConfigMap::default()
    }
}

async fn list(client: &Client, namespace: &str) -> kube::Result<()> {
    let config_maps: Api<ConfigMap> = Api::namespaced(client.clone(), namespace);
    config_maps.list(&ListParams::default()).await.map(drop)
}

/// The server learns of new rights by watching them, a moment after they were written.
async fn list_when_allowed(client: &Client, namespace: &str) -> Result<()> {
    let start = Instant::now();
    while let Err(error) = list(client, namespace).await {
        ensure!(start.elapsed() < RIGHTS_LIMIT, error);
        sleep(Duration::from_millis(50)).await;
    }
    Ok(())
}

fn succeed(answer: &Answer) -> Result<&str> {
    ensure!(answer.status.success(), "kubectl: {}", answer.stderr);
    Ok(answer.stdout.trim())
}

#[tokio::test]
#[ignore = "needs a real control plane: cargo xtask test"]
async fn a_started_server_is_ready_and_stores_objects() -> Result<()> {
    let control_plane = ControlPlane::shared().await?;
    let client = control_plane.client()?;
    let health = http_get(&client, "/readyz?verbose").await?;
    assert!(health.contains("readyz check passed"), "{health}");

    let namespace = control_plane.namespace("start").await?;
    let config_maps: Api<ConfigMap> = Api::namespaced(client, &namespace);
    config_maps.create(&PostParams::default(), &config_map("first")).await?;
    let seen = control_plane
        .kubectl(&[
            "get",
            "configmap",
            "first",
            "--namespace",
            &namespace,
            "--output=jsonpath={.data.key}",
        ])
        .await?;
    assert_eq!(succeed(&seen)?, "value");
    Ok(())
}

#[tokio::test]
#[ignore = "needs a real control plane: cargo xtask test"]
async fn kubectl_reads_its_input_and_its_failure_is_an_answer() -> Result<()> {
    let control_plane = ControlPlane::shared().await?;
    let namespace = control_plane.namespace("kubectl").await?;
    let manifest = "{apiVersion: v1, kind: ConfigMap, metadata: {name: piped}}";
    let applied = control_plane
        .kubectl_with_input(
            &["apply", "--server-side", "--namespace", &namespace, "--filename=-"],
            manifest,
        )
        .await?;
    assert_eq!(succeed(&applied)?, "configmap/piped serverside-applied");

    let missing = control_plane
        .kubectl(&["get", "configmap", "absent", "--namespace", &namespace])
        .await?;
    assert_eq!(missing.status.code(), Some(1));
    assert!(missing.stderr.contains("NotFound"), "{}", missing.stderr);
    Ok(())
}

#[tokio::test]
#[ignore = "needs a real control plane: cargo xtask test"]
async fn another_user_has_no_rights_but_those_of_its_groups() -> Result<()> {
    let control_plane = ControlPlane::shared().await?;
    let namespace = control_plane.namespace("rights").await?;
    let stranger = control_plane.client_as("ada", &["readers"])?;
    let refused = list(&stranger, &namespace).await.expect_err("ada has no rights yet");
    let text = refused.to_string();
    assert!(
        text.contains(r#"User "ada" cannot list resource "configmaps""#),
        "{text}"
    );

    let role = [
        "create",
        "role",
        "readers",
        "--verb=list",
        "--resource=configmaps",
        "--namespace",
    ];
    let binding = [
        "create",
        "rolebinding",
        "readers",
        "--role=readers",
        "--group=readers",
        "--namespace",
    ];
    for create in [role, binding] {
        succeed(&control_plane.kubectl(&[&create[..], &[&namespace]].concat()).await?)?;
    }
    list_when_allowed(&stranger, &namespace).await?;
    list_when_allowed(&control_plane.client_as("bob", &["others", "readers"])?, &namespace).await?;
    let too_many = control_plane.client_as("eve", &["one", "two", "three"]);
    assert!(matches!(too_many.err(), Some(Error::TooManyGroups { groups: 3, .. })));
    Ok(())
}

#[tokio::test]
#[ignore = "needs a real control plane: cargo xtask test"]
async fn a_restart_keeps_address_and_data() -> Result<()> {
    let control_plane = ControlPlane::start(Options::default()).await?;
    let client = control_plane.client()?;
    let config_maps: Api<ConfigMap> = Api::namespaced(client, "default");
    let before = config_maps.create(&PostParams::default(), &config_map("kept")).await?;

    control_plane.stop_api_server().await;
    config_maps.get("kept").await.expect_err("the server is stopped");
    control_plane.start_api_server().await?;
    assert_eq!(config_maps.get("kept").await?.metadata.uid, before.metadata.uid);

    control_plane.restart_api_server().await?;
    assert_eq!(config_maps.get("kept").await?.metadata.uid, before.metadata.uid);

    let directory = control_plane.directory().to_owned();
    assert_eq!(servers_in(&directory)?.len(), 2);
    drop(control_plane);
    assert_eq!(processes_of(&directory)?, Vec::<String>::new());
    assert!(!directory.exists());
    Ok(())
}

#[tokio::test]
#[ignore = "needs a real control plane: cargo xtask test"]
async fn controllers_and_scheduler_run_on_request() -> Result<()> {
    let options = Options {
        controller_manager: true,
        scheduler: true,
        ..Options::default()
    };
    let control_plane = ControlPlane::start(options).await?;
    let namespace = control_plane.namespace("full").await?;
    let wait = [
        "wait",
        "--for=create",
        "serviceaccount/default",
        "--timeout=60s",
        "--namespace",
        &namespace,
    ];
    succeed(&control_plane.kubectl(&wait).await?)?;

    let create = ["create", "--namespace", &namespace, "--filename=-"];
    succeed(&control_plane.kubectl_with_input(&create, NODE_AND_POD).await?)?;
    let wait = [
        "wait",
        "--for=condition=PodScheduled",
        "pod/guest",
        "--timeout=60s",
        "--namespace",
        &namespace,
    ];
    succeed(&control_plane.kubectl(&wait).await?)?;
    let place = [
        "get",
        "pod",
        "guest",
        "--output=jsonpath={.spec.nodeName}",
        "--namespace",
        &namespace,
    ];
    assert_eq!(succeed(&control_plane.kubectl(&place).await?)?, "paper");
    Ok(())
}

#[tokio::test]
#[ignore = "needs a real control plane: cargo xtask test"]
async fn a_start_that_fails_shows_the_log_and_leaves_no_process() -> Result<()> {
    let unknown = vec!["--no-such-flag".to_owned()];
    let options = Options {
        api_server_arguments: unknown,
        ..Options::default()
    };
    let error = ControlPlane::start(options)
        .await
        .err()
        .context("an unknown flag is refused")?;
    let text = error.to_string();
    assert!(
        text.starts_with("kube-apiserver ended with exit status: 1 before it was ready"),
        "{text}"
    );
    assert!(text.contains("unknown flag: --no-such-flag"), "{text}");

    let Error::Ended { log, .. } = error else {
        anyhow::bail!("{error}")
    };
    let directory = log.ancestors().nth(2).context("logs lie in a directory of their own")?;
    assert!(log.exists());
    assert_eq!(processes_of(directory)?, Vec::<String>::new());
    fs::remove_dir_all(directory)?;
    Ok(())
}

#[tokio::test]
#[ignore = "needs a real control plane: cargo xtask test"]
async fn nothing_is_left_after_kill_9_of_the_parent() -> Result<()> {
    if let Some(answer) = env::var_os(VICTIM) {
        return be_killed(Path::new(&answer)).await;
    }
    let scratch = tempfile::tempdir()?;
    let answer = scratch.path().join("answer");
    let mut victim = Command::new(env::current_exe()?)
        .args([
            "--exact",
            "control_plane_real::nothing_is_left_after_kill_9_of_the_parent",
            "--include-ignored",
            "--nocapture",
        ])
        .env(VICTIM, &answer)
        .stdout(Stdio::null())
        .spawn()?;
    while !answer.exists() {
        ensure!(victim.try_wait()?.is_none(), "the victim ended before it was killed");
        sleep(Duration::from_millis(50)).await;
    }
    let directory = fs::read_to_string(&answer)?;
    let directory = Path::new(&directory);
    assert_eq!(
        servers_in(directory)?,
        ["etcd", "kube-apiserver", "kube-controller-manager", "kube-scheduler"]
    );

    victim.kill()?;
    victim.wait()?;
    let killed = Instant::now();
    while !processes_of(directory)?.is_empty() || directory.exists() {
        ensure!(
            killed.elapsed() < END_LIMIT,
            "left over: {:?}",
            processes_of(directory)?
        );
        sleep(Duration::from_millis(50)).await;
    }
    Ok(())
}

/// The victim's part: starts everything, says where, and waits for its end.
async fn be_killed(answer: &Path) -> Result<()> {
    let options = Options {
        controller_manager: true,
        scheduler: true,
        ..Options::default()
    };
    let control_plane = ControlPlane::start(options).await?;
    let half_written = answer.with_extension("part");
    fs::write(
        &half_written,
        control_plane.directory().to_str().context("a plain path")?,
    )?;
    fs::rename(half_written, answer)?;
    std::future::pending().await
}

/// Which servers run with files of this directory, in alphabetical order.
fn servers_in(directory: &Path) -> Result<Vec<String>> {
    let programs = Assets::locate()?.directory;
    let processes = processes_of(directory)?;
    let runs = |program: &Program| {
        let path = programs.join(program.name()).display().to_string();
        processes.iter().any(|command| command.starts_with(&path))
    };
    Ok(Program::ALL
        .into_iter()
        .filter(runs)
        .map(|program| program.name().to_owned())
        .collect())
}

/// The command lines of all processes that name this directory; those that ended but were not reaped have none.
fn processes_of(directory: &Path) -> Result<Vec<String>> {
    let listing = Command::new("ps")
        .args(["-A", "-ww", "-o", "args="])
        .output()
        .context("running ps")?;
    ensure!(
        listing.status.success(),
        "ps: {}",
        String::from_utf8_lossy(&listing.stderr)
    );
    let name = directory.to_str().context("a plain path")?;
    let text = String::from_utf8_lossy(&listing.stdout).into_owned();
    Ok(text
        .lines()
        .filter(|command| command.contains(name))
        .map(str::to_owned)
        .collect())
}

async fn http_get(client: &Client, path: &str) -> Result<String> {
    let request = http::Request::get(path).body(Vec::new())?;
    Ok(client.request_text(request).await?)
}
