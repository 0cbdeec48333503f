//! Prints what would be installed, and the right of one person to one cluster.

use std::{
    io::{BufWriter, Write},
    process::ExitCode,
};

use clap::{ArgGroup, Args, ValueEnum};
use hyperplane_install::{instance_admin as right, manifests};
use serde_json::{Value, json};

use super::choices::Choices;
use crate::connection::CLUSTERS;

/// What to print.
#[derive(Args)]
pub(super) struct Arguments {
    #[command(flatten)]
    choices: Choices,
    /// As which text.
    #[arg(short, long, value_enum, default_value_t = Output::Yaml)]
    output: Output,
}

/// Whose right to which cluster.
#[derive(Args)]
#[command(group = ArgGroup::new("subject").required(true).multiple(true))]
pub(super) struct InstanceAdmin {
    /// The name of the HostedCluster.
    name: String,
    /// Its namespace.
    #[arg(short, long, value_name = "NAME", default_value = CLUSTERS)]
    namespace: String,
    /// A user who gets the right; repeatable.
    #[arg(long, value_name = "NAME", group = "subject")]
    user: Vec<String>,
    /// A group whose members get the right; repeatable.
    #[arg(long, value_name = "NAME", group = "subject")]
    group: Vec<String>,
    /// As which text.
    #[arg(short, long, value_enum, default_value_t = Output::Yaml)]
    output: Output,
}

#[derive(Clone, Copy, ValueEnum)]
enum Output {
    /// One YAML document per object
    Yaml,
    /// One JSON list
    Json,
}

/// Prints everything that would be installed, in the order in which it is to be written.
pub(super) fn run(arguments: &Arguments, output: &mut impl Write) -> anyhow::Result<ExitCode> {
    let options = arguments.choices.options()?;
    print(&manifests(&options), arguments.output, output)
}

/// Prints the right to administer one cluster.
pub(super) fn instance_admin(arguments: &InstanceAdmin, output: &mut impl Write) -> anyhow::Result<ExitCode> {
    let rbac = "rbac.authorization.k8s.io";
    let subject = |kind: &str, name: &String| json!({"apiGroup": rbac, "kind": kind, "name": name});
    let users = arguments.user.iter().map(|name| subject("User", name));
    let groups = arguments.group.iter().map(|name| subject("Group", name));
    let subjects: Vec<Value> = users.chain(groups).collect();
    let objects = right(&arguments.namespace, &arguments.name, &subjects);
    print(&objects, arguments.output, output)
}

fn print(objects: &[Value], format: Output, output: &mut impl Write) -> anyhow::Result<ExitCode> {
    let mut output = BufWriter::new(output);
    match format {
        Output::Yaml => {
            for object in objects {
                write!(output, "---\n{}", serde_saphyr::to_string(object)?)?;
            }
        }
        Output::Json => {
            let list = json!({"apiVersion": "v1", "kind": "List", "items": objects});
            writeln!(output, "{}", serde_json::to_string_pretty(&list)?)?;
        }
    }
    output.flush()?;
    Ok(ExitCode::SUCCESS)
}
