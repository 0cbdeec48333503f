//! One cluster on one screen.

use jiff::Timestamp;

use super::{
    Look,
    clusters::{paint, version},
    explanation,
    page::{Page, Paint, Span},
    table::Table,
};
use crate::{
    age,
    status::{ClusterStatus, ComponentRow, ConditionRow, PoolRow, State},
};

/// Columns of the names in the head.
const NAMES: usize = 14;
const INDENT: &str = "  ";

/// The picture of a cluster as text.
pub fn status(status: &ClusterStatus, now: Timestamp, look: Look) -> String {
    let mut page = Page::new(look);
    head(&mut page, status, now);
    components(&mut page, status.components.as_deref(), now);
    pools(&mut page, status.pools.as_deref(), now);
    conditions(&mut page, status, now);
    page.title("BLOCKERS");
    if status.blockers.is_empty() {
        let words = if status.unread.is_empty() {
            "Nothing is waiting."
        } else {
            "None were found in what could be read."
        };
        page.words(INDENT, INDENT, &[Span::plain(words)]);
    }
    explanation::causes(&mut page, &status.blockers, now);
    if !status.unread.is_empty() {
        page.title("NOT READ");
        for words in explanation::unread(&status.unread) {
            page.words(INDENT, "    ", &[Span::new(words, Paint::Dim)]);
        }
    }
    page.finish()
}

fn head(page: &mut Page, status: &ClusterStatus, now: Timestamp) {
    let mut pair = |name: &str, spans: &[Span]| {
        let first = format!("{name:<NAMES$}");
        page.words(&first, &" ".repeat(NAMES), spans);
    };
    let plain = |text: &str| vec![Span::plain(text)];
    let since = |moment: Option<Timestamp>| moment.map(|moment| format!(" (for {})", age::since(moment, now)));
    let platform = status.platform.as_deref().unwrap_or("unknown");
    let created = age::since_known(status.created, now);
    let title = format!("{}/{}", status.namespace, status.name);
    pair(
        "Cluster",
        &[
            Span::new(title, Paint::Bold),
            Span::plain(format!("· platform {platform} · made {created} ago")),
        ],
    );
    let state = Span::new(format!("{:?}", status.state), paint(status.state));
    let lasts = status.since.map(|moment| format!("for {}", age::since(moment, now)));
    let words = if status.state == State::Available {
        String::new()
    } else {
        prefixed(": ", &status.message)
    };
    pair(
        "State",
        &[state, Span::plain(format!("{}{words}", lasts.unwrap_or_default()))],
    );
    let mut versions = version(&status.versions);
    let progress = status.versions.progress.as_ref();
    versions += &progress.and_then(|progress| since(progress.since)).unwrap_or_default();
    versions += &prefixed(
        " · control plane ",
        status.versions.control_plane.as_deref().unwrap_or_default(),
    );
    pair("Version", &plain(&versions));
    pair(
        "API server",
        &plain(status.endpoint.as_deref().unwrap_or("not published yet")),
    );
    if page.look.is_wide {
        let ignition = status.ignition_endpoint.as_deref().unwrap_or("not published yet");
        page.words(&format!("{:<NAMES$}", "Ignition"), "", &plain(ignition));
    }
    let namespace = format!("namespace {}", status.control_plane_namespace);
    page.words(
        &format!("{:<NAMES$}", "Control plane"),
        &" ".repeat(NAMES),
        &plain(&namespace),
    );
}

/// Words with something before them, where there are words.
fn prefixed(prefix: &str, words: &str) -> String {
    if words.is_empty() {
        String::new()
    } else {
        format!("{prefix}{words}")
    }
}

fn yes(is_so: Option<bool>) -> Span {
    match is_so {
        Some(true) => Span::new("yes", Paint::Good),
        Some(false) => Span::new("no", Paint::Bad),
        None => Span::new("?", Paint::Dim),
    }
}

