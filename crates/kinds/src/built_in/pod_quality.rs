//! The quality of service of a pod: how well its needs are known, and so how early it is evicted.

use serde_json::Value;

use crate::{
    quantity::Quantity,
    value::{is_set, list, object},
};

/// `Guaranteed` if every container limits what it requests, `BestEffort` if none asks for anything, else `Burstable`.
pub(super) fn quality_of_service(pod: &Value) -> &'static str {
    let specification = &pod["spec"];
    if is_set(specification.get("resources")) {
        return quality([specification].into_iter());
    }
    let containers = list(specification, "containers").iter();
    quality(containers.chain(list(specification, "initContainers")))
}

fn quality<'a>(containers: impl Iterator<Item = &'a Value>) -> &'static str {
    let mut guaranteed = true;
    let mut asks = false;
    for container in containers {
        let amounts = |kind: &str| -> Vec<(String, Quantity)> {
            let path = format!("resources.{kind}");
            let entries = object(container, &path).into_iter().flatten();
            entries
                .filter_map(|(name, amount)| compute_amount(name, amount))
                .collect()
        };
        let (requests, limits) = (amounts("requests"), amounts("limits"));
        asks |= !requests.is_empty() || !limits.is_empty();
        let limits_both = limits.len() == 2;
        let requests_fit = requests.iter().all(|request| limits.contains(request));
        guaranteed &= limits_both && requests_fit;
    }
    match (asks, guaranteed) {
        (false, _) => "BestEffort",
        (true, true) => "Guaranteed",
        (true, false) => "Burstable",
    }
}

/// Only processors and memory decide.
fn compute_amount(name: &str, amount: &Value) -> Option<(String, Quantity)> {
    let quantity = Quantity::parse(amount.as_str()?).ok()?;
    (matches!(name, "cpu" | "memory") && quantity > Quantity::ZERO).then(|| (name.to_owned(), quantity))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn quality_follows_from_resources() {
        let check = |resources: Value, expected: &str| {
            let pod = json!({ "spec": { "containers": [{ "resources": resources }] } });
            assert_eq!(quality_of_service(&pod), expected, "{resources}");
        };
        let both = json!({ "cpu": "1", "memory": "1Gi" });
        check(json!({}), "BestEffort");
        check(json!({ "limits": { "example.com/gpu": "1" } }), "BestEffort");
        check(json!({ "requests": { "cpu": "1" } }), "Burstable");
        check(json!({ "limits": both, "requests": { "cpu": "500m" } }), "Burstable");
        check(json!({ "limits": both, "requests": both }), "Guaranteed");
        check(json!({ "limits": { "cpu": "1" } }), "Burstable");
    }
}
