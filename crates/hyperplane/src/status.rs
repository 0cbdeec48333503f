//! `hyperplane status`: every cluster on a line, or one cluster on one screen, once or as long as somebody looks. Owns the
//! command line; what is shown, `hyperplane-insight` says.

pub(crate) mod looking;
mod watching;

use std::{io::Write, process::ExitCode};

use clap::Args;
use hyperplane_insight::{
    ClusterRow, ClusterStatus, Scene, cluster_rows, cluster_status,
    render::{self, Look, Style},
};
use jiff::Timestamp;

use self::looking::Looking;
use crate::{
    connection::{CLUSTERS, Connection},
    failing::wrong_use,
    printing::{Format, Printed},
    system::{self, Screen},
};

/// What to show.
#[derive(Args)]
pub struct Arguments {
    /// One cluster, in detail; without it, all clusters of the namespace.
    #[arg(value_name = "CLUSTER")]
    cluster: Option<String>,
    /// The namespace of clusters.
    #[arg(short, long, value_name = "NAMESPACE", default_value = CLUSTERS)]
    namespace: String,
    /// Clusters of all namespaces.
    #[arg(short = 'A', long, conflicts_with_all = ["cluster", "namespace"])]
    all_namespaces: bool,
    /// Go on looking: on a terminal the picture is kept up to date, elsewhere every change is printed.
    #[arg(short, long)]
    watch: bool,
    /// How to print.
    #[arg(short, long, value_enum, default_value_t = Format::Table)]
    output: Format,
    #[command(flatten)]
    connection: Connection,
}

/// What is shown. Ages are not in it: it is the same as long as nothing happens.
#[derive(Clone, Debug, PartialEq)]
enum Picture {
    One(Box<ClusterStatus>),
    Many(Vec<ClusterRow>),
}

/// Shows it.
pub fn run(arguments: &Arguments, output: &mut impl Write) -> anyhow::Result<ExitCode> {
    system::log();
    system::small_runtime()?.block_on(show(arguments, output))?;
    Ok(ExitCode::SUCCESS)
}

async fn show(arguments: &Arguments, output: &mut impl Write) -> anyhow::Result<()> {
    let looking = Looking::new(arguments.connection.client().await?);
    if arguments.watch {
        return watching::watch(arguments, &looking, output).await;
    }
    let (picture, now) = look(arguments, &looking).await?;
    print(arguments, &picture, now, system::screen(), output)
}

/// One look.
async fn look(arguments: &Arguments, looking: &Looking) -> anyhow::Result<(Picture, Timestamp)> {
    let namespace = &arguments.namespace;
    let Some(name) = &arguments.cluster else {
        let namespace = Some(namespace.as_str()).filter(|_| !arguments.all_namespaces);
        let scene = looking.clusters(namespace).await?;
        return Ok((Picture::Many(cluster_rows(&scene)), scene.now));
    };
    let scene: Scene = looking.cluster(namespace, name).await?;
    let status = cluster_status(&scene, namespace, name);
    let status = status.ok_or_else(|| not_there("HostedCluster", namespace, name))?;
    Ok((Picture::One(Box::new(status)), scene.now))
}

/// That there is no such object.
pub(crate) fn not_there(kind: &str, namespace: &str, name: &str) -> anyhow::Error {
    let what = format!("{kind} {namespace}/{name}");
    wrong_use(what, "does not exist", "look at the name and at --namespace")
}

/// How text looks on a screen.
pub(crate) const fn style(screen: Screen) -> Style {
    if screen.is_coloured {
        Style::Colour
    } else {
        Style::Plain
    }
}

impl Picture {
    fn text(&self, now: Timestamp, look: Look) -> String {
        match self {
            Self::One(status) => render::status(status, now, look),
            Self::Many(rows) => render::clusters(rows, now, look),
        }
    }

    fn names(&self) -> Vec<String> {
        let title = |name: &str| format!("hostedcluster.hypershift.openshift.io/{name}");
        match self {
            Self::One(status) => vec![title(&status.name)],
            Self::Many(rows) => rows.iter().map(|row| title(&row.name)).collect(),
        }
    }
}

/// Prints a picture as it was asked for.
fn print(
    arguments: &Arguments,
    picture: &Picture,
    now: Timestamp,
    screen: Screen,
    output: &mut impl Write,
) -> anyhow::Result<()> {
    let style = style(screen);
    let table = |is_wide: bool| picture.text(now, Look { style, is_wide });
    let names = || picture.names();
    match picture {
        Picture::One(status) => arguments.output.print(
            &Printed {
                result: status.as_ref(),
                table: &table,
                names: &names,
            },
            output,
        ),
        Picture::Many(rows) => arguments.output.print(
            &Printed {
                result: rows,
                table: &table,
                names: &names,
            },
            output,
        ),
    }
}
