//! The real kubectl as an observer.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]
#![allow(dead_code, reason = "each target uses its part")]

use std::{
    path::{Path, PathBuf},
    process::Command,
    time::Duration,
};

use hyperplane_testbed::assets::{Assets, Program};
use serde_json::Value;
use tokio::time::sleep;

use crate::apiserver::soon;

/// How often it is looked.
const LOOK: Duration = Duration::from_millis(500);

/// The real kubectl, with a kubeconfig.
pub struct Kubectl {
    program: PathBuf,
    kubeconfig: PathBuf,
}

impl Kubectl {
    pub fn new(kubeconfig: &Path) -> Self {
        Self {
            program: Assets::locate().unwrap().path(Program::Kubectl).unwrap(),
            kubeconfig: kubeconfig.to_owned(),
        }
    }

    /// What it prints, or what it complains about.
    pub fn run(&self, arguments: &[&str]) -> Result<String, String> {
        let output = Command::new(&self.program)
            .args(arguments)
            .env("KUBECONFIG", &self.kubeconfig)
            .env("KUBECACHEDIR", self.kubeconfig.with_extension("cache"))
            .output()
            .unwrap();
        let said = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
        if output.status.success() {
            Ok(said(output.stdout))
        } else {
            Err(said(output.stderr))
        }
    }

    pub fn json(&self, arguments: &[&str]) -> Option<Value> {
        let mut all = arguments.to_vec();
        all.extend(["-o", "json"]);
        serde_json::from_str(&self.run(&all).ok()?).ok()
    }

    /// Waits until something holds.
    pub async fn until<T>(&self, what: &str, look: impl Fn(&Self) -> Option<T>) -> T {
        let looking = async {
            loop {
                if let Some(found) = look(self) {
                    return found;
                }
                sleep(LOOK).await;
            }
        };
        soon(what, looking).await
    }
}
