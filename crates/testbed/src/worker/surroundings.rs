//! The namespaces that a host is in: those of a management cluster, or of the machine. It runs programs there.

use std::{
    path::Path,
    process::{Command, Stdio},
};

use super::error::Error;

/// Directories of administrators' programs, which are not in everybody's path.
const SYSTEM_PROGRAMS: &str = "/usr/sbin:/sbin:/usr/bin:/bin";

/// Which namespaces are entered.
pub(super) const NAMESPACES: [&str; 5] = ["--net", "--mount", "--uts", "--ipc", "--pid"];

/// Namespaces to run programs in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Surroundings {
    /// Those of this process.
    Own,
    /// Those of a process, by its id as this process sees it.
    OfProcess(u32),
}

impl Surroundings {
    /// A program that runs there, with the path of an administrator and no input.
    pub fn command(self, program: impl AsRef<Path>) -> Command {
        let mut command = match self {
            Self::Own => Command::new(program.as_ref()),
            Self::OfProcess(id) => {
                let mut command = Command::new("nsenter");
                command.args(["--target", &id.to_string()]).args(NAMESPACES);
                command.arg("--").arg(program.as_ref());
                command
            }
        };
        let path = std::env::var("PATH").unwrap_or_default();
        command
            .env("PATH", format!("{path}:{SYSTEM_PROGRAMS}"))
            .stdin(Stdio::null());
        command
    }

    /// Runs a program to its end; what it prints.
    pub(super) fn run(self, program: &str, arguments: &[&str]) -> Result<String, Error> {
        run(self.command(program).args(arguments))
    }
}

/// Runs a command to its end; what it prints.
pub(super) fn run(command: &mut Command) -> Result<String, Error> {
    let line = format!("{command:?}");
    let output = command.output().map_err(Error::at(format!("running {line}")))?;
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    if output.status.success() {
        return Ok(text(&output.stdout));
    }
    Err(Error::Command {
        command: line,
        status: output.status,
        output: format!("{}{}", text(&output.stdout), text(&output.stderr)),
    })
}
