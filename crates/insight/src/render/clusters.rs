//! Many clusters, one line each.

use jiff::Timestamp;

use super::{
    Look,
    page::{Page, Paint, Span},
    table::Table,
};
use crate::{
    age,
    status::{ClusterRow, State, Versions},
};

/// How a state is painted.
pub(super) const fn paint(state: State) -> Paint {
    match state {
        State::Available => Paint::Good,
        State::Progressing | State::Starting | State::Deleting | State::Paused => Paint::Moving,
        State::Degraded | State::Unavailable | State::Blocked => Paint::Bad,
        State::Unknown => Paint::Dim,
    }
}

/// A version, or the move from one to another.
pub(super) fn version(versions: &Versions) -> String {
    let reached = versions.reached.as_deref();
    let next = versions.progress.as_ref().map(|progress| progress.version.as_str());
    let next = next.or_else(|| versions.desired.as_deref().filter(|desired| Some(*desired) != reached));
    match (reached, next) {
        (Some(reached), Some(next)) if reached != next => format!("{reached} → {next}"),
        (Some(reached), _) => reached.to_owned(),
        (None, Some(next)) => format!("→ {next}"),
        (None, None) => "?".to_owned(),
    }
}

/// The clusters as a table, or that there are none.
pub fn clusters(rows: &[ClusterRow], now: Timestamp, look: Look) -> String {
    let mut page = Page::new(look);
    if rows.is_empty() {
        page.words(
            "",
            "",
            &[Span::plain(
                "There are no clusters here. Look in all namespaces with -A.",
            )],
        );
        return page.finish();
    }
    let titles: &[&'static str] = if look.is_wide {
        &[
            "NAMESPACE",
            "NAME",
            "PLATFORM",
            "STATE",
            "VERSION",
            "POOLS",
            "NODES",
            "AGE",
            "MESSAGE",
        ]
    } else {
        &["NAMESPACE", "NAME", "STATE", "VERSION", "NODES", "AGE", "MESSAGE"]
    };
    let mut table = Table::new(titles).in_single_lines();
    for row in rows {
        table.row(cells(row, now, look));
    }
    table.print(&mut page, 0);
    page.finish()
}

fn cells(row: &ClusterRow, now: Timestamp, look: Look) -> Vec<Span> {
    let nodes = row.nodes.map_or_else(
        || "?".to_owned(),
        |nodes| format!("{}/{}", nodes.available, nodes.desired),
    );
    let message = if row.state == State::Available {
        ""
    } else {
        &row.message
    };
    let mut cells = vec![Span::plain(&row.namespace), Span::new(&row.name, Paint::Bold)];
    if look.is_wide {
        cells.push(Span::plain(row.platform.as_deref().unwrap_or("?")));
    }
    cells.push(Span::new(format!("{:?}", row.state), paint(row.state)));
    cells.push(Span::plain(version(&row.versions)));
    if look.is_wide {
        cells.push(Span::plain(
            row.pools.map_or_else(|| "?".to_owned(), |pools| pools.to_string()),
        ));
    }
    cells.extend([
        Span::plain(nodes),
        Span::plain(age::since_known(row.created, now)),
        Span::plain(message),
    ]);
    cells
}
