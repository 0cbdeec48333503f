//! The audit log of a real API server: what was refused to service accounts.

use std::{
    fs,
    path::{Path, PathBuf},
};

use serde_json::{Value, json};

/// The log.
pub struct Audit {
    policy: PathBuf,
    log: PathBuf,
}

impl Audit {
    /// A log in a directory.
    pub fn new(directory: &Path) -> Self {
        let (policy, log) = (directory.join("audit-policy.json"), directory.join("audit.log"));
        let rules = json!({
            "apiVersion": "audit.k8s.io/v1", "kind": "Policy", "omitStages": ["RequestReceived", "ResponseStarted"],
            "rules": [{"level": "Metadata"}],
        });
        fs::write(&policy, rules.to_string()).unwrap();
        Self { policy, log }
    }

    /// What the server is told.
    pub fn arguments(&self) -> Vec<String> {
        vec![
            format!("--audit-policy-file={}", self.policy.display()),
            format!("--audit-log-path={}", self.log.display()),
        ]
    }

    /// What accounts of ours were refused for lack of a right.
    pub fn refusals(&self) -> Vec<String> {
        let of_ours = self.lines().into_iter().filter(is_ours);
        of_ours
            .filter(|line| line["responseStatus"]["code"] == 403)
            .map(|line| {
                format!(
                    "{} {} as {}: {}",
                    line["verb"],
                    line["requestURI"],
                    line["impersonatedUser"]["username"],
                    line["responseStatus"]["message"]
                )
            })
            .collect()
    }

    /// How many requests they made.
    pub fn requests(&self) -> usize {
        self.lines().iter().filter(|line| is_ours(line)).count()
    }

    fn lines(&self) -> Vec<Value> {
        let text = fs::read_to_string(&self.log).unwrap_or_default();
        // The last line may be half written.
        text.lines()
            .filter_map(|line| serde_json::from_str(line).ok())
            .collect()
    }
}

fn is_ours(line: &Value) -> bool {
    let user = line["user"]["username"].as_str().unwrap_or_default();
    user.starts_with("system:serviceaccount:hyperplane:")
}
