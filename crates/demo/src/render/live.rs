//! Progress in place, for terminals: what is over stays above, and below it a block is drawn again and again with the
//! components, machines and nodes as they stand.

use std::{
    collections::VecDeque,
    io::{self, Write},
    time::Duration,
};

use super::{
    plain::{commands, judged},
    text::{Style, WIDTH, bar, fit, paragraph, seconds},
};
use crate::{
    board::{Board, Phase, PoolState},
    progress::{Event, StepStart},
};

/// How wide bars are.
const BAR: usize = 20;
/// Where names of components begin.
const NAMES: usize = 14;
/// What holds words together on a line; no name has it.
const GLUE: &str = "~";
/// How many of the latest moments are shown.
const MOMENTS: usize = 3;

/// Draws progress in place.
pub struct Live<W> {
    output: W,
    style: Style,
    /// How many lines the block has that is drawn.
    drawn: usize,
    state: State,
}

/// What the block shows.
#[derive(Clone, Debug, Default)]
struct State {
    step: Option<StepStart>,
    board: Board,
    moments: VecDeque<String>,
    at: Duration,
}

impl<W: Write> Live<W> {
    /// Draws on a terminal.
    pub fn new(output: W, style: Style) -> Self {
        Self {
            output,
            style,
            drawn: 0,
            state: State::default(),
        }
    }

    /// Draws what is told.
    pub fn take(&mut self, event: &Event) -> io::Result<()> {
        let stays = self.state.take(event, self.style);
        let block = self.state.block(self.style);
        if self.drawn > 0 {
            // Up to the first line of the block, and away with everything from there on.
            write!(self.output, "\u{1b}[{}A\u{1b}[J", self.drawn)?;
        }
        for line in stays.iter().chain(&block) {
            writeln!(self.output, "{line}")?;
        }
        self.drawn = block.len();
        self.output.flush()
    }
}

impl State {
    /// Takes an event, and gives the lines that stay.
    fn take(&mut self, event: &Event, style: Style) -> Vec<String> {
        match event {
            Event::StepStarted(start) => {
                self.at = start.at;
                self.moments.clear();
                self.step = Some(start.clone());
                Vec::new()
            }
            Event::Noted(moment) => {
                self.at = moment.at;
                self.moments
                    .push_back(format!("{:>8}  {}", seconds(moment.at), moment.text));
                if self.moments.len() > MOMENTS {
                    self.moments.pop_front();
                }
                Vec::new()
            }
            Event::Stands(board) => {
                self.board = (**board).clone();
                Vec::new()
            }
            Event::StepEnded { took, .. } => {
                let step = self.step.take();
                let stays = step.map(|step| format!("✓ {}/{} {}", step.number, step.of, step.title));
                stays
                    .map(|text| style.good(&both(&text, &seconds(*took))))
                    .into_iter()
                    .collect()
            }
            Event::Judged(claim) => {
                self.step = None;
                judged(claim, style)
            }
        }
    }

    fn block(&self, style: Style) -> Vec<String> {
        let Some(step) = &self.step else {
            return Vec::new();
        };
        let title = format!("▶ {}/{} {}", step.number, step.of, step.title);
        let mut lines = vec![style.strong(&both(&title, &seconds(self.at)))];
        lines.extend(
            commands(&step.commands)
                .iter()
                .map(|line| style.faint(&fit(line, WIDTH))),
        );
        lines.push(self.components());
        lines.extend(self.names().into_iter().map(|line| style.faint(&line)));
        lines.extend(self.board.pools.iter().map(pool));
        lines.extend(
            self.moments
                .iter()
                .map(|moment| style.faint(fit(moment, WIDTH).trim_end())),
        );
        lines
    }

    fn components(&self) -> String {
        let (done, of) = (self.board.components_done(), self.board.components.len());
        format!(
            "  components  {} {done}/{of} in {}",
            bar(done, of, BAR),
            self.board.wanted
        )
    }

    /// Every component with how far it has come, in the order of dependencies.
    fn names(&self) -> Vec<String> {
        let sign = |phase: Phase| match phase {
            Phase::Done => "✓",
            Phase::Rolling => "↻",
            Phase::Waiting => "·",
        };
        // A sign stays on the line of its name.
        let names = self.board.components.iter();
        let words = names.map(|component| format!("{}{GLUE}{}", sign(component.phase), component.name));
        let lines = paragraph(NAMES, &words.collect::<Vec<String>>().join(" "));
        lines.into_iter().map(|line| line.replace(GLUE, " ")).collect()
    }
}

