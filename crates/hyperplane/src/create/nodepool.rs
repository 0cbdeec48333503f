//! `hyperplane create nodepool`.

use std::{io::Write, process::ExitCode};

use hyperplane_api::hypershift::hosted_cluster::HostedCluster;
use hyperplane_recipes::{Given, Manifests, PoolCommand, PoolRecipe};
use hyperplane_runtime::Api;
use kube::Client;

use super::{
    carry_out, made,
    making::{Making, note, refuse},
    surroundings, waiting,
};
use crate::{failing::wrong_use, printing::Printed, system, upgrade::plane_releases};

/// Prints what is asked for, or makes it.
pub(super) fn run(command: &PoolCommand<Making>, output: &mut impl Write) -> anyhow::Result<ExitCode> {
    let (recipe, making) = command.recipe();
    // Who says which release it is needs no cluster to print a pool.
    if making.render && !recipe.flags.release.is_empty() {
        return match recipe.build(None, &[], &Given::default()) {
            Ok(manifests) => making.print(&manifests, output),
            Err(problems) => Ok(refuse(&problems)),
        };
    }
    system::log();
    system::small_runtime()?.block_on(async {
        let client = making.connection.client().await?;
        let given = surroundings::ask(&client, making, false).await?;
        let cluster = cluster(&client, &recipe).await?;
        let plane = plane_releases(&cluster, &given.releases);
        let manifests = match recipe.build(Some(&cluster), &plane, &given) {
            Ok(manifests) => manifests,
            Err(problems) => return Ok(refuse(&problems)),
        };
        for words in &manifests.notes {
            note(words);
        }
        if making.render {
            return making.print(&manifests, output);
        }
        make(&client, &recipe, making, &manifests, output).await
    })
}

async fn cluster(client: &Client, recipe: &PoolRecipe<'_>) -> anyhow::Result<HostedCluster> {
    let (namespace, name) = (&*recipe.flags.namespace, &*recipe.flags.cluster_name);
    let clusters: Api<HostedCluster> = Api::namespaced(client.clone(), namespace);
    clusters.get_opt(name).await?.ok_or_else(|| {
        wrong_use(
            "--cluster-name",
            format!("there is no HostedCluster {name} in namespace {namespace}"),
            "look at the name and at --namespace",
        )
    })
}

async fn make(
    client: &Client,
    recipe: &PoolRecipe<'_>,
    making: &Making,
    manifests: &Manifests,
    output: &mut impl Write,
) -> anyhow::Result<ExitCode> {
    let made = carry_out::create(client, manifests).await?;
    let (namespace, name) = (&*recipe.flags.namespace, recipe.flags.name());
    let next = format!("Its nodes: kubectl get nodepool {name} -n {namespace} --watch");
    let printed = Printed {
        result: &made::list(&made),
        table: &|_| made::table(&made, &next),
        names: &|| made.iter().map(|made| made.name.clone()).collect(),
    };
    making.format().print(&printed, output)?;
    if making.wait {
        waiting::for_pool(client, namespace, name, making.timeout).await?;
    }
    Ok(ExitCode::SUCCESS)
}
