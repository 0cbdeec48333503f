//! `hyperplane explain cluster`, `nodepool` and the short form: why something waits, read from a management cluster. Owns
//! the command lines; the way to the causes, `hyperplane-insight` walks.

use std::{io::Write, process::ExitCode};

use clap::Args;
use hyperplane_insight::{
    Explanation, Outcome, Scene, explain_cluster, explain_pool,
    render::{self, Look},
};
use jiff::Timestamp;

use crate::{
    connection::{CLUSTERS, Connection},
    failing::wrong_use,
    printing::{Format, Printed},
    status::{looking::Looking, not_there, style},
    system,
};

/// What to explain.
#[derive(Args)]
pub(super) struct Named {
    /// Its name.
    #[arg(value_name = "NAME", required = true)]
    name: Option<String>,
    /// Its namespace.
    #[arg(short, long, value_name = "NAMESPACE", default_value = CLUSTERS)]
    namespace: String,
    /// How to print.
    #[arg(short, long, value_enum, default_value_t = Format::Table)]
    output: Format,
    #[command(flatten)]
    connection: Connection,
}

/// Of which kind it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum About {
    Cluster,
    Pool,
    /// Whichever has the name.
    Either,
}

/// What the code says when something holds it up, or it cannot be said.
const NOT_GOOD: u8 = 3;

/// Explains and prints.
pub(super) fn run(about: About, arguments: &Named, output: &mut impl Write) -> anyhow::Result<ExitCode> {
    system::log();
    let (explanation, now) = system::small_runtime()?.block_on(explain(about, arguments))?;
    print(arguments, &explanation, now, output)?;
    Ok(match explanation.outcome {
        Outcome::Nothing | Outcome::Progresses => ExitCode::SUCCESS,
        Outcome::Held | Outcome::Unknown => ExitCode::from(NOT_GOOD),
    })
}

async fn explain(about: About, arguments: &Named) -> anyhow::Result<(Explanation, Timestamp)> {
    let looking = Looking::new(arguments.connection.client().await?);
    let namespace = arguments.namespace.as_str();
    let name = arguments.name.as_deref().unwrap_or_default();
    let cluster = async || -> anyhow::Result<(Scene, Option<Explanation>)> {
        let mut scene = looking.cluster(namespace, name).await?;
        looking.idle(&mut scene, namespace, name).await;
        let explanation = explain_cluster(&scene, namespace, name);
        Ok((scene, explanation))
    };
    let pool = async || -> anyhow::Result<(Scene, Option<Explanation>)> {
        let scene = looking.pool(namespace, name).await?;
        let explanation = explain_pool(&scene, namespace, name);
        Ok((scene, explanation))
    };
    let (kind, (scene, explanation)) = match about {
        About::Cluster => ("HostedCluster", cluster().await?),
        About::Pool => ("NodePool", pool().await?),
        About::Either => match (cluster().await?, pool().await?) {
            ((_, Some(_)), (_, Some(_))) => {
                let what = format!("{namespace}/{name}");
                let remedy = format!("say hyperplane explain cluster {name} or hyperplane explain nodepool {name}");
                return Err(wrong_use(what, "is a HostedCluster and a NodePool", remedy));
            }
            (found, (_, None)) => ("HostedCluster or NodePool", found),
            ((_, None), found) => ("NodePool", found),
        },
    };
    let explanation = explanation.ok_or_else(|| not_there(kind, namespace, name))?;
    Ok((explanation, scene.now))
}

fn print(arguments: &Named, explanation: &Explanation, now: Timestamp, output: &mut impl Write) -> anyhow::Result<()> {
    let style = style(system::screen());
    let table = |is_wide: bool| render::explanation(explanation, now, Look { style, is_wide });
    let names = || {
        let about = &explanation.about;
        let kind = about.kind.to_lowercase();
        vec![format!("{kind}.hypershift.openshift.io/{}", about.name)]
    };
    arguments.output.print(
        &Printed {
            result: explanation,
            table: &table,
            names: &names,
        },
        output,
    )
}
