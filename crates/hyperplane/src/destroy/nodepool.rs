//! `hyperplane destroy nodepool`.

use std::{io::Write, process::ExitCode};

use clap::Args;
use hyperplane_api::{cluster_api::machine::Machine, constants::annotations, hypershift::node_pool::NodePool};
use hyperplane_recipes::control_plane_namespace;
use hyperplane_runtime::Api;
use kube::{
    Client, ResourceExt as _,
    api::{DeleteParams, ListParams, Preconditions},
};

use super::{Removal, remaining::Remaining, watch};
use crate::system;

/// What to remove.
#[derive(Args)]
pub(super) struct Arguments {
    #[command(flatten)]
    removal: Removal,
}

/// Removes a pool.
pub(super) fn run(arguments: &Arguments, output: &mut impl Write) -> anyhow::Result<ExitCode> {
    system::log();
    system::small_runtime()?.block_on(async {
        let removal = &arguments.removal;
        let client = removal.connection.client().await?;
        let (namespace, name) = (&*removal.namespace, removal.name());
        let pools: Api<NodePool> = Api::namespaced(client.clone(), namespace);
        let pool = pools.get(name).await?;
        // The one that was looked at, and no other of the same name.
        let only = Preconditions {
            uid: pool.uid(),
            resource_version: None,
        };
        pools.delete(name, &DeleteParams::default().preconditions(only)).await?;
        let title = format!("nodepool.hypershift.openshift.io/{name}");
        if removal.no_wait {
            writeln!(output, "{title} is going")?;
            return Ok(ExitCode::SUCCESS);
        }
        let look = async || look(&client, &pool).await;
        watch(&format!("node pool {name}"), removal.timeout, look).await?;
        writeln!(output, "{title} is gone")?;
        Ok(ExitCode::SUCCESS)
    })
}

/// What is left; nothing when the pool is gone.
async fn look(client: &Client, pool: &NodePool) -> anyhow::Result<Option<String>> {
    let (namespace, name) = (pool.namespace().unwrap_or_default(), pool.name_any());
    let pools: Api<NodePool> = Api::namespaced(client.clone(), &namespace);
    let found = pools.get_opt(&name).await?;
    let Some(found) = found.filter(|found| found.uid() == pool.uid()) else {
        return Ok(None);
    };
    let plane = control_plane_namespace(&namespace, pool.spec.cluster_name.as_str());
    let machines: Api<Machine> = Api::namespaced(client.clone(), &plane);
    let machines = machines.list(&ListParams::default()).await;
    let title = format!("{namespace}/{name}");
    let is_of_pool = |machine: &&Machine| annotations::NODE_POOL.of(*machine) == Some(&*title);
    let machines = machines.map(|list| list.items).unwrap_or_default();
    let left = Remaining {
        what: format!("node pool {name}"),
        finalizers: found.finalizers().to_vec(),
        machines: machines
            .iter()
            .filter(is_of_pool)
            .map(kube::ResourceExt::name_any)
            .collect(),
        ..Remaining::default()
    };
    Ok(Some(left.text()))
}
