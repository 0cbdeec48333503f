//! Every persona at work on a management cluster that runs, with the role that is rendered for it and no other right: what
//! its documentation promises can be done, and what it must not do is refused.

use std::{
    fs,
    path::{Path, PathBuf},
    process::{Command, Output},
    time::Duration,
};

use hyperplane_api::cluster_api::machine::Machine;
use hyperplane_install::{Options, RELEASE_READER, manifests, personas};
use k8s_openapi::api::{
    apps::v1::Deployment,
    authentication::v1::{TokenRequest, TokenRequestSpec},
    core::v1::{Namespace, Secret, ServiceAccount},
    rbac::v1::{ClusterRole, ClusterRoleBinding, Role, RoleBinding},
};
use kube::{
    Api, Client, Resource,
    api::{ListParams, PostParams},
    config::Kubeconfig,
};
use serde::{Serialize, de::DeserializeOwned};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::time::sleep;

use crate::apiserver::{Process, client, soon, text};

const LOOK: Duration = Duration::from_millis(200);
/// The namespace of the consumer's clusters.
const TEAM: &str = "team";
/// The namespace of the operators that are installed here.
const EAST: &str = "east";
const RBAC: &str = "rbac.authorization.k8s.io";

/// A management cluster with the roles of people, and a directory for a test.
struct Ground {
    process: Process,
    directory: TempDir,
    client: Client,
}

impl Ground {
    async fn new() -> Self {
        let directory = tempfile::tempdir().unwrap();
        let data = directory.path().join("data");
        let process = Process::up(&["--in-memory", "--data-dir", text(&data)]);
        let client = process.client().await;
        for namespace in [TEAM, EAST, "other"] {
            let namespaces: Api<Namespace> = Api::all(client.clone());
            create(&namespaces, json!({"metadata": {"name": namespace}})).await;
        }
        for role in personas(&Options::default()) {
            create(&Api::<ClusterRole>::all(client.clone()), role).await;
        }
        Self {
            process,
            directory,
            client,
        }
    }

    /// Somebody who has these roles in a namespace, or everywhere.
    async fn person(&self, name: &str, roles: &[&str], namespace: Option<&str>) -> Person {
        let accounts: Api<ServiceAccount> = Api::namespaced(self.client.clone(), "default");
        create(&accounts, json!({"metadata": {"name": name}})).await;
        let asked = TokenRequest {
            spec: Some(TokenRequestSpec::default()),
            ..TokenRequest::default()
        };
        let given = accounts
            .create_token_request(name, &PostParams::default(), &asked)
            .await;
        let token = given.unwrap().status.unwrap().token;
        let text = fs::read_to_string(self.process.kubeconfig()).unwrap();
        let mut config: Value = serde_saphyr::from_str(&text).unwrap();
        config["users"][0]["user"] = json!({"token": token});
        let kubeconfig = self.directory.path().join(name);
        fs::write(&kubeconfig, config.to_string()).unwrap();
        for role in roles {
            self.bind(name, role, namespace).await;
        }
        Person { kubeconfig }
    }

    async fn bind(&self, name: &str, role: &str, namespace: Option<&str>) {
        let binding = json!({
            "metadata": {"name": format!("{name}-{role}")},
            "roleRef": {"apiGroup": RBAC, "kind": "ClusterRole", "name": role},
            "subjects": [{"kind": "ServiceAccount", "name": name, "namespace": "default"}],
        });
        match namespace {
            Some(namespace) => {
                create(&Api::<RoleBinding>::namespaced(self.client.clone(), namespace), binding).await;
            }
            None => create(&Api::<ClusterRoleBinding>::all(self.client.clone()), binding).await,
        }
    }

    fn administrator(&self) -> Person {
        Person {
            kubeconfig: self.process.kubeconfig(),
        }
    }
}

/// Somebody with a kubeconfig.
struct Person {
    kubeconfig: PathBuf,
}

impl Person {
    fn run(&self, line: &str) -> Output {
        Command::new(env!("CARGO_BIN_EXE_hyperplane"))
            .args(line.split_whitespace())
            .args(["--kubeconfig", text(&self.kubeconfig)])
            .output()
            .unwrap()
    }

    /// Runs a command that ends well; what it prints, and what it remarks.
    fn well(&self, line: &str) -> (String, String) {
        let output = self.run(line);
        let (said, remarks) = (said(&output.stdout), words(&output.stderr));
        assert!(output.status.success(), "{line}: {said}{remarks}");
        (said, remarks)
    }

    /// Runs a command that looks at something, whatever it finds; its result, and what it remarks.
    fn looks(&self, line: &str) -> (Value, String) {
        let output = self.run(&format!("{line} -o json"));
        let remarks = words(&output.stderr);
        assert!(matches!(output.status.code(), Some(0 | 3)), "{line}: {remarks}");
        (serde_json::from_slice(&output.stdout).unwrap(), remarks)
    }

