//! `hyperplane apiserver` as a user runs it, on ports and files of this machine. No test waits for a clock.

use std::{collections::BTreeMap, fs, io::Write as _, path::Path, process::Stdio};

use futures::StreamExt as _;
use k8s_openapi::api::core::v1::{ConfigMap, Namespace};
use kube::{
    Api, Client, ResourceExt as _,
    api::{ListParams, ObjectMeta, PostParams, WatchParams},
    config::Kubeconfig,
};

use crate::apiserver::{Process, client, hyperplane, mode, soon, text};

fn configs(client: &Client) -> Api<ConfigMap> {
    Api::namespaced(client.clone(), "default")
}

/// Stores something.
async fn create(client: &Client, name: &str) -> ConfigMap {
    let config = ConfigMap {
        metadata: ObjectMeta {
            name: Some(name.to_owned()),
            ..ObjectMeta::default()
        },
        data: Some(BTreeMap::from([("key".to_owned(), "value".to_owned())])),
        ..ConfigMap::default()
    };
    configs(client).create(&PostParams::default(), &config).await.unwrap()
}

#[tokio::test]
async fn a_server_is_ready_when_it_says_so() {
    let data = tempfile::tempdir().unwrap();
    let process = Process::on(data.path());
    let namespaces: Api<Namespace> = Api::all(process.client().await);
    let list = namespaces.list(&ListParams::default()).await.unwrap();
    let names: Vec<String> = list.iter().map(kube::ResourceExt::name_any).collect();
    assert_eq!(names, ["default", "kube-node-lease", "kube-public", "kube-system"]);
    assert_eq!(process.kubeconfig(), data.path().join("kubeconfig"));
    assert_eq!(mode(&process.kubeconfig()), 0o600);
    assert_eq!(mode(&data.path().join("store")), 0o700);
}

/// Waits until a ConfigMap is there.
async fn appears(client: &Client, namespace: &str, name: &str) {
    let maps: Api<ConfigMap> = Api::namespaced(client.clone(), namespace);
    let only = WatchParams::default().fields(&format!("metadata.name={name}"));
    let mut events = maps.watch(&only.disable_bookmarks(), "0").await.unwrap().boxed();
    soon(name, events.next()).await.unwrap().unwrap();
}

#[tokio::test]
async fn what_a_controller_manager_does_can_be_left_to_one() {
    let data = tempfile::tempdir().unwrap();
    let arguments = ["--data-dir", text(data.path())];
    let process = Process::start(&[&arguments[..], &["--external-controller-manager"]].concat());
    let client = process.client().await;
    appears(&client, "kube-system", "extension-apiserver-authentication").await;
    assert!(configs(&client).get_opt("kube-root-ca.crt").await.unwrap().is_none());
    assert!(process.end("-TERM").0.success());

    let process = Process::start(&arguments);
    appears(&process.client().await, "default", "kube-root-ca.crt").await;
}

#[tokio::test]
async fn signals_end_it_well_and_a_watch_does_not_hold_it_up() {
    for signal in ["-TERM", "-INT"] {
        let data = tempfile::tempdir().unwrap();
        let process = Process::on(data.path());
        let client = process.client().await;
        let request = http::Request::get("/api/v1/namespaces?watch=true")
            .body(Vec::new())
            .unwrap();
        let mut watch = client.request_stream(request).await.unwrap();
        let (status, rest) = tokio::task::spawn_blocking(move || process.end(signal)).await.unwrap();
        assert_eq!(status.code(), Some(0), "{signal}");
        assert_eq!(rest, "", "one line is all that it says");
        let mut all = Vec::new();
        futures::AsyncReadExt::read_to_end(&mut watch, &mut all).await.unwrap();
        assert!(String::from_utf8(all).unwrap().contains("\"ADDED\""));
    }
}

