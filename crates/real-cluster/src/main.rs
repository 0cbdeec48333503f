//! The management cluster that stands until it is ended. `cargo xtask real-cluster` calls this after it has built what the
//! cluster runs; nothing is built here.
#![allow(clippy::disallowed_methods, reason = "a program reads its environment")]

use std::{
    env,
    error::Error,
    iter,
    path::Path,
    process::{ExitCode, Stdio},
};

use hyperplane_real_cluster::{Operators, Wanted, start};
use hyperplane_testbed::pods::{ManagementCluster, Programs};

const USAGE: &str = "usage: real-cluster up NODES (--program|--archive) FILE | down | shell [COMMAND...]";

fn main() -> ExitCode {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match run(&arguments) {
        Ok(code) => code,
        Err(error) => {
            let causes = iter::successors(error.source(), |error| (*error).source());
            let texts: Vec<String> = iter::once(error.to_string())
                .chain(causes.map(ToString::to_string))
                .collect();
            eprintln!("error: {}", texts.join(": "));
            ExitCode::FAILURE
        }
    }
}

fn run(arguments: &[&str]) -> Result<ExitCode, Box<dyn Error>> {
    match arguments {
        ["up", nodes, "--program", file] => up(nodes.parse()?, Operators::Program(Path::new(file))),
        ["up", nodes, "--archive", file] => up(nodes.parse()?, Operators::Archive(Path::new(file))),
        ["down"] => {
            ManagementCluster::remove_standing()?;
            println!("nothing runs any more");
            Ok(ExitCode::SUCCESS)
        }
        ["shell", command @ ..] => shell(command),
        _ => Err(USAGE.into()),
    }
}

fn up(nodes: u8, operators: Operators<'_>) -> Result<ExitCode, Box<dyn Error>> {
    let wanted = Wanted {
        nodes,
        operators,
        is_standing: true,
    };
    let cluster = start(wanted)?;
    println!("{}", cluster.kubectl(&["get", "nodes", "--output=wide"])?);
    Ok(ExitCode::SUCCESS)
}

/// Runs a command, or a shell, in the network of the cluster, where its addresses lead somewhere.
fn shell(command: &[&str]) -> Result<ExitCode, Box<dyn Error>> {
    let programs = Programs::locate()?;
    let cluster = ManagementCluster::open(&programs)?;
    let shell = env::var("SHELL").unwrap_or_else(|_| "/bin/sh".to_owned());
    let (program, arguments) = match command {
        [program, arguments @ ..] => (*program, arguments),
        [] => (shell.as_str(), [].as_slice()),
    };
    let kubectl = programs.kubectl.parent().unwrap_or(Path::new("/"));
    let path = env::var("PATH").unwrap_or_default();
    let status = cluster
        .command(program)
        .args(arguments)
        .env("PATH", format!("{path}:{}:/usr/sbin:/sbin", kubectl.display()))
        .stdin(Stdio::inherit())
        .status()?;
    let code = status.code().and_then(|code| u8::try_from(code).ok());
    Ok(code.map_or(ExitCode::FAILURE, ExitCode::from))
}
