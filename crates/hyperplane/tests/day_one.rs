//! Commands of the first day as a user types them, without a cluster: what is printed, what is refused, and how it ends.

use std::{
    fs,
    os::unix::fs::PermissionsExt as _,
    process::{Command, Output},
};

use serde_json::Value;

fn hyperplane(words: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_hyperplane"))
        .args(words)
        .env("KUBECONFIG", "/nowhere")
        .env("HOME", "/nowhere")
        .output()
        .unwrap()
}

fn text(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).unwrap()
}

/// All documents of a text.
fn documents(yaml: &str) -> Vec<Value> {
    serde_saphyr::from_multiple(yaml).unwrap()
}

#[test]
fn a_cluster_is_rendered_without_a_cluster() {
    let line = "create cluster kubevirt blue --version 1.35.8 --node-pool-replicas 2 --render";
    let rendered = hyperplane(&line.split(' ').collect::<Vec<_>>());
    assert!(rendered.status.success(), "{}", text(&rendered.stderr));
    let objects = documents(text(&rendered.stdout));
    let kinds: Vec<&str> = objects.iter().map(|object| object["kind"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["Namespace", "Secret", "HostedCluster", "NodePool"]);
    assert_eq!(
        objects[2]["spec"]["release"]["image"],
        "hyperplane.dev/kubernetes:v1.35.8"
    );
    assert_eq!(objects[3]["spec"]["release"], objects[2]["spec"]["release"]);
    assert_eq!(objects[3]["spec"]["replicas"], 2);

    let json = [line, "-o", "json"].join(" ");
    let json = hyperplane(&json.split(' ').collect::<Vec<_>>());
    let list: Value = serde_json::from_slice(&json.stdout).unwrap();
    assert_eq!(list["items"].as_array(), Some(&objects));
}

#[test]
fn what_is_sensitive_is_printed_only_for_those_who_ask() {
    let directory = tempfile::tempdir().unwrap();
    let secret = directory.path().join("pull-secret");
    fs::write(&secret, r#"{"auths":{"a.example.com":{"auth":"aHVzaDpodXNo"}}}"#).unwrap();
    let into = directory.path().join("cluster.yaml");
    let words = [
        "create",
        "cluster",
        "none",
        "grey",
        "--expose-through-load-balancer",
        "--render",
        "--generate-ssh",
    ];
    let with = |more: &[&str]| {
        let secret = ["--pull-secret", secret.to_str().unwrap()];
        hyperplane(&[&words[..], &secret, more].concat())
    };
    let open = with(&[]);
    assert!(!text(&open.stdout).contains("aHVzaDpodXNo"));
    let notes = text(&open.stderr);
    assert!(notes.contains("note: Secret grey-pull-secret is left out"), "{notes}");
    assert!(notes.contains("Secret grey-ssh-key"), "{notes}");
    let whole = with(&["--render-sensitive", "--render-into", into.to_str().unwrap()]);
    assert!(whole.stdout.is_empty() && whole.stderr.is_empty());
    assert_eq!(fs::metadata(&into).unwrap().permissions().mode() & 0o777, 0o600);
    let written = fs::read_to_string(into).unwrap();
    assert!(written.contains("aHVzaDpodXNo") && written.contains("BEGIN PRIVATE KEY"));
}

#[test]
fn a_key_that_was_made_is_one_for_ssh() {
    let words = [
        "create",
        "cluster",
        "none",
        "grey",
        "--expose-through-load-balancer",
        "--generate-ssh",
    ];
    let rendered = hyperplane(&[&words[..], &["--render", "--render-sensitive"]].concat());
    let objects = documents(text(&rendered.stdout));
    let secret = objects
        .iter()
        .find(|object| object["metadata"]["name"] == "grey-ssh-key")
        .unwrap();
    let [public, private] = ["id_rsa.pub", "id_rsa"].map(|key| secret["stringData"][key].as_str().unwrap());
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("key");
    fs::write(&path, private).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
    // Where ssh-keygen is not installed, that the public half has its form is tested elsewhere.
    if let Ok(read) = Command::new("ssh-keygen")
        .args(["-y", "-f", path.to_str().unwrap()])
        .output()
    {
        assert!(read.status.success(), "{}", text(&read.stderr));
        let blob = |line: &str| line.split(' ').nth(1).unwrap().trim().to_owned();
        assert_eq!(blob(text(&read.stdout)), blob(public));
    }
}

#[test]
fn everything_that_is_wrong_is_told_at_once_and_in_lines_that_fit() {
    let line =
        "create cluster agent Green --agent-namespace hosts --version 1.99.0 --service-cidr 10.0.0.0/99 --render";
    let refused = hyperplane(&line.split(' ').collect::<Vec<_>>());
    assert_eq!(refused.status.code(), Some(2));
    assert!(refused.stdout.is_empty());
    let errors = text(&refused.stderr);
    for flag in ["--name", "--version", "--service-cidr", "--api-server-address"] {
        assert!(errors.contains(&format!("error: {flag}: ")), "{flag}: {errors}");
    }
    assert!(errors.contains("Nothing was made"), "{errors}");
    assert!(errors.lines().all(|line| line.chars().count() <= 80), "{errors}");
}

#[test]
fn a_file_that_is_not_there_is_told_by_its_flag() {
    let line = "create cluster none grey --expose-through-load-balancer --pull-secret /nowhere/at/all --render";
    let refused = hyperplane(&line.split(' ').collect::<Vec<_>>());
    assert_eq!(refused.status.code(), Some(2));
    let errors = text(&refused.stderr);
    assert!(
        errors.contains("--pull-secret: /nowhere/at/all cannot be read"),
        "{errors}"
    );
}

#[test]
fn a_pool_is_rendered_without_a_cluster_once_its_release_is_said() {
    let line =
        "create nodepool kubevirt web --cluster-name blue --release-image hyperplane.dev/kubernetes:v1.36.4 --render";
    let rendered = hyperplane(&line.split(' ').collect::<Vec<_>>());
    assert!(rendered.status.success(), "{}", text(&rendered.stderr));
    assert_eq!(documents(text(&rendered.stdout))[0]["kind"], "NodePool");
    let line = "create nodepool kubevirt web --cluster-name blue --render";
    let refused = hyperplane(&line.split(' ').collect::<Vec<_>>());
    assert!(!refused.status.success());
    assert!(
        text(&refused.stderr).contains("--kubeconfig FILE"),
        "{}",
        text(&refused.stderr)
    );
}

#[test]
fn versions_of_this_program_need_no_cluster() {
    let told = hyperplane(&["version", "--client", "-o", "json"]);
    assert!(told.status.success());
    let told: Value = serde_json::from_slice(&told.stdout).unwrap();
    assert_eq!(told["clientVersion"], env!("CARGO_PKG_VERSION"));
    assert!(told.get("server").is_none());
    let alone = hyperplane(&["version"]);
    assert!(!alone.status.success(), "no cluster is known");
    assert!(text(&alone.stdout).contains("Client version:"));
    assert!(
        text(&alone.stderr).contains("--client leaves it out"),
        "{}",
        text(&alone.stderr)
    );
}

#[test]
fn shells_complete_and_manuals_are_written() {
    // What is made for fish knows commands, and no flags below their second level.
    for (shell, word) in [
        ("bash", "node-pool-replicas"),
        ("zsh", "node-pool-replicas"),
        ("fish", "nodepool"),
        ("powershell", "node-pool-replicas"),
        ("elvish", "node-pool-replicas"),
    ] {
        let script = hyperplane(&["completion", shell]);
        assert!(script.status.success(), "{shell}");
        assert!(text(&script.stdout).contains(word), "{shell}");
    }
    let directory = tempfile::tempdir().unwrap();
    let pages = directory.path().join("pages");
    let written = hyperplane(&["man", pages.to_str().unwrap()]);
    assert!(written.status.success(), "{}", text(&written.stderr));
    for page in [
        "hyperplane.1",
        "hyperplane-create-cluster-kubevirt.1",
        "hyperplane-upgrade-check.1",
    ] {
        assert!(fs::read_to_string(pages.join(page)).unwrap().contains(".SH"), "{page}");
    }
}

#[test]
fn help_fits_in_eighty_columns() {
    for line in [
        "create --help",
        "create cluster --help",
        "create cluster kubevirt --help",
        "create cluster agent --help",
        "create cluster none -h",
        "create nodepool kubevirt --help",
        "create kubeconfig --help",
        "kubeconfig --help",
        "destroy cluster --help",
        "destroy nodepool --help",
        "dump --help",
        "dump cluster --help",
        "version --help",
        "completion --help",
        "man --help",
        "upgrade check --help",
    ] {
        let help = hyperplane(&line.split(' ').collect::<Vec<_>>());
        assert!(help.status.success(), "{line}: {}", text(&help.stderr));
        for row in text(&help.stdout).lines() {
            assert!(row.chars().count() <= 80, "{line}: {row}");
        }
    }
}
