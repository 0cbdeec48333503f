//! All clusters at once, as whoever reads a dump later wants them: a line each, and below why those wait that do.

use super::{Look, clusters, explanation, status};
use crate::{
    explain::{Explanation, Outcome, explain_cluster},
    scene::Scene,
    status::{cluster_rows, cluster_status},
};

/// All that is known of all clusters of a scene, as text.
pub fn summary(scene: &Scene, look: Look) -> String {
    let rows = cluster_rows(scene);
    let mut text = clusters(&rows, scene.now, look);
    for row in rows {
        let Some(picture) = cluster_status(scene, &row.namespace, &row.name) else {
            continue;
        };
        text.push('\n');
        text.push_str(&status(&picture, scene.now, look));
        let found = explain_cluster(scene, &row.namespace, &row.name);
        if let Some(found) = found.filter(is_worth_telling) {
            text.push('\n');
            text.push_str(&explanation(&found, scene.now, look));
        }
    }
    text
}

fn is_worth_telling(explanation: &Explanation) -> bool {
    explanation.outcome != Outcome::Nothing
}
