//! The audit log of a real API server: what service accounts of ours asked for, and what was refused to them.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]
#![allow(dead_code, reason = "each target uses its part")]

use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
};

use serde_json::{Value, json};

/// How user names of service accounts begin.
pub const ACCOUNT: &str = "system:serviceaccount:";

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
            // Nothing is moved away to another file, where a refusal would not be seen.
            "--audit-log-maxsize=4096".to_owned(),
        ]
    }

    /// What accounts of ours were refused for lack of a right, also where somebody acts in their name.
    pub fn refusals(&self) -> Vec<String> {
        let of_ours = self.lines().into_iter().filter(is_ours);
        of_ours
            .filter(|line| line["responseStatus"]["code"] == 403)
            .map(|line| {
                format!(
                    "{} {} by {} as {}: {}",
                    line["verb"],
                    line["requestURI"],
                    line["user"]["username"],
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

    /// What a user was granted who came by itself, with nobody acting in its name: verbs and resources.
    pub fn granted(&self, user: &str) -> BTreeSet<String> {
        let lines = self.lines().into_iter();
        let own = lines.filter(|line| line["user"]["username"] == user && line["impersonatedUser"].is_null());
        let granted = own.filter(|line| line["responseStatus"]["code"].as_u64().is_some_and(|code| code < 300));
        let words = granted.map(|line| {
            let word = |value: &Value| value.as_str().unwrap_or_default().to_owned();
            format!("{} {}", word(&line["verb"]), word(&line["objectRef"]["resource"]))
        });
        words.collect()
    }

    /// The users that are accounts of ours and asked for anything, by themselves or through others.
    pub fn accounts(&self) -> BTreeSet<String> {
        let lines = self.lines();
        let ours = lines.iter().flat_map(users).filter(|user| is_account_of_ours(user));
        ours.map(str::to_owned).collect()
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
    users(line).any(is_account_of_ours)
}

/// Who asks, and in whose name.
fn users(line: &Value) -> impl Iterator<Item = &str> {
    let users = [&line["user"]["username"], &line["impersonatedUser"]["username"]];
    users.into_iter().filter_map(Value::as_str)
}

/// Kubernetes' own controllers have accounts, too.
fn is_account_of_ours(user: &str) -> bool {
    user.strip_prefix(ACCOUNT)
        .is_some_and(|name| !name.starts_with("kube-"))
}