fn components(page: &mut Page, rows: Option<&[ComponentRow]>, now: Timestamp) {
    page.title("COMPONENTS");
    let Some(rows) = rows.filter(|rows| !rows.is_empty()) else {
        let words = if rows.is_some() {
            "There are none yet."
        } else {
            "They could not be read."
        };
        return page.words(INDENT, INDENT, &[Span::plain(words)]);
    };
    let mut table = Table::new(&["NAME", "VERSION", "SERVES", "ROLLED", "FOR", "WAITS"]);
    for row in rows {
        let lasts = row.message.as_ref().map(|_| age::since_known(row.since, now));
        table.row(vec![
            Span::plain(&row.name),
            Span::plain(row.version.as_deref().unwrap_or("-")),
            yes(row.is_available),
            yes(row.is_rolled_out),
            Span::plain(lasts.unwrap_or_default()),
            Span::plain(row.message.as_deref().unwrap_or_default()),
        ]);
    }
    table.print(page, INDENT.len());
}

fn pools(page: &mut Page, rows: Option<&[PoolRow]>, now: Timestamp) {
    page.title("POOLS");
    let Some(rows) = rows.filter(|rows| !rows.is_empty()) else {
        let words = if rows.is_some() {
            "There are none."
        } else {
            "They could not be read."
        };
        return page.words(INDENT, INDENT, &[Span::plain(words)]);
    };
    let mut table = Table::new(&[
        "NAME", "STATE", "VERSION", "WANT", "HAVE", "READY", "UPDATED", "AGE", "MACHINES",
    ]);
    let number = |number: Option<i64>| Span::plain(number.map_or_else(|| "?".to_owned(), |number| number.to_string()));
    for row in rows {
        table.row(vec![
            Span::plain(&row.name),
            Span::new(row.state, of_pool(row.state)),
            Span::plain(row.version.as_deref().unwrap_or("-")),
            number(row.desired),
            number(row.current),
            number(row.ready),
            number(row.updated),
            Span::plain(age::since_known(row.created, now)),
            Span::plain(histogram(row)),
        ]);
    }
    table.print(page, INDENT.len());
    for row in rows {
        if let Some(message) = &row.message {
            let lasts = row.since.map(|since| format!(" (for {})", age::since(since, now)));
            let words = format!("{}: {message}{}", row.name, lasts.unwrap_or_default());
            page.words(INDENT, "    ", &[Span::new(words, Paint::Dim)]);
        }
    }
}

fn of_pool(state: &str) -> Paint {
    match state {
        "Ready" => Paint::Good,
        "NotReady" => Paint::Bad,
        _ => Paint::Moving,
    }
}

fn histogram(row: &PoolRow) -> String {
    let Some(machines) = &row.machines else {
        return "?".to_owned();
    };
    let texts: Vec<String> = machines
        .iter()
        .map(|one| format!("{}×{}", one.count, one.version))
        .collect();
    if texts.is_empty() {
        "none".to_owned()
    } else {
        texts.join(" ")
    }
}

/// Conditions that are bad, with what they say; those that are not known are only named.
fn conditions(page: &mut Page, status: &ClusterStatus, now: Timestamp) {
    if status.conditions.is_empty() {
        return;
    }
    page.title("CONDITIONS");
    let (unknown, bad): (Vec<&ConditionRow>, Vec<&ConditionRow>) =
        status.conditions.iter().partition(|row| row.is_unknown);
    for row in bad {
        let lasts = row
            .since
            .map(|since| format!(" for {}", age::since(since, now)))
            .unwrap_or_default();
        let head = format!("{}={}", row.type_, row.status);
        let words = format!("({}){lasts}: {}", row.reason, row.message);
        page.words(INDENT, "    ", &[Span::new(head, Paint::Bad), Span::plain(words)]);
    }
    if !unknown.is_empty() {
        let names: Vec<&str> = unknown.iter().map(|row| row.type_.as_str()).collect();
        page.words(
            INDENT,
            "    ",
            &[Span::new(format!("Not known yet: {}", names.join(", ")), Paint::Dim)],
        );
    }
}
