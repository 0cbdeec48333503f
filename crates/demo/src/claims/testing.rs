//! A story that went well, as claims see it, for tests that spoil one thing of it.

use std::{collections::BTreeMap, time::Duration};

use jiff::Timestamp;
use serde_json::{Value, json};

use super::{ClaimReport, Evidence, Rest, all, judge};
use crate::{
    json::by_name,
    picture::{Picture, tests::picture},
    plan::Plan,
    record::{Kind, Record, Seen, State, tests::seen},
    story::StepId,
};

/// Everything that claims are judged by.
pub(crate) struct Told {
    plan: Plan,
    pictures: BTreeMap<StepId, Picture>,
    pub(crate) record: Record,
    pub(crate) rest: Rest,
    has_rested: bool,
}

impl Default for Told {
    fn default() -> Self {
        Self {
            plan: Plan::new("demo").unwrap(),
            pictures: BTreeMap::new(),
            record: Record::default(),
            rest: Rest::default(),
            has_rested: false,
        }
    }
}

impl Told {
    pub(crate) fn evidence(&self) -> Evidence<'_> {
        Evidence {
            plan: &self.plan,
            pictures: &self.pictures,
            record: &self.record,
            rest: self.has_rested.then_some(&self.rest),
        }
    }

    pub(crate) fn judge(&self, id: &str) -> ClaimReport {
        let claim = all().find(|claim| claim.id == id).unwrap();
        judge(claim, &self.evidence())
    }

    pub(crate) fn after(&mut self, step: StepId) -> &mut Picture {
        self.pictures.get_mut(&step).unwrap()
    }

    pub(crate) fn end(&mut self) -> &mut Picture {
        self.after(StepId::Rest)
    }

    pub(crate) fn see(&mut self, step: StepId, kind: Kind, name: &str, seen: Seen) {
        self.record.note(Timestamp::UNIX_EPOCH, step, kind, name, seen);
    }
}

/// Checks that a claim does not hold, for a reason that has these words.
pub(crate) fn fails(told: &Told, id: &str, words: &str) {
    let report = told.judge(id);
    assert!(!report.held && report.evidence.contains(words), "{words}: {report:?}");
}

const OLD: [&str; 3] = ["web-a", "web-b", "web-c"];
const NEW: [&str; 3] = ["web-x", "web-y", "web-z"];
const BATCH: [&str; 2] = ["batch-d", "batch-e"];

/// A story that went well.
pub(crate) fn whole() -> Told {
    let mut told = Told::default();
    let [from, to, ahead] = [
        &told.plan.versions.from,
        &told.plan.versions.to,
        &told.plan.versions.ahead,
    ]
    .map(Clone::clone);
    let refused = format!(
        "Nodes do not roll: kubelet v{} is newer than kube-apiserver v{} (K-05).",
        ahead.number, to.number
    );
    let good = "Nodes and the control plane may stand beside each other.";
    let moments = [
        (StepId::Join, OLD, &from.number, &from.image, "True", good),
        (StepId::Upgrade, OLD, &from.number, &from.image, "True", good),
        (StepId::Roll, NEW, &to.number, &from.image, "True", good),
        (StepId::Ahead, NEW, &to.number, &ahead.image, "False", refused.as_str()),
        (StepId::Rest, NEW, &to.number, &from.image, "True", good),
    ];
    for (step, web, version, image, skew, message) in moments {
        let condition = json!([{"type": "SupportedVersionSkew", "status": skew, "reason": "Reason", "message": message, "observedGeneration": 1}]);
        let mut batch = pool("demo-batch", &from.number, 2, &condition);
        batch["spec"]["release"] = json!({"image": image});
        let machines = web.iter().map(|name| (*name, *name, "demo-web", version.as_str()));
        let machines = machines.chain(
            BATCH
                .iter()
                .map(|name| (*name, *name, "demo-batch", from.number.as_str())),
        );
        let machines: Vec<_> = machines.collect();
        told.pictures.insert(
            step,
            Picture {
                cluster: cluster(&from.number, &to.number),
                pools: by_name(vec![pool("demo-web", version, 3, &json!([])), batch]),
                components: by_name(vec![
                    component("etcd", &to.number),
                    component("kube-apiserver", &to.number),
                ]),
                api_version: Some(format!("v{}", to.number)),
                namespace: json!({"metadata": {"annotations": {"hyperplane.dev/claimed-by": "the-cluster"}}}),
                ..picture(&machines)
            },
        );
    }
    live(&mut told, &from.number, &to.number);
    let revisions = BTreeMap::from([("nodes a".to_owned(), "7".to_owned())]);
    told.rest = Rest {
        before: revisions.clone(),
        after: revisions,
        pause: Duration::from_secs(2),
        pauses: 1,
    };
    told.has_rested = true;
    told
}

/// What watches saw: all join, and then web is replaced one by one.
fn live(told: &mut Told, from: &str, to: &str) {
    let pool = |name: &str| {
        if name.starts_with("web") {
            "clusters/demo-web"
        } else {
            "clusters/demo-batch"
        }
    };
    let machine = |name: &str, version: &str, state: State| {
        seen(&format!("of-{name}"), pool(name), version, state != State::Gone, state)
    };
    for name in OLD.into_iter().chain(BATCH) {
        told.see(StepId::Join, Kind::Machine, name, machine(name, from, State::Present));
        told.see(
            StepId::Join,
            Kind::Node,
            name,
            seen(name, "", from, true, State::Present),
        );
    }
    for (old, new) in OLD.into_iter().zip(NEW) {
        told.see(StepId::Roll, Kind::Machine, new, machine(new, to, State::Present));
        told.see(StepId::Roll, Kind::Node, new, seen(new, "", "", false, State::Present));
        told.see(StepId::Roll, Kind::Node, new, seen(new, "", to, true, State::Present));
        told.see(StepId::Roll, Kind::Machine, old, machine(old, from, State::Leaving));
        told.see(StepId::Roll, Kind::Node, old, seen(old, "", from, false, State::Gone));
        told.see(StepId::Roll, Kind::Machine, old, machine(old, from, State::Gone));
    }
}

fn cluster(from: &str, to: &str) -> Value {
    let history = json!({"history": [
        {"version": to, "state": "Completed", "startedTime": "2027-01-15T08:10:00Z", "completionTime": "2027-01-15T08:11:00Z"},
        {"version": from, "state": "Completed", "startedTime": "2027-01-15T08:00:00Z", "completionTime": "2027-01-15T08:01:00Z"},
    ]});
    json!({
        "metadata": {"name": "demo", "uid": "the-cluster"},
        "status": {"version": history, "controlPlaneVersion": history},
    })
}

fn component(name: &str, version: &str) -> Value {
    json!({
        "metadata": {"name": name},
        "status": {"version": version, "conditions": [
            {"type": "Available", "status": "True"}, {"type": "RolloutComplete", "status": "True"}]},
    })
}

fn pool(name: &str, version: &str, replicas: u64, conditions: &Value) -> Value {
    json!({
        "metadata": {"name": name, "generation": 1},
        "spec": {"replicas": replicas},
        "status": {
            "replicas": replicas,
            "version": version,
            "nodesInfo": {"nodeVersions": [{"kubeletVersion": format!("v{version}"), "readyNodeCount": replicas}]},
            "conditions": conditions,
        },
    })
}
