//! An outlook as text that fits into eighty columns. Pure.

use super::outlook::{Field, Outcome, Outlook, Pool};
use crate::printing::paragraph;

const INDENT: &str = "  ";

/// The whole outlook: what rolls comes first.
pub(super) fn print(outlook: &Outlook) -> String {
    let mut text = String::new();
    let head = format!(
        "Pools that roll: {} of {}. Nodes that are replaced: {}. Pools that are held: {}. Pools of which it cannot be \
         said: {}.",
        outlook.count(Outcome::Rolls),
        outlook.pools.len(),
        outlook.nodes,
        outlook.count(Outcome::Held),
        outlook.count(Outcome::Unknown),
    );
    paragraph(&mut text, "", &head);
    for outcome in [
        Outcome::Rolls,
        Outcome::OnDelete,
        Outcome::Held,
        Outcome::Unknown,
        Outcome::New,
        Outcome::Stays,
    ] {
        for pool in outlook.pools.iter().filter(|pool| pool.outcome == outcome) {
            text.push('\n');
            print_one(&mut text, pool);
        }
    }
    text
}

fn print_one(text: &mut String, pool: &Pool) {
    let word = match pool.outcome {
        Outcome::Rolls => "ROLLS",
        Outcome::OnDelete => "ON DELETE",
        Outcome::Held => "HELD",
        Outcome::Unknown => "UNKNOWN",
        Outcome::New => "NEW",
        Outcome::Stays => "STAYS",
    };
    let nodes = match pool.outcome {
        Outcome::Rolls | Outcome::OnDelete | Outcome::Held => format!(" · nodes: {}", pool.nodes),
        _ => String::new(),
    };
    paragraph(
        text,
        "",
        &format!("{word} {} · cluster {}{nodes}", pool.name, pool.cluster),
    );
    for problem in pool.problems.iter().chain(&pool.notes).chain(&pool.skew) {
        paragraph(text, INDENT, problem);
    }
    for rolls in [true, false] {
        for change in pool.changes.iter().filter(|change| change.rolls == rolls) {
            paragraph(text, INDENT, &line(change));
        }
    }
}

fn line(change: &Field) -> String {
    let Field { path, from, to, .. } = change;
    let what = if from.is_empty() {
        format!("{path}: {to}")
    } else {
        format!("{path}: {from} -> {to}")
    };
    if change.rolls {
        what
    } else {
        format!("{what} (rolls nothing)")
    }
}
