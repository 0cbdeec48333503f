//! What tests stand on, and how much time each ground may take of a run. CONTRIBUTING.md shows the same table.

use std::time::Duration;

/// How long a whole run may take on two cores, with the Kubernetes binaries in place and nothing else built.
pub(crate) const BUDGET: Duration = Duration::from_mins(30);

/// What a test stands on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Ground {
    /// The tools' own findings, and building: format, lints, servers, test binaries.
    Checks,
    /// Values in, values out; and programs over loopback sockets.
    Pure,
    /// A whole system on virtual time.
    Simulation,
    /// A real API server and etcd.
    Real,
    /// Real kubelets and containers.
    Pods,
    /// A real browser.
    Browser,
    /// Other real programs: Cluster API, registries, a second minor of Kubernetes.
    Programs,
    /// Examples in the documentation.
    Doc,
}

impl Ground {
    /// All of them, in the order of the summary.
    pub(crate) const ALL: [Self; 8] = [
        Self::Checks,
        Self::Pure,
        Self::Simulation,
        Self::Real,
        Self::Pods,
        Self::Browser,
        Self::Programs,
        Self::Doc,
    ];

    /// The word for it, with which the names of its test targets end.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Checks => "checks",
            Self::Pure => "pure",
            Self::Simulation => "simulation",
            Self::Real => "real",
            Self::Pods => "pods",
            Self::Browser => "browser",
            Self::Programs => "programs",
            Self::Doc => "doc",
        }
    }

    /// The ground of a test target, by the last word of its name.
    pub(crate) fn from_target(name: &str) -> Self {
        let last = name.rsplit('_').next().unwrap_or_default();
        let named = [Self::Simulation, Self::Real, Self::Pods, Self::Browser, Self::Programs];
        named
            .into_iter()
            .find(|ground| ground.name() == last)
            .unwrap_or(Self::Pure)
    }

    /// Its share of [`BUDGET`], counted as the sum over its steps. Steps that wait run beside others, so the shares may
    /// add up to more than the whole.
    pub(crate) const fn share(self) -> Duration {
        Duration::from_mins(match self {
            Self::Checks => 10,
            Self::Simulation => 18,
            Self::Real => 16,
            Self::Pure => 8,
            Self::Pods => 6,
            Self::Programs => 4,
            Self::Browser => 2,
            Self::Doc => 1,
        })
    }

    /// Whether its tests mostly wait for other programs, so that they run beside those that compute.
    pub(crate) const fn waits(self) -> bool {
        matches!(self, Self::Real | Self::Pods | Self::Browser | Self::Programs)
    }

    /// Whether its tests are left out by plain `cargo test`, and must be there where this task runs.
    pub(crate) const fn needs_servers(self) -> bool {
        self.waits()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_word_of_a_target_says_its_ground() {
        let cases = [
            ("hyperplane_api", Ground::Pure),
            ("pure", Ground::Pure),
            ("sockets", Ground::Pure),
            ("real", Ground::Real),
            ("kinds_real", Ground::Real),
            ("world_simulation", Ground::Simulation),
            ("worker_pods", Ground::Pods),
            ("console_browser", Ground::Browser),
            ("cluster_api_programs", Ground::Programs),
            ("surreal", Ground::Pure),
        ];
        for (name, ground) in cases {
            assert_eq!(Ground::from_target(name), ground, "{name}");
        }
    }

    #[test]
    fn shares_are_what_the_guide_for_contributors_says() {
        let guide = include_str!("../../../CONTRIBUTING.md");
        for ground in Ground::ALL {
            let row = format!("| {} | {} |", ground.name(), ground.share().as_secs() / 60);
            assert!(guide.contains(&row), "CONTRIBUTING.md has no row {row:?}");
        }
        assert!(guide.contains(&format!("at most {} minutes", BUDGET.as_secs() / 60)));
    }
}
