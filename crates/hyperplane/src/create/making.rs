//! Flags of whoever makes objects: where, whether they are only printed, and whether to wait for them.

use std::{
    io::{self, Write},
    path::PathBuf,
    process::ExitCode,
};

use clap::Args;
use hyperplane_recipes::{Manifests, Problem};
use hyperplane_runtime::Disposition;

use crate::{
    connection::Connection,
    failing::wrong_use,
    kubeconfig,
    limit::Limit,
    printing::{Format, paragraph},
};

/// How objects are made.
#[derive(Args, Clone)]
#[expect(clippy::struct_excessive_bools, reason = "each is a switch of its own")]
#[command(next_help_heading = "Making")]
pub(crate) struct Making {
    #[command(flatten)]
    pub(super) connection: Connection,
    /// Print the objects and make nothing; what is sensitive is left out
    #[arg(long)]
    pub(super) render: bool,
    /// Print the sensitive objects too
    #[arg(long, requires = "render")]
    render_sensitive: bool,
    /// Print into this file
    #[arg(long, value_name = "FILE", requires = "render")]
    render_into: Option<PathBuf>,
    /// Refuse to go on where the operators have another version than this program
    #[arg(long)]
    pub(super) version_check: bool,
    /// Wait until what was made is ready
    #[arg(long)]
    pub(super) wait: bool,
    /// How long to wait, such as 30m; 0 means for ever
    #[arg(long, value_name = "DURATION", default_value = "30m")]
    pub(super) timeout: Limit,
    /// How to print what was made [default: a line each; with --render, YAML]
    #[arg(short, long, value_enum)]
    output: Option<Format>,
}

impl Making {
    /// How to print what was made.
    pub(super) fn format(&self) -> Format {
        self.output.unwrap_or(Format::Table)
    }

    /// Prints objects that are not made.
    pub(super) fn print(&self, manifests: &Manifests, output: &mut impl Write) -> anyhow::Result<ExitCode> {
        let text = match self.output {
            Some(Format::Json) => {
                format!(
                    "{}\n",
                    serde_json::to_string_pretty(&manifests.list(self.render_sensitive))?
                )
            }
            Some(Format::Name) => {
                let names = manifests.objects.iter().map(super::made::name);
                names.map(|name| name + "\n").collect::<Vec<String>>().concat()
            }
            Some(Format::Table | Format::Wide | Format::Yaml) | None => manifests.yaml(self.render_sensitive),
        };
        if !self.render_sensitive {
            for left_out in manifests.sensitive() {
                note(&format!(
                    "{} is left out: use --render-sensitive to print it",
                    left_out.title()
                ));
            }
        }
        match &self.render_into {
            // Keys may be in it.
            Some(path) => kubeconfig::write(path, text.as_bytes()).map_err(|error| {
                let what = format!("{} cannot be written", path.display());
                wrong_use(what, error.to_string(), "look at the path given with --render-into")
            })?,
            None => output.write_all(text.as_bytes()).and_then(|()| output.flush())?,
        }
        Ok(ExitCode::SUCCESS)
    }
}

/// Tells what users should know.
pub(crate) fn note(words: &str) {
    let mut text = String::new();
    paragraph(&mut text, "", &format!("note: {words}"));
    // It decides nothing, so that nothing is lost when nobody listens.
    io::stderr().write_all(text.as_bytes()).ok();
}

/// Tells everything that is wrong with a command line.
pub(super) fn refuse(problems: &[Problem]) -> ExitCode {
    let mut text = String::new();
    for problem in problems {
        paragraph(&mut text, "", &format!("error: {problem}"));
    }
    paragraph(
        &mut text,
        "",
        "Nothing was made. Correct what is named; --help tells of every flag.",
    );
    // The code says it too.
    io::stderr().write_all(text.as_bytes()).ok();
    ExitCode::from(Disposition::User.meaning().exit_code)
}
