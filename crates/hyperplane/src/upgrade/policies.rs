//! `hyperplane upgrade policies`: which policies there are.

use std::{fmt::Write as _, io::Write};

use clap::Args;
use hyperplane_planner::{check::Choice, policy, version::Scheme};
use serde_json::{Value, json};

use crate::printing::Output;

/// How to print them.
#[derive(Args)]
pub(super) struct Arguments {
    /// How to print them
    #[arg(short, long, value_enum, default_value_t = Output::Table)]
    output: Output,
}

/// Prints all policies.
pub(super) fn run(arguments: &Arguments, output: &mut impl Write) -> anyhow::Result<()> {
    arguments.output.print(&all(), table, output)
}

fn table() -> String {
    let mut text = format!("{:<18}{:<46}DEFAULT FOR\n", "NAME", "WHAT");
    for policy in policy::ALL {
        let schemes = default_for(policy.name);
        let schemes = match schemes.len() {
            0 => "-".to_owned(),
            count if count == Scheme::ALL.len() => "all".to_owned(),
            _ => schemes.join(","),
        };
        writeln!(text, "{:<18}{:<46}{schemes}", policy.name, policy.title).expect("a string takes everything");
    }
    text
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