fn pool(pool: &PoolState) -> String {
    let leaving = if pool.leaving > 0 {
        format!(" ({} leaving)", pool.leaving)
    } else {
        String::new()
    };
    let versions: Vec<String> = pool
        .ready
        .iter()
        .map(|(version, count)| format!("{count} in {version}"))
        .collect();
    let text = format!(
        "  {}  {} nodes {}/{}: {}; machines {}{leaving}",
        fit(&pool.title, 10),
        bar(pool.nodes(), pool.wanted, BAR),
        pool.nodes(),
        pool.wanted,
        if versions.is_empty() {
            "none".to_owned()
        } else {
            versions.join(", ")
        },
        pool.machines
    );
    fit(&text, WIDTH).trim_end().to_owned()
}

/// A text with another one at the right edge.
fn both(left: &str, right: &str) -> String {
    let room = WIDTH - right.chars().count() - 1;
    format!("{} {right}", fit(left, room))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::{board::ComponentState, progress::Moment, story::StepId};

    fn component(name: &str, phase: Phase) -> ComponentState {
        ComponentState {
            name: name.to_owned(),
            version: "1.36.3".to_owned(),
            phase,
            message: String::new(),
        }
    }

    fn pool_state(title: &str, leaving: usize, ready: &[(&str, usize)]) -> PoolState {
        PoolState {
            title: title.to_owned(),
            wanted: 3,
            machines: 3,
            leaving,
            ready: ready
                .iter()
                .map(|(version, count)| ((*version).to_owned(), *count))
                .collect::<BTreeMap<_, _>>(),
        }
    }

    fn board() -> Board {
        let names = [
            "etcd",
            "kube-apiserver",
            "kube-controller-manager",
            "kube-scheduler",
            "konnectivity-agent",
            "router",
        ];
        let mut components: Vec<ComponentState> = names.iter().map(|name| component(name, Phase::Done)).collect();
        components[4].phase = Phase::Rolling;
        components[5].phase = Phase::Waiting;
        Board {
            wanted: "1.36.3".to_owned(),
            components,
            pools: vec![
                pool_state("web", 1, &[("1.35.8", 2), ("1.36.3", 1)]),
                pool_state("batch", 0, &[]),
            ],
        }
    }

    fn events() -> Vec<Event> {
        let moment = |number: u64| {
            Event::Noted(Moment {
                at: Duration::from_secs(number),
                step: StepId::Roll,
                text: format!("node {} is ready with 1.36.3", "web".repeat(30)),
            })
        };
        vec![
            Event::StepStarted(StepStart {
                id: StepId::Roll,
                number: 4,
                of: 7,
                title: "Roll pool web to 1.36.3, node by node".to_owned(),
                commands: vec!["kubectl get nodes".to_owned()],
                at: Duration::from_secs(9),
            }),
            Event::Stands(Box::new(board())),
            moment(10),
            moment(11),
            moment(12),
            moment(13),
        ]
    }

    #[test]
    fn the_block_shows_how_everything_stands() {
        let mut state = State::default();
        for event in events() {
            assert!(state.take(&event, Style::default()).is_empty());
        }
        state.moments.truncate(1);
        let expected = "\
▶ 4/7 Roll pool web to 1.36.3, node by node                                13.0s
  $ kubectl get nodes
  components  █████████████░░░░░░░ 4/6 in 1.36.3
              ✓ etcd ✓ kube-apiserver ✓ kube-controller-manager ✓ kube-scheduler
              ↻ konnectivity-agent · router
  web         ████████████████████ nodes 3/3: 2 in 1.35.8, 1 in 1.36.3; machine…
  batch       ░░░░░░░░░░░░░░░░░░░░ nodes 0/3: none; machines 3
   11.0s  node webwebwebwebwebwebwebwebwebwebwebwebwebwebwebwebwebwebwebwebwebw…";
        let block: Vec<String> = state
            .block(Style::default())
            .iter()
            .map(|line| line.trim_end().to_owned())
            .collect();
        assert_eq!(block.join("\n"), expected);
    }

    #[test]
    fn no_line_is_too_long() {
        let mut state = State::default();
        for event in events() {
            state.take(&event, Style::default());
        }
        for line in state.block(Style::default()) {
            assert!(line.chars().count() <= WIDTH, "{line}");
        }
    }

    #[test]
    fn what_is_over_stays_and_the_block_is_drawn_over() {
        let mut output = Vec::new();
        let mut live = Live::new(&mut output, Style::default());
        for event in events() {
            live.take(&event).unwrap();
        }
        let drawn = live.drawn;
        live.take(&Event::StepEnded {
            id: StepId::Roll,
            took: Duration::from_secs(4),
        })
        .unwrap();
        assert_eq!(live.drawn, 0);
        let text = String::from_utf8(output).unwrap();
        let (_, end) = text.rsplit_once(&format!("\u{1b}[{drawn}A\u{1b}[J")).unwrap();
        assert!(
            end.starts_with("✓ 4/7 Roll pool web") && end.ends_with("4.0s\n"),
            "{end}"
        );
    }
}
