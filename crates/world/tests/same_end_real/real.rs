//! A real management cluster: real API server, controllers and scheduler, simulated kubelets, and the operators under the
//! rights that they were given.

use std::{collections::BTreeMap, time::Duration};

use hyperplane_apiserver::Shared;
use hyperplane_runtime::{Clock, IdentityMode};
use hyperplane_testbed::{ControlPlane, Options};
use hyperplane_twin::{MachineSettings, Mode, Network, Pace, TwinSettings};
use hyperplane_world::{
    ACCOUNT, BOOT_IMAGE, Entrance, MachineManager, NAMESPACE, OperatorSettings, Roles, Runner, discover, images,
    manager, set_up, surroundings,
};
use kube::Client;
use serde_json::Value;
use tokio::{
    task::JoinHandle,
    time::{sleep, timeout},
};
use tokio_util::sync::CancellationToken;

use crate::{
    both::{
        embedded::{ADDRESS, IMAGE, INGRESS_DOMAIN, SERVICE_RANGE, entropy},
        users::Users,
    },
    difference::differences,
    objects::collect,
    site::Site,
};

/// How often machines tell that they live.
const HEARTBEAT: Duration = Duration::from_secs(10);
/// How long the last changes may take on a busy machine.
const PATIENCE: Duration = Duration::from_mins(2);
/// How often is looked.
const GLANCE: Duration = Duration::from_millis(500);

/// A management cluster at work.
pub struct Real {
    pub site: Site,
    _control_plane: ControlPlane,
    stop: CancellationToken,
    tasks: Vec<JoinHandle<()>>,
}

impl Real {
    /// Starts everything, with the same objects of users as on the embedded server.
    pub async fn start() -> Self {
        let options = Options {
            controller_manager: true,
            scheduler: true,
            api_server_arguments: vec![
                format!("--advertise-address={ADDRESS}"),
                "--endpoint-reconciler-type=lease".to_owned(),
                format!("--service-cluster-ip-range={SERVICE_RANGE}"),
            ],
            ..Options::default()
        };
        let control_plane = ControlPlane::start(options).await.unwrap();
        let administrator = control_plane.client().unwrap();
        set_up(&administrator, MachineManager::Hyperplane).await.unwrap();
        let users = Users::settle(administrator.clone()).await;
        let stop = CancellationToken::new();
        let twin = runner(administrator.clone()).twin(administrator, twin_settings());
        let network = twin.network();
        let (of_twin, of_operators) = (stop.clone(), stop.clone());
        let operators = operators(&control_plane, &network).await;
        let tasks = vec![
            tokio::spawn(async move { twin.run(of_twin).await.unwrap() }),
            tokio::spawn(async move { operators.run(of_operators).await.unwrap() }),
        ];
        Self {
            site: Site { users, network },
            _control_plane: control_plane,
            stop,
            tasks,
        }
    }

    /// Waits until the server has what the other one has.
    pub async fn until_equal(&self, what: &str, expected: &BTreeMap<String, Value>) {
        let mut left = Vec::new();
        let looking = async {
            loop {
                left = differences(expected, &collect(&self.site).await);
                if left.is_empty() {
                    return;
                }
                sleep(GLANCE).await;
            }
        };
        let ended = timeout(PATIENCE, looking).await;
        assert!(ended.is_ok(), "{what} differs:\n{}", left.join("\n"));
    }

    /// Ends operators and machines, then the servers.
    pub async fn stop(self) {
        self.stop.cancel();
        for task in self.tasks {
            task.await.unwrap();
        }
    }
}

fn twin_settings() -> TwinSettings {
    let mut settings = TwinSettings::new(clock(), 1, entropy(), Shared::new());
    settings.mode = Mode::Kubelet;
    settings.images = images(IMAGE);
    settings.machines = MachineSettings::kubevirt().instant();
    settings.nodes.heartbeat = Some(HEARTBEAT);
    settings.pace = Pace::instant();
    settings
}

/// Programs that have pods of their own, as the accounts of their pods.
fn runner(administrator: Client) -> Runner {
    Runner {
        entrance: Entrance::Impersonating(administrator),
        clock: clock(),
        seed: 1,
        entropy: entropy(),
        image: IMAGE.to_owned(),
        ingress_domain: Some(INGRESS_DOMAIN.to_owned()),
    }
}

async fn operators(control_plane: &ControlPlane, network: &Network) -> hyperplane_runtime::Manager {
    let user = format!("system:serviceaccount:{NAMESPACE}:{ACCOUNT}");
    let of_namespace = format!("system:serviceaccounts:{NAMESPACE}");
    let client: Client = control_plane
        .client_as(&user, &["system:serviceaccounts", &of_namespace])
        .unwrap();
    let mut facts = discover(&client, IMAGE).await.unwrap();
    facts.ingress_domain = Some(INGRESS_DOMAIN.to_owned());
    let settings = OperatorSettings {
        instance: "test".to_owned(),
        clock: clock(),
        seed: 1,
        entropy: entropy(),
        identity_mode: IdentityMode::Impersonation,
        lease: None,
        scope: None,
        facts,
        surroundings: surroundings(&client).await.unwrap(),
        machines: MachineManager::Hyperplane,
        boot_image: Some(BOOT_IMAGE.to_owned()),
        reach: network.reach(),
        elsewhere: network.reach(),
    };
    manager(client, &settings, Roles::All)
}

/// Wall time: a real server lives in it.
#[expect(clippy::disallowed_methods, reason = "a real server lives in real time")]
fn clock() -> Clock {
    Clock::reading(jiff::Timestamp::now)
}
