//! Case tables that other projects publish for their own checks. Each file holds the facts of one table: what is given
//! and how its project judges it. Ours agrees, or the case says how it differs and why.

use std::collections::BTreeSet;

use hyperplane_planner::{
    blocker::{Blocker, Report},
    check::{Choice, check},
    policy,
    state::State,
};
use serde::Deserialize;
use serde_json::{Value, json};

const TABLES: [(&str, &str); 9] = [
    ("hypershift", include_str!("published/hypershift.yaml")),
    ("openshift-docs", include_str!("published/openshift-docs.yaml")),
    ("machine sets", include_str!("published/cluster-api-machine-sets.yaml")),
    ("cluster-api", include_str!("published/cluster-api-versions.yaml")),
    ("kubeadm", include_str!("published/kubeadm.yaml")),
    ("gardener", include_str!("published/gardener.yaml")),
    ("hops", include_str!("published/cluster-version-operator-hops.yaml")),
    (
        "rollback",
        include_str!("published/cluster-version-operator-rollback.yaml"),
    ),
    (
        "upgradeable",
        include_str!("published/cluster-version-operator-upgradeable.yaml"),
    ),
];

/// A table of cases.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Table {
    policy: String,
    /// The rules that the table is about, where the policy has others that would speak too.
    #[serde(default)]
    only: BTreeSet<String>,
    cases: Vec<Case>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Case {
    name: String,
    theirs: Verdict,
    /// Where it differs.
    ours: Option<Verdict>,
    /// Why it differs.
    because: Option<String>,
    /// That a version is none of its scheme, so that ours refuses to read the state.
    #[serde(default)]
    unreadable: bool,
    /// Rules under which ours speaks.
    #[serde(default)]
    rules: Vec<String>,
    /// How many violations nobody can insist on, and how many somebody can.
    mandatory: Option<usize>,
    skippable: Option<usize>,
    before: Given,
    after: Option<Given>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Verdict {
    Pass,
    Warn,
    /// Not a pass, and not a word against it: something is not given.
    Unknown,
    Refuse,
}

/// A state in few words; the tables differ in little.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default, rename_all = "camelCase")]
struct Given {
    /// A version of OpenShift.
    cluster: Option<String>,
    servers: Vec<String>,
    pool: Option<String>,
    kubelets: Vec<String>,
    upgrade_type: Option<String>,
    manager: Option<String>,
    offered: Vec<String>,
    history: Vec<String>,
    upgradeable: Option<bool>,
    modifications: Vec<String>,
}

impl Given {
    /// The state file that says the same.
    fn file(&self) -> Value {
        let scheme = if self.cluster.is_some() {
            "openshift"
        } else {
            "kubernetes"
        };
        let mut distribution = json!({ "scheme": scheme });
        if let Some(version) = &self.cluster {
            distribution["version"] = json!(version);
        }
        if let Some(upgradeable) = self.upgradeable {
            distribution["upgradeable"] = json!(upgradeable);
        }
        let history = self.history.iter().map(|past| match past.strip_prefix('~') {
            Some(version) => json!({ "version": version, "state": "Partial" }),
            None => json!({ "version": past, "state": "Completed" }),
        });
        distribution["history"] = history.collect();
        let mut file = json!({ "distribution": distribution });
        if !self.servers.is_empty() {
            file["controlPlane"] = json!({ "kubeApiServers": self.servers });
        }
        let mut pool = json!({ "name": "workers" });
        if !self.kubelets.is_empty() {
            pool["kubelets"] = json!(self.kubelets);
        }
        if let Some(version) = &self.pool {
            let field = if self.cluster.is_some() { "versions" } else { "kubelets" };
            pool[field] = json!([version]);
        }
        if let Some(word) = &self.upgrade_type {
            pool["upgradeType"] = json!(word);
        }
        if self.pool.is_some() || !self.kubelets.is_empty() {
            file["pools"] = json!([pool]);
        }
        if let Some(version) = &self.manager {
            file["manager"] = json!({ "version": version });
        }
        if !self.offered.is_empty() {
            file["kubernetesVersions"] = json!(self.offered);
        }
        if !self.modifications.is_empty() {
            let names = self.modifications.iter().map(|name| json!({ "name": name }));
            file["modifications"] = names.collect();
        }
        file
    }

    /// None where a version is not one: what cannot be read is refused.
    fn state(&self) -> Option<State> {
        let (state, unread) = State::read(&self.file()).ok()?;
        assert!(unread.is_empty(), "nobody reads {unread:?}");
        Some(state)
    }
}

impl Table {
    fn asks(&self, blocker: &Blocker) -> bool {
        let rules = std::iter::once(&blocker.rule).chain(blocker.also);
        self.only.is_empty() || rules.into_iter().any(|rule| self.only.contains(*rule))
    }

    /// What is wrong with our verdict.
    fn problem(&self, case: &Case) -> Option<String> {
        if case.ours.is_some() != case.because.is_some() || case.ours == Some(case.theirs) {
            return Some("says that it differs and not why, or why and not how".to_owned());
        }
        let expected = case.ours.unwrap_or(case.theirs);
        let states = (case.before.state(), case.after.as_ref().map(Given::state));
        let (Some(before), None | Some(Some(_))) = (&states.0, &states.1) else {
            let is_right = case.unreadable && expected == Verdict::Refuse;
            return (!is_right).then(|| "cannot be read".to_owned());
        };
        if case.unreadable {
            return Some("can be read".to_owned());
        }
        let after = states.1.as_ref().and_then(Option::as_ref);
        let choice = Choice::of(policy::named(&self.policy));
        let report = check(before, after, &choice);
        self.compare(case, expected, &report)
    }

    fn compare(&self, case: &Case, expected: Verdict, report: &Report) -> Option<String> {
        let asked = |blockers: &[Blocker]| -> Vec<Blocker> {
            let asked = blockers.iter().filter(|blocker| self.asks(blocker));
            asked.cloned().collect()
        };
        let (violations, warnings, unknown) = (
            asked(&report.violations),
            asked(&report.warnings),
            asked(&report.unknown),
        );
        // A warning is only looked for where one is expected: ours gives more advice than the tables know.
        let (is_right, findings) = match expected {
            Verdict::Refuse => (!violations.is_empty(), &violations),
            Verdict::Unknown => (violations.is_empty() && !unknown.is_empty(), &unknown),
            Verdict::Warn => (violations.is_empty() && !warnings.is_empty(), &warnings),
            Verdict::Pass if self.only.is_empty() => (violations.is_empty() && unknown.is_empty(), &violations),
            Verdict::Pass => (
                violations.is_empty() && warnings.is_empty() && unknown.is_empty(),
                &violations,
            ),
        };
        let names = |rule: &String| {
            let rules = findings
                .iter()
                .flat_map(|finding| std::iter::once(&finding.rule).chain(finding.also));
            rules.into_iter().any(|found| found == rule)
        };
        let skippable = violations.iter().filter(|violation| violation.is_skippable).count();
        let counts = (violations.len() - skippable, skippable);
        let is_uncounted = case.mandatory.is_none() && case.skippable.is_none();
        let wanted = (case.mandatory.unwrap_or_default(), case.skippable.unwrap_or_default());
        let is_right = is_right && case.rules.iter().all(names) && (is_uncounted || counts == wanted);
        (!is_right).then(|| format!("should be {expected:?}, and is: {violations:#?} {warnings:#?} {unknown:#?}"))
    }
}

#[test]
fn published_tables_hold() {
    let mut problems = Vec::new();
    for (name, text) in TABLES {
        let table: Table = serde_saphyr::from_str(text).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert!(policy::named(&table.policy).is_some(), "{name}: {}", table.policy);
        assert!(table.cases.len() > 5, "{name} has hardly a case");
        let names: BTreeSet<&str> = table.cases.iter().map(|case| case.name.as_str()).collect();
        assert_eq!(names.len(), table.cases.len(), "{name} has two cases of one name");
        for case in &table.cases {
            let problem = table.problem(case);
            problems.extend(problem.map(|problem| format!("{name}: {}: {problem}", case.name)));
        }
    }
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}
