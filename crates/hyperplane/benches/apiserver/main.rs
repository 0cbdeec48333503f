//! The embedded API server beside kube-apiserver and etcd: the same client, the same machine, the same run, durable
//! writes on both. Run it by `cargo xtask bench apiserver`. Owns the order of things and the sizes.

#![allow(
    clippy::disallowed_methods,
    reason = "a benchmark is about real time on a real machine"
)]

#[path = "../common/mod.rs"]
mod common;
mod connection;
mod fan_out;
mod load;
mod measurement;
mod operations;
mod report;
mod server;

use std::{
    io::{self, Write as _},
    path::PathBuf,
};

use anyhow::Result;
use clap::Parser;
use tokio::runtime;

use crate::{
    common::Output,
    measurement::{Outcome, Row, Sizes},
    report::Report,
    server::{Ground, Server},
};

/// Connections at a time.
const CONNECTIONS: [u64; 3] = [1, 16, 128];
/// Threads of the client. One cannot drive what answers from two cores.
const CLIENT_THREADS: usize = 2;

/// Measures the API server beside the real one.
#[derive(Parser)]
struct Arguments {
    /// A tenth of the work: seconds, and numbers that only say whether something broke
    #[arg(long)]
    quick: bool,
    /// How to print the results
    #[arg(short, long, value_enum, default_value_t = Output::Text)]
    output: Output,
    /// Measure only one of the two
    #[arg(long, value_enum)]
    only: Option<Ground>,
    /// Measure only the operations with one of these names
    #[arg(long, value_delimiter = ',')]
    operations: Vec<String>,
    /// Another binary of ours, such as one that was built in another way
    #[arg(long, value_name = "FILE", default_value = env!("CARGO_BIN_EXE_hyperplane"))]
    binary: PathBuf,
    /// Given by cargo
    #[arg(long, hide = true)]
    bench: bool,
}

fn main() -> Result<()> {
    let arguments = Arguments::parse();
    let runtime = runtime::Builder::new_multi_thread()
        .worker_threads(CLIENT_THREADS)
        .enable_all()
        .build()?;
    let report = runtime.block_on(measure(&arguments))?;
    arguments.output.print(|| report.table(), || report.json())
}

async fn measure(arguments: &Arguments) -> Result<Report> {
    let mut report = Report::new(arguments.quick);
    for ground in Ground::ALL {
        if arguments.only.is_none_or(|only| only == ground) {
            let outcome = measure_one(arguments, ground).await?;
            report.outcomes.insert(ground, outcome);
        }
    }
    Ok(report)
}

/// Starts a server, empty, and puts all the load on it.
async fn measure_one(arguments: &Arguments, ground: Ground) -> Result<Outcome> {
    let sizes = if arguments.quick { Sizes::quick() } else { Sizes::full() };
    let server = Server::start(ground, &arguments.binary).await?;
    let mut outcome = Outcome {
        start: server.start,
        empty: server.memory()?,
        ..Outcome::default()
    };
    operations::prepare(&server).await?;
    for operation in operations::ALL {
        let is_wanted = arguments.operations.is_empty() || arguments.operations.iter().any(|it| it == operation.name());
        // Everything else works on what was created.
        if !is_wanted && operation != operations::Operation::Create {
            continue;
        }
        for connections in CONNECTIONS {
            let measured = operation.run(&server, &sizes, connections).await?;
            let name = operation.name();
            writeln!(io::stderr(), "{} {name} {connections}: {measured}", ground.name())?;
            outcome.rows.push(Row {
                operation: name,
                connections,
                measured,
            });
        }
    }
    outcome.loaded = server.memory()?;
    Ok(outcome)
}
