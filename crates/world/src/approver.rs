//! The approver of machines' certificates, where no pod has files: the hosted cluster is reached over the network of the twin
//! with the kubeconfig of its administrator, who speaks for the approver's account, because the kubeconfig of that asks for
//! a token that a container beside it would have fetched into a file. There it may do what the account may do, and no more.
//! Everything else is the program as it is.

use std::time::Duration;

use hyperplane_api::constants::objects::{components, keys, kubeconfigs};
use hyperplane_machine_approver::run_between;
use hyperplane_runtime::{Api, Clock, Identity, IdentityLayer, IdentityMode, Settings as ManagerSettings};
use hyperplane_twin::{Network, Program};
use k8s_openapi::api::core::v1::Secret;
use kube::Client;
use tokio::time::sleep;
use tokio_util::sync::CancellationToken;

use crate::arguments::flag;

/// Where its account is in a hosted cluster.
const ACCOUNT_NAMESPACE: &str = "kube-system";
/// How often it is looked whether the hosted cluster can be reached: machines wait for it.
const PERIOD: Duration = Duration::from_secs(1);

/// What the approver is told by its command line and by its pod.
#[derive(Clone, Debug)]
pub struct Settings {
    namespace: String,
    pod: String,
    clock: Clock,
    seed: u64,
}

/// What a program is told, if it is this one.
pub fn settings(program: &Program, clock: &Clock, seed: u64) -> Option<Settings> {
    let (subcommand, flags) = program.arguments.split_first()?;
    if subcommand != "machine-approver" {
        return None;
    }
    Some(Settings {
        namespace: flag(flags, "--namespace")?.to_owned(),
        pod: program.pod.clone(),
        clock: clock.clone(),
        seed,
    })
}

/// Approves with the rights that it has on both clusters, until it is dropped; its kubeconfig is read with all rights.
pub async fn run(settings: Settings, client: Client, all: Client, network: Network) -> Result<(), String> {
    let hosted = connect(&settings, &all, &network).await;
    let of_manager = ManagerSettings::new("hyperplane", &settings.pod, settings.clock.clone(), settings.seed);
    let ended = run_between(
        client,
        hosted,
        &settings.namespace,
        &of_manager,
        CancellationToken::new(),
    )
    .await;
    ended.map_err(|error| error.to_string())
}

/// A client for the hosted cluster as the approver's account, once there is a kubeconfig that can be used.
async fn connect(settings: &Settings, all: &Client, network: &Network) -> Client {
    let secrets: Api<Secret> = Api::namespaced(all.clone(), &settings.namespace);
    let reach = network.reach();
    loop {
        let found = secrets.get_opt(kubeconfigs::SERVICE_NETWORK_ADMIN).await.ok().flatten();
        let kubeconfig = found.and_then(|secret| secret.data?.remove(keys::KUBECONFIG));
        if let Some(kubeconfig) = kubeconfig
            && let Ok(client) = reach.client(&kubeconfig.0).await
            && let Ok(account) = Identity::new(ACCOUNT_NAMESPACE, components::MACHINE_APPROVER)
        {
            return IdentityLayer::new(account, IdentityMode::Impersonation).around(&client);
        }
        tracing::debug!(
            namespace = settings.namespace,
            "Waiting: the kubeconfig of the hosted cluster."
        );
        sleep(PERIOD).await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_program_is_known_by_its_arguments() {
        let clock = Clock::anchored("2027-01-15T08:00:00Z".parse().unwrap());
        let found = |line: &str| {
            let program = Program {
                pod: "machine-approver-1".to_owned(),
                namespace: "clusters-one".to_owned(),
                service_account: "machine-approver".to_owned(),
                arguments: line.split_whitespace().map(str::to_owned).collect(),
            };
            settings(&program, &clock, 1).map(|settings| settings.namespace)
        };
        let whole = "machine-approver --namespace=clusters-one --kubeconfig=/a/kubeconfig";
        assert_eq!(found(whole).as_deref(), Some("clusters-one"));
        assert_eq!(found("machine-approver"), None);
        assert_eq!(found("ignition-server --namespace=clusters-one"), None);
        assert_eq!(found(""), None);
    }
}
