//! `hyperplane upgrade policies`: which policies there are.

use std::io::Write;

use clap::{Args, ValueEnum};
use hyperplane_planner::{check::Choice, policy, version::Scheme};
use serde_json::{Value, json};

/// How to print them.
#[derive(Args)]
pub(super) struct Arguments {
    /// How to print them
    #[arg(short, long, value_enum, default_value_t = Output::Table)]
    output: Output,
}

#[derive(Clone, Copy, ValueEnum)]
enum Output {
    /// For people.
    Table,
    /// For programs.
    Json,
    /// For both.
    Yaml,
}

/// Prints all policies.
pub(super) fn run(arguments: &Arguments, output: &mut impl Write) -> anyhow::Result<()> {
    match arguments.output {
        Output::Table => {
            writeln!(output, "{:<18}{:<46}DEFAULT FOR", "NAME", "WHAT")?;
            for policy in policy::ALL {
                let schemes = default_for(policy.name);
                let schemes = match schemes.len() {
                    0 => "-".to_owned(),
                    count if count == Scheme::ALL.len() => "all".to_owned(),
                    _ => schemes.join(","),
                };
                writeln!(output, "{:<18}{:<46}{schemes}", policy.name, policy.title)?;
            }
        }
        Output::Json => writeln!(output, "{:#}", all())?,
        Output::Yaml => write!(output, "{}", serde_saphyr::to_string(&all())?)?,
    }
    output.flush()?;
    Ok(())
}

fn all() -> Value {
    let policies = policy::ALL.into_iter().map(|policy| {
        json!({
            "name": policy.name,
            "title": policy.title,
            "source": policy.source,
            "defaultFor": default_for(policy.name),
        })
    });
    policies.collect()
}

/// The schemes whose clusters a policy judges when nobody chooses.
fn default_for(name: &str) -> Vec<String> {
    let judges = |scheme: &&Scheme| {
        let choice = Choice::default_for(**scheme);
        choice.policies().iter().any(|policy| policy.name == name)
    };
    Scheme::ALL.iter().filter(judges).map(ToString::to_string).collect()
}
