//! The release of a pool: that it can be found, and that it is of the distribution that the cluster is of. Whether its
//! version may stand beside the control plane is judged by what was observed, elsewhere.

use hyperplane_platforms::{Problem, Rule};

use super::{Case, Verdict};

const RESOLVES: Rule = Rule {
    name: "pool-release-resolves",
    asks: "a release image must be one that a DistributionRelease has, or that is built in",
};
const DISTRIBUTION: Rule = Rule {
    name: "pool-release-distribution",
    asks: "a pool has a release of the distribution of its cluster",
};

pub(super) const RULES: &[Rule] = &[RESOLVES, DISTRIBUTION];

const FIELD: &str = "spec.release.image";

pub(super) fn judge(case: &Case<'_>, verdict: &mut Verdict) {
    let image = case.pool.spec.release.image.as_str();
    let objects = case.seen.releases.iter().map(AsRef::as_ref);
    let release = match case.shelf.resolve(image, objects) {
        Ok(found) => found.release,
        Err(error) => {
            let remedy = "use the image of a release that exists";
            verdict
                .release
                .push(Problem::new(&RESOLVES, FIELD, error.to_string(), remedy));
            return;
        }
    };
    let of_cluster = case.release(case.cluster.spec.release.image.as_str());
    if let Some(of_cluster) = of_cluster
        && of_cluster.distribution != release.distribution
    {
        let what = format!(
            "it is of {}, and the cluster of {}",
            release.distribution, of_cluster.distribution
        );
        let remedy = "choose a release of the same distribution";
        verdict.release.push(Problem::new(&DISTRIBUTION, FIELD, what, remedy));
        return;
    }
    verdict.found = Some(release);
}
