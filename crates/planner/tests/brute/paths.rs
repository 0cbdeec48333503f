//! Paths: every state that a path can pass through, found by trying every subset of what moves, and judged by the
//! second reading. The certificate counts how many of each have moved; subsets are more than that, and must not find
//! more.

use std::ops::RangeInclusive;

use hyperplane_planner::certify::{Certificate, Move, Path, Refusal, certify};

use super::{
    adapter,
    kubernetes::{self, Cluster, Minor, Node, When},
    states::{Dice, pool},
};

/// A move of a path, in numbers.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Step {
    Servers(Minor),
    Controller(usize, Minor),
    Pool(usize, Minor),
}

impl Step {
    fn size(self, cluster: &Cluster) -> usize {
        match self {
            Self::Servers(_) => cluster.servers.len(),
            Self::Controller(kind, _) => cluster.controllers[kind].len(),
            Self::Pool(place, _) => cluster.pools[place].nodes.len(),
        }
    }

    /// Moves those whose bit is set.
    fn apply(self, cluster: &mut Cluster, moved: u32) {
        let is_moved = |place: &usize| moved & (1 << place) != 0;
        for place in (0..self.size(cluster)).filter(is_moved) {
            match self {
                Self::Servers(to) => cluster.servers[place] = to,
                Self::Controller(kind, to) => cluster.controllers[kind][place] = to,
                Self::Pool(pool, to) => {
                    cluster.pools[pool].nodes[place] = Node {
                        kubelet: to,
                        proxy: Some(to),
                    };
                }
            }
        }
    }

    fn to_move(self, cluster: &Cluster) -> Move {
        match self {
            Self::Servers(to) => Move::ApiServers(adapter::version(to, 0)),
            Self::Controller(0, to) => Move::ControllerManager(adapter::version(to, 0)),
            Self::Controller(1, to) => Move::Scheduler(adapter::version(to, 0)),
            Self::Controller(_, to) => Move::CloudControllerManager(adapter::version(to, 0)),
            Self::Pool(place, to) => Move::Pool {
                name: cluster.pools[place].name.clone(),
                kubernetes: adapter::version(to, 0),
                version: None,
            },
        }
    }
}

/// What the second reading says of a path.
#[derive(Debug, Default)]
struct Walk {
    is_bad: bool,
    states: u64,
    tightest: Option<Minor>,
}

impl Walk {
    fn of(start: &Cluster, steps: &[Vec<Step>]) -> Self {
        let mut walk = Self {
            states: 1,
            ..Self::default()
        };
        walk.judge(start);
        let mut cluster = start.clone();
        for moves in steps {
            walk.subsets(&cluster, moves);
            let counts: u64 = moves.iter().map(|step| step.size(&cluster) as u64 + 1).product();
            walk.states += counts - 1;
            let before = cluster.clone();
            for step in moves {
                step.apply(&mut cluster, u32::MAX);
            }
            walk.is_bad |= !kubernetes::transition(&before, &cluster).is_empty();
        }
        walk
    }

    /// Every subset of every move, combined with every subset of the others.
    fn subsets(&mut self, cluster: &Cluster, moves: &[Step]) {
        let Some((first, others)) = moves.split_first() else {
            self.judge(cluster);
            return;
        };
        for moved in 0..1 << first.size(cluster) {
            let mut cluster = cluster.clone();
            first.apply(&mut cluster, moved);
            self.subsets(&cluster, others);
        }
    }

    fn judge(&mut self, cluster: &Cluster) {
        self.is_bad |= !cluster.violations(When::Before).is_empty();
        self.tightest = cluster.tightest().into_iter().chain(self.tightest).min();
    }
}