#[tokio::test]
async fn what_was_acknowledged_survives_a_kill() {
    let data = tempfile::tempdir().unwrap();
    let process = Process::on(data.path());
    let client = process.client().await;
    let mut created = Vec::new();
    for number in 0..20 {
        created.push(create(&client, &format!("config-{number}")).await);
    }
    let authority = fs::read(data.path().join("pki/ca.crt")).unwrap();
    let (status, _) = process.end("-KILL");
    assert_eq!(status.code(), None);

    let process = Process::on(data.path());
    let client = process.client().await;
    for config in &created {
        assert_eq!(configs(&client).get(&config.name_any()).await.unwrap(), *config);
    }
    assert_eq!(fs::read(data.path().join("pki/ca.crt")).unwrap(), authority);
    let next = create(&client, "next")
        .await
        .resource_version()
        .unwrap()
        .parse::<u64>()
        .unwrap();
    assert!(next > created[19].resource_version().unwrap().parse().unwrap());
}

#[test]
fn a_second_server_on_the_same_directory_is_refused() {
    let data = tempfile::tempdir().unwrap();
    let _first = Process::on(data.path());
    for arguments in [
        &["--listen", "127.0.0.1:0"][..],
        &["--listen", "127.0.0.1:0", "--in-memory"],
    ] {
        let second = hyperplane(arguments)
            .args(["--data-dir", text(data.path())])
            .output()
            .unwrap();
        assert_eq!(second.status.code(), Some(2));
        let error = String::from_utf8(second.stderr).unwrap();
        assert!(
            error.ends_with("is in use by another process: stop that one first, or use another directory\n"),
            "{error}"
        );
    }
}

#[test]
fn a_port_that_is_taken_is_named() {
    let data = tempfile::tempdir().unwrap();
    let first = Process::on(&data.path().join("first"));
    let (other, address) = (data.path().join("second"), first.address());
    let second = hyperplane(&["--listen", &address, "--data-dir", text(&other)])
        .output()
        .unwrap();
    assert_eq!(second.status.code(), Some(2));
    let error = String::from_utf8(second.stderr).unwrap();
    assert!(
        error.contains(&format!("nothing can be served on {address}: ")),
        "{error}"
    );
    assert!(
        error.ends_with("; choose another --listen address (port 0 picks a free port)\n"),
        "{error}"
    );
}

#[tokio::test]
async fn memory_forgets_objects_and_keeps_credentials() {
    let data = tempfile::tempdir().unwrap();
    let start = || Process::start(&["--in-memory", "--data-dir", text(data.path())]);
    let first = start();
    create(&first.client().await, "config").await;
    let authority = fs::read(data.path().join("pki/ca.crt")).unwrap();
    assert_eq!(first.end("-TERM").0.code(), Some(0));
    let second = start();
    let found = configs(&second.client().await).get_opt("config").await.unwrap();
    assert_eq!(found, None);
    assert_eq!(fs::read(data.path().join("pki/ca.crt")).unwrap(), authority);

    let file = data.path().join("admin.conf");
    let bare = Process::start(&["--in-memory", "--kubeconfig-out", text(&file)]);
    create(&bare.client().await, "config").await;
    assert_eq!(mode(&file), 0o600);
}

#[tokio::test]
async fn credentials_of_another_server_do_not_count() {
    let data = tempfile::tempdir().unwrap();
    let (first, second) = (Process::on(&data.path().join("1")), Process::on(&data.path().join("2")));
    let mut mixed = Kubeconfig::read_from(first.kubeconfig()).unwrap();
    mixed.auth_infos = Kubeconfig::read_from(second.kubeconfig()).unwrap().auth_infos;
    let error = configs(&client(mixed).await)
        .list(&ListParams::default())
        .await
        .unwrap_err();
    assert!(
        matches!(&error, kube::Error::Api(status) if status.code == 401),
        "{error}"
    );

    let mut nobody = Kubeconfig::read_from(first.kubeconfig()).unwrap();
    nobody.auth_infos[0].auth_info = Some(kube::config::AuthInfo::default());
    let error = configs(&client(nobody).await)
        .list(&ListParams::default())
        .await
        .unwrap_err();
    assert!(
        matches!(&error, kube::Error::Api(status) if status.code == 403),
        "{error}"
    );
}

