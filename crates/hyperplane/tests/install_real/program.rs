//! The real binary: commands that end, and the operator, which is told to.

use std::{
    path::Path,
    process::{Child, Command, Stdio},
};

/// Runs a command; what it printed, or what it complained about.
pub fn hyperplane(arguments: &[&str], kubeconfig: &Path) -> Result<String, String> {
    let output = command(arguments, kubeconfig).output().unwrap();
    let said = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    if output.status.success() {
        Ok(said(output.stdout))
    } else {
        Err(said(output.stderr))
    }
}

fn command(arguments: &[&str], kubeconfig: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_hyperplane"));
    command
        .args(arguments)
        .env("KUBECONFIG", kubeconfig)
        .stdin(Stdio::null());
    command
}

/// A program that runs until it is told to end.
pub struct Running(Child);

impl Running {
    /// Starts it. What it says is among what the test says.
    pub fn start(arguments: &[&str], kubeconfig: &Path) -> Self {
        Self(command(arguments, kubeconfig).spawn().unwrap())
    }

    /// Tells it to end; its exit code.
    pub fn end(mut self) -> Option<i32> {
        let told = Command::new("kill")
            .args(["-TERM", &self.0.id().to_string()])
            .status()
            .unwrap();
        assert!(told.success());
        self.0.wait().unwrap().code()
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // It may have ended before.
        self.0.kill().ok();
        self.0.wait().ok();
    }
}
