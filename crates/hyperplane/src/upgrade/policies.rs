//! `hyperplane upgrade policies`: which policies there are.

use std::{fmt::Write as _, io::Write, iter};

use clap::Args;
use hyperplane_planner::{check::Choice, policy, version::Scheme};
use serde_json::{Value, json};

use crate::printing::{Format, Printed};

/// How to print them.
#[derive(Args)]
pub(super) struct Arguments {
    /// How to print them
    #[arg(short, long, value_enum, default_value_t = Format::Table)]
    output: Format,
}

/// Prints all policies.
pub(super) fn run(arguments: &Arguments, output: &mut impl Write) -> anyhow::Result<()> {
    let printed = Printed {
        result: &all(),
        table: &table,
        names: &names,
    };
    arguments.output.print(&printed, output)
}

/// For people; where there is room, with what each policy follows.
fn table(is_wide: bool) -> String {
    let mut text = String::new();
    let head = ["NAME", "WHAT", "DEFAULT FOR", "SOURCE"].map(str::to_owned);
    let rows = policy::ALL.into_iter().map(|policy| {
        let schemes = default_for(policy.name);
        let schemes = match schemes.len() {
            0 => "-".to_owned(),
            count if count == Scheme::ALL.len() => "all".to_owned(),
            _ => schemes.join(","),
        };
        [
            policy.name.to_owned(),
            policy.title.to_owned(),
            schemes,
            policy.source.to_owned(),
        ]
    });
    for [name, what, schemes, source] in iter::once(head).chain(rows) {
        let line = if is_wide {
            format!("{name:<18}{what:<46}{schemes:<20}{source}")
        } else {
            format!("{name:<18}{what:<46}{schemes}")
        };
        writeln!(text, "{line}").expect("a string takes everything");
    }
    text
}

fn names() -> Vec<String> {
    policy::ALL
        .iter()
        .map(|policy| format!("policy/{}", policy.name))
        .collect()
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
