//! The end of a story as text: its timeline, the tables, the claims. Pure.

use std::time::Duration;

use super::text::{Style, WIDTH, fit, paragraph, seconds, table};
use crate::{
    claims::ClaimReport,
    outcome::{Ending, Outcome, StepReport},
};

/// How wide the picture of the timeline is.
const CHART: usize = 24;
/// Where explanations of a claim begin.
const INDENT: usize = 4;

/// What came of a story; with how each claim was checked, and what spoke for it, if that is asked for.
pub fn text(outcome: &Outcome, explain: bool, style: Style) -> String {
    let mut lines = timeline(outcome, style);
    lines.extend(tables(outcome));
    lines.extend(claims(outcome, explain, style));
    lines.extend(ending(outcome, style));
    let mut lines: Vec<&str> = lines.iter().map(|line| line.trim_end()).collect();
    lines.push("");
    lines.join("\n")
}

/// Every step with when it began, how long it took, and where in the whole it was.
fn timeline(outcome: &Outcome, style: Style) -> Vec<String> {
    let mut lines = vec![String::new(), style.strong("TIMELINE")];
    let room = WIDTH - CHART - 18;
    lines.extend(outcome.steps.iter().map(|step| {
        let (at, took) = (seconds(step.at), seconds(step.took));
        format!(
            "{at:>7} {took:>7}  {} {}",
            fit(&step.title, room),
            chart(step, outcome.took)
        )
    }));
    lines
}

fn chart(step: &StepReport, whole: Duration) -> String {
    let whole = whole.as_millis().max(1);
    let column = |at: Duration| {
        usize::try_from(at.as_millis() * CHART as u128 / whole)
            .unwrap_or(CHART)
            .min(CHART)
    };
    let begin = column(step.at).min(CHART - 1);
    let end = column(step.at + step.took).max(begin + 1);
    let sign = if step.is_over { "█" } else { "▒" };
    format!(
        "{}{}{}",
        "·".repeat(begin),
        sign.repeat(end - begin),
        "·".repeat(CHART - end)
    )
}

fn tables(outcome: &Outcome) -> Vec<String> {
    let tables = &outcome.tables;
    let cluster = tables.cluster.iter().map(|row| {
        let row = row.clone();
        vec![row.name, row.version, row.progress, row.available, row.endpoint]
    });
    let pools = tables.pools.iter().map(|row| {
        let row = row.clone();
        vec![
            row.name,
            row.desired.to_string(),
            row.current.to_string(),
            row.version,
            row.skew,
        ]
    });
    let nodes = tables.nodes.iter().map(|row| {
        let ready = if row.is_ready { "True" } else { "False" };
        vec![
            row.name.clone(),
            row.pool.clone(),
            ready.to_owned(),
            row.version.clone(),
        ]
    });
    let parts: [(&[&str], Vec<Vec<String>>); 3] = [
        (
            &["HOSTEDCLUSTER", "VERSION", "PROGRESS", "AVAILABLE", "ENDPOINT"],
            cluster.collect(),
        ),
        (
            &["NODEPOOL", "DESIRED", "CURRENT", "VERSION", "SUPPORTED SKEW"],
            pools.collect(),
        ),
        (&["NODE", "NODEPOOL", "READY", "VERSION"], nodes.collect()),
    ];
    let filled = parts.into_iter().filter(|(_, rows)| !rows.is_empty());
    filled
        .flat_map(|(head, rows)| std::iter::once(String::new()).chain(table(head, &rows)))
        .collect()
}

fn claims(outcome: &Outcome, explain: bool, style: Style) -> Vec<String> {
    if outcome.claims.is_empty() {
        return Vec::new();
    }
    let held = outcome.claims.iter().filter(|claim| claim.held).count();
    let head = format!(
        "CLAIMS: {held} of {} hold, each read again from the API",
        outcome.claims.len()
    );
    let mut lines = vec![String::new(), style.strong(&head)];
    lines.extend(outcome.claims.iter().flat_map(|claim| told(claim, explain, style)));
    lines
}