    /// Runs a command for which a right is missing.
    fn refused(&self, line: &str) {
        let output = self.run(line);
        let remarks = words(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{line}: {remarks}");
        assert!(
            remarks.contains("forbidden") && remarks.contains("ask an administrator"),
            "{line}: {remarks}"
        );
    }

    async fn client(&self) -> Client {
        client(Kubeconfig::read_from(&self.kubeconfig).unwrap()).await
    }
}

fn said(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

/// A text in which it is no matter where lines end.
fn words(bytes: &[u8]) -> String {
    said(bytes).split_whitespace().collect::<Vec<_>>().join(" ")
}

async fn create<K>(api: &Api<K>, manifest: Value)
where
    K: Resource + Clone + std::fmt::Debug + Serialize + DeserializeOwned,
{
    let object = hyperplane_objects::read(manifest).unwrap();
    api.create(&PostParams::default(), &object).await.unwrap();
}

fn is_forbidden<T>(answer: kube::Result<T>) -> bool {
    matches!(answer, Err(kube::Error::Api(status)) if status.code == 403)
}

/// What could not be read of a picture or an explanation.
fn unread(result: &Value) -> &[Value] {
    result["unread"].as_array().unwrap()
}

#[tokio::test]
async fn everybody_can_do_their_work_and_no_more() {
    let ground = Ground::new().await;
    let consumer = ground.person("consumer", &["hyperplane-consumer"], Some(TEAM)).await;
    consumer_makes_and_judges(&ground, &consumer).await;
    consumer_is_kept_out(&consumer).await;
    instance_admin_enters(&ground).await;
    service_provider_watches(&ground).await;
    viewer_reads(&ground).await;
    consumer_removes(&ground, &consumer).await;
}

async fn consumer_makes_and_judges(ground: &Ground, consumer: &Person) {
    let make = "create cluster kubevirt blue -n team --version 1.35.8 --node-pool-replicas 1 --generate-ssh";
    let (made, _) = consumer.well(&format!("{make} --wait --timeout 2m"));
    for line in ["secret/blue-pull-secret created", "secret/blue-ssh-key created"] {
        assert!(made.contains(line), "{made}");
    }
    consumer.well("status -n team");
    let (status, _) = consumer.looks("status blue -n team");
    let is_machine = |one: &Value| one["kind"] == "Machine" && one["why"] == "forbidden";
    assert!(unread(&status).iter().any(is_machine), "{status:#}");
    let (explanation, _) = consumer.looks("explain cluster blue -n team");
    assert_eq!(explanation["about"]["name"], "blue", "{explanation:#}");
    consumer.well("kubeconfig blue -n team --wait --timeout 2m");

    // Nobody waits for nodes but the upgrade.
    soon("nothing speaks against the upgrade", async {
        while consumer.looks("upgrade check blue -n team --to 1.36.4").0["violations"] != json!([]) {
            sleep(LOOK).await;
        }
    })
    .await;
    let (_, remarks) = consumer.looks("upgrade check blue -n team --to 1.36.4");
    assert!(remarks.contains("Machines in namespace team-blue"), "{remarks}");
    assert!(remarks.contains(RELEASE_READER), "{remarks}");
    let (report, _) = consumer.looks("upgrade check blue -n team --pool blue=1.36.4");
    assert_eq!(report["violations"][0]["subject"], "pools/blue", "{report:#}");
    ground.bind("consumer", RELEASE_READER, None).await;
    let (_, remarks) = consumer.looks("upgrade check blue -n team --to 1.36.4");
    assert!(!remarks.contains(RELEASE_READER), "{remarks}");
}

async fn consumer_is_kept_out(consumer: &Person) {
    consumer.refused("create cluster none grey --expose-through-load-balancer -n other");
    consumer.refused("status -n other");
    let client = consumer.client().await;
    let all = ListParams::default();
    let secrets = |namespace: &str| -> Api<Secret> { Api::namespaced(client.clone(), namespace) };
    assert!(is_forbidden(secrets(TEAM).list(&all).await));
    assert!(is_forbidden(secrets("team-blue").get_opt("admin-kubeconfig").await));
    let machines: Api<Machine> = Api::namespaced(client.clone(), "team-blue");
    assert!(is_forbidden(machines.list(&all).await));
}

async fn instance_admin_enters(ground: &Ground) {
    let admin = ground.person("ada", &["hyperplane-instance-admin"], Some(TEAM)).await;
    admin.well("status blue -n team");
    admin.looks("explain cluster blue -n team");
    // The role alone opens no cluster.
    admin.refused("kubeconfig blue -n team");
    let right = "install instance-admin blue -n team --user system:serviceaccount:default:ada -o json";
    let output = Command::new(env!("CARGO_BIN_EXE_hyperplane"))
        .args(right.split_whitespace())
        .output()
        .unwrap();
    let right: Value = serde_json::from_slice(&output.stdout).unwrap();
    let roles: Api<Role> = Api::namespaced(ground.client.clone(), TEAM);
    create(&roles, right["items"][0].clone()).await;
    let bindings: Api<RoleBinding> = Api::namespaced(ground.client.clone(), TEAM);
    create(&bindings, right["items"][1].clone()).await;
    let (kubeconfig, _) = admin.well("kubeconfig blue -n team");
    assert!(kubeconfig.contains("clusters"), "{kubeconfig}");
    admin.refused("create nodepool kubevirt web --cluster-name blue -n team --replicas 1");
    admin.refused("destroy cluster blue -n team");
    let secrets: Api<Secret> = Api::namespaced(admin.client().await, TEAM);
    assert!(is_forbidden(secrets.get_opt("blue-pull-secret").await));
}

async fn service_provider_watches(ground: &Ground) {
    let provider = ground.person("provider", &["hyperplane-service-provider"], None).await;
    let (all, _) = provider.looks("status -A");
    assert_eq!(all[0]["name"], "blue", "{all:#}");
    for line in ["status blue -n team", "explain cluster blue -n team"] {
        let (result, _) = provider.looks(line);
        let outside = unread(&result).iter().find(|one| one["place"]["inside"].is_null());
        assert_eq!(outside, None, "{line}");
    }
    let (_, remarks) = provider.looks("upgrade check blue -n team --to 1.36.4");
    assert!(!remarks.contains("you may not"), "{remarks}");
    dump_holds_operators_and_control_plane(ground, &provider).await;

    provider.refused("kubeconfig blue -n team");
    let client = provider.client().await;
    let secrets: Api<Secret> = Api::namespaced(client.clone(), "team-blue");
    assert!(is_forbidden(secrets.list(&ListParams::default()).await));
    let roles: Api<ClusterRole> = Api::all(client);
    let role = hyperplane_objects::read(json!({"metadata": {"name": "mine"}, "rules": []})).unwrap();
    assert!(is_forbidden(roles.create(&PostParams::default(), &role).await));

    let make = "create cluster none green --expose-through-load-balancer -n team";
    ground.administrator().well(make);
    let (_, remarks) = provider.well("destroy cluster green -n team --no-wait");
    assert!(
        remarks.contains("green-pull-secret") && remarks.contains("kubectl delete secret -n team"),
        "{remarks}"
    );
}

/// Operators are found in whichever namespace they are installed.
async fn dump_holds_operators_and_control_plane(ground: &Ground, provider: &Person) {
    let options = Options {
        namespace: EAST.to_owned(),
        ..Options::default()
    };
    let all = manifests(&options);
    let mut operator = all.into_iter().find(|object| object["kind"] == "Deployment").unwrap();
    operator["spec"]["replicas"] = 0.into();
    create(&Api::<Deployment>::namespaced(ground.client.clone(), EAST), operator).await;
    let place = ground.directory.path().join("dumps");
    let (directory, remarks) = provider.well(&format!("dump cluster blue -n team --artifact-dir {}", text(&place)));
    let directory = Path::new(directory.trim());
    for path in [
        "namespaces/east/deployments.apps.yaml",
        "namespaces/team-blue/pods.yaml",
        "namespaces/team-blue/logs",
        "clusters/team/blue/hostedclusters.hypershift.openshift.io.yaml",
    ] {
        assert!(directory.join(path).exists(), "{path} is missing");
    }
    assert!(remarks.contains("not all Secrets could be read"), "{remarks}");
}

async fn viewer_reads(ground: &Ground) {
    let viewer = ground.person("viewer", &["hyperplane-viewer"], None).await;
    viewer.well("status -A");
    viewer.well("status blue -n team");
    viewer.refused("destroy cluster blue -n team");
}

async fn consumer_removes(ground: &Ground, consumer: &Person) {
    let (gone, remarks) = consumer.well("destroy cluster blue -n team --timeout 2m");
    assert_eq!(gone, "hostedcluster.hypershift.openshift.io/blue is gone\n");
    assert!(!remarks.contains("may stay behind"), "{remarks}");
    let secrets: Api<Secret> = Api::namespaced(ground.client.clone(), TEAM);
    for name in ["blue-pull-secret", "blue-ssh-key"] {
        soon("what was made for it goes too", async {
            while secrets.get_opt(name).await.unwrap().is_some() {
                sleep(LOOK).await;
            }
        })
        .await;
    }
}