#[tokio::test]
async fn requests_that_change_something_are_audited() {
    let data = tempfile::tempdir().unwrap();
    let log = data.path().join("audit.log");
    let data = data.path().join("data");
    let process = Process::start(&["--data-dir", text(&data), "--audit-log", text(&log)]);
    let client = process.client().await;
    create(&client, "config").await;
    configs(&client).get("config").await.unwrap();
    let lines = fs::read_to_string(&log).unwrap();
    let lines: Vec<serde_json::Value> = lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(lines.len(), 1, "{lines:?}");
    assert_eq!(lines[0]["objectRef"]["resource"], "configmaps");
    assert_eq!(lines[0]["user"]["username"], "kubernetes-admin");
    assert_eq!(mode(&log), 0o600);
}

/// Runs a task on data, with something on its standard input.
fn task(name: &str, data: &Path, input: &[u8]) -> (Option<i32>, Vec<u8>, String) {
    let mut command = hyperplane(&[name, "--data-dir", text(data)]);
    command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    // A task that needs no input has closed it.
    child.stdin.take().unwrap().write_all(input).ok();
    let output = child.wait_with_output().unwrap();
    (
        output.status.code(),
        output.stdout,
        String::from_utf8(output.stderr).unwrap(),
    )
}

#[tokio::test]
async fn data_is_checked_dumped_and_restored() {
    let parent = tempfile::tempdir().unwrap();
    let (data, copy) = (parent.path().join("data"), parent.path().join("copy"));
    let process = Process::on(&data);
    let created = create(&process.client().await, "config").await;
    let (code, _, error) = task("dump", &data, b"");
    assert_eq!(code, Some(2));
    assert!(error.contains("is in use by another process"), "{error}");
    assert_eq!(process.end("-TERM").0.code(), Some(0));

    let (code, report, _) = task("fsck", &data, b"");
    assert_eq!(code, Some(0));
    assert!(String::from_utf8(report).unwrap().ends_with("\nclean\n"));
    let (code, dump, error) = task("dump", &data, b"");
    assert_eq!((code, &*error), (Some(0), ""));
    let (code, said, error) = task("restore", &copy, &dump);
    assert_eq!((code, said.len()), (Some(0), 0), "{error}");
    assert!(error.starts_with("Restored "), "{error}");
    let (code, _, error) = task("restore", &copy, &dump);
    assert_eq!(code, Some(2), "{error}");
    assert!(error.ends_with(": restore into an empty one\n"), "{error}");

    let process = Process::on(&copy);
    let restored = configs(&process.client().await).get("config").await.unwrap();
    assert_eq!(restored, created);
}

#[test]
fn damage_is_found() {
    let data = tempfile::tempdir().unwrap();
    assert_eq!(Process::on(data.path()).end("-TERM").0.code(), Some(0));
    let log = data.path().join("store/log-0000000000000002");
    let mut bytes = fs::read(&log).unwrap();
    bytes[1000] ^= 1;
    fs::write(&log, bytes).unwrap();
    let (code, report, error) = task("fsck", data.path(), b"");
    assert_eq!(code, Some(1));
    assert!(String::from_utf8(report).unwrap().contains("not clean: "));
    assert!(error.contains("the data is damaged: restore it from a dump"), "{error}");
    let server = hyperplane(&["--listen", "127.0.0.1:0", "--data-dir", text(data.path())])
        .output()
        .unwrap();
    assert_eq!(server.status.code(), Some(1));
    let error = String::from_utf8(server.stderr).unwrap();
    assert!(
        error.contains("the data cannot be used: ") && error.ends_with("; restore a dump into an empty directory\n"),
        "{error}"
    );
}
