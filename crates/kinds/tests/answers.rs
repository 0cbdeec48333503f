//! Every case, answered by this crate, against what a real server answered when it was asked.

use std::collections::BTreeMap;

use anyhow::Result;
use serde_json::Value;

use crate::support::{self, Answer, comparable};

#[test]
fn this_crate_answers_as_the_real_server_did() -> Result<()> {
    let mut differences = Vec::new();
    let mut asked = 0;
    for (file, cases) in support::cases()? {
        let answers: BTreeMap<String, Answer> = support::answers(&file)?;
        for case in cases {
            asked += 1;
            let Some(recorded) = answers.get(&case.name) else {
                differences.push(format!("{file}: {}: no answer is recorded", case.name));
                continue;
            };
            let ours = support::ours::ask(&case, recorded)?;
            let difference = difference(&ours, recorded);
            if !difference.is_empty() {
                differences.push(format!("{file}: {}:\n{}", case.name, difference.join("\n")));
            }
        }
    }
    assert!(
        differences.is_empty(),
        "{} of {asked} differ\n{}",
        differences.len(),
        differences.join("\n")
    );
    Ok(())
}

fn difference(ours: &Answer, real: &Answer) -> Vec<String> {
    let mut lines = Vec::new();
    if ours.code != real.code || ours.message != real.message {
        lines.push(format!(
            "  ours {} {}\n  real {} {}",
            ours.code, ours.message, real.code, real.message
        ));
    }
    let shown = |causes: &[[String; 3]]| -> Vec<String> {
        causes
            .iter()
            .map(|[reason, field, message]| format!("{field}: {} ({reason})", without_struct(message)))
            .collect()
    };
    let (ours_causes, real_causes) = (shown(&ours.causes), shown(&real.causes));
    lines.extend(
        ours_causes
            .iter()
            .filter(|cause| !real_causes.contains(cause))
            .map(|cause| format!("  ours + {cause}")),
    );
    lines.extend(
        real_causes
            .iter()
            .filter(|cause| !ours_causes.contains(cause))
            .map(|cause| format!("  real + {cause}")),
    );
    if let (Some(ours), Some(real)) = (&ours.object, &real.object) {
        compare("", ours, &comparable(real.clone()), &mut lines);
    }
    if !real.cells.is_empty() {
        compare_cells(&ours.cells, &real.cells, &mut lines);
    }
    lines
}

/// A message without the pod template or budget that Go prints in its internal form, and without the difference of two
/// specifications that it prints below; nobody reads those by machine.
fn without_struct(message: &str) -> String {
    let line = message.lines().next().unwrap_or_default();
    for start in [
        "{\"labels\":",
        "{\"Spec\":",
        "{\"MinAvailable\":",
        "{\"Attacher\":",
        "{\"Devices\":",
        "{\"Driver\":",
        "{\"IntValue\":",
        "[{\"MatchExpressions\":",
    ] {
        let end = |words: &str| line.rfind(words).map(|to| to + words.len());
        if let (Some(from), Some(to)) = (line.find(start), end("}: ").or_else(|| end("}]: "))) {
            return format!("{}{}", &line[..from], &line[to..]);
        }
    }
    line.to_owned()
}

fn compare(path: &str, ours: &Value, real: &Value, lines: &mut Vec<String>) {
    match (ours, real) {
        (Value::Object(ours), Value::Object(real)) => {
            let names: std::collections::BTreeSet<&String> = ours.keys().chain(real.keys()).collect();
            for name in names {
                match (ours.get(name), real.get(name)) {
                    (Some(ours), Some(real)) => compare(&format!("{path}.{name}"), ours, real, lines),
                    (Some(ours), None) => lines.push(format!("  ours has {path}.{name}: {ours}")),
                    (None, Some(real)) => lines.push(format!("  real has {path}.{name}: {real}")),
                    (None, None) => {}
                }
            }
        }
        (Value::Array(ours), Value::Array(real)) if ours.len() == real.len() => {
            for (index, (ours, real)) in ours.iter().zip(real).enumerate() {
                compare(&format!("{path}[{index}]"), ours, real, lines);
            }
        }
        _ if ours != real => lines.push(format!("  {path}: ours {ours}, real {real}")),
        _ => {}
    }
}

/// Ages, and ports that a dry run takes anew for each request, differ.
fn compare_cells(ours: &[Value], real: &[Value], lines: &mut Vec<String>) {
    let is_same = |ours: &Value, real: &Value| {
        let (Some(ours_text), Some(real_text)) = (ours.as_str(), real.as_str()) else {
            return ours == real;
        };
        let is_age = matches!(ours_text, "<invalid>" | "<unknown>");
        let is_port = ours_text.contains(":3") && real_text.contains(":3");
        let is_own = real_text.starts_with("10.96.") || real_text.contains("controller-uid=");
        ours == real || is_age || is_port || is_own || is_timestamp(real_text)
    };
    if ours.len() != real.len() || !ours.iter().zip(real).all(|(ours, real)| is_same(ours, real)) {
        lines.push(format!("  cells: ours {ours:?}\n         real {real:?}"));
    }
}

fn is_timestamp(text: &str) -> bool {
    text.len() == "2006-01-02T15:04:05Z".len() && text.ends_with('Z')
}
