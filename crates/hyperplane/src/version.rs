//! `hyperplane version`: which version this program has, which one the operators of a management cluster have, and which
//! versions of Kubernetes those host.

use std::{fmt::Write as _, io::Write, process::ExitCode};

use clap::Args;
use hyperplane_api::constants::operator_capabilities;
use hyperplane_planner::catalogue;
use serde::Serialize;

use crate::{connection::Connection, hosted, printing::Output, system};

/// Whose version.
#[derive(Args)]
pub struct Arguments {
    #[command(flatten)]
    connection: Connection,
    /// Only that of this program
    #[arg(long)]
    client: bool,
    /// How to print it
    #[arg(short, long, value_enum, default_value_t = Output::Table)]
    output: Output,
}

/// Everything that is known.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Versions {
    /// The version of this program.
    client_version: &'static str,
    /// The newest Kubernetes that this program knows.
    newest_kubernetes: String,
    /// What its control-plane operator declares towards a manager of another version.
    operator_capabilities: &'static [&'static str],
    /// What the management cluster says.
    #[serde(skip_serializing_if = "Option::is_none")]
    server: Option<Server>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Server {
    /// The version of Kubernetes that the management cluster has.
    kubernetes_version: String,
    /// The version of its operators.
    #[serde(skip_serializing_if = "Option::is_none")]
    operator_version: Option<String>,
    /// The minors of Kubernetes that it hosts, newest first.
    supported_versions: Vec<String>,
}

/// Prints versions. Those of this program are printed even where no cluster answers.
pub fn run(arguments: &Arguments, output: &mut impl Write) -> anyhow::Result<ExitCode> {
    system::log();
    let asked = (!arguments.client).then(|| system::small_runtime()?.block_on(ask(&arguments.connection)));
    let (server, failure) = match asked {
        None => (None, None),
        Some(Ok(server)) => (Some(server), None),
        Some(Err(error)) => (None, Some(error)),
    };
    let newest = catalogue::releases()
        .last()
        .map(|release| release.version.number().to_owned());
    let versions = Versions {
        client_version: env!("CARGO_PKG_VERSION"),
        newest_kubernetes: newest.unwrap_or_default(),
        operator_capabilities: operator_capabilities::ALL,
        server,
    };
    arguments.output.print(&versions, || table(&versions), output)?;
    match failure {
        None => Ok(ExitCode::SUCCESS),
        Some(error) => {
            Err(error.context("the version of the management cluster cannot be asked for (--client leaves it out)"))
        }
    }
}

async fn ask(connection: &Connection) -> anyhow::Result<Server> {
    let client = connection.client().await?;
    let info = client.apiserver_version().await?;
    let told = hosted::told(&client).await?;
    Ok(Server {
        kubernetes_version: info.git_version,
        operator_version: told.as_ref().map(|told| told.server.clone()),
        supported_versions: told.map(|told| told.supported).unwrap_or_default(),
    })
}

fn table(versions: &Versions) -> String {
    let mut lines = vec![
        ("Client version", versions.client_version.to_owned()),
        ("Newest Kubernetes", versions.newest_kubernetes.clone()),
    ];
    if let Some(server) = &versions.server {
        let operators = server.operator_version.clone();
        lines.push(("Management cluster", server.kubernetes_version.clone()));
        lines.push(("Operators", operators.unwrap_or_else(|| "not installed".to_owned())));
        lines.push(("Hosts Kubernetes", server.supported_versions.join(", ")));
    }
    let mut text = String::new();
    for (title, value) in lines {
        writeln!(text, "{:<20}{value}", format!("{title}:")).expect("a string takes everything");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everything_fits_and_is_told() {
        let versions = Versions {
            client_version: "0.1.0",
            newest_kubernetes: "1.36.4".to_owned(),
            operator_capabilities: operator_capabilities::ALL,
            server: Some(Server {
                kubernetes_version: "v1.36.0".to_owned(),
                operator_version: None,
                supported_versions: vec!["1.36".to_owned(), "1.35".to_owned()],
            }),
        };
        let text = table(&versions);
        assert!(text.lines().all(|line| line.len() <= 80));
        assert!(
            text.contains("Operators:          not installed\nHosts Kubernetes:   1.36, 1.35\n"),
            "{text}"
        );
    }
}
