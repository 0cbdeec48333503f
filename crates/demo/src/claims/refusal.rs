//! Claims about the pool that was asked to go ahead of its control plane.

use super::{Claim, Evidence, Verdict, nodes::untouched};
use crate::{json::condition, story::StepId};

/// The condition of a NodePool that tells whether its version may stand beside that of the control plane.
const SKEW: &str = "SupportedVersionSkew";

pub(super) const CLAIMS: &[Claim] = &[
    Claim {
        id: "refusal-says-why",
        sentence: |plan| {
            format!(
                "Pool {} was refused {}, in words that name it and the control plane's {}.",
                plan.batch.title, plan.versions.ahead.number, plan.versions.to.number
            )
        },
        how: |plan| {
            format!(
                "NodePool {} while it asks for more: condition {SKEW} is False for this generation, and its message has both \
                 versions.",
                plan.batch.name
            )
        },
        judge: refusal_says_why,
    },
    Claim {
        id: "refusal-rolled-nothing",
        sentence: |plan| {
            format!(
                "While pool {} asked for more, none of its machines was touched.",
                plan.batch.title
            )
        },
        how: |_| {
            "The pool's Machines before and after: uid, generation and spec are equal; in between, the watch of Machines saw \
             none of them come, leave or go."
                .to_owned()
        },
        judge: refusal_rolled_nothing,
    },
    Claim {
        id: "refusal-is-over",
        sentence: |plan| format!("Put back, pool {} has nothing to complain about.", plan.batch.title),
        how: |plan| {
            format!(
                "NodePool {} at the end: condition {SKEW} is True for this generation.",
                plan.batch.name
            )
        },
        judge: refusal_is_over,
    },
];

fn refusal_says_why(evidence: &Evidence<'_>) -> Verdict {
    let plan = evidence.plan;
    let pool = evidence.after(StepId::Ahead)?.pool(&plan.batch);
    let Some(found) = condition(pool, SKEW) else {
        return Err(format!("it has no condition {SKEW}"));
    };
    let asked = crate::json::text(pool, "/spec/release/image");
    let names = |version: &str| {
        found
            .message
            .split([' ', ',', ';', ':'])
            .any(|word| word.trim_start_matches('v') == version)
    };
    let is_refused = asked == plan.versions.ahead.image && found.is_current && found.status == "False";
    let told = format!("{}: {}", found.reason, found.message);
    if is_refused && names(&plan.versions.ahead.number) && names(&plan.versions.to.number) {
        Ok(told)
    } else {
        Err(format!(
            "it asked for {asked:?}, and {SKEW} was {} with {told}",
            found.status
        ))
    }
}

fn refusal_rolled_nothing(evidence: &Evidence<'_>) -> Verdict {
    let (before, after) = (evidence.after(StepId::Roll)?, evidence.after(StepId::Ahead)?);
    untouched(evidence, before, after, StepId::Ahead)
}

fn refusal_is_over(evidence: &Evidence<'_>) -> Verdict {
    let pool = evidence.end()?.pool(&evidence.plan.batch);
    match condition(pool, SKEW) {
        Some(found) if found.is_current && found.status == "True" => Ok(found.message.to_owned()),
        Some(found) => Err(format!("{SKEW} is {}: {}", found.status, found.message)),
        None => Err(format!("it has no condition {SKEW}")),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::{
        claims::testing::{fails, whole},
        record::{Kind, State, tests::seen},
    };

    #[test]
    fn a_refusal_that_does_not_say_why_is_found() {
        let cases = [
            ("message", json!("it must not"), "it must not"),
            ("message", json!("kubelet v1.36.4 is too new"), "too new"),
            ("message", json!("v1.36.41 is newer than v1.36.3"), "1.36.41"),
            ("status", json!("True"), "was True"),
            ("observedGeneration", json!(0), "was False"),
            ("type", json!("Other"), "no condition"),
        ];
        for (field, value, expected) in cases {
            let mut told = whole();
            let pool = told.after(StepId::Ahead).pools.get_mut("demo-batch").unwrap();
            pool["status"]["conditions"][0][field] = value;
            fails(&told, "refusal-says-why", expected);
        }
        let mut told = whole();
        let pool = told.after(StepId::Ahead).pools.get_mut("demo-batch").unwrap();
        pool["spec"]["release"]["image"] = json!("hyperplane.dev/kubernetes:v1.36.3");
        fails(&told, "refusal-says-why", "it asked for");
    }

    #[test]
    fn a_machine_that_was_made_all_the_same_is_found() {
        let mut told = whole();
        told.see(
            StepId::Ahead,
            Kind::Machine,
            "new",
            seen("new", "clusters/demo-batch", "1.36.4", false, State::Present),
        );
        fails(&told, "refusal-rolled-nothing", "Machine new was seen");
        let mut told = whole();
        told.after(StepId::Ahead).machines.remove("batch-d");
        fails(&told, "refusal-rolled-nothing", "or changed");
    }

    #[test]
    fn a_complaint_that_stays_is_found() {
        let mut told = whole();
        told.end().pools.get_mut("demo-batch").unwrap()["status"]["conditions"][0]["status"] = json!("False");
        fails(&told, "refusal-is-over", "is False");
    }
}
