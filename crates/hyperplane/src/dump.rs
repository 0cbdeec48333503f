//! `hyperplane dump`: everything that is needed to help with a hosted cluster, without anything secret, in a directory or
//! an archive.

mod collect;
mod kinds;
mod redact;
mod summary;
mod write;

use std::{collections::BTreeMap, io::Write, path::PathBuf, process::ExitCode};

use clap::{Args, Subcommand};
use hyperplane_api::hypershift::hosted_cluster::HostedCluster;
use hyperplane_runtime::Api;
use kube::{Client, ResourceExt as _, api::ListParams};

use crate::{
    connection::{CLUSTERS, Connection},
    failing::wrong_use,
    system,
};

/// What to collect.
#[derive(Args)]
#[command(args_conflicts_with_subcommands = true)]
pub struct Arguments {
    #[command(subcommand)]
    command: Option<Command>,
    #[command(flatten)]
    flags: Flags,
}

#[derive(Subcommand)]
enum Command {
    /// Collect everything about one hosted cluster
    Cluster(Flags),
}

#[derive(Args)]
struct Flags {
    /// The hosted cluster [default: all clusters of all namespaces]
    #[arg(value_name = "CLUSTER", conflicts_with = "name")]
    cluster: Option<String>,
    /// The hosted cluster, in place of CLUSTER
    #[arg(long, value_name = "NAME")]
    name: Option<String>,
    /// Its namespace
    #[arg(short, long, value_name = "NAME", default_value = CLUSTERS)]
    namespace: String,
    #[command(flatten)]
    connection: Connection,
    /// Where to put it; made if it is not there
    #[arg(long, value_name = "DIR", default_value = ".")]
    artifact_dir: PathBuf,
    /// Make one archive of it (tar.gz) in place of a directory
    #[arg(long)]
    archive_dump: bool,
    /// Whether to ask the hosted cluster itself too
    #[arg(long, value_name = "BOOL", default_value_t = true, action = clap::ArgAction::Set, num_args = 0..=1,
          default_missing_value = "true")]
    dump_guest_cluster: bool,
}

/// What was collected: texts by path, without anything secret.
#[derive(Debug, Default)]
struct Dump {
    files: BTreeMap<String, String>,
    /// What could not be read, and why.
    unread: Vec<String>,
}

/// Collects, and says where it is.
pub fn run(arguments: &Arguments, output: &mut impl Write) -> anyhow::Result<ExitCode> {
    system::log();
    let flags = match &arguments.command {
        Some(Command::Cluster(flags)) => flags,
        None => &arguments.flags,
    };
    let name = flags.name.as_deref().or(flags.cluster.as_deref());
    let dump = system::small_runtime()?.block_on(async {
        let client = flags.connection.client().await?;
        let clusters = clusters(&client, &flags.namespace, name).await?;
        collect::everything(&client, &clusters, flags.dump_guest_cluster).await
    })?;
    let title = format!("hyperplane-dump-{}", name.unwrap_or("all"));
    let place = if flags.archive_dump {
        write::archive(&dump, &flags.artifact_dir, &title)?
    } else {
        write::directory(&dump, &flags.artifact_dir, &title)?
    };
    writeln!(output, "{}", place.display())?;
    if !dump.unread.is_empty() {
        let count = dump.unread.len();
        crate::create::note(&format!(
            "{count} things could not be read: see {} in it",
            summary::UNREAD
        ));
    }
    if dump.unread.iter().any(|line| line.contains("/secrets.yaml: ")) {
        crate::create::note(
            "not all Secrets could be read, and what is in them was not looked for elsewhere: read the logs and objects \
             before you hand them on, or let somebody collect who may list Secrets",
        );
    }
    Ok(ExitCode::SUCCESS)
}

/// The clusters that are asked for.
async fn clusters(client: &Client, namespace: &str, name: Option<&str>) -> anyhow::Result<Vec<HostedCluster>> {
    if let Some(name) = name {
        let clusters: Api<HostedCluster> = Api::namespaced(client.clone(), namespace);
        return Ok(vec![clusters.get(name).await?]);
    }
    let clusters: Api<HostedCluster> = Api::all(client.clone());
    let mut found = clusters.list(&ListParams::default()).await?.items;
    if found.is_empty() {
        return Err(wrong_use(
            "CLUSTER",
            "there is no hosted cluster",
            "create one first (hyperplane create cluster)",
        ));
    }
    found.sort_by_key(|cluster| (cluster.namespace(), cluster.name_any()));
    Ok(found)
}
