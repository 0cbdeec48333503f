//! Commands of the first and the second day against a management cluster that runs: clusters are made, used, judged, dumped
//! and removed, and what cannot be is told.

use std::{
    fs,
    io::Read as _,
    path::{Path, PathBuf},
    process::{Command, Output},
    time::Duration,
};

use hyperplane_api::hypershift::{hosted_cluster::HostedCluster, node_pool::NodePool};
use k8s_openapi::api::{
    authentication::v1::{TokenRequest, TokenRequestSpec},
    core::v1::{Namespace, Secret, ServiceAccount},
};
use kube::{
    Api, Client,
    api::{ListParams, ObjectMeta, Patch, PatchParams, PostParams},
    config::Kubeconfig,
};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::time::sleep;

use crate::apiserver::{Process, client, mode, soon, text};

const LOOK: Duration = Duration::from_millis(200);
const PASSWORD: &str = "c29tZWJvZHk6dmVyeS1zZWNyZXQtcGFzc3dvcmQ=";

/// A management cluster, and a directory for a test.
struct Ground {
    process: Process,
    directory: TempDir,
}

impl Ground {
    fn new() -> Self {
        let directory = tempfile::tempdir().unwrap();
        let data = directory.path().join("data");
        let process = Process::up(&["--in-memory", "--data-dir", text(&data)]);
        Self { process, directory }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    /// Runs a command as the administrator.
    fn run(&self, line: &str) -> Output {
        run(&self.process.kubeconfig(), line)
    }

    /// Runs a command that ends well; what it prints.
    fn well(&self, line: &str) -> String {
        let output = self.run(line);
        assert!(
            output.status.success(),
            "{line}: {}{}",
            said(&output.stdout),
            said(&output.stderr)
        );
        said(&output.stdout)
    }

    /// Runs a command that fails; its code and what it complains about.
    fn fails(&self, line: &str) -> (i32, String) {
        failed(line, &self.run(line))
    }
}

fn run(kubeconfig: &Path, line: &str) -> Output {
    Command::new(env!("CARGO_BIN_EXE_hyperplane"))
        .args(line.split_whitespace())
        .args(["--kubeconfig", text(kubeconfig)])
        .output()
        .unwrap()
}

fn failed(line: &str, output: &Output) -> (i32, String) {
    assert!(!output.status.success(), "{line}: {}", said(&output.stdout));
    // Where lines end is no matter.
    let words = said(&output.stderr).split_whitespace().collect::<Vec<_>>().join(" ");
    (output.status.code().unwrap(), words)
}

fn said(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

async fn cluster(client: &Client, name: &str) -> Option<HostedCluster> {
    Api::namespaced(client.clone(), "clusters").get_opt(name).await.unwrap()
}

/// A kubeconfig of somebody who may do nothing.
async fn nobody(ground: &Ground) -> PathBuf {
    let client = ground.process.client().await;
    let accounts: Api<ServiceAccount> = Api::namespaced(client, "default");
    let account = ServiceAccount {
        metadata: ObjectMeta {
            name: Some("nobody".to_owned()),
            ..ObjectMeta::default()
        },
        ..ServiceAccount::default()
    };
    accounts.create(&PostParams::default(), &account).await.unwrap();
    let asked = TokenRequest {
        spec: Some(TokenRequestSpec::default()),
        ..TokenRequest::default()
    };
    let given = accounts
        .create_token_request("nobody", &PostParams::default(), &asked)
        .await
        .unwrap();
    let mut value: Value = serde_saphyr::from_str(&fs::read_to_string(ground.process.kubeconfig()).unwrap()).unwrap();
    value["users"][0]["user"] = json!({"token": given.status.unwrap().token});
    let path = ground.path("nobody");
    fs::write(&path, value.to_string()).unwrap();
    path
}

#[tokio::test]
async fn what_cannot_be_is_told_and_nothing_is_made() {
    let ground = Ground::new();
    let client = ground.process.client().await;
    let make = "create cluster none grey --expose-through-load-balancer";

    let (code, errors) = ground.fails(&format!("{make} --version 1.99.0"));
    assert_eq!(code, 2, "{errors}");
    assert!(errors.contains("--version") && errors.contains("near are"), "{errors}");

    let (code, errors) = failed(make, &run(&nobody(&ground).await, make));
    assert_eq!(code, 1, "{errors}");
    assert!(
        errors.contains("forbidden") && errors.contains("ask an administrator"),
        "{errors}"
    );

    let broken = ground.path("broken");
    fs::write(&broken, "not: [a kubeconfig").unwrap();
    let (_, errors) = failed(make, &run(&broken, make));
    assert!(errors.contains("cannot be read as a kubeconfig"), "{errors}");

    let mut closed: Value = serde_saphyr::from_str(&fs::read_to_string(ground.process.kubeconfig()).unwrap()).unwrap();
    closed["clusters"][0]["cluster"]["server"] = "https://127.0.0.1:1".into();
    let path = ground.path("closed");
    fs::write(&path, closed.to_string()).unwrap();
    let (code, errors) = failed(make, &run(&path, make));
    assert_eq!(code, 4, "{errors}");
    assert!(errors.contains("cannot be reached"), "{errors}");

    // The server refuses what no schema knows of: the namespace that was made for it is gone again.
    let large = "x".repeat(100_000);
    let large: Vec<String> = (0..3)
        .map(|number| format!("--annotations a{number}={large}"))
        .collect();
    let (code, errors) = ground.fails(&format!("{make} --namespace fresh {}", large.join(" ")));
    assert_eq!(code, 2, "{errors}");
    assert!(errors.contains("nothing was made"), "{errors}");
    let namespaces: Api<Namespace> = Api::all(client.clone());
    soon("the namespace goes", async {
        while namespaces.get_opt("fresh").await.unwrap().is_some() {
            sleep(LOOK).await;
        }
    })
    .await;
    assert!(
        namespaces.get_opt("clusters").await.unwrap().is_none(),
        "nothing was made"
    );

    for line in [
        "kubeconfig grey",
        "destroy cluster grey",
        "dump cluster grey",
        "upgrade check grey",
    ] {
        let (code, errors) = ground.fails(line);
        assert_eq!(code, 2, "{line}: {errors}");
        assert!(
            errors.contains("look at the name and at --namespace"),
            "{line}: {errors}"
        );
    }
    let told: Value = serde_json::from_str(&ground.well("version -o json")).unwrap();
    assert_eq!(told["server"]["operatorVersion"], env!("CARGO_PKG_VERSION"));
    assert!(
        told["server"]["supportedVersions"].as_array().unwrap().len() > 1,
        "{told}"
    );
}

#[tokio::test]
async fn a_cluster_is_made_used_judged_dumped_and_removed() {
    let ground = Ground::new();
    let client = ground.process.client().await;
    let secret = ground.path("pull-secret");
    fs::write(
        &secret,
        format!(r#"{{"auths":{{"a.example.com":{{"auth":"{PASSWORD}"}}}}}}"#),
    )
    .unwrap();
    let make = format!(
        "create cluster kubevirt blue --version 1.35.8 --node-pool-replicas 1 --pull-secret {}",
        text(&secret)
    );
    let made = ground.well(&format!("{make} --version-check --wait --timeout 2m"));
    for line in [
        "namespace/clusters created",
        "secret/blue-pull-secret created",
        "hostedcluster.hypershift.openshift.io/blue created",
        "nodepool.hypershift.openshift.io/blue created",
    ] {
        assert!(made.contains(line), "{made}");
    }
    assert!(cluster(&client, "blue").await.is_some());

    let (code, errors) = ground.fails(&make);
    assert_eq!(code, 2, "{errors}");
    assert!(
        errors.contains("already exists") && errors.contains("choose another name"),
        "{errors}"
    );

    hosted_cluster_answers(&ground).await;
    pools_follow_their_cluster(&ground, &client).await;
    upgrades_are_judged(&ground);
    nothing_secret_is_dumped(&ground, &client).await;
    no_program_of_a_kubeconfig_is_run(&ground, &client).await;

    assert_eq!(
        ground.well("destroy nodepool web"),
        "nodepool.hypershift.openshift.io/web is gone\n"
    );
    assert_eq!(
        ground.well("destroy cluster blue --timeout 2m"),
        "hostedcluster.hypershift.openshift.io/blue is gone\n"
    );
    assert!(cluster(&client, "blue").await.is_none());
    let secrets: Api<Secret> = Api::namespaced(client.clone(), "clusters");
    soon("what was made for it goes too", async {
        while secrets.get_opt("blue-pull-secret").await.unwrap().is_some() {
            sleep(LOOK).await;
        }
    })
    .await;
}

async fn hosted_cluster_answers(ground: &Ground) {
    let path = ground.path("hosted");
    assert_eq!(ground.well(&format!("kubeconfig blue --wait -o {}", text(&path))), "");
    assert_eq!(mode(&path), 0o600);
    assert_eq!(
        ground.well("create kubeconfig --name blue"),
        fs::read_to_string(&path).unwrap()
    );
    let hosted = client(Kubeconfig::read_from(&path).unwrap()).await;
    let namespaces: Api<Namespace> = Api::all(hosted);
    assert!(namespaces.list(&ListParams::default()).await.unwrap().items.len() > 1);
}

async fn pools_follow_their_cluster(ground: &Ground, client: &Client) {
    let (code, errors) = ground.fails("create nodepool kubevirt web --cluster-name blue --version 1.36.4");
    assert_eq!(code, 2, "{errors}");
    assert!(errors.contains("error: --version: "), "{errors}");
    let (code, errors) = ground.fails("create nodepool agent web --cluster-name blue");
    assert_eq!(code, 2, "{errors}");
    assert!(errors.contains("blue is on KubeVirt"), "{errors}");
    ground.well("create nodepool kubevirt web --cluster-name blue --replicas 1 --wait --timeout 2m");
    let pools: Api<NodePool> = Api::namespaced(client.clone(), "clusters");
    let pool = pools.get("web").await.unwrap();
    assert_eq!(pool.spec.release.image.as_str(), "hyperplane.dev/kubernetes:v1.35.8");
}

fn upgrades_are_judged(ground: &Ground) {
    let judge = |line: &str| {
        let output = ground.run(&format!("upgrade check blue -o json {line}"));
        let report: Value =
            serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{}", said(&output.stderr)));
        (output.status.code(), report)
    };
    let (_, report) = judge("--to 1.36.4");
    assert_eq!(report["violations"], json!([]), "{report:#}");
    let (code, report) = judge("--pool web=1.36.4");
    assert_eq!(code, Some(3));
    assert_eq!(report["violations"][0]["subject"], "pools/web", "{report:#}");
    let (code, errors) = ground.fails("upgrade check blue --to 1.99.0");
    assert_eq!(code, 2, "{errors}");
}

/// Keys of Secrets that hold nothing secret.
fn is_open(key: &str) -> bool {
    let open = [
        "namespace",
        "release",
        "release-version",
        "reason",
        "message",
        "render-revision",
        "disableTemplating",
    ];
    open.contains(&key) || [".crt", ".pub"].iter().any(|end| key.ends_with(end))
}

async fn nothing_secret_is_dumped(ground: &Ground, client: &Client) {
    let place = ground.path("dumps");
    let archive = ground.well(&format!(
        "dump cluster blue --archive-dump --artifact-dir {}",
        text(&place)
    ));
    let directory = ground.well(&format!("dump blue --artifact-dir {}", text(&place)));
    assert_eq!(mode(Path::new(archive.trim())), 0o600);
    let mut bytes = Vec::new();
    flate2::read::GzDecoder::new(fs::File::open(archive.trim()).unwrap())
        .read_to_end(&mut bytes)
        .unwrap();
    let summary = fs::read_to_string(Path::new(directory.trim()).join("summary.txt")).unwrap();
    assert!(
        summary.contains("CLUSTER clusters/blue") && summary.contains("Available=True"),
        "{summary}"
    );
    assert!(summary.lines().all(|line| line.chars().count() <= 80), "{summary}");
    let text = String::from_utf8_lossy(&bytes);
    for path in [
        "clusters/clusters/blue/hostedclusters.hypershift.openshift.io.yaml",
        "namespaces/clusters-blue/secrets.yaml",
        "namespaces/clusters-blue/logs/",
        "hosted/clusters/blue/nodes.yaml",
        "unread.txt",
    ] {
        assert!(text.contains(path), "{path} is missing");
    }
    let secrets: Api<Secret> = Api::all(client.clone());
    let mut searched = 0;
    for secret in secrets.list(&ListParams::default()).await.unwrap() {
        for (key, value) in secret
            .data
            .iter()
            .flatten()
            .filter(|(key, value)| !is_open(key) && value.0.len() >= 8)
        {
            let title = format!("{:?}/{key}", secret.metadata.name);
            let whole = String::from_utf8_lossy(&value.0);
            // Lines stand alone in YAML; those of certificates are for everybody.
            let lines = whole
                .lines()
                .map(str::trim)
                .filter(|line| line.len() >= 40 && !line.contains("://"));
            for line in lines.chain([whole.trim()]) {
                assert!(!text.contains(line), "{title} is in the dump");
            }
            searched += 1;
        }
    }
    assert!(searched > 20, "{searched} values were searched for");
    assert!(!text.contains(PASSWORD) && !text.contains("PRIVATE KEY-----"));
}

/// Whoever may write the Secret with a kubeconfig must not get a program run by those who help.
async fn no_program_of_a_kubeconfig_is_run(ground: &Ground, client: &Client) {
    let clusters: Api<HostedCluster> = Api::namespaced(client.clone(), "clusters");
    let pause = |until: Value| {
        let (clusters, parameters) = (clusters.clone(), PatchParams::default());
        let patch = json!({"spec": {"pausedUntil": until}});
        async move { clusters.patch("blue", &parameters, &Patch::Merge(patch)).await.unwrap() }
    };
    // Otherwise the operator would put the Secret right before anybody looks.
    pause(json!("true")).await;
    soon("the cluster is paused", async {
        while !is_paused(&clusters.get("blue").await.unwrap()) {
            sleep(LOOK).await;
        }
    })
    .await;
    let trace = ground.path("trace");
    let exec = json!({"apiVersion": "client.authentication.k8s.io/v1", "command": "touch", "args": [text(&trace)],
        "interactiveMode": "Never"});
    let kubeconfig = json!({
        "clusters": [{"name": "c", "cluster": {"server": "https://127.0.0.1:1"}}],
        "users": [{"name": "u", "user": {"exec": exec}}],
        "contexts": [{"name": "x", "context": {"cluster": "c", "user": "u"}}],
        "current-context": "x",
    });
    let secrets: Api<Secret> = Api::namespaced(client.clone(), "clusters");
    let patch = Patch::Merge(json!({"stringData": {"kubeconfig": kubeconfig.to_string()}}));
    let parameters = PatchParams::default();
    secrets
        .patch("blue-admin-kubeconfig", &parameters, &patch)
        .await
        .unwrap();
    let place = ground.path("trap");
    let directory = ground.well(&format!("dump blue --artifact-dir {}", text(&place)));
    let unread = fs::read_to_string(Path::new(directory.trim()).join("unread.txt")).unwrap();
    assert!(unread.contains("hosted cluster blue"), "{unread}");
    assert!(!trace.exists(), "a program was run");
    pause(Value::Null).await;
}

fn is_paused(cluster: &HostedCluster) -> bool {
    let conditions = cluster.status.iter().flat_map(|status| &status.conditions);
    let mut told = conditions.filter(|condition| condition.type_ == "ReconciliationActive");
    told.any(|condition| condition.status == "False")
}
