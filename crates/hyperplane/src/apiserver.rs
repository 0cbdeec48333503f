//! `hyperplane apiserver`: the embedded API server as a process of its own, and the care of its data. Owns the command
//! line; each file below owns one step of a server's life.

mod arguments;
mod audit;
mod data;
mod maintenance;
mod parts;
mod ready;
mod renewal;
mod serve;
mod writer;

use std::{
    io::{self, Write},
    process::ExitCode,
};

pub use arguments::Arguments;
use arguments::Task;
pub(crate) use {
    arguments::{Output, Serve},
    parts::Parts,
    ready::{Ready, quoted},
    serve::{Running, ended_early, run as serve},
};

/// Serves until it is told to end, or does a task on the data of a server that does not run.
pub fn run(arguments: &Arguments, output: &mut impl Write) -> anyhow::Result<ExitCode> {
    let done = match &arguments.task {
        None => {
            let greeting = |ready: &Ready| Some(ready.line("get namespaces"));
            let parts = async |_: &Running| Ok(Parts::default());
            return serve(&arguments.serve, &greeting, output, parts);
        }
        Some(Task::Fsck(arguments)) => maintenance::fsck(arguments, output),
        Some(Task::Dump(arguments)) => maintenance::dump(arguments, output),
        Some(Task::Restore(arguments)) => maintenance::restore(arguments, io::stdin().lock(), &mut io::stderr()),
    };
    done.map(|()| ExitCode::SUCCESS)
}
