//! `hyperplane create cluster`.

use std::{io::Write, process::ExitCode};

use hyperplane_recipes::{ClusterCommand, ClusterRecipe, Given, Manifests, Problem};
use kube::Client;

use super::{
    carry_out, made,
    making::{Making, note, refuse},
    ssh, surroundings, waiting,
};
use crate::{printing::Printed, system};

/// Prints what is asked for, or makes it.
pub(super) fn run(command: &ClusterCommand<Making>, output: &mut impl Write) -> anyhow::Result<ExitCode> {
    let (recipe, making) = command.recipe();
    let files = surroundings::files(&recipe.files())?;
    if making.render {
        let given = Given {
            files,
            ..Given::default()
        };
        return match cook(&recipe, given)? {
            Ok(manifests) => making.print(&manifests, output),
            Err(problems) => Ok(refuse(&problems)),
        };
    }
    system::log();
    system::small_runtime()?.block_on(async {
        let client = making.connection.client().await?;
        let mut given = surroundings::ask(&client, making, recipe.needs_node_address()).await?;
        given.files = files;
        match cook(&recipe, given)? {
            Ok(manifests) => make(&client, &recipe, making, &manifests, output).await,
            Err(problems) => Ok(refuse(&problems)),
        }
    })
}

fn cook(recipe: &ClusterRecipe<'_>, mut given: Given) -> anyhow::Result<Result<Manifests, Vec<Problem>>> {
    if recipe.flags.generates_ssh() {
        given.ssh = Some(ssh::generate(recipe.flags.name())?);
    }
    let cooked = recipe.build(&given);
    for words in cooked.iter().flat_map(|manifests| &manifests.notes) {
        note(words);
    }
    Ok(cooked)
}

async fn make(
    client: &Client,
    recipe: &ClusterRecipe<'_>,
    making: &Making,
    manifests: &Manifests,
    output: &mut impl Write,
) -> anyhow::Result<ExitCode> {
    let made = carry_out::create(client, manifests).await?;
    let (namespace, name) = (&*recipe.flags.namespace, recipe.flags.name());
    let next =
        format!("Its kubeconfig, once its API server answers: hyperplane kubeconfig {name} -n {namespace} --wait");
    let printed = Printed {
        result: &made::list(&made),
        table: &|_| made::table(&made, &next),
        names: &|| made.iter().map(|made| made.name.clone()).collect(),
    };
    making.format().print(&printed, output)?;
    if making.wait {
        waiting::for_cluster(client, namespace, name, making.timeout).await?;
    }
    Ok(ExitCode::SUCCESS)
}