/// A cluster in which everything has one minor, or a neighbour of it.
fn start(dice: &mut Dice, base: Minor) -> Cluster {
    let servers = 1 + dice.below(3);
    let is_local = dice.below(4) == 0;
    let servers: Vec<Minor> = match dice.below(3) {
        0 => (0..servers).map(|_| dice.minor(&(base..=base + 1))).collect(),
        _ => vec![base; servers],
    };
    let controllers = |dice: &mut Dice| match (dice.below(3), is_local) {
        (0, _) => Vec::new(),
        (_, true) => servers.iter().map(|_| dice.minor(&(base - 1..=base))).collect(),
        (_, false) => vec![dice.minor(&(base - 1..=base))],
    };
    let controllers = [controllers(dice), controllers(dice), controllers(dice)];
    let pools = (0..dice.below(3)).map(|place| {
        let mut new = pool(["first", "second"][place], base, None);
        let nodes = 1 + dice.below(3);
        let range: RangeInclusive<Minor> = if dice.below(2) == 0 {
            base..=base
        } else {
            base - 3..=base
        };
        new.nodes = (0..nodes).map(|_| node(dice.minor(&range))).collect();
        new
    });
    let pools = pools.collect();
    Cluster {
        servers,
        controllers,
        is_local,
        pools,
        kubectl: Vec::new(),
    }
}

fn node(minor: Minor) -> Node {
    Node {
        kubelet: minor,
        proxy: Some(minor),
    }
}

/// Steps that make sense more often than not: servers go up by one, others follow.
fn steps(dice: &mut Dice, cluster: &Cluster, base: Minor) -> Vec<Vec<Step>> {
    let mut top = base;
    let mut steps = Vec::new();
    for _ in 0..=dice.below(3) {
        let mut moves: Vec<Step> = Vec::new();
        for _ in 0..=dice.below(5) / 3 {
            let step = match dice.below(4) {
                0 | 1 => Step::Servers(top + [1, 1, 1, 0, 2, -1][dice.below(6)]),
                2 => Step::Controller(dice.below(3), top - [0, 0, 0, 1, -1][dice.below(5)]),
                _ if cluster.pools.is_empty() => continue,
                _ => Step::Pool(
                    dice.below(cluster.pools.len()),
                    top - [0, 0, 0, 1, 2, -1][dice.below(6)],
                ),
            };
            // What is moved twice at the same time has no last word.
            let is_same = |other: &Step| match (step, *other) {
                (Step::Controller(one, _), Step::Controller(two, _)) | (Step::Pool(one, _), Step::Pool(two, _)) => {
                    one == two
                }
                (Step::Servers(_), Step::Servers(_)) => true,
                _ => false,
            };
            if !moves.iter().any(is_same) {
                moves.push(step);
            }
        }
        if let Some(Step::Servers(to)) = moves.iter().find(|step| matches!(step, Step::Servers(_))) {
            top = *to;
        }
        steps.push(moves);
    }
    steps
}

fn agree(start: &Cluster, steps: &[Vec<Step>], verdict: &Result<Certificate, Refusal>) {
    let walk = Walk::of(start, steps);
    match verdict {
        Err(Refusal::BadState { report, .. }) => {
            assert!(walk.is_bad, "refused: {start:?} {steps:?} {report:?}");
        }
        Err(other) => panic!("{other} {start:?} {steps:?}"),
        Ok(certificate) => {
            assert!(!walk.is_bad, "certified: {start:?} {steps:?}");
            assert_eq!(certificate.states_checked, walk.states, "{start:?} {steps:?}");
            let tightest = certificate.tightest_margin.as_ref();
            let tightest = tightest.map(|margin| Minor::try_from(margin.minors).expect("it is small"));
            assert_eq!(tightest, walk.tightest, "{start:?} {steps:?}");
        }
    }
}

#[test]
fn paths_are_refused_where_any_order_breaks_a_rule() {
    const CASES: usize = 6_000;
    let choice = adapter::only("kubernetes");
    let mut dice = Dice::new(0x5eed_0007);
    let (mut certified, mut refused) = (0, 0);
    for _ in 0..CASES {
        let base = if dice.below(3) == 0 { 25 } else { 34 };
        let start = start(&mut dice, base);
        let steps = steps(&mut dice, &start, base);
        let moves = steps
            .iter()
            .map(|step| step.iter().map(|step| step.to_move(&start)).collect());
        let path = Path {
            start: adapter::state(&start),
            steps: moves.collect(),
        };
        let verdict = certify(&path, &choice);
        agree(&start, &steps, &verdict);
        if verdict.is_ok() { certified += 1 } else { refused += 1 }
    }
    assert!(
        certified > CASES / 20 && refused > CASES / 20,
        "{certified} certified, {refused} refused"
    );
}