fn told(claim: &ClaimReport, explain: bool, style: Style) -> Vec<String> {
    let mut lines = paragraph(INDENT, &claim.claim);
    if let Some(first) = lines.first_mut() {
        let sign = if claim.held {
            style.good("✓")
        } else {
            style.bad("✗")
        };
        *first = format!("  {sign} {}", first.trim_start());
    }
    if explain {
        lines.extend(paragraph(INDENT, &format!("{}. {}", claim.id, claim.how)));
    }
    if explain || !claim.held {
        let evidence = paragraph(INDENT, &format!("→ {}", claim.evidence));
        lines.extend(evidence.into_iter().map(|line| style.faint(&line)));
    }
    lines
}

fn ending(outcome: &Outcome, style: Style) -> Vec<String> {
    let cluster = format!("{}/{}", outcome.plan.namespace, outcome.plan.cluster);
    let took = seconds(outcome.took);
    let mut lines = vec![String::new()];
    let failed = outcome.claims.iter().filter(|claim| !claim.held).count();
    let text = match &outcome.ending {
        Ending::Played if outcome.is_success() => {
            lines.push(style.good(&format!("Every claim held. It took {took}.")));
            return lines;
        }
        Ending::Played => format!("{failed} claims did not hold. It took {took}."),
        Ending::Stopped => {
            format!("Stopped after {took}. Cluster {cluster} is left as it is; the next run begins again.")
        }
        Ending::Refused { reason } => format!("Nothing was touched: {reason}."),
        Ending::Failed { reason } => format!("Ended after {took}: {reason}. Cluster {cluster} is left as it is."),
        Ending::TimedOut { seconds, missing } => {
            let text = format!("Waited {seconds} s in vain. Cluster {cluster} is left as it is. Missing:");
            let missing = missing.iter().flat_map(|what| paragraph(INDENT, &format!("- {what}")));
            lines.extend(
                paragraph(0, &text)
                    .into_iter()
                    .chain(missing)
                    .map(|line| style.bad(&line)),
            );
            return lines;
        }
    };
    lines.extend(paragraph(0, &text).iter().map(|line| style.bad(line)));
    lines
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        outcome::{ClusterRow, NodeRow, PoolRow, Tables},
        plan::Plan,
        story::StepId,
    };

    fn step(id: StepId, title: &str, at: u64, took: u64) -> StepReport {
        StepReport {
            id,
            title: title.to_owned(),
            commands: Vec::new(),
            at: Duration::from_secs(at),
            took: Duration::from_secs(took),
            is_over: true,
        }
    }

    fn claim(held: bool) -> ClaimReport {
        ClaimReport {
            id: "batch-kept",
            claim: "Pool batch has the nodes that it began with, in 1.35.8.".to_owned(),
            how: "Nodes of the pool's Machines: the uids at the end equal those listed when all had joined.".to_owned(),
            held,
            evidence: "2 nodes with the same uids".to_owned(),
        }
    }

    fn outcome() -> Outcome {
        let pool = |name: &str, desired: u64, version: &str| PoolRow {
            name: name.to_owned(),
            desired,
            current: desired,
            version: version.to_owned(),
            skew: "True".to_owned(),
        };
        Outcome {
            plan: Plan::new("demo").unwrap(),
            ending: Ending::Played,
            took: Duration::from_secs(20),
            steps: vec![
                step(StepId::Create, "Create cluster demo at 1.35.8", 0, 10),
                step(
                    StepId::Ahead,
                    "Ask pool batch to go ahead of the control plane, to 1.36.4",
                    10,
                    10,
                ),
            ],
            timeline: Vec::new(),
            claims: vec![claim(true)],
            tables: Tables {
                cluster: Some(ClusterRow {
                    name: "demo".to_owned(),
                    version: "1.36.3".to_owned(),
                    progress: "Completed".to_owned(),
                    available: "True".to_owned(),
                    endpoint: "127.64.0.1:6443".to_owned(),
                }),
                pools: vec![pool("demo-batch", 2, "1.35.8"), pool("demo-web", 3, "1.36.3")],
                nodes: vec![NodeRow {
                    name: "demo-web-1".to_owned(),
                    pool: "demo-web".to_owned(),
                    is_ready: true,
                    version: "1.36.3".to_owned(),
                }],
                ..Tables::default()
            },
        }
    }

    #[test]
    fn the_end_is_told() {
        let expected = "
TIMELINE
   0.0s   10.0s  Create cluster demo at 1.35.8          ████████████············
  10.0s   10.0s  Ask pool batch to go ahead of the con… ············████████████

HOSTEDCLUSTER  VERSION  PROGRESS   AVAILABLE  ENDPOINT
demo           1.36.3   Completed  True       127.64.0.1:6443

NODEPOOL    DESIRED  CURRENT  VERSION  SUPPORTED SKEW
demo-batch  2        2        1.35.8   True
demo-web    3        3        1.36.3   True

NODE        NODEPOOL  READY  VERSION
demo-web-1  demo-web  True   1.36.3

CLAIMS: 1 of 1 hold, each read again from the API
  ✓ Pool batch has the nodes that it began with, in 1.35.8.

Every claim held. It took 20.0s.
";
        assert_eq!(text(&outcome(), false, Style::default()), expected);
    }

    #[test]
    fn claims_are_explained_when_asked_or_when_they_fail() {
        let explained = text(&outcome(), true, Style::default());
        let lines = "
  ✓ Pool batch has the nodes that it began with, in 1.35.8.
    batch-kept. Nodes of the pool's Machines: the uids at the end equal those
    listed when all had joined.
    → 2 nodes with the same uids
";
        assert!(explained.contains(lines), "{explained}");
        let failed = Outcome {
            claims: vec![claim(true), claim(false)],
            ..outcome()
        };
        assert!(!failed.is_success());
        let told = text(&failed, false, Style::default());
        assert!(
            told.contains("✗")
                && told.contains("1 of 2 hold")
                && told.ends_with("1 claims did not hold. It took 20.0s.\n")
        );
    }

    #[test]
    fn every_end_says_what_is_left() {
        let endings = [
            (Ending::Stopped, "is left as it is; the next run begins again"),
            (
                Ending::Refused {
                    reason: "HostedCluster clusters/demo is there".to_owned(),
                },
                "Nothing was touched",
            ),
            (
                Ending::Failed {
                    reason: "no answer".to_owned(),
                },
                "no answer. Cluster clusters/demo is left as it is",
            ),
            (
                Ending::TimedOut {
                    seconds: 900,
                    missing: vec!["component etcd at 1.35.8: ".to_owned() + &"word ".repeat(40)],
                },
                "- component etcd",
            ),
        ];
        for (ending, expected) in endings {
            let outcome = Outcome {
                ending,
                claims: Vec::new(),
                ..outcome()
            };
            assert!(!outcome.is_success());
            let told = text(&outcome, false, Style::default());
            let words: Vec<&str> = told.split_whitespace().collect();
            assert!(words.join(" ").contains(expected), "{told}");
            assert!(told.lines().all(|line| line.chars().count() <= WIDTH), "{told}");
        }
    }

    #[test]
    fn a_program_reads_the_same() {
        let value = serde_json::to_value(outcome()).unwrap();
        assert_eq!(value["ending"]["kind"], "played");
        assert_eq!(value["tookMilliseconds"], 20_000);
        assert_eq!(value["steps"][1]["id"], "ahead");
        assert_eq!(value["claims"][0]["held"], true);
        assert_eq!(value["tables"]["nodes"][0]["isReady"], true);
    }
}
