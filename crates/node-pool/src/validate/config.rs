//! The ConfigMaps of a pool: that they exist, and that everything in them can be made into a configuration of nodes.

use hyperplane_platforms::{Problem, Rule};

use super::{Case, Verdict};
use crate::{build::user_data, documents, texts::Content};

const EXISTS: Rule = Rule {
    name: "pool-config-exists",
    asks: "every ConfigMap in spec.config must exist, with the key config",
};
const READABLE: Rule = Rule {
    name: "pool-config-readable",
    asks: "spec.config holds documents of the kinds that nodes are configured with",
};
const SIZE: Rule = Rule {
    name: "pool-config-size",
    asks: "all documents together must fit into a Secret",
};

const PROXY: Rule = Rule {
    name: "pool-cluster-proxy",
    asks: "the proxy of the cluster must be one that machines can use when they start",
};

pub(super) const RULES: &[Rule] = &[EXISTS, READABLE, SIZE, PROXY];

/// The most bytes of documents: they travel in a Secret, which may have a mebibyte, with little beside them.
const MOST_BYTES: usize = 900 << 10;

pub(super) fn judge(case: &Case<'_>, verdict: &mut Verdict) {
    // A machine with a proxy that Ignition refuses would never start, nor say why.
    if let Err(problem) = user_data::proxy_of(case.cluster) {
        let field = format!("{} of the cluster", problem.path);
        verdict.config.push(Problem::new(
            &PROXY,
            field,
            problem.problem,
            "mend it in the HostedCluster",
        ));
    }
    let mut texts: Vec<(String, String)> = Vec::new();
    for source in &case.seen.sources {
        let what = match &source.content {
            Content::Text(text) => {
                texts.push((source.name.clone(), text.clone()));
                continue;
            }
            Content::Missing => format!("there is no ConfigMap {}", source.name),
            Content::Empty => format!("ConfigMap {} has no key config", source.name),
        };
        let remedy = "create it beside the pool with documents under the key config, or take the reference away";
        verdict.config.push(Problem::new(&EXISTS, "spec.config", what, remedy));
    }
    match documents::read(&case.seen.core, case.cluster, &texts) {
        Ok(documents) if documents.text.len() > MOST_BYTES => {
            let what = format!(
                "all documents have {} bytes: at most {MOST_BYTES}",
                documents.text.len()
            );
            let remedy = "leave out files that nodes can fetch from elsewhere";
            verdict.config.push(Problem::new(&SIZE, "spec.config", what, remedy));
        }
        Ok(documents) => verdict.documents = Some(documents),
        Err(problems) => {
            let remedy = "mend the document";
            let problems = problems.into_iter();
            let problems = problems.map(|what| Problem::new(&READABLE, "spec.config", what, remedy));
            verdict.config.extend(problems);
        }
    }
}
