//! `hyperplane up` where it must refuse or has lost its ground: each time one sentence that helps, and nothing is damaged.

use std::{
    fs,
    net::TcpListener,
    path::Path,
    process::{Command, Output, Stdio},
};

use k8s_openapi::api::core::v1::ConfigMap;
use kube::{
    Api,
    api::{ListParams, PostParams},
};

use crate::apiserver::{Process, soon, text};

fn up(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_hyperplane"))
        .arg("up")
        .args(arguments)
        .stdin(Stdio::null())
        .output()
        .unwrap()
}

/// The exit code and what is said of a refusal, which is one line and nothing on standard output.
fn refusal(arguments: &[&str]) -> (i32, String) {
    let output = up(arguments);
    let error = String::from_utf8(output.stderr).unwrap();
    assert!(output.stdout.is_empty(), "{arguments:?}");
    assert_eq!(error.lines().count(), 1, "{arguments:?}: {error}");
    (output.status.code().unwrap(), error)
}

/// The code of a wrong use: whoever typed the command can mend it.
const WRONG_USE: i32 = 2;

/// A wrong use names what is wrong, and ends with what to do.
fn check(arguments: &[&str], words: &[&str], remedy: &str) {
    let (code, error) = refusal(arguments);
    assert_eq!(code, WRONG_USE, "{error}");
    for word in words {
        assert!(error.contains(word), "{word:?} is not in {error}");
    }
    assert!(
        error.ends_with(&format!("{remedy}\n")),
        "{error} does not end with {remedy:?}"
    );
}

#[test]
fn a_port_that_is_taken_is_named() {
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    check(
        &["--ephemeral", "--listen", &address],
        &[&address, "Address already in use"],
        "; choose another --listen address (port 0 picks a free port)",
    );
}

#[test]
fn a_kubeconfig_that_is_none_is_named() {
    let file = tempfile::NamedTempFile::new().unwrap();
    fs::write(file.path(), "clusters: [").unwrap();
    let remedy = "; look at the file, at --kubeconfig and at --context";
    check(
        &["--kubeconfig", text(file.path())],
        &[text(file.path()), "cannot be read as a kubeconfig"],
        remedy,
    );
    check(
        &["--kubeconfig", "/nowhere/kubeconfig"],
        &["/nowhere/kubeconfig"],
        remedy,
    );
}

#[test]
fn a_fleet_that_cannot_be_is_refused_before_anything_is_made() {
    let parent = tempfile::tempdir().unwrap();
    let data = parent.path().join("data");
    for (arguments, words, remedy) in [
        (
            ["--clusters", "0", "--nodes", "1"],
            "--clusters: a fleet cannot have 0 clusters",
            ": give a number from 1 to 10000",
        ),
        (
            ["--clusters", "1", "--nodes", "5000"],
            "--nodes: a cluster of a fleet cannot have 5000 nodes",
            ": give a number from 0 to 1000",
        ),
        (
            ["--clusters", "1", "--at-once", "0"],
            "--at-once: at least one cluster has to be under way at a time",
            ": give a number from 1 on",
        ),
    ] {
        let place = ["--data-dir", text(&data), "--listen", "127.0.0.1:0"];
        check(&[&place[..], &arguments[..]].concat(), &[words], remedy);
    }
    assert!(!data.exists());
}

#[tokio::test]
async fn two_on_one_directory_do_not_meet() {
    let parent = tempfile::tempdir().unwrap();
    let data = parent.path().join("data");
    let first = Process::up(&["--data-dir", text(&data)]);
    check(
        &["--data-dir", text(&data), "--listen", "127.0.0.1:0"],
        &["is in use by another process"],
        ": stop that one first, or use another directory",
    );
    let maps: Api<ConfigMap> = Api::all(first.client().await);
    soon("the first goes on", maps.list(&ListParams::default()))
        .await
        .unwrap();
    assert!(first.end("-TERM").0.success());
}

#[test]
fn data_of_a_newer_release_is_left_alone() {
    let parent = tempfile::tempdir().unwrap();
    let data = parent.path().join("data");
    assert!(Process::up(&["--data-dir", text(&data)]).end("-TERM").0.success());
    let format = find(&data.join("store"), "format");
    let written: serde_json::Value = serde_json::from_str(&fs::read_to_string(&format).unwrap()).unwrap();
    let mut newer = written.clone();
    newer["format"] = 9_999.into();
    newer["product"] = "99.0.0".into();
    fs::write(&format, newer.to_string()).unwrap();
    check(
        &["--data-dir", text(&data), "--listen", "127.0.0.1:0"],
        &["format 9999"],
        ": start release 99.0.0 or a newer one",
    );
    fs::write(&format, written.to_string()).unwrap();
    assert!(Process::up(&["--data-dir", text(&data)]).end("-TERM").0.success());
}

/// A file of a directory, by the beginning of its name.
fn find(directory: &Path, prefix: &str) -> std::path::PathBuf {
    let files = fs::read_dir(directory).unwrap().map(|file| file.unwrap().path());
    let mut named = files.filter(|path| {
        let name = path.file_name().unwrap().to_string_lossy().to_lowercase();
        name.starts_with(prefix)
    });
    named.next().unwrap()
}

#[tokio::test]
async fn a_full_disk_ends_it_and_costs_nothing_that_was_acknowledged() {
    let parent = tempfile::tempdir().unwrap();
    let data = parent.path().join("data");
    // No file may become larger than this: the log of the store meets that as it would meet a full disk.
    let script = "trap '' XFSZ; ulimit -f 9000; exec \"$0\" up \"$@\"";
    let mut command = Command::new("bash");
    command.args([
        "-c",
        script,
        env!("CARGO_BIN_EXE_hyperplane"),
        "--data-dir",
        text(&data),
    ]);
    let errors = parent.path().join("errors");
    command.stderr(fs::File::create(&errors).unwrap());
    let mut process = Process::run(command);
    let maps: Api<ConfigMap> = Api::namespaced(process.client().await, "default");
    let mut written = Vec::new();
    let filling = async {
        for number in 0.. {
            let name = format!("filling-{number}");
            let map: ConfigMap = hyperplane_objects::read(serde_json::json!({
                "metadata": {"name": name}, "data": {"filling": "x".repeat(500_000)},
            }))
            .unwrap();
            match maps.create(&PostParams::default(), &map).await {
                Ok(_) => written.push(name),
                Err(_) => return,
            }
        }
    };
    soon("the disk is full", filling).await;
    let (status, _) = process.wait();
    assert_eq!(status.code(), Some(1));
    let said = fs::read_to_string(&errors).unwrap();
    let last = said.lines().last().unwrap();
    let remedy = "; free space or repair the disk, then start again";
    assert!(last.starts_with("error: ") && last.ends_with(remedy), "{said}");
    assert!(!written.is_empty());

    let again = Process::up(&["--data-dir", text(&data)]);
    let maps: Api<ConfigMap> = Api::namespaced(again.client().await, "default");
    for name in &written {
        assert!(maps.get_opt(name).await.unwrap().is_some(), "{name} was acknowledged");
    }
    assert!(again.end("-TERM").0.success());
}
